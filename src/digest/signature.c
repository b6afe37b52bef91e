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

#include "base/error.h"
#include "base/utf8.h"

enum { KIND_SIZE = 2, ID_SIZE = 8, ED25519_SIZE = 64, HASH_SIZE = 64 };

#ifdef GUFO_SODIUM
#include <sodium.h>

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

        step = utf8_decode(comment, &character);
        if (step == 0 || (character != '\t' && utf8_is_control(character)))
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
    length += signature_put(text + length, bytes, sizeof bytes);
    length += snprintf(text + length, GUFO_SIGNATURE_TEXT - (size_t)length, TRUSTED "%.*s\n",
                       (int)trusted_comment.len, trusted_comment.data);
    (void)signature_put(text + length, global_signature, sizeof global_signature);
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

    if (signature_read(&rest, p->bytes, sizeof p->bytes) && text_line(&rest, &p->comment) &&
        signature_skip(&p->comment, TRUSTED) && p->comment.len <= GUFO_TRUSTED_COMMENT &&
        signature_bytes(&rest, p->global, sizeof p->global) && signature_ends(rest) &&
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
