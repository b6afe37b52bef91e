# The libraries of others that rooms are built on, as imported targets: found anew wherever they are used, so
# that an installed package does not remember where they were when it was built.

# header, library
set(gufo_library_xxhash xxhash.h xxhash)
set(gufo_library_crypto openssl/evp.h crypto)
set(gufo_library_sodium sodium.h sodium)
set(gufo_library_pcre2 pcre2.h pcre2-8)
set(gufo_library_utf8proc utf8proc.h utf8proc)
set(gufo_library_jansson jansson.h jansson)
set(gufo_library_yaml yaml.h yaml)
set(gufo_library_curl curl/curl.h curl)

# gufo_library(NAME): makes the target gufo_library::NAME if header and library are there.
function(gufo_library name)
    if(TARGET gufo_library::${name})
        return()
    endif()
    list(GET gufo_library_${name} 0 header)
    list(GET gufo_library_${name} 1 library)
    string(TOUPPER GUFO_LIBRARY_${name} variable)
    find_path(${variable}_INCLUDE_DIR ${header})
    find_library(${variable}_LIBRARY ${library})
    mark_as_advanced(${variable}_INCLUDE_DIR ${variable}_LIBRARY)
    if(${variable}_INCLUDE_DIR AND ${variable}_LIBRARY)
        add_library(gufo_library::${name} UNKNOWN IMPORTED)
        set_target_properties(gufo_library::${name} PROPERTIES
            IMPORTED_LOCATION ${${variable}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${${variable}_INCLUDE_DIR})
    endif()
endfunction()
