# The room text: libgufo_text, static and shared, with PCRE2, utf8proc and Jansson: vocabularies, and the chat templates
# of models, which libgufo_template renders.
#
# Sets command_sources to what the command needs, text_libraries for it to link, and text_definitions.

set(text_libraries "")
set(text_definitions "")
if(NOT GUFO_FULL)
    list(FILTER command_sources EXCLUDE REGEX "/cli/text/(tokenize|detokenize|vocab|template)(_[a-z]+)?\\.c$|/report_text\\.c$")
else()
    list(FILTER command_sources EXCLUDE REGEX "/(report_)?text_missing\\.c$")
endif()
if(NOT GUFO_TEXT)
    return()
endif()

set(text_needs gufo_library::pcre2 gufo_library::utf8proc gufo_library::jansson)
gufo_room(text NEEDS ${text_needs} WITHOUT "_none\\.c$")
set(table_files "")
gufo_table(special_texts 4)
gufo_table(unicode_classes 3)
gufo_table(character_ranges 3)
gufo_table(case_folds 4)
gufo_table(decompositions 3)
gufo_table(lowercase 2)
gufo_table(combining_classes 3)
gufo_table(scripts 3)
gufo_table(character_properties 2)
gufo_table(pretokenizer_rules 9)
gufo_table(pretokenizer_shapes 3)
gufo_table(pretokenizer_expressions 2)
gufo_table(pretokenizer_steps 3)
target_sources(gufo_text_objects PRIVATE ${table_files})
target_compile_definitions(gufo_text_objects PRIVATE PCRE2_CODE_UNIT_WIDTH=8)
target_include_directories(gufo_text_objects PRIVATE ${table_folder})

gufo_forms(gufo_text OBJECTS gufo_text_objects HEADER include/gufo/text.h NEEDS ${text_needs} PUBLIC gufo gufo_template
    SHOWN)

if(GUFO_FULL)
    set(text_libraries gufo_text_internal)
    set(text_definitions GUFO_HAS_TEXT)
endif()
