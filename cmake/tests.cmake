# Tests: unit tests (cmocka), one program per test_*.c in tests/ROOM or a folder in it, and command
# tests (bats).
#
# Every test finds in its environment
#   GUFO_SHARED     folder with real model files, which may be missing
#   GUFO_SOURCE     the source tree
#   GUFO_SANITIZE   the sanitizers that everything was built with; empty without
#   GUFO_EMULATED   not empty where a processor is emulated: tests/support/pace.h
# and command tests moreover
#   GUFO            the command
#   GUFO_TEST_BIN   folder with the helper programs, one per tests/cli/*.c
#   GUFO_EXAMPLES   folder with the example programs, make_sample among them

set(test_environment "GUFO_SHARED=${GUFO_SHARED}" "GUFO_SOURCE=${PROJECT_SOURCE_DIR}"
    "GUFO_SANITIZE=${GUFO_SANITIZE}" "GUFO_EMULATED=${CMAKE_CROSSCOMPILING_EMULATOR}")

# ---- unit tests -------------------------------------------------------------------------------

file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
if(NOT TARGET gufo_text_internal)
    list(FILTER support_sources EXCLUDE REGEX "/vocab_maker.c$")
endif()
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS tests/test_*.c)
# Rooms that are libraries of their own may have been left out.
foreach(room digest compat text import)
    if(NOT TARGET gufo_${room}_internal)
        list(FILTER unit_tests EXCLUDE REGEX "/tests/${room}/")
    endif()
endforeach()
if(NOT TARGET gufo_digest_internal)
    list(FILTER unit_tests EXCLUDE REGEX "/test_(architectures|legacy|tokenizers)_expected.c$")
endif()

function(add_unit_test source)
    file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "/.*" "" room ${room})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "" name ${name})
    add_executable(test_${room}_${name} ${source})
    set_target_properties(test_${room}_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(test_${room}_${name} PRIVATE gufo_test_support)
    if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
        # Optimizing a test takes longer than what it computes itself.
        target_compile_options(test_${room}_${name} PRIVATE -O0)
    endif()
    if(TARGET gufo_${room}_internal)
        target_link_libraries(test_${room}_${name} PRIVATE gufo_${room}_internal)
    endif()
    add_test(NAME unit.${room}.${name} COMMAND test_${room}_${name})
    # 77: the whole program found nothing to test with.
    set_tests_properties(unit.${room}.${name} PROPERTIES
        ENVIRONMENT "${test_environment}" LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()

# Private headers are within reach.
add_library(gufo_test_base INTERFACE)
target_include_directories(gufo_test_base INTERFACE src tests ${CMOCKA_INCLUDE_DIR})
target_link_libraries(gufo_test_base INTERFACE gufo_internal gufo_flags ${CMOCKA_LIBRARY})
add_library(gufo_test_support STATIC ${support_sources})
target_link_libraries(gufo_test_support PUBLIC gufo_test_base)
foreach(source IN LISTS unit_tests)
    add_unit_test(${source})
endforeach()
# Its expected results are hashes.
foreach(test test_import_architectures_expected test_import_legacy_expected
        test_import_tokenizers_expected)
    if(TARGET ${test})
        target_link_libraries(${test} PRIVATE gufo_digest_internal)
    endif()
endforeach()
# The judge of the names of files; the library does without.
if(TARGET test_schema_name_pcre2 AND PCRE2_FOUND)
    target_compile_definitions(test_schema_name_pcre2 PRIVATE TEST_PCRE2)
    target_link_libraries(test_schema_name_pcre2 PRIVATE gufo_library::pcre2)
endif()

include(cmake/compat_tests.cmake)

# ---- command tests ----------------------------------------------------------------------------

set(test_bin ${PROJECT_BINARY_DIR}/tests)
file(GLOB helper_sources CONFIGURE_DEPENDS tests/cli/*.c)
list(FILTER helper_sources EXCLUDE REGEX "/(test|slow)_[^/]*$")
file(GLOB command_tests CONFIGURE_DEPENDS tests/cli/*.bats)

set(command_environment "GUFO=$<TARGET_FILE:gufo_command>" "GUFO_TEST_BIN=${test_bin}"
    "GUFO_EXAMPLES=${PROJECT_BINARY_DIR}/examples")

foreach(source IN LISTS helper_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${test_bin})
    target_include_directories(${name} PRIVATE src tests)
    target_link_libraries(${name} PRIVATE gufo_internal gufo_flags)
endforeach()

# Loaded into the command by progress.bats.
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT GUFO_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    add_library(slow_files MODULE tests/cli/slow_files.c)
    set_target_properties(slow_files PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${test_bin} PREFIX "")
    target_link_libraries(slow_files PRIVATE gufo_flags ${CMAKE_DL_LIBS})
endif()

if(CMAKE_CROSSCOMPILING)
    message(STATUS "cross build: no command tests")
elseif(TARGET gufo_command)
    foreach(source IN LISTS command_tests)
        get_filename_component(name ${source} NAME_WE)
        add_test(NAME cli.${name} COMMAND ${BATS} ${source})
        set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 180 COST 10 ENVIRONMENT
            "${test_environment};${command_environment}")
    endforeach()
endif()

# ---- installed package, binary interface ------------------------------------------------------

# A foreign project cannot link what was built with sanitizers.
find_program(BASH bash)
mark_as_advanced(BASH)
if(BASH AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING AND NOT GUFO_SANITIZE)
    set(package_tests ${PROJECT_SOURCE_DIR}/tests/package)
    add_test(NAME package COMMAND ${BASH} ${package_tests}/run
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/package ${CMAKE_C_COMPILER})
    add_test(NAME package.archives COMMAND ${BASH} ${package_tests}/archives
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/package_archives ${CMAKE_C_COMPILER})
    add_test(NAME package.headers COMMAND ${BASH} ${package_tests}/headers
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/package_headers c++ ${CMAKE_C_COMPILER})
    add_test(NAME package.vendored COMMAND ${BASH} ${package_tests}/vendored/run
        ${PROJECT_BINARY_DIR}/package_vendored ${CMAKE_C_COMPILER})
    add_test(NAME abi.old_program COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/abi/run
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/abi_old_program ${CMAKE_C_COMPILER})
    add_test(NAME abi.compare COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/abi/compare
        ${PROJECT_BINARY_DIR}/abi_compare ${CMAKE_C_COMPILER})
    set_tests_properties(abi.old_program abi.compare PROPERTIES LABELS abi SKIP_RETURN_CODE 77)
    set_tests_properties(package package.archives package.headers package.vendored PROPERTIES LABELS package)
    set_tests_properties(package.vendored PROPERTIES COST 100 PROCESSORS 2)
    if(TARGET gufo_command)
        add_test(NAME completion COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/package/completion
            $<TARGET_FILE:gufo_command>)
        set_tests_properties(completion PROPERTIES LABELS package
            ENVIRONMENT "${test_environment};${command_environment}")
        if(GUFO_DIGEST) # every command is there
            add_test(NAME command_doc COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/command_doc --check
                ${PROJECT_BINARY_DIR})
            set_tests_properties(command_doc PROPERTIES LABELS package)
            if(TARGET make_sample)
                add_test(NAME outputs COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/outputs ${PROJECT_BINARY_DIR}
                    --check ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/tasks.md)
                set_tests_properties(outputs PROPERTIES LABELS package)
            endif()
        endif()
    endif()
endif()
