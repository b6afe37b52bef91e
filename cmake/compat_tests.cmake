# Tests of libgguf beside its unit tests: with failing memory, and against a real ggml.

if(TARGET test_compat_memory)
    target_link_options(test_compat_memory PRIVATE
        LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc)
endif()

# ---- plain names ------------------------------------------------------------------------------

# libgguf as the option GUFO_PLAIN_GGUF_NAMES makes it, and a program that knows no header.
if(TARGET gguf_static AND GUFO_LIBRARIES AND UNIX AND NOT APPLE AND NOT GUFO_SANITIZE)
    add_library(gguf_plain SHARED include/gufo-compat/gguf.h)
    set_target_properties(gguf_plain PROPERTIES LINKER_LANGUAGE C)
    target_link_options(gguf_plain PRIVATE
        LINKER:--whole-archive,$<TARGET_FILE:gguf_static>,--no-whole-archive)
    target_link_libraries(gguf_plain PRIVATE gufo_static m Threads::Threads)
    add_dependencies(gguf_plain gguf_static)
    add_plain_names(gguf_plain)
    add_executable(plain_names tests/compat/plain_names.c)
    target_link_libraries(plain_names PRIVATE gufo_flags ${CMAKE_DL_LIBS})
    add_dependencies(plain_names gguf_plain)
    set_target_properties(gguf_plain plain_names PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME compat.plain_names COMMAND plain_names $<TARGET_FILE:gguf_plain>
        ${PROJECT_SOURCE_DIR}/include/gufo-compat/gguf.h)
    set_tests_properties(compat.plain_names PROPERTIES LABELS compat)
endif()

# ---- a shared ggml, and libgguf beside it -----------------------------------------------------

find_program(BASH bash)
mark_as_advanced(BASH)
include(CheckLanguage)
if(TARGET gguf_static AND GUFO_LIBRARIES AND UNIX AND NOT CMAKE_CROSSCOMPILING)
    check_language(CXX)
endif()
if(CMAKE_CXX_COMPILER AND TARGET gguf_static AND GUFO_LIBRARIES)
    enable_language(CXX)
    # Sanitizers of two compilers do not go together.
    if(GUFO_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
        message(STATUS "sanitizers, and another C++ compiler: the drop-in is not tested")
    else()
        include(cmake/compat_shared.cmake)
    endif()
elseif(TARGET gguf_static)
    message(STATUS "no C++ compiler, a cross build, or no libraries: the drop-in is not tested")
endif()

# ---- against ggml -----------------------------------------------------------------------------

# Builds that ggml, with its processor backend, for its own test of this interface.
if(NOT GUFO_GGML_DIR OR NOT TARGET gguf_dropin)
    return()
endif()
if(NOT TARGET ggml-base)
    set(BUILD_SHARED_LIBS OFF)
    set(GGML_NATIVE OFF CACHE BOOL "")
    set(GGML_OPENMP OFF CACHE BOOL "")
    set(CMAKE_POSITION_INDEPENDENT_CODE ON) # its objects also go into shared libraries
    add_subdirectory(${GUFO_GGML_DIR} ${PROJECT_BINARY_DIR}/ggml EXCLUDE_FROM_ALL SYSTEM)
endif()

set(peer_folder ${PROJECT_BINARY_DIR}/tests/peer)

# One program, three libraries: ggml alone, ggml with gguf.cpp replaced, and without any ggml.
function(add_transcript name)
    add_executable(${name} tests/compat/peer/transcript.c)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${peer_folder})
    target_compile_features(${name} PRIVATE c_std_17)
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    target_compile_options(${name} PRIVATE -Wall -Wextra)
    target_link_libraries(${name} PRIVATE ${ARGN})
endfunction()
add_transcript(transcript_ggml ggml-base)
add_transcript(transcript_dropin gguf_dropin ggml-base)
add_transcript(transcript_standalone gguf_static)

add_test(NAME compat.transcripts COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/compat/peer/run
    $<TARGET_FILE:transcript_ggml> $<TARGET_FILE:transcript_dropin>
    $<TARGET_FILE:transcript_standalone> ${PROJECT_SOURCE_DIR}/fuzz/seeds
    ${PROJECT_BINARY_DIR}/tests/peer)
set_tests_properties(compat.transcripts PROPERTIES LABELS compat TIMEOUT 1200)

if(COMMAND add_shared_ggml_tests)
    add_shared_ggml_tests(ggml gguf_dropin "version 3, name tiny\n[^\n]*is another's"
        "${GUFO_GGML_DIR}/include"
        "$<FILTER:$<TARGET_OBJECTS:ggml-base>,EXCLUDE,gguf\\.cpp>"
        "$<FILTER:$<TARGET_OBJECTS:ggml-base>,INCLUDE,gguf\\.cpp>")
endif()

# ggml's own test is in the tree of llama.cpp, whose folder ggml it wants.
set(ggml_test ${GUFO_GGML_DIR}/../tests/test-gguf.cpp)
if(EXISTS ${ggml_test} AND TARGET ggml)
    add_executable(test_gguf_dropin ${ggml_test})
    set_target_properties(test_gguf_dropin PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${peer_folder})
    target_compile_features(test_gguf_dropin PRIVATE cxx_std_17)
    target_link_libraries(test_gguf_dropin PRIVATE gguf_dropin ggml ggml-base)
    foreach(seed RANGE 1 5)
        add_test(NAME compat.test_gguf_${seed} COMMAND test_gguf_dropin ${seed})
        set_tests_properties(compat.test_gguf_${seed} PROPERTIES LABELS compat
            FAIL_REGULAR_EXPRESSION "FAIL" PASS_REGULAR_EXPRESSION "tests passed\n[^\n]*OK")
    endforeach()
else()
    message(STATUS "no llama.cpp around ${GUFO_GGML_DIR}: its test-gguf is not run")
endif()
