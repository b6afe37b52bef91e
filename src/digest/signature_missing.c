/* Signatures where there is no libsodium: everything says so. */
#include "digest/signature.h"

#ifndef GUFO_SODIUM
#pragma GCC diagnostic ignored "-Wunused-parameter"

bool gufo_signature_available(void)
{
    return false;
}

void gufo_secret_key_wipe(gufo_secret_key *key)
{
    *key = (gufo_secret_key){0};
}

gufo_status gufo_signature_key_generate(gufo_public_key *public_key, gufo_secret_key *secret_key,
                                        gufo_error *error)
{
    *public_key = (gufo_public_key){0};
    *secret_key = (gufo_secret_key){0};
    return signature_missing(error);
}

gufo_status gufo_public_key_text(const gufo_public_key *key, char text[GUFO_SIGNATURE_KEY_TEXT],
                                 gufo_error *error)
{
    text[0] = '\0';
    return signature_missing(error);
}

gufo_status gufo_secret_key_text(const gufo_secret_key *key, gufo_str password,
                                 const gufo_signature_key_effort *effort,
                                 char text[GUFO_SIGNATURE_KEY_TEXT], gufo_error *error)
{
    text[0] = '\0';
    return signature_missing(error);
}

gufo_status gufo_public_key_parse(gufo_str text, gufo_public_key *key, gufo_error *error)
{
    *key = (gufo_public_key){0};
    return signature_missing(error);
}

gufo_status gufo_secret_key_parse(gufo_str text, gufo_str password, gufo_secret_key *key,
                                  gufo_error *error)
{
    *key = (gufo_secret_key){0};
    return signature_missing(error);
}

gufo_status gufo_secret_key_encrypted(gufo_str text, bool *encrypted, gufo_error *error)
{
    *encrypted = false;
    return signature_missing(error);
}

gufo_status gufo_signature_make(const gufo_secret_key *key, gufo_str message,
                                gufo_str trusted_comment, char text[GUFO_SIGNATURE_TEXT],
                                gufo_error *error)
{
    text[0] = '\0';
    return signature_missing(error);
}

gufo_status gufo_signature_check(const gufo_public_key *key, gufo_str message, gufo_str text,
                                 gufo_signature_result *result, gufo_error *error)
{
    *result = (gufo_signature_result){.verdict = GUFO_SIGNATURE_BAD};
    return signature_missing(error);
}
#endif
