# The room digest: libgufo_digest, static and shared, with what is there of xxHash, libcrypto and
# libsodium.  Without one of them its part says so when it is asked for.
#
# Sets command_sources to what the command needs, and digest_libraries for it to link.

set(digest_libraries "")
if(NOT GUFO_DIGEST)
    list(FILTER command_sources EXCLUDE REGEX "/(hash|hash_[a-z]+|verify|verify_[a-z]+|sign|sign_[a-z]+)\\.c$")
    return()
endif()
list(FILTER command_sources EXCLUDE REGEX "/digest_missing\\.c$")

file(GLOB digest_sources CONFIGURE_DEPENDS src/digest/*.c)
add_library(gufo_digest_objects OBJECT ${digest_sources})
set_target_properties(gufo_digest_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(gufo_digest_objects PRIVATE include src)
target_link_libraries(gufo_digest_objects PRIVATE gufo_flags Threads::Threads)

# find_digest_package(NAME HEADER LIBRARY DEFINITION PACKAGE WHAT): one of the three.
set(digest_packages "")
function(find_digest_package name header library definition package what)
    find_path(${name}_INCLUDE_DIR ${header})
    find_library(${name}_LIBRARY ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
        target_compile_definitions(gufo_digest_objects PRIVATE ${definition})
        target_include_directories(gufo_digest_objects SYSTEM PRIVATE ${${name}_INCLUDE_DIR})
        set(digest_packages ${digest_packages} ${${name}_LIBRARY} PARENT_SCOPE)
    else()
        message(STATUS "${header} (${package}) not found: ${what}")
    endif()
endfunction()
find_digest_package(XXHASH xxhash.h xxhash GUFO_XXHASH libxxhash-dev "no xxh64 hashes")
find_digest_package(LIBCRYPTO openssl/evp.h crypto GUFO_LIBCRYPTO libssl-dev
    "no sha1, sha256, blake2b and uuid hashes")
find_digest_package(SODIUM sodium.h sodium GUFO_SODIUM libsodium-dev "no signatures")

# The room makes use of the room base, whose functions libgufo does not show to others: the shared
# library has its own copy of them, and does not show it either.
add_library(gufo_base STATIC
    $<FILTER:$<TARGET_OBJECTS:gufo_objects>,INCLUDE,/src/base/[^/]*$>)
set_target_properties(gufo_base PROPERTIES LINKER_LANGUAGE C)

add_library(gufo_digest_static STATIC $<TARGET_OBJECTS:gufo_digest_objects>)
add_library(gufo_digest_shared SHARED $<TARGET_OBJECTS:gufo_digest_objects>)
set_target_properties(gufo_digest_shared PROPERTIES
    EXPORT_NAME gufo_digest VERSION ${PROJECT_VERSION} SOVERSION ${gufo_soversion}
    INSTALL_RPATH "$ORIGIN") # libgufo.so lies beside it
foreach(library gufo_digest_static gufo_digest_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME gufo_digest LINKER_LANGUAGE C)
    target_link_libraries(${library} PRIVATE ${digest_packages} Threads::Threads
        $<BUILD_INTERFACE:gufo_flags>)
endforeach()
target_link_libraries(gufo_digest_static PUBLIC gufo_static)
target_link_libraries(gufo_digest_shared PUBLIC gufo_shared PRIVATE $<BUILD_INTERFACE:gufo_base>)
target_link_options(gufo_digest_shared PRIVATE LINKER:--exclude-libs,libgufo_base.a)
add_library(gufo::gufo_digest ALIAS gufo_digest_shared)

set(digest_libraries gufo_digest_static)
install(TARGETS gufo_digest_shared gufo_digest_static EXPORT gufo_targets)
