/* SHA-256; sha256.h has the interface. */
#include "remote/sha256.h"

#include <openssl/evp.h>

#include "base/error.h"

static gufo_status failed(gufo_error *error)
{
    return refuse(error, GUFO_E_MEMORY, "libcrypto does not compute SHA-256");
}

gufo_status sha256_open(sha256 *hash, gufo_error *error)
{
    if (hash->state == NULL)
        hash->state = EVP_MD_CTX_new();
    return hash->state != NULL && EVP_DigestInit_ex(hash->state, EVP_sha256(), NULL) == 1
               ? GUFO_OK
               : failed(error);
}

gufo_status sha256_add(sha256 *hash, const void *data, size_t size, gufo_error *error)
{
    return EVP_DigestUpdate(hash->state, data, size) == 1 ? GUFO_OK : failed(error);
}

gufo_status sha256_finish(sha256 *hash, char hex[SHA256_HEX + 1], gufo_error *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;

    if (EVP_DigestFinal_ex(hash->state, digest, &size) != 1 || size != SHA256_SIZE)
        return failed(error);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        hex = hex_put(hex, digest[i], false);
    *hex = '\0';
    return GUFO_OK;
}

void sha256_close(sha256 *hash)
{
    EVP_MD_CTX_free(hash->state);
    hash->state = NULL;
}

gufo_status sha256_of(gufo_str bytes, char hex[SHA256_HEX + 1], gufo_error *error)
{
    sha256 hash = {0};
    gufo_status status = sha256_open(&hash, error);

    if (status == GUFO_OK)
        status = sha256_add(&hash, bytes.data, bytes.len, error);
    if (status == GUFO_OK)
        status = sha256_finish(&hash, hex, error);
    sha256_close(&hash);
    return status;
}
