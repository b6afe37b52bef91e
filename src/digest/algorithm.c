/* The algorithms: one row each in a table, and behind a row the library that does the work.
 *
 *     xxh64                          xxHash
 *     sha1, sha256, blake2b, uuid    OpenSSL's libcrypto
 *
 * A UUID of version 5 is the first half of a SHA-1 hash of its namespace and the bytes, with six
 * bits that say so. */
#include "digest/algorithm.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

#ifdef GUFO_XXHASH
#include <xxhash.h>
#endif
#ifdef GUFO_LIBCRYPTO
#include <openssl/crypto.h>
#include <openssl/evp.h>
#endif
#ifdef GUFO_SODIUM
#include <sodium/version.h>
#endif

/* Each returns false on failure, which only libcrypto knows. */
typedef struct backend {
    void *(*open)(const char *name);
    bool (*begin)(void *state);
    bool (*add)(void *state, const void *data, size_t size);
    bool (*finish)(void *state, uint8_t *digest);
    void (*close)(void *state);
} backend;

typedef struct algorithm {
    gufo_digest_kind kind;
    const backend *backend; /* NULL: not built in */
    const char *internal;   /* its name there */
    uint8_t prefix[16];     /* what is hashed before everything else */
    size_t prefix_size;
} algorithm;

/* ---- xxHash --------------------------------------------------------------------------------- */

#ifdef GUFO_XXHASH
static void *open_xxh64(const char *name)
{
    (void)name;
    return XXH64_createState();
}

static bool begin_xxh64(void *state)
{
    return XXH64_reset(state, 0) == XXH_OK;
}

static bool add_xxh64(void *state, const void *data, size_t size)
{
    return XXH64_update(state, data, size) == XXH_OK;
}

static bool finish_xxh64(void *state, uint8_t *digest)
{
    XXH64_canonical_t canonical;

    XXH64_canonicalFromHash(&canonical, XXH64_digest(state));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
    return true;
}

static void close_xxh64(void *state)
{
    (void)XXH64_freeState(state);
}

static const backend xxhash = {open_xxh64, begin_xxh64, add_xxh64, finish_xxh64, close_xxh64};
#define XXHASH &xxhash
#else
#define XXHASH NULL
#endif

/* ---- libcrypto ------------------------------------------------------------------------------ */

#ifdef GUFO_LIBCRYPTO
static void *open_evp(const char *name)
{
    EVP_MD *digest = EVP_MD_fetch(NULL, name, NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = digest != NULL && context != NULL && EVP_DigestInit_ex2(context, digest, NULL) == 1;

    EVP_MD_free(digest); /* the context keeps it */
    if (good)
        return context;
    EVP_MD_CTX_free(context);
    return NULL;
}

static bool begin_evp(void *state)
{
    return EVP_DigestInit_ex2(state, NULL, NULL) == 1;
}

static bool add_evp(void *state, const void *data, size_t size)
{
    return EVP_DigestUpdate(state, data, size) == 1;
}

static bool finish_evp(void *state, uint8_t *digest)
{
    return EVP_DigestFinal_ex(state, digest, NULL) == 1;
}

static void close_evp(void *state)
{
    EVP_MD_CTX_free(state);
}

static const backend libcrypto = {open_evp, begin_evp, add_evp, finish_evp, close_evp};
#define LIBCRYPTO &libcrypto
#else
#define LIBCRYPTO NULL
#endif

/* ---- the table ------------------------------------------------------------------------------ */

#define BY_XXHASH .library = "xxHash", .package = "libxxhash-dev"
#define BY_LIBCRYPTO .library = "libcrypto", .package = "libssl-dev"

static const algorithm algorithms[GUFO_DIGEST_COUNT] = {
    [GUFO_DIGEST_XXH64] = {.kind = {.name = "xxh64", .size = 8, BY_XXHASH}, .backend = XXHASH},
    [GUFO_DIGEST_SHA1] = {.kind = {.name = "sha1", .size = 20, BY_LIBCRYPTO},
                          .backend = LIBCRYPTO,
                          .internal = "SHA1"},
    [GUFO_DIGEST_SHA256] = {.kind = {.name = "sha256", .size = 32, BY_LIBCRYPTO},
                            .backend = LIBCRYPTO,
                            .internal = "SHA256"},
    [GUFO_DIGEST_BLAKE2B] = {.kind = {.name = "blake2b", .size = 64, BY_LIBCRYPTO},
                             .backend = LIBCRYPTO,
                             .internal = "BLAKE2B-512"},
    [GUFO_DIGEST_UUID] = {.kind = {.name = "uuid", .size = 16, .file_only = true, BY_LIBCRYPTO},
                          .backend = LIBCRYPTO,
                          .internal = "SHA1",
                          .prefix = {0xef, 0x00, 0x12, 0x06, 0xda, 0xdc, 0x5f, 0x6d, 0xa1, 0x5f,
                                     0x33, 0x59, 0xe5, 0x77, 0xd4, 0xe5},
                          .prefix_size = 16},
};

static const algorithm *find(gufo_digest_algorithm id)
{
    return (unsigned)id < GUFO_DIGEST_COUNT ? &algorithms[id] : NULL;
}

const gufo_digest_kind *gufo_digest_kind_of(gufo_digest_algorithm id)
{
    const algorithm *a = find(id);

    return a != NULL ? &a->kind : NULL;
}

bool algorithm_named(gufo_str name, gufo_digest_algorithm *id)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (gufo_str_equal(name, gufo_str_of(algorithms[i].kind.name))) {
            *id = (gufo_digest_algorithm)i;
            return true;
        }
    return false;
}

bool gufo_digest_by_name(const char *name, gufo_digest_algorithm *id)
{
    return algorithm_named(gufo_str_of(name), id);
}

bool gufo_digest_available(gufo_digest_algorithm id)
{
    const algorithm *a = find(id);

    return a != NULL && a->backend != NULL;
}

size_t gufo_digest_text(gufo_digest_algorithm id, const uint8_t *digest,
                        char text[GUFO_DIGEST_TEXT])
{
    const algorithm *a = find(id);
    char *end = text;

    for (size_t i = 0; a != NULL && i < a->kind.size; i++) {
        if (id == GUFO_DIGEST_UUID && (i == 4 || i == 6 || i == 8 || i == 10))
            *end++ = '-';
        end = hex_put(end, digest[i], false);
    }
    *end = '\0';
    return (size_t)(end - text);
}

/* ---- hashers -------------------------------------------------------------------------------- */

static gufo_status fail_library(const algorithm *a, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "%s does not give %s on this machine", a->kind.library,
                  a->kind.name);
}

static gufo_status begin(hasher *h, gufo_error *error)
{
    const algorithm *a = find(h->algorithm);

    if (a->backend->begin(h->state) && a->backend->add(h->state, a->prefix, a->prefix_size))
        return GUFO_OK;
    return fail_library(a, error);
}

gufo_status hasher_open(hasher *h, gufo_digest_algorithm id, gufo_error *error)
{
    const algorithm *a = find(id);

    *h = (hasher){.algorithm = id};
    if (a == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "%u is not an algorithm", (unsigned)id);
    if (a->backend == NULL)
        return refuse(error, GUFO_E_TYPE,
                      "%s is not available: this library was built without %s (Debian package %s)",
                      a->kind.name, a->kind.library, a->kind.package);
    h->state = a->backend->open(a->internal);
    if (h->state == NULL)
        return fail_library(a, error);
    return begin(h, error);
}

gufo_status hasher_add(hasher *h, const void *data, size_t size, gufo_error *error)
{
    const algorithm *a = find(h->algorithm);

    return a->backend->add(h->state, data, size) ? GUFO_OK : fail_library(a, error);
}

gufo_status hasher_finish(hasher *h, uint8_t *digest, gufo_error *error)
{
    const algorithm *a = find(h->algorithm);
    uint8_t full[GUFO_DIGEST_SIZE] = {0};

    if (!a->backend->finish(h->state, full))
        return fail_library(a, error);
    if (h->algorithm == GUFO_DIGEST_UUID) {
        full[6] = (uint8_t)((full[6] & 0x0f) | 0x50); /* version 5 */
        full[8] = (uint8_t)((full[8] & 0x3f) | 0x80); /* variant 10 */
    }
    memset(digest, 0, GUFO_DIGEST_SIZE);
    memcpy(digest, full, a->kind.size);
    return begin(h, error);
}

void hasher_close(hasher *h)
{
    if (h->state != NULL)
        find(h->algorithm)->backend->close(h->state);
    *h = (hasher){0};
}

gufo_status gufo_digest_bytes(gufo_digest_algorithm id, const void *data, size_t size,
                              uint8_t *digest, gufo_error *error)
{
    hasher h;
    gufo_status status = hasher_open(&h, id, error);

    if (status == GUFO_OK)
        status = hasher_add(&h, data, size, error);
    if (status == GUFO_OK)
        status = hasher_finish(&h, digest, error);
    hasher_close(&h);
    return status;
}

/* ---- the libraries of the room, with the versions that are loaded ------------------------------- */

#ifdef GUFO_XXHASH
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define XXHASH_VERSION \
    TEXT(XXH_VERSION_MAJOR) "." TEXT(XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE)
#else
#define XXHASH_VERSION NULL
#endif

#ifdef GUFO_LIBCRYPTO
#define LIBCRYPTO_VERSION OpenSSL_version(OPENSSL_VERSION_STRING)
#else
#define LIBCRYPTO_VERSION NULL
#endif

#ifdef GUFO_SODIUM
#define SODIUM_VERSION sodium_version_string()
#else
#define SODIUM_VERSION NULL
#endif

bool gufo_digest_library_at(size_t index, const char **name, const char **version)
{
    const char *const libraries[][2] = {{"xxHash", XXHASH_VERSION},
                                        {"libcrypto", LIBCRYPTO_VERSION},
                                        {"libsodium", SODIUM_VERSION}};

    if (index >= sizeof libraries / sizeof *libraries)
        return false;
    *name = libraries[index][0];
    *version = libraries[index][1];
    return true;
}
