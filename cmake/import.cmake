# The rooms import and legacy: libgufo_import, static and shared, which makes GGUF models of other files.
#
# It builds jobs for the engine and reads tokenizers with the room text.
#
# Sets command_sources to what the command needs, import_libraries for it to link, and import_definitions.

set(import_libraries "")
set(import_definitions "")
set(legacy_definitions "")
if(NOT GUFO_FULL)
    list(FILTER command_sources EXCLUDE REGEX "/cli/import/((migrate|convert|export)(_[a-z]+)?|given_keys)\\.c$")
else()
    list(FILTER command_sources EXCLUDE REGEX "/import_missing\\.c$")
endif()
if(NOT GUFO_IMPORT)
    return()
endif()

file(GLOB_RECURSE import_sources CONFIGURE_DEPENDS src/import/*.c)
if(GUFO_LEGACY)
    file(GLOB_RECURSE legacy_sources CONFIGURE_DEPENDS src/legacy/*.c)
    list(FILTER import_sources EXCLUDE REGEX "/legacy_missing\\.c$")
    list(APPEND import_sources ${legacy_sources})
    set(legacy_definitions GUFO_HAS_LEGACY)
endif()
set(table_files "")
gufo_table(hf_classes 6)
gufo_table(hf_tensor_names 3)
gufo_table(convert_findings 3)
gufo_table(convert_keys 7)
gufo_table(convert_ops 7)
gufo_table(export_classes 5)
gufo_table(export_names 4)
gufo_table(pretokenizer_probes 2)
gufo_table(usual_pre 2)
add_library(gufo_import_objects OBJECT ${import_sources} ${table_files})
set_target_properties(gufo_import_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_PIC})
target_include_directories(gufo_import_objects PRIVATE include src ${table_folder})
set(import_needs ${text_needs} gufo_library::yaml)
target_link_libraries(gufo_import_objects PRIVATE ${import_needs} gufo_flags Threads::Threads)
target_compile_definitions(gufo_import_objects PRIVATE PCRE2_CODE_UNIT_WIDTH=8 ${legacy_definitions})

gufo_forms(gufo_import OBJECTS gufo_import_objects HEADER include/gufo/import.h
    NEEDS ${import_needs} PUBLIC gufo PRIVATE gufo_text)

if(GUFO_FULL)
    set(import_libraries gufo_import_internal)
    set(import_definitions GUFO_HAS_IMPORT ${legacy_definitions})
endif()
