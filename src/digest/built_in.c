/* The libraries of the room, with the versions that are loaded. */
#include "digest/built_in.h"

#ifdef GUFO_XXHASH
#include <xxhash.h>
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define XXHASH_VERSION \
    TEXT(XXH_VERSION_MAJOR) "." TEXT(XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE)
#else
#define XXHASH_VERSION NULL
#endif

#ifdef GUFO_LIBCRYPTO
#include <openssl/crypto.h>
#define LIBCRYPTO_VERSION OpenSSL_version(OPENSSL_VERSION_STRING)
#else
#define LIBCRYPTO_VERSION NULL
#endif

#ifdef GUFO_SODIUM
#include <sodium/version.h>
#define SODIUM_VERSION sodium_version_string()
#else
#define SODIUM_VERSION NULL
#endif

digest_library digest_library_at(size_t index)
{
    const digest_library libraries[DIGEST_LIBRARIES] = {{"xxHash", XXHASH_VERSION},
                                                        {"libcrypto", LIBCRYPTO_VERSION},
                                                        {"libsodium", SODIUM_VERSION}};

    return libraries[index];
}
