# Tests: unit tests (cmocka), one for each test_*.c in tests/ROOM or a folder in it, and command
# tests (bats).
#
# Every test finds in its environment
#   GUFO_SHARED     folder with real model files, which may be missing
#   GUFO_SOURCE     the source tree
#   GUFO_SANITIZE   the sanitizers that everything was built with; empty without
#   GUFO_PACE       how much to try, all, some or few: tests/support/pace.h
#   GUFO_TABLES     folder with the tables that pages of the registry become
# and command tests moreover
#   GUFO            the command
#   GUFO_TEST_BIN   folder with the helper programs, one per tests/cli/*.c
#   GUFO_EXAMPLES   folder with the example programs, make_sample among them

set(pace all)
if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(pace few)
elseif(GUFO_SANITIZE OR GUFO_COVERAGE)
    set(pace some)
endif()
set(test_environment "GUFO_SHARED=${GUFO_SHARED}" "GUFO_SOURCE=${PROJECT_SOURCE_DIR}"
    "GUFO_SANITIZE=${GUFO_SANITIZE}" "GUFO_PACE=${pace}"
    "GUFO_TABLES=${table_folder}/registry")

# ---- unit tests -------------------------------------------------------------------------------

file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
if(NOT TARGET gufo_text_internal)
    list(FILTER support_sources EXCLUDE REGEX "/vocab_maker.c$")
endif()
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS tests/test_*.c)
# Rooms that are libraries of their own may have been left out.
foreach(room digest compat template text import report remote)
    if(NOT TARGET gufo_${room}_internal)
        list(FILTER unit_tests EXCLUDE REGEX "/tests/${room}/")
    endif()
endforeach()
if(NOT GUFO_LEGACY OR NOT TARGET gufo_import_internal)
    list(FILTER unit_tests EXCLUDE REGEX "/tests/legacy/")
endif()
if(NOT TARGET gufo_import_internal)
    list(FILTER unit_tests EXCLUDE REGEX "/test_remote_folders.c$")
endif()
if(NOT TARGET gufo_digest_internal)
    list(FILTER unit_tests EXCLUDE REGEX "/test_((architectures|convert|tokenizers)_)?expected.c$")
endif()

# Of a build that runs some of them, the others are not compiled.  Those of the codec have kernels of their own in
# each build.
if(GUFO_TESTS OR GUFO_TESTS_LEFT_OUT OR GUFO_TESTS_PLAIN)
    set(all_unit_tests ${unit_tests})
    set(unit_tests "")
    foreach(source IN LISTS all_unit_tests)
        if(GUFO_TESTS_PLAIN AND NOT source MATCHES "/tests/codec/")
            file(STRINGS ${source} paced REGEX "^#include \"(.*/)?(fixture_model|outputs|pace|step_cases)\\.h\"")
            if(NOT paced)
                continue()
            endif()
        endif()
        string(REGEX REPLACE "^.*/tests/([a-z]+)/.*test_([a-z0-9_]+)\\.c$" "unit.\\1.\\2" name ${source})
        if(name MATCHES "${GUFO_TESTS}" AND (NOT GUFO_TESTS_LEFT_OUT OR NOT name MATCHES "${GUFO_TESTS_LEFT_OUT}"))
            list(APPEND unit_tests ${source})
        endif()
    endforeach()
endif()

# The program that a test is in.  To link one for each file would take longer than to run most of them.
#   test_ROOM_NAME  a file that says "A program of its own": it replaces functions of the system or of the
#                   library, or has arguments
#   test_ROOM_disk  files that use tests/support/disk.h, which takes the place of the library's disk
#   test_ROOM       all other files of the room
# The last two run the file that their argument names (tests/run_one.c); scripts/lint checks that its files share
# no names but their main functions, which are called ROOM_NAME_main.
set(test_programs "")
foreach(source IN LISTS unit_tests)
    file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "/.*" "" room ${room})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "" name ${name})
    file(STRINGS ${source} own_program REGEX "A program of its own")
    file(STRINGS ${source} own_disk REGEX "^#include \"(.*/)?(copies|disk|recording|workshop)\\.h\"")
    set(argument ${name})
    if(own_program)
        set(program test_${room}_${name})
        set(argument "")
    else()
        set(program test_${room})
        if(own_disk)
            set(program test_${room}_disk)
        endif()
        set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=${room}_${name}_main)
        string(APPEND tests_of_${program} "TEST(${room}, ${name})\n")
    endif()
    list(APPEND test_programs ${program})
    list(APPEND sources_of_${program} ${source})
    set(room_of_${program} ${room})
    if(own_disk)
        set(disk_of_${program} gufo_test_disk)
    endif()
    add_test(NAME unit.${room}.${name} COMMAND ${program} ${argument})
    # 77: the whole file found nothing to test with.
    set_tests_properties(unit.${room}.${name} PROPERTIES
        ENVIRONMENT "${test_environment}" LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
list(REMOVE_DUPLICATES test_programs)

# Private headers are within reach.
add_library(gufo_test_base INTERFACE)
target_include_directories(gufo_test_base INTERFACE src tests ${CMOCKA_INCLUDE_DIR})
target_link_libraries(gufo_test_base INTERFACE gufo_internal gufo_flags ${CMOCKA_LIBRARY})
set(disk_sources ${support_sources})
list(FILTER disk_sources INCLUDE REGEX "/(disk|recording)\\.c$")
list(REMOVE_ITEM support_sources ${disk_sources})
add_library(gufo_test_support STATIC ${support_sources})
target_link_libraries(gufo_test_support PUBLIC gufo_test_base)
add_library(gufo_test_disk STATIC ${disk_sources})
set_target_properties(gufo_test_support gufo_test_disk PROPERTIES GUFO_NOT_COUNTED ON)
target_link_libraries(gufo_test_disk PUBLIC gufo_test_support)

# All of it that unit tests and fuzz seeds need, without the command, the libraries for others and the examples.
add_custom_target(gufo_tests)

foreach(program IN LISTS test_programs)
    add_dependencies(gufo_tests ${program})
    add_executable(${program} ${sources_of_${program}})
    set_target_properties(${program} PROPERTIES GUFO_NOT_COUNTED ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    if(tests_of_${program})
        set(list ${PROJECT_BINARY_DIR}/tests/${program}.def)
        file(CONFIGURE OUTPUT ${list} CONTENT "${tests_of_${program}}" @ONLY)
        target_sources(${program} PRIVATE tests/run_one.c)
        target_compile_definitions(${program} PRIVATE TEST_LIST="${list}")
    endif()
    target_link_libraries(${program} PRIVATE ${disk_of_${program}} gufo_test_support)
    # Optimizing a test takes longer than what it computes itself.
    target_compile_options(${program} PRIVATE -O0)
    # Undefined behaviour is looked for in what is tested.
    if(GUFO_SANITIZE MATCHES "undefined")
        target_link_libraries(${program} PRIVATE gufo_unchecked)
    endif()
    string(REPLACE legacy import room ${room_of_${program}}) # the library that both are
    if(TARGET gufo_${room}_internal)
        target_link_libraries(${program} PRIVATE gufo_${room}_internal)
    endif()
endforeach()
# Some expected results are hashes.
foreach(program test_import test_legacy)
    if(TARGET ${program} AND TARGET gufo_digest_internal)
        target_link_libraries(${program} PRIVATE gufo_digest_internal)
    endif()
endforeach()
# Folders on a server are converted.
if(TARGET test_remote AND TARGET gufo_import_internal)
    target_link_libraries(test_remote PRIVATE gufo_import_internal gufo_library::jansson)
endif()
# Conversations are files of JSON.
if(TARGET test_template)
    target_link_libraries(test_template PRIVATE gufo_library::jansson)
endif()
# The judge of the names of files; the library does without.
if(TARGET test_schema AND PCRE2_FOUND)
    target_compile_definitions(test_schema PRIVATE TEST_PCRE2)
    target_link_libraries(test_schema PRIVATE gufo_library::pcre2)
endif()

# The reader of tokenizer.json, which the library does without, too.
if(TARGET test_schema AND TARGET gufo_text_internal)
    target_compile_definitions(test_schema PRIVATE TEST_TEXT)
    target_link_libraries(test_schema PRIVATE gufo_text_internal)
endif()

include(cmake/compat_tests.cmake)

# ---- command tests ----------------------------------------------------------------------------

set(test_bin ${PROJECT_BINARY_DIR}/tests)
file(GLOB helper_sources CONFIGURE_DEPENDS tests/cli/*.c)
list(FILTER helper_sources EXCLUDE REGEX "/(test|slow|signal)_[^/]*$")
file(GLOB command_tests CONFIGURE_DEPENDS tests/cli/*.bats)

set(command_environment "GUFO=$<TARGET_FILE:gufo_command>" "GUFO_TEST_BIN=${test_bin}"
    "GUFO_EXAMPLES=${PROJECT_BINARY_DIR}/examples")

foreach(source IN LISTS helper_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${test_bin})
    target_include_directories(${name} PRIVATE src tests)
    target_compile_options(${name} PRIVATE -O0)
    target_link_libraries(${name} PRIVATE gufo_internal gufo_flags)
endforeach()

# Loaded into the command by progress.bats and continue.bats.
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT GUFO_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    foreach(name slow_files signal_files)
        add_library(${name} MODULE tests/cli/${name}.c)
        set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${test_bin} PREFIX "")
        target_link_libraries(${name} PRIVATE gufo_flags ${CMAKE_DL_LIBS})
    endforeach()
endif()

set(tags "") # of tests: tests/cli/common.bash
if(GUFO_SANITIZE)
    list(APPEND tags !plain)
endif()
if(GUFO_TESTS_PLAIN)
    list(APPEND tags plain)
endif()
if(NOT GUFO_LEGACY)
    list(APPEND tags !legacy)
endif()
list(JOIN tags "," tags)
set(bats_filter "")
if(tags)
    set(bats_filter --filter-tags ${tags})
endif()

# The command as -DGUFO_LEGACY=OFF makes it, of the same objects but for three.
if(TARGET gufo_command AND GUFO_FULL AND GUFO_LEGACY)
    add_executable(gufo_without_legacy $<FILTER:$<TARGET_OBJECTS:gufo_command>,EXCLUDE,/built_in\\.c>
        src/cli/core/options/built_in.c src/import/containers/checkpoint.c src/import/legacy_missing.c)
    set_target_properties(gufo_without_legacy PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${test_bin} GUFO_NOT_COUNTED ON)
    target_include_directories(gufo_without_legacy PRIVATE src)
    target_compile_definitions(gufo_without_legacy PRIVATE GUFO_HAS_IMPORT GUFO_PCRE2 ${digest_definitions} ${remote_definitions}
        ${text_definitions})
    target_link_libraries(gufo_without_legacy PRIVATE ${digest_libraries} ${remote_libraries} ${text_libraries} ${import_libraries}
        gufo_report_internal gufo_internal gufo_flags gufo_library::pcre2 gufo_library::jansson gufo_library::utf8proc gufo_library::yaml)
endif()
# Pages in a browser; skipped where it is missing (tests/report/run).
if(TARGET gufo_command AND NOT CMAKE_CROSSCOMPILING AND NOT GUFO_SANITIZE)
    file(GLOB browser_tests CONFIGURE_DEPENDS tests/report/pages*.mjs)
    foreach(source IN LISTS browser_tests)
        get_filename_component(name ${source} NAME_WE)
        add_test(NAME browser.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/report/run ${source})
        set_tests_properties(browser.${name} PROPERTIES
            ENVIRONMENT "${test_environment};GUFO=$<TARGET_FILE:gufo_command>;GUFO_EXAMPLES=${PROJECT_BINARY_DIR}/examples"
            LABELS browser SKIP_RETURN_CODE 77 TIMEOUT 600 RUN_SERIAL ON)
    endforeach()
endif()
if(CMAKE_CROSSCOMPILING)
    message(STATUS "cross build: no command tests")
elseif(TARGET gufo_command)
    foreach(source IN LISTS command_tests)
        get_filename_component(name ${source} NAME_WE)
        file(STRINGS ${source} plain REGEX "^ *# bats (file|test)_tags=([a-z]+,)*plain")
        if(GUFO_TESTS_PLAIN AND NOT plain)
            continue()
        endif()
        add_test(NAME cli.${name} COMMAND ${BATS} ${bats_filter} ${source})
        set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 180 COST 10 ENVIRONMENT
            "${test_environment};${command_environment}")
    endforeach()
endif()

# Recipes of docs/cluster.md, each with the engine that it is for; skipped where that is not installed (scripts/cluster).
if(TARGET gufo_command AND GUFO_FULL AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING AND NOT GUFO_SANITIZE)
    file(GLOB cluster_tests CONFIGURE_DEPENDS tests/cluster/*.bats)
    foreach(source IN LISTS cluster_tests)
        get_filename_component(name ${source} NAME_WE)
        add_test(NAME cluster.${name} COMMAND ${BATS} ${source})
        set_tests_properties(cluster.${name} PROPERTIES LABELS cluster TIMEOUT 300 COST 5 PROCESSORS 2 ENVIRONMENT
            "${test_environment};${command_environment};GUFO_PYTHON_FOLDER=${PROJECT_BINARY_DIR}/python")
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
    add_test(NAME package.mixed COMMAND ${BASH} ${package_tests}/mixed
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/package_mixed ${CMAKE_C_COMPILER})
    add_test(NAME package.headers COMMAND ${BASH} ${package_tests}/headers
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/package_headers c++ ${CMAKE_C_COMPILER})
    add_test(NAME package.pages COMMAND ${BASH} ${package_tests}/pages ${PROJECT_SOURCE_DIR})
    add_test(NAME package.vendored COMMAND ${BASH} ${package_tests}/vendored/run
        ${PROJECT_BINARY_DIR}/package_vendored ${CMAKE_C_COMPILER})
    add_test(NAME abi.old_program COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/abi/run
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/abi_old_program ${CMAKE_C_COMPILER})
    add_test(NAME abi.compare COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/abi/compare
        ${PROJECT_BINARY_DIR}/abi_compare ${CMAKE_C_COMPILER})
    set_tests_properties(abi.old_program abi.compare PROPERTIES LABELS abi SKIP_RETURN_CODE 77)
    set_tests_properties(package package.archives package.mixed package.headers package.pages package.vendored PROPERTIES
        LABELS package)
    set_tests_properties(package.vendored PROPERTIES COST 100 PROCESSORS 2)
    if(TARGET gufo_command)
        add_test(NAME completion COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/package/completion
            $<TARGET_FILE:gufo_command>)
        set_tests_properties(completion PROPERTIES LABELS package
            ENVIRONMENT "${test_environment};${command_environment}")
        if(GUFO_DIGEST) # every command is there
            add_test(NAME command_doc COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/command_doc --check
                ${PROJECT_BINARY_DIR})
            add_test(NAME documents COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/documents ${PROJECT_BINARY_DIR})
            set_tests_properties(command_doc documents PROPERTIES LABELS package)
            if(TARGET make_sample)
                add_test(NAME outputs COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/outputs ${PROJECT_BINARY_DIR}
                    --check ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/commands.md ${PROJECT_SOURCE_DIR}/docs/tasks.md
                    ${PROJECT_SOURCE_DIR}/docs/estimate.md ${PROJECT_SOURCE_DIR}/docs/target-size.md)
                set_tests_properties(outputs PROPERTIES LABELS package)
                if(NOT GUFO_SANITIZE) # it computes for long
                    include(${PROJECT_SOURCE_DIR}/cmake/simulate.cmake)
                    add_test(NAME outputs.simulation COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/scripts/outputs
                        ${PROJECT_BINARY_DIR} --check ${PROJECT_SOURCE_DIR}/docs/simulation.md)
                    set_tests_properties(outputs.simulation PROPERTIES LABELS package COST 30)
                endif()
            endif()
        endif()
    endif()
endif()
