# The room import: libgufo_import, static and shared, which makes GGUF models of other files.
#
# It builds jobs for the engine and reads tokenizers with the room text, whose functions their libraries do not
# show to others: both forms have their own copy of what they use of them, and do not show it either.
#
# Sets command_sources to what the command needs, import_libraries for it to link, and import_definitions.

set(import_libraries "")
set(import_definitions "")
if(NOT GUFO_FULL)
    list(FILTER command_sources EXCLUDE REGEX "/cli/import/((migrate|convert|export)(_[a-z]+)?|given_keys)\\.c$")
else()
    list(FILTER command_sources EXCLUDE REGEX "/import_missing\\.c$")
endif()
if(NOT GUFO_IMPORT)
    return()
endif()

file(GLOB_RECURSE import_sources CONFIGURE_DEPENDS src/import/*.c)
set(table_files "")
gufo_table(hf_classes 5)
gufo_table(hf_tensor_names 3)
gufo_table(convert_findings 3)
gufo_table(convert_keys 7)
gufo_table(convert_ops 7)
gufo_table(export_classes 5)
gufo_table(export_names 4)
gufo_table(pretokenizer_probes 2)
gufo_table(usual_pre 2)
add_library(gufo_import_objects OBJECT ${import_sources} ${table_files})
set_target_properties(gufo_import_objects PROPERTIES POSITION_INDEPENDENT_CODE ${GUFO_LIBRARIES})
target_include_directories(gufo_import_objects PRIVATE include src ${table_folder})
# Those of the room text, which reads tokenizers, and those that it needs itself.
set(import_needs ${text_needs} gufo_library::yaml)
target_link_libraries(gufo_import_objects PRIVATE ${import_needs} gufo_flags Threads::Threads)
target_compile_definitions(gufo_import_objects PRIVATE PCRE2_CODE_UNIT_WIDTH=8)

gufo_archive(gufo_import_static gufo_import OBJECTS gufo_import_objects
    INSIDE gufo_text_internal gufo_internal)
add_library(gufo_import_shared SHARED $<TARGET_OBJECTS:gufo_import_objects>)
set_target_properties(gufo_import_shared PROPERTIES OUTPUT_NAME gufo_import LINKER_LANGUAGE C
    EXPORT_NAME gufo_import VERSION ${PROJECT_VERSION} SOVERSION ${gufo_soversion}
    INSTALL_RPATH "$ORIGIN") # libgufo.so lies beside it
# Not installed, for the command and the tests: with private functions within reach.
add_library(gufo_import_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:gufo_import_objects>)
set_target_properties(gufo_import_internal PROPERTIES LINKER_LANGUAGE C)
foreach(form static shared internal)
    target_link_libraries(gufo_import_${form} PRIVATE
        ${import_needs} m Threads::Threads $<BUILD_INTERFACE:gufo_flags>)
    target_link_libraries(gufo_import_${form} PUBLIC gufo_${form})
endforeach()
target_link_libraries(gufo_import_internal PUBLIC gufo_text_internal)
target_link_libraries(gufo_import_shared PRIVATE
    $<BUILD_INTERFACE:gufo_text_internal> $<BUILD_INTERFACE:gufo_internal>)
target_link_options(gufo_import_shared PRIVATE
    LINKER:--exclude-libs,libgufo_text_internal.a:libgufo_internal.a)
add_library(gufo::gufo_import ALIAS gufo_import_shared)
add_library(gufo::gufo_import_static ALIAS gufo_import_static)

if(GUFO_FULL)
    set(import_libraries gufo_import_internal)
    set(import_definitions GUFO_HAS_IMPORT)
endif()
