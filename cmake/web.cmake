# The viewer: a page that opens models in the browser (web/README.md).
#
#     viewer.wasm     libgufo and web/module/, by a build for WebAssembly (cmake/cross-wasm32.cmake)
#     viewer.html     the page with all of it inside; viewer-remote.html, which may also read URLs
#     viewer_native   the module as a program, by any other build with tests; they compare its texts with the module's

file(GLOB module_sources CONFIGURE_DEPENDS web/module/*.c)
list(FILTER module_sources EXCLUDE REGEX "/(host_wasm|native)\\.c$")
# JSON and words of the shell are written as the command writes them.
list(APPEND module_sources src/cli/core/values/json.c src/cli/core/terminal/shell.c)

# viewer_program(NAME source...): an executable with the module inside.
function(viewer_program name)
    add_executable(${name} ${module_sources} ${ARGN})
    target_include_directories(${name} PRIVATE include src web/module)
    target_link_libraries(${name} PRIVATE gufo_flags)
endfunction()

if(NOT GUFO_SYSTEM STREQUAL none)
    viewer_program(viewer_native web/module/native.c)
    target_link_libraries(viewer_native PRIVATE gufo_report_internal gufo_internal)
    set_target_properties(viewer_native PROPERTIES GUFO_NOT_COUNTED ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    return()
endif()

add_library(gufo_internal STATIC $<TARGET_OBJECTS:gufo_objects>)
foreach(library IN LISTS kernel_libraries)
    target_sources(gufo_internal PRIVATE $<TARGET_OBJECTS:${library}>)
endforeach()

set(GUFO_REPORT ON)
include(cmake/embed.cmake)
include(cmake/forms.cmake)
include(cmake/report.cmake)

viewer_program(viewer_module web/module/host_wasm.c)
target_sources(viewer_module PRIVATE $<TARGET_OBJECTS:gufo_report_objects>)
target_link_libraries(viewer_module PRIVATE gufo_internal m)
set_target_properties(viewer_module PROPERTIES OUTPUT_NAME viewer SUFFIX .wasm)
# What the page does not call is left out.
target_link_options(viewer_module PRIVATE LINKER:--gc-sections LINKER:--strip-all LINKER:-z,stack-size=524288)

# ---- the page ---------------------------------------------------------------------------------

file(GLOB page_parts CONFIGURE_DEPENDS web/page/*)
set(pages "")
foreach(page viewer:OFF viewer-remote:ON)
    string(REPLACE ":" ";" page ${page})
    list(GET page 0 name)
    list(GET page 1 remote)
    set(out ${PROJECT_BINARY_DIR}/${name}.html)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DMODULE=$<TARGET_FILE:viewer_module> -DOUT=${out}
            -DREMOTE=${remote} -P ${PROJECT_SOURCE_DIR}/web/make_page.cmake
        DEPENDS viewer_module ${page_parts} web/make_page.cmake src/report/page/style.css src/report/page/script.js
        VERBATIM COMMENT "Page ${name}.html")
    list(APPEND pages ${out})
endforeach()
add_custom_target(viewer ALL DEPENDS ${pages})

# ---- tests ------------------------------------------------------------------------------------

add_executable(codec_module web/tests/codec.c tests/support/digested.c)
target_include_directories(codec_module PRIVATE include src tests)
target_link_libraries(codec_module PRIVATE gufo_flags gufo_internal m)
set_target_properties(codec_module PROPERTIES OUTPUT_NAME codec SUFFIX .wasm)
target_link_options(codec_module PRIVATE LINKER:--gc-sections LINKER:--strip-all LINKER:-z,stack-size=524288)
