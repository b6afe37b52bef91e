/* Fuzz target: read anything as a manifest, as the name in a line of one, as a key and as a
 * signature. */
#include "walk.h"

#include <gufo/digest.h>

#include <stdlib.h>
#include <string.h>

/* What stands before the text. */
static const char *const beginnings[] = {"", "xxh64 0123456789abcdef  ",
                                         "\\xxh64 0123456789abcdef  ", "untrusted comment: x\n"};

static void read_manifest(gufo_str text)
{
    gufo_error error;
    gufo_manifest *m = gufo_manifest_parse(text, NULL, &error);
    gufo_manifest_line line;
    uint64_t number = 0;
    size_t names = 0;

    must(m != NULL || error.code == GUFO_E_MALFORMED, "anything but a manifest is malformed");
    must(m == NULL || gufo_manifest_count(m) + gufo_manifest_file_count(m) > 0,
         "a manifest has a line");
    for (uint64_t i = 0; m != NULL && gufo_manifest_at(m, i, &line); i++) {
        must(line.number > number, "lines are in order");
        must(gufo_digest_kind_of(line.algorithm) != NULL, "the algorithm is one");
        must(line.name.len > 0 || text.data[0] == '\\', "names are not empty");
        number = line.number;
        names += line.name.len;
    }
    must(names <= text.len, "names are no longer than the text");
    gufo_manifest_free(m);
}

static void read_keys(gufo_str text)
{
    gufo_public_key public_key = {.id = {0}}, again;
    gufo_secret_key secret_key;
    gufo_signature_result result;
    char written[GUFO_SIGNATURE_KEY_TEXT];
    bool encrypted;

    if (!gufo_signature_available())
        return;
    if (gufo_public_key_parse(text, &public_key, NULL) == GUFO_OK) {
        must(gufo_public_key_text(&public_key, written, NULL) == GUFO_OK &&
                 gufo_public_key_parse(gufo_str_of(written), &again, NULL) == GUFO_OK &&
                 memcmp(&public_key, &again, sizeof again) == 0,
             "a key that was read can be written");
    }
    /* Passwords take a second each. */
    if (gufo_secret_key_encrypted(text, &encrypted, NULL) == GUFO_OK && !encrypted)
        (void)gufo_secret_key_parse(text, (gufo_str){0}, &secret_key, NULL);
    if (gufo_signature_check(&public_key, text, text, &result, NULL) == GUFO_OK)
        must(result.verdict != GUFO_SIGNATURE_GOOD, "signatures cannot be guessed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t before = strlen(beginnings[i]);
        char *text = malloc(before + size + 1);

        must(text != NULL, "the machine has enough memory");
        memcpy(text, beginnings[i], before);
        if (size > 0)
            memcpy(text + before, data, size);
        read_manifest((gufo_str){text, before + size});
        read_keys((gufo_str){text, before + size});
        free(text);
    }
    return 0;
}
