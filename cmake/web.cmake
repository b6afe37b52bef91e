# The viewer: a page that opens models in the browser (web/README.md).
#
#     viewer.wasm     libgufo and web/module/, by a build for WebAssembly (cmake/cross-wasm32.cmake)
#     viewer.html     the page with all of it inside; viewer-remote.html, which may also read URLs
#     viewer_native   the module as a program, by any other build with tests; they compare its texts with the module's
#     codec.wasm, template.wasm, template_native   for tests alone

file(GLOB module_sources CONFIGURE_DEPENDS web/module/*.c)
set(wasm_sources ${module_sources})
list(FILTER wasm_sources INCLUDE REGEX "_wasm\\.c$")
list(FILTER module_sources EXCLUDE REGEX "(_wasm|/native)\\.c$")
# JSON, metadata, words of the shell and advice about findings are written as the command writes them.
list(APPEND module_sources src/cli/core/values/json.c src/cli/core/values/value_number.c src/cli/core/terminal/shell.c
    src/cli/inspect/metadata.c src/cli/validate/advice.c)

# viewer_program(NAME source...): an executable with the module inside.
function(viewer_program name)
    add_executable(${name} ${module_sources} ${ARGN})
    target_include_directories(${name} PRIVATE include src web/module)
    target_link_libraries(${name} PRIVATE gufo_flags)
endfunction()

if(NOT GUFO_SYSTEM STREQUAL none)
    if(NOT TARGET gufo_text_internal) # a build that needs nothing else
        return()
    endif()
    viewer_program(viewer_native web/module/native.c)
    target_link_libraries(viewer_native PRIVATE gufo_report_internal gufo_text_internal gufo_internal)
    add_executable(template_native web/tests/template.c)
    target_include_directories(template_native PRIVATE include src tests)
    target_link_libraries(template_native PRIVATE gufo_flags gufo_template_internal gufo_internal)
    set_target_properties(viewer_native template_native PROPERTIES GUFO_NOT_COUNTED ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    return()
endif()

# No sentence of the registry is shown, and nothing makes ids of texts.
target_compile_definitions(gufo_objects PRIVATE GUFO_NO_SUMMARIES)
add_library(gufo_internal STATIC $<TARGET_OBJECTS:gufo_objects>)
foreach(library IN LISTS kernel_libraries)
    target_sources(gufo_internal PRIVATE $<TARGET_OBJECTS:${library}>)
endforeach()

set(GUFO_REPORT ON)
include(cmake/embed.cmake)
include(cmake/forms.cmake)
include(cmake/report.cmake)

# What needs PCRE2, utf8proc or Jansson is left out, which Debian does not have for WebAssembly: the room template asks
# the browser instead (web/module/unicode_wasm.c), the room text opens vocabularies, and reads no tokenizer.json.
gufo_room(template WITHOUT "/values/unicode\\.c$")
string(CONCAT text_left_out "/text/(expressions|pipeline|export)/|/text/(tokenize|vocab_compare)\\.c$|/formats/(json|tokenizer)"
    "|/opening/original\\.c$|/pretokenizers/(alphabet|pretokenizer)\\.c$|/wpm_words\\.c$|/characters/(origins|unicode)\\.c$")
set(table_files "")
gufo_table(special_texts 4)
gufo_table(unicode_classes 3)
gufo_table(pretokenizer_rules 9)
gufo_table(pretokenizer_shapes 3)
gufo_table(pretokenizer_steps 3)
gufo_room(text WITHOUT "${text_left_out}")
target_sources(gufo_text_objects PRIVATE ${table_files})
target_compile_definitions(gufo_text_objects PRIVATE GUFO_NO_TOKENIZING)
target_include_directories(gufo_text_objects PRIVATE ${table_folder})

# An object of the module takes the place of one in the archive that has the same names.
viewer_program(viewer_module ${wasm_sources})
foreach(room report template text)
    target_sources(viewer_module PRIVATE $<TARGET_OBJECTS:gufo_${room}_objects>)
endforeach()
target_include_directories(viewer_module PRIVATE ${table_folder})
target_link_libraries(viewer_module PRIVATE gufo_internal m)
add_dependencies(viewer_module gufo_objects)
set_target_properties(viewer_module PROPERTIES OUTPUT_NAME viewer SUFFIX .wasm)
# What the page does not call is left out.  A stack that is full ends in front of address 0, which is an error, and not in
# data.
target_link_options(viewer_module PRIVATE LINKER:--gc-sections LINKER:--strip-all LINKER:-z,stack-size=524288 LINKER:--stack-first)

# ---- the page ---------------------------------------------------------------------------------

# Both together make the module a tenth smaller in the page.
find_program(GUFO_WASM_OPT wasm-opt)
find_program(GUFO_ZOPFLI zopfli)
if(NOT GUFO_WASM_OPT OR NOT GUFO_ZOPFLI)
    message(FATAL_ERROR "wasm-opt or zopfli not found: sudo apt install binaryen zopfli")
endif()
set(packed ${PROJECT_BINARY_DIR}/viewer.wasm.gz)
add_custom_command(OUTPUT ${packed}
    COMMAND ${GUFO_WASM_OPT} -Oz --low-memory-unused $<TARGET_FILE:viewer_module> -o ${PROJECT_BINARY_DIR}/viewer.small.wasm
    COMMAND ${GUFO_ZOPFLI} -c ${PROJECT_BINARY_DIR}/viewer.small.wasm > ${packed}
    DEPENDS viewer_module VERBATIM COMMENT "Packing viewer.wasm")

file(GLOB page_parts CONFIGURE_DEPENDS web/page/*)
set(pages "")
foreach(page viewer:OFF viewer-remote:ON)
    string(REPLACE ":" ";" page ${page})
    list(GET page 0 name)
    list(GET page 1 remote)
    set(out ${PROJECT_BINARY_DIR}/${name}.html)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DMODULE=${packed} -DOUT=${out}
            -DREMOTE=${remote} -P ${PROJECT_SOURCE_DIR}/web/make_page.cmake
        DEPENDS ${packed} ${page_parts} web/make_page.cmake src/report/page/style.css src/report/page/script.js
        VERBATIM COMMENT "Page ${name}.html")
    list(APPEND pages ${out})
endforeach()
add_custom_target(viewer ALL DEPENDS ${pages})

# ---- tests ------------------------------------------------------------------------------------

# test_module(NAME source...): NAME.wasm
function(test_module name)
    add_executable(${name}_module ${ARGN})
    target_include_directories(${name}_module PRIVATE include src tests)
    target_link_libraries(${name}_module PRIVATE gufo_flags gufo_internal m)
    set_target_properties(${name}_module PROPERTIES OUTPUT_NAME ${name} SUFFIX .wasm)
    target_link_options(${name}_module PRIVATE LINKER:--gc-sections LINKER:--strip-all LINKER:-z,stack-size=524288 LINKER:--stack-first)
endfunction()

test_module(codec web/tests/codec.c tests/support/digested.c)
test_module(template web/tests/template.c web/module/unicode_wasm.c $<TARGET_OBJECTS:gufo_template_objects>)
