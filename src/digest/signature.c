/* Signatures, in the files of minisign:
 *
 *     untrusted comment: whatever
 *     base64 of   kind[2] id[8] signature[64]
 *     trusted comment: timestamp:1700000000  file:m.manifest  hashed
 *     base64 of   global[64]
 *
 * Both signatures are Ed25519 (RFC 8032).  The first one is over the BLAKE2b-512 hash of the
 * message if kind is "ED", and over the message itself if it is "Ed", as minisign made them
 * formerly.  The global one is over the first and the trusted comment. */
#include "digest/signature.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "gufo/print.h"

#ifdef GUFO_SODIUM
#include <sodium.h>
#endif

/* ---- lines of key files and signature files ----------------------------------------------------- */

bool text_line(gufo_str *rest, gufo_str *line)
{
    const char *newline = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = newline != NULL ? (size_t)(newline - rest->data) : rest->len;

    if (rest->len == 0)
        return false;
    *line = (gufo_str){rest->data, len};
    if (len > 0 && line->data[len - 1] == '\r')
        line->len--;
    len += newline != NULL;
    *rest = (gufo_str){rest->data + len, rest->len - len};
    return true;
}

#ifdef GUFO_SODIUM
/* Whether the line begins so; takes the beginning away. */
static bool signature_skip(gufo_str *line, const char *beginning)
{
    size_t len = strlen(beginning);

    if (line->len < len || memcmp(line->data, beginning, len) != 0)
        return false;
    *line = (gufo_str){line->data + len, line->len - len};
    return true;
}

/* Whether only empty lines are left. */
static bool signature_ends(gufo_str rest)
{
    gufo_str line;

    while (text_line(&rest, &line))
        if (line.len > 0)
            return false;
    return true;
}

/* Reads a line of `size` bytes in base64. */
static bool read_bytes(gufo_str *rest, uint8_t *out, size_t size)
{
    gufo_str line;
    size_t read;

    return text_line(rest, &line) &&
           sodium_base642bin(out, size, line.data, line.len, NULL, &read, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           read == size;
}

/* Reads a comment and such a line. */
static bool read_commented(gufo_str *rest, uint8_t *out, size_t size)
{
    gufo_str line;

    return text_line(rest, &line) && signature_skip(&line, UNTRUSTED) &&
           read_bytes(rest, out, size);
}

/* Writes a line of base64; its length. */
static int put_bytes(char *text, const uint8_t *bytes, size_t size)
{
    size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);

    (void)sodium_bin2base64(text, room, bytes, size, sodium_base64_VARIANT_ORIGINAL);
    memcpy(text + room - 1, "\n", 2);
    return (int)room;
}
#endif

gufo_status signature_missing(gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE,
                  "signatures are not available: this library was built without libsodium "
                  "(Debian package libsodium-dev)");
}

void gufo_signature_key_id_text(const uint8_t id[8], char text[17])
{
    /* A number, whose last byte is the first one of the file. */
    for (size_t i = 8; i-- > 0;)
        text = hex_put(text, id[i], true);
    *text = '\0';
}

enum { KIND_SIZE = 2, ID_SIZE = 8, ED25519_SIZE = 64, HASH_SIZE = 64 };

#ifdef GUFO_SODIUM

bool gufo_signature_available(void)
{
    return true;
}

/* What the global signature is over. */
typedef struct global {
    uint8_t bytes[ED25519_SIZE + GUFO_TRUSTED_COMMENT];
    size_t size;
} global;

static void make_global(global *g, const uint8_t *signature, gufo_str comment)
{
    memcpy(g->bytes, signature, ED25519_SIZE);
    if (comment.len > 0)
        memcpy(g->bytes + ED25519_SIZE, comment.data, comment.len);
    g->size = ED25519_SIZE + comment.len;
}

static void hash_message(gufo_str message, uint8_t hash[HASH_SIZE])
{
    (void)crypto_generichash(hash, HASH_SIZE, (const uint8_t *)message.data, message.len, NULL, 0);
}

/* ---- signing -------------------------------------------------------------------------------- */

static gufo_status check_comment(gufo_str comment, gufo_error *error)
{
    if (comment.len > GUFO_TRUSTED_COMMENT)
        return refuse(error, GUFO_E_ARGUMENT,
                      "a trusted comment has at most %s bytes, and this one has %s",
                      GROUPED(GUFO_TRUSTED_COMMENT), GROUPED(comment.len));
    for (size_t step; comment.len > 0; comment.data += step, comment.len -= step) {
        uint32_t character = 0;

        step = gufo_utf8_decode(comment, &character);
        if (step == 0 || (character != '\t' && gufo_utf8_is_control(character)))
            return refuse(error, GUFO_E_ARGUMENT,
                          "a trusted comment is one line of UTF-8 without control characters");
    }
    return GUFO_OK;
}

gufo_status gufo_signature_make(const gufo_secret_key *key, gufo_str message,
                                gufo_str trusted_comment, char text[GUFO_SIGNATURE_TEXT],
                                gufo_error *error)
{
    uint8_t bytes[KIND_SIZE + ID_SIZE + ED25519_SIZE] = "ED";
    uint8_t *signature = bytes + KIND_SIZE + ID_SIZE;
    uint8_t hash[HASH_SIZE], global_signature[ED25519_SIZE];
    global g;
    gufo_status status = check_comment(trusted_comment, error);
    int length;

    if (status != GUFO_OK)
        return status;
    if (sodium_init() < 0)
        return signature_missing(error);
    hash_message(message, hash);
    memcpy(bytes + KIND_SIZE, key->id, ID_SIZE);
    (void)crypto_sign_detached(signature, NULL, hash, sizeof hash, key->key);
    make_global(&g, signature, trusted_comment);
    (void)crypto_sign_detached(global_signature, NULL, g.bytes, g.size, key->key);

    length = snprintf(text, GUFO_SIGNATURE_TEXT, UNTRUSTED "signature from minisign secret key\n");
    length += put_bytes(text + length, bytes, sizeof bytes);
    length += snprintf(text + length, GUFO_SIGNATURE_TEXT - (size_t)length, TRUSTED "%.*s\n",
                       (int)trusted_comment.len, trusted_comment.data);
    (void)put_bytes(text + length, global_signature, sizeof global_signature);
    return GUFO_OK;
}

/* ---- checking ------------------------------------------------------------------------------- */

/* A signature file in parts. */
typedef struct parts {
    uint8_t bytes[KIND_SIZE + ID_SIZE + ED25519_SIZE];
    uint8_t global[ED25519_SIZE];
    gufo_str comment;
} parts;

static gufo_status read_parts(gufo_str text, parts *p, gufo_error *error)
{
    gufo_str rest = text;

    if (read_commented(&rest, p->bytes, sizeof p->bytes) && text_line(&rest, &p->comment) &&
        signature_skip(&p->comment, TRUSTED) && p->comment.len <= GUFO_TRUSTED_COMMENT &&
        read_bytes(&rest, p->global, sizeof p->global) && signature_ends(rest) &&
        (memcmp(p->bytes, "ED", KIND_SIZE) == 0 || memcmp(p->bytes, "Ed", KIND_SIZE) == 0))
        return GUFO_OK;
    return refuse(error, GUFO_E_MALFORMED, "not a minisign signature");
}

static bool is_message_signed(const gufo_public_key *key, gufo_str message, const parts *p)
{
    const uint8_t *signature = p->bytes + KIND_SIZE + ID_SIZE;
    uint8_t hash[HASH_SIZE];

    if (memcmp(p->bytes, "Ed", KIND_SIZE) == 0)
        return crypto_sign_verify_detached(signature, (const uint8_t *)message.data, message.len,
                                           key->key) == 0;
    hash_message(message, hash);
    return crypto_sign_verify_detached(signature, hash, sizeof hash, key->key) == 0;
}

static bool is_comment_signed(const gufo_public_key *key, const parts *p)
{
    global g;

    make_global(&g, p->bytes + KIND_SIZE + ID_SIZE, p->comment);
    return crypto_sign_verify_detached(p->global, g.bytes, g.size, key->key) == 0;
}

gufo_status gufo_signature_check(const gufo_public_key *key, gufo_str message, gufo_str text,
                                 gufo_signature_result *result, gufo_error *error)
{
    parts p;
    gufo_status status = read_parts(text, &p, error);

    *result = (gufo_signature_result){.verdict = GUFO_SIGNATURE_BAD};
    if (status != GUFO_OK)
        return status;
    if (sodium_init() < 0)
        return signature_missing(error);
    memcpy(result->key_id, p.bytes + KIND_SIZE, ID_SIZE);
    result->trusted_comment = p.comment;
    if (memcmp(result->key_id, key->id, ID_SIZE) != 0)
        result->verdict = GUFO_SIGNATURE_OTHER_KEY;
    else if (is_message_signed(key, message, &p))
        result->verdict =
            is_comment_signed(key, &p) ? GUFO_SIGNATURE_GOOD : GUFO_SIGNATURE_BAD_COMMENT;
    return GUFO_OK;
}
#endif

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

static gufo_status malformed(const char *what, gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED, "not a minisign %s key", what);
}

static const gufo_signature_key_effort default_effort = {
    .operations = crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE,
    .memory = crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE,
};

/* ---- public keys ---------------------------------------------------------------------------- */

gufo_status gufo_public_key_parse(gufo_str text, gufo_public_key *key, gufo_error *error)
{
    uint8_t bytes[PUBLIC_SIZE];
    gufo_str rest = text;
    bool good = read_commented(&rest, bytes, sizeof bytes);

    if (!good) { /* the second line alone */
        rest = text;
        good = read_bytes(&rest, bytes, sizeof bytes);
    }
    if (!good || !signature_ends(rest) || memcmp(bytes, "Ed", 2) != 0)
        return malformed("public", error);
    *key = (gufo_public_key){0};
    memcpy(key->id, bytes + 2, sizeof key->id);
    memcpy(key->key, bytes + 2 + 8, sizeof key->key);
    return GUFO_OK;
}

gufo_status gufo_public_key_text(const gufo_public_key *key, char text[GUFO_SIGNATURE_KEY_TEXT],
                                 gufo_error *error)
{
    uint8_t bytes[PUBLIC_SIZE] = "Ed";
    char id[17];
    int length;

    (void)error;
    memcpy(bytes + 2, key->id, sizeof key->id);
    memcpy(bytes + 2 + 8, key->key, sizeof key->key);
    gufo_signature_key_id_text(key->id, id);
    length = snprintf(text, GUFO_SIGNATURE_KEY_TEXT, UNTRUSTED "minisign public key %s\n", id);
    (void)put_bytes(text + length, bytes, sizeof bytes);
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

    return read_commented(&text, bytes, SECRET_SIZE) && signature_ends(text) &&
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
                                const gufo_signature_key_effort *effort, gufo_error *error)
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

static void put_secret(const uint8_t *bytes, char text[GUFO_SIGNATURE_KEY_TEXT])
{
    int length = snprintf(text, GUFO_SIGNATURE_KEY_TEXT, UNTRUSTED "minisign %ssecret key\n",
                          bytes[2] != 0 ? "encrypted " : "");

    (void)put_bytes(text + length, bytes, SECRET_SIZE);
}

gufo_status gufo_secret_key_text(const gufo_secret_key *key, gufo_str password,
                                 const gufo_signature_key_effort *effort,
                                 char text[GUFO_SIGNATURE_KEY_TEXT], gufo_error *error)
{
    uint8_t bytes[SECRET_SIZE] = {0};
    gufo_status status = GUFO_OK;

    text[0] = '\0';
    if (effort != NULL)
        status = reserved_check(effort->reserved, "gufo_signature_key_effort", error);
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

gufo_status gufo_signature_key_generate(gufo_public_key *public_key, gufo_secret_key *secret_key,
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
