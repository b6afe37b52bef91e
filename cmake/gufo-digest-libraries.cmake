# The libraries that libgufo_digest is built on, as imported targets: found anew wherever it is used, so
# that an installed package does not remember where they were when it was built.

set(gufo_digest_xxhash xxhash.h xxhash)
set(gufo_digest_crypto openssl/evp.h crypto)
set(gufo_digest_sodium sodium.h sodium)

# gufo_digest_library(NAME): makes the target gufo_digest::NAME if header and library are there.
function(gufo_digest_library name)
    if(TARGET gufo_digest::${name})
        return()
    endif()
    list(GET gufo_digest_${name} 0 header)
    list(GET gufo_digest_${name} 1 library)
    string(TOUPPER GUFO_DIGEST_${name} variable)
    find_path(${variable}_INCLUDE_DIR ${header})
    find_library(${variable}_LIBRARY ${library})
    mark_as_advanced(${variable}_INCLUDE_DIR ${variable}_LIBRARY)
    if(${variable}_INCLUDE_DIR AND ${variable}_LIBRARY)
        add_library(gufo_digest::${name} UNKNOWN IMPORTED)
        set_target_properties(gufo_digest::${name} PROPERTIES
            IMPORTED_LOCATION ${${variable}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${${variable}_INCLUDE_DIR})
    endif()
endfunction()
