/* Keys, in the files of minisign:
 *
 *     public    "Ed" id[8] key[32]
 *     secret    "Ed" kdf[2] "B2" salt[32] operations[8] memory[8] | id[8] key[64] checksum[32]
 *                                                                 |---- may be encrypted ----|
 *
 * Each is one line of base64 below a line of comment.  With kdf "Sc" the last part is xored with
 * what scrypt makes of the password, the salt and the two limits; with two zeros it is plain.  The
 * checksum is BLAKE2b-256 of "Ed", id and key: it shows whether the password was right.  minisign
 * leaves it out of plain keys. */
#include "digest/signature.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

enum {
    PUBLIC_SIZE = 2 + 8 + 32,
    SALT_AT = 6,
    OPERATIONS_AT = SALT_AT + 32,
    MEMORY_AT = OPERATIONS_AT + 8,
    PRIVATE_AT = MEMORY_AT + 8, /* what may be encrypted */
    KEY_AT = PRIVATE_AT + 8,
    CHECKSUM_AT = KEY_AT + 64,
    CHECKSUM_SIZE = 32,
    SECRET_SIZE = CHECKSUM_AT + CHECKSUM_SIZE,
    PRIVATE_SIZE = SECRET_SIZE - PRIVATE_AT,
};

#ifdef GUFO_SODIUM
#include <sodium.h>

static gufo_status malformed(const char *what, gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED, "not a minisign %s key", what);
}

static const gufo_key_effort default_effort = {
    .operations = crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE,
    .memory = crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE,
};

/* ---- public keys ---------------------------------------------------------------------------- */

gufo_status gufo_public_key_parse(gufo_str text, gufo_public_key *key, gufo_error *error)
{
    uint8_t bytes[PUBLIC_SIZE];
    gufo_str rest = text;
    bool good = signature_read(&rest, bytes, sizeof bytes);

    if (!good) { /* the second line alone */
        rest = text;
        good = signature_bytes(&rest, bytes, sizeof bytes);
    }
    if (!good || !signature_ends(rest) || memcmp(bytes, "Ed", 2) != 0)
        return malformed("public", error);
    *key = (gufo_public_key){0};
    memcpy(key->id, bytes + 2, sizeof key->id);
    memcpy(key->key, bytes + 2 + 8, sizeof key->key);
    return GUFO_OK;
}

gufo_status gufo_public_key_text(const gufo_public_key *key, char text[GUFO_KEY_TEXT],
                                 gufo_error *error)
{
    uint8_t bytes[PUBLIC_SIZE] = "Ed";
    char id[17];
    int length;

    (void)error;
    memcpy(bytes + 2, key->id, sizeof key->id);
    memcpy(bytes + 2 + 8, key->key, sizeof key->key);
    gufo_key_id_text(key->id, id);
    length = snprintf(text, GUFO_KEY_TEXT, UNTRUSTED "minisign public key %s\n", id);
    (void)signature_put(text + length, bytes, sizeof bytes);
    return GUFO_OK;
}

/* ---- secret keys ---------------------------------------------------------------------------- */

/* Encrypts or decrypts, in place. */
static gufo_status apply_password(uint8_t *bytes, gufo_str password, gufo_error *error)
{
    uint8_t stream[PRIVATE_SIZE];
    uint64_t operations = load_u64(bytes + OPERATIONS_AT, HOST_IS_BIG_ENDIAN);
    uint64_t memory = load_u64(bytes + MEMORY_AT, HOST_IS_BIG_ENDIAN);

    if (operations > default_effort.operations || memory > default_effort.memory)
        return refuse(error, GUFO_E_LIMIT,
                      "this secret key asks for %s operations in %s bytes of memory for its "
                      "password, more than minisign ever asks for",
                      GROUPED(operations), GROUPED(memory));
    if (crypto_pwhash_scryptsalsa208sha256(stream, sizeof stream, password.data, password.len,
                                           bytes + SALT_AT, operations, (size_t)memory) != 0)
        return fail_memory(error);
    for (size_t i = 0; i < sizeof stream; i++)
        bytes[PRIVATE_AT + i] ^= stream[i];
    sodium_memzero(stream, sizeof stream);
    return GUFO_OK;
}

static void make_checksum(const uint8_t *bytes, uint8_t checksum[CHECKSUM_SIZE])
{
    uint8_t input[2 + 8 + 64];

    memcpy(input, bytes, 2);
    memcpy(input + 2, bytes + PRIVATE_AT, 8 + 64);
    (void)crypto_generichash(checksum, CHECKSUM_SIZE, input, sizeof input, NULL, 0);
    sodium_memzero(input, sizeof input);
}

static bool read_secret(gufo_str text, uint8_t bytes[SECRET_SIZE])
{
    static const uint8_t plain[2] = {0};

    return signature_read(&text, bytes, SECRET_SIZE) && signature_ends(text) &&
           memcmp(bytes, "Ed", 2) == 0 && memcmp(bytes + 4, "B2", 2) == 0 &&
           (memcmp(bytes + 2, "Sc", 2) == 0 || memcmp(bytes + 2, plain, 2) == 0);
}

gufo_status gufo_secret_key_encrypted(gufo_str text, bool *encrypted, gufo_error *error)
{
    uint8_t bytes[SECRET_SIZE];
    bool good = read_secret(text, bytes);

    *encrypted = good && bytes[2] != 0;
    sodium_memzero(bytes, sizeof bytes);
    return good ? GUFO_OK : malformed("secret", error);
}

/* Of a plain key minisign leaves the checksum out; but its second half is the public key. */
static bool is_sound(const uint8_t *bytes)
{
    uint8_t checksum[CHECKSUM_SIZE], public_key[32], secret_key[64];
    bool sound;

    if (bytes[2] != 0) {
        make_checksum(bytes, checksum);
        return sodium_memcmp(checksum, bytes + CHECKSUM_AT, sizeof checksum) == 0;
    }
    (void)crypto_sign_seed_keypair(public_key, secret_key, bytes + KEY_AT);
    sound = sodium_memcmp(public_key, bytes + KEY_AT + 32, sizeof public_key) == 0;
    sodium_memzero(secret_key, sizeof secret_key);
    return sound;
}

static gufo_status open_secret(uint8_t *bytes, gufo_str password, gufo_secret_key *key,
                               gufo_error *error)
{
    bool encrypted = bytes[2] != 0;
    gufo_status status = encrypted ? apply_password(bytes, password, error) : GUFO_OK;

    if (status != GUFO_OK)
        return status;
    if (!is_sound(bytes))
        return encrypted
                   ? refuse(error, GUFO_E_ARGUMENT, "the password of this secret key is wrong")
                   : malformed("secret", error);
    *key = (gufo_secret_key){0};
    memcpy(key->id, bytes + PRIVATE_AT, sizeof key->id);
    memcpy(key->key, bytes + KEY_AT, sizeof key->key);
    return GUFO_OK;
}

gufo_status gufo_secret_key_parse(gufo_str text, gufo_str password, gufo_secret_key *key,
                                  gufo_error *error)
{
    uint8_t bytes[SECRET_SIZE];
    gufo_status status = read_secret(text, bytes) ? open_secret(bytes, password, key, error)
                                                  : malformed("secret", error);

    sodium_memzero(bytes, sizeof bytes);
    return status;
}

static gufo_status close_secret(uint8_t *bytes, const gufo_secret_key *key, gufo_str password,
                                const gufo_key_effort *effort, gufo_error *error)
{
    if (effort == NULL || effort->operations == 0)
        effort = &default_effort;
    memcpy(bytes, "Ed\0\0B2", 6);
    memcpy(bytes + PRIVATE_AT, key->id, sizeof key->id);
    memcpy(bytes + KEY_AT, key->key, sizeof key->key);
    make_checksum(bytes, bytes + CHECKSUM_AT);
    if (password.data == NULL)
        return GUFO_OK;
    memcpy(bytes + 2, "Sc", 2);
    randombytes_buf(bytes + SALT_AT, OPERATIONS_AT - SALT_AT);
    store_u64(bytes + OPERATIONS_AT, effort->operations, HOST_IS_BIG_ENDIAN);
    store_u64(bytes + MEMORY_AT, effort->memory, HOST_IS_BIG_ENDIAN);
    return apply_password(bytes, password, error);
}

static void put_secret(const uint8_t *bytes, char text[GUFO_KEY_TEXT])
{
    int length = snprintf(text, GUFO_KEY_TEXT, UNTRUSTED "minisign %ssecret key\n",
                          bytes[2] != 0 ? "encrypted " : "");

    (void)signature_put(text + length, bytes, SECRET_SIZE);
}

gufo_status gufo_secret_key_text(const gufo_secret_key *key, gufo_str password,
                                 const gufo_key_effort *effort, char text[GUFO_KEY_TEXT],
                                 gufo_error *error)
{
    uint8_t bytes[SECRET_SIZE] = {0};
    gufo_status status = GUFO_OK;

    text[0] = '\0';
    if (effort != NULL)
        status = reserved_check(effort->reserved, "gufo_key_effort", error);
    if (status != GUFO_OK)
        return status;
    if (sodium_init() < 0)
        return signature_missing(error);
    status = close_secret(bytes, key, password, effort, error);
    if (status == GUFO_OK)
        put_secret(bytes, text);
    sodium_memzero(bytes, sizeof bytes);
    return status;
}

void gufo_secret_key_wipe(gufo_secret_key *key)
{
    sodium_memzero(key, sizeof *key);
}

gufo_status gufo_key_generate(gufo_public_key *public_key, gufo_secret_key *secret_key,
                              gufo_error *error)
{
    if (sodium_init() < 0)
        return signature_missing(error);
    *public_key = (gufo_public_key){0};
    *secret_key = (gufo_secret_key){0};
    (void)crypto_sign_keypair(public_key->key, secret_key->key);
    randombytes_buf(public_key->id, sizeof public_key->id);
    memcpy(secret_key->id, public_key->id, sizeof secret_key->id);
    return GUFO_OK;
}
#endif
