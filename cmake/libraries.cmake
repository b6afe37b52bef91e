# What a full build needs beside a compiler and its binutils.  All of it has to be there: what is missing is
# listed, with the line that installs it, and the build stops, so that no command works on one machine and
# not on another by accident.  A minimal build, and one that a project includes, need nothing.

set(missing_things "")
set(missing_packages "")

# gufo_need(FOUND THING PACKAGE): what is needed, unless the variable FOUND is true.
macro(gufo_need found thing package)
    if(NOT ${found})
        list(APPEND missing_things "${thing}")
        list(APPEND missing_packages ${package})
    endif()
endmacro()

# find_header_and_library(NAME HEADER LIBRARY): NAME_INCLUDE_DIR and NAME_LIBRARY; NAME_FOUND is both.
macro(find_header_and_library name header library)
    find_path(${name}_INCLUDE_DIR ${header})
    find_library(${name}_LIBRARY ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    set(${name}_FOUND FALSE)
    if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
        set(${name}_FOUND TRUE)
    endif()
endmacro()

include(cmake/gufo-libraries.cmake)

# gufo_find(NAME...): looks for libraries of others; NAME_FOUND.
macro(gufo_find)
    foreach(name ${ARGN})
        gufo_library(${name})
        string(TOUPPER ${name}_FOUND found)
        set(${found} FALSE)
        if(TARGET gufo_library::${name})
            set(${found} TRUE)
        endif()
    endforeach()
endmacro()

if(GUFO_DIGEST)
    gufo_find(xxhash crypto sodium)
endif()
if(GUFO_TEXT OR GUFO_FULL)
    gufo_find(pcre2 utf8proc jansson)
elseif(GUFO_BUILD_TESTS)
    gufo_find(pcre2)
endif()
if(GUFO_IMPORT)
    gufo_find(jansson yaml)
endif()
if(GUFO_BUILD_TESTS)
    find_header_and_library(CMOCKA cmocka.h cmocka)
    find_program(BATS bats)
    mark_as_advanced(BATS)
endif()
if(GUFO_FULL)
    gufo_need(XXHASH_FOUND "xxHash (hashes)" libxxhash-dev)
    gufo_need(CRYPTO_FOUND "OpenSSL's libcrypto (hashes)" libssl-dev)
    gufo_need(SODIUM_FOUND "libsodium (signatures)" libsodium-dev)
    gufo_need(PCRE2_FOUND "PCRE2 (patterns)" libpcre2-dev)
    gufo_need(JANSSON_FOUND "Jansson (JSON)" libjansson-dev)
    gufo_need(UTF8PROC_FOUND "utf8proc (Unicode)" libutf8proc-dev)
    gufo_need(YAML_FOUND "libyaml (model cards)" libyaml-dev)
endif()
if(GUFO_BUILD_TESTS)
    gufo_need(CMOCKA_FOUND "cmocka (tests)" libcmocka-dev)
    if(NOT CMAKE_CROSSCOMPILING)
        gufo_need(BATS "bats (tests)" bats)
    endif()
endif()
if(missing_packages)
    list(JOIN missing_things ", " things)
    list(JOIN missing_packages " " packages)
    message(FATAL_ERROR "not found: ${things}\n"
        "    sudo apt install ${packages}\n"
        "-DGUFO_BUILD_TESTS=OFF leaves the tests out; -DGUFO_MINIMAL=ON builds libgufo and the commands "
        "that need no library.")
endif()
