# The room digest: libgufo_digest, static and shared, with xxHash, libcrypto and libsodium.
# Without one of them, in a build for its tests, its part says so when it is asked for.
#
# Sets command_sources to what the command needs, digest_libraries for it to link, and
# digest_definitions.

set(digest_libraries "")
set(digest_definitions "")
if(NOT GUFO_FULL)
    list(FILTER command_sources EXCLUDE REGEX "/(hash|hash_[a-z]+|verify|verify_[a-z]+|sign|sign_[a-z]+)\\.c$")
else()
    list(FILTER command_sources EXCLUDE REGEX "/digest_missing\\.c$")
endif()
if(NOT GUFO_DIGEST)
    return()
endif()

gufo_room(digest)

# digest_needs(NAME PC DEFINITION): one of the three, as imported target and .pc file.
set(digest_found "")
set(digest_pc "")
function(digest_needs name pc definition)
    if(TARGET gufo_library::${name})
        target_compile_definitions(gufo_digest_objects PRIVATE ${definition})
        target_link_libraries(gufo_digest_objects PRIVATE gufo_library::${name})
        set(digest_found ${digest_found} ${name} PARENT_SCOPE)
        set(digest_pc ${digest_pc} ${pc} PARENT_SCOPE)
    endif()
endfunction()
digest_needs(xxhash libxxhash GUFO_XXHASH)
digest_needs(crypto libcrypto GUFO_LIBCRYPTO)
digest_needs(sodium libsodium GUFO_SODIUM)
list(TRANSFORM digest_found PREPEND gufo_library:: OUTPUT_VARIABLE digest_targets)

gufo_forms(gufo_digest OBJECTS gufo_digest_objects HEADER include/gufo/digest.h
    NEEDS ${digest_targets} PUBLIC gufo)

if(GUFO_FULL)
    set(digest_libraries gufo_digest_internal)
    set(digest_definitions GUFO_HAS_DIGEST)
endif()
