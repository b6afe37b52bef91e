# What can be switched, and the flags that everything is compiled with.

# Three kinds of builds: a full one, for which all libraries have to be there (cmake/libraries.cmake); a
# minimal one, of libgufo and the commands that need no library; and in a project that includes this
# one, libgufo alone.
option(GUFO_MINIMAL "Build libgufo and the commands that need no library, nothing else" OFF)
set(GUFO_FULL OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT GUFO_MINIMAL)
    set(GUFO_FULL ON)
endif()
option(GUFO_BUILD_TESTS "Build the tests" ${GUFO_FULL})
option(GUFO_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(GUFO_BUILD_BENCH "Build the benchmarks" OFF)
option(GUFO_FUZZ "Build the fuzz targets (clang, libFuzzer)" OFF)
# The rooms compat (libgguf, the documented C API), digest (hashes, manifests, signatures), template (chat
# templates), text (vocabularies), import (other formats) and remote (models on other machines).  Given beside GUFO_MINIMAL they are built, with the libraries that are there, for their tests on
# other machines.
foreach(room COMPAT DIGEST TEMPLATE TEXT IMPORT REMOTE)
    if(NOT DEFINED GUFO_${room})
        set(GUFO_${room} ${GUFO_FULL})
    endif()
endforeach()
if(NOT DEFINED GUFO_REPORT) # which needs nothing (pages that show models): the command always has it
    set(GUFO_REPORT ${PROJECT_IS_TOP_LEVEL})
endif()
if(GUFO_IMPORT) # reads tokenizers with it
    set(GUFO_TEXT ON)
endif()
if(GUFO_TEXT) # renders the chat templates of models
    set(GUFO_TEMPLATE ON)
endif()
option(GUFO_LEGACY "Read the formats before GGUF, and GGUF 1 and 2 (the room legacy, gufo migrate)" ON)
option(GUFO_LIBRARIES "Build libraries for other programs; without, for the command and the tests alone" ON)
option(GUFO_PLAIN_GGUF_NAMES "Give libgguf.so the names gguf_... beside its own, for dlsym" OFF)
option(GUFO_PYTHON "Build the Python package (python/README.md)" OFF)
# Shared libraries are made of it.
set(GUFO_PIC OFF)
if(GUFO_LIBRARIES OR (GUFO_PYTHON AND NOT GUFO_SANITIZE))
    set(GUFO_PIC ON)
endif()
option(GUFO_INSTALL "Install what is built" ${PROJECT_IS_TOP_LEVEL})
option(GUFO_THREADS "Work on several threads; without, pthread is not needed, and programs call the library on one thread alone" ON)
set(GUFO_SYSTEM posix CACHE STRING
    "posix; or none: libgufo reads memory and sources of the caller, and has no files, jobs and commands (web/)")
set_property(CACHE GUFO_SYSTEM PROPERTY STRINGS posix none)
option(GUFO_WERROR "Treat warnings as errors" OFF)
option(GUFO_VECTOR_KERNELS "Build kernels for instruction sets beside plain C" ON)
set(GUFO_KERNEL_FLAGS "" CACHE STRING "Flags for the kernels of the codec, which come last: -O0 compiles them in a quarter of the time")
option(GUFO_COVERAGE "Count the branches that the libraries take (gcc; scripts/coverage)" OFF)
set(GUFO_ROOMS base codec format schema produce quant edit estimate CACHE STRING
    "Rooms of libgufo, from the lowest floor up; the first ones can be built and tested alone")
option(GUFO_TESTS_PLAIN "Of unit tests and command tests, only those that builds with sanitizers leave out or try fewer cases of" OFF)
set(GUFO_TESTS "" CACHE STRING "Regular expression of the unit tests to build, by their names in ctest; empty: all")
set(GUFO_TESTS_LEFT_OUT "" CACHE STRING "Regular expression of those not to build")
set(GUFO_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for example address,undefined")
set(GUFO_SHARED "${PROJECT_SOURCE_DIR}/../shared" CACHE PATH
    "Folder with real model files; tests that need them skip when it is not there")
set(GUFO_GGML_DIR "" CACHE PATH
    "Source tree of ggml: build libgguf-dropin.a against its headers, and test it with that ggml")
set(GUFO_BENCH_GGML "" CACHE PATH "Source tree of ggml that the benchmarks compare with")
set(GUFO_BENCH_LLAMA "" CACHE PATH "Tree of llama.cpp, built in its folder build, that bench_text compares with")

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# CMake's own choice is -O3, which gains nothing here and makes gcc 12 warn of overflows that cannot
# happen.
if(CMAKE_C_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
    set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

# An interface library rather than global flags, so that projects that include this one, and those
# that this one includes, keep their own.
add_library(gufo_flags INTERFACE)
target_compile_features(gufo_flags INTERFACE c_std_17)
target_compile_definitions(gufo_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64
    $<$<NOT:$<BOOL:${GUFO_THREADS}>>:GUFO_NO_THREADS>)
target_compile_options(gufo_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    # Calls inside a library stay inside (cmake/forms.cmake), so they may be inlined.
    -fno-semantic-interposition
    # So that a program that is linked with --gc-sections has only what it uses.
    -ffunction-sections -fdata-sections
    # The same bits from the same numbers on every machine: no silent multiply-add, and (s390x) no
    # float that is silently a double.
    -ffp-contract=off $<$<C_COMPILER_ID:GNU>:-fexcess-precision=fast>)
# 32-bit x86 has to be told to compute floats as floats.
include(CheckCSourceCompiles)
check_c_source_compiles("#ifndef __i386__\n#error\n#endif\nint main(void) { return 0; }" GUFO_I386)
if(GUFO_I386)
    target_compile_options(gufo_flags INTERFACE -msse2 -mfpmath=sse)
endif()
# A project that includes this one may have no build type, without which compilers do not optimise.
if(NOT PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE
        AND NOT CMAKE_C_FLAGS MATCHES "(^| )-O")
    target_compile_options(gufo_flags INTERFACE -O2)
endif()
if(GUFO_WERROR)
    target_compile_options(gufo_flags INTERFACE -Werror)
endif()
# Tables are full of pointers, each of which the loader has to move: 24 bytes in the file, packed a bit or two.  It needs
# glibc 2.36 or later, here and wherever the libraries and the command are brought: there the linker asks for
# GLIBC_ABI_DT_RELR, so that an older glibc refuses them with a message.  musl (1.2.4) has no such mark and does not
# tell its version, so it is left alone.
set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:--fatal-warnings LINKER:-z,pack-relative-relocs) # some ignore it with a warning
check_c_source_compiles("#include <features.h>\n#if !__GLIBC_PREREQ(2, 36)\n#error\n#endif
int main(void) { return 0; }" GUFO_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(GUFO_PACKED_RELOCATIONS AND NOT GUFO_FUZZ) # whose linker is another
    target_link_options(gufo_flags INTERFACE LINKER:-z,pack-relative-relocs)
endif()
# What no shared library is made of may know its addresses: a sixth less to compile with sanitizers and on 32-bit x86,
# and less to run.
if(NOT GUFO_LIBRARIES)
    set(GUFO_INSTALL OFF)
    target_compile_options(gufo_flags INTERFACE
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>:-fno-pie>)
    target_link_options(gufo_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(GUFO_SANITIZE)
    target_compile_options(gufo_flags INTERFACE
        -fsanitize=${GUFO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(gufo_flags INTERFACE -fsanitize=${GUFO_SANITIZE})
    # Addresses of all counters and checked variables would have to be put in whenever a program starts.
    if(GUFO_SANITIZE MATCHES "address")
        target_link_options(gufo_flags INTERFACE
            $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
    endif()
endif()
# Tests and the command are not measured: without counters they take 0.6 of the time to compile.  Counters that threads
# share may lose a count; exact ones take three times as long.  -fno-ivopts: else gcc takes a counter as the variable of
# a loop, which other threads then change.
if(GUFO_COVERAGE)
    target_compile_options(gufo_flags INTERFACE
        "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:GUFO_NOT_COUNTED>>>:--coverage;-fprofile-update=single;-fno-ivopts>")
    target_link_options(gufo_flags INTERFACE --coverage)
endif()
if(GUFO_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "GUFO_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
    endif()
    # Undefined behaviour ends the program where it happens, without a text that says what it is: to call what
    # writes it takes a fifth of the time to compile.  The preset asan has the texts.
    if(GUFO_SANITIZE MATCHES "undefined")
        target_compile_options(gufo_flags INTERFACE -fsanitize-trap=undefined)
    endif()
    # Tests and the command, which are not fuzzed, need no counters.
    target_compile_options(gufo_flags INTERFACE
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:GUFO_NOT_COUNTED>>>:-fsanitize=fuzzer-no-link>)
    # A program with libFuzzer and sanitizers inside takes GNU's linker four times as long.
    find_program(LLD ld.lld)
    mark_as_advanced(LLD)
    if(LLD)
        target_link_options(gufo_flags INTERFACE -fuse-ld=lld)
    endif()
endif()

set(CMAKE_C_EXTENSIONS OFF)
