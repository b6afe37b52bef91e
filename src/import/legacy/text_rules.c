/* How the texts of each family are read, and what its tokenizer is called today.
 *
 * Ids of special tokens are where the family's own tokenizer has them; a model that was made with another
 * one has other texts there, and then gets no such key. */
#include <string.h>

#include "import/legacy/vocabulary.h"

static const struct family_rule {
    const char *family;
    legacy_text_rule rule;
} families[] = {
    /* family       texts                   model    pre          bos    eos    unk pad */
    {"llama", {LEGACY_TEXTS_PIECES, "llama", "default", 1, 2, 0, -1}},
    {"gpt-2", {LEGACY_TEXTS_BYTES, "gpt2", "gpt-2", 50256, 50256, -1, -1}},
    {"starcoder", {LEGACY_TEXTS_BYTES, "gpt2", "starcoder", 0, 0, -1, -1}},
    {"gpt-j", {LEGACY_TEXTS_BYTES, "gpt2", "gpt-2", 50256, 50256, -1, -1}},
    {"gpt-neox", {LEGACY_TEXTS_DECODED, "gpt2", "gpt-2", 0, 0, -1, 1}},
    {"mpt", {LEGACY_TEXTS_LATIN, "gpt2", "mpt", 0, 0, -1, 1}},
    {"replit", {LEGACY_TEXTS_UNIGRAM, "t5", NULL, 1, 2, 0, -1}},
    {"bloom", {LEGACY_TEXTS_DECODED, "gpt2", "bloom", 1, 2, 0, 3}},
    {"falcon", {LEGACY_TEXTS_BYTES, "gpt2", "falcon", 11, 11, -1, -1}},
    {"whisper", {LEGACY_TEXTS_WHISPER, "gpt2", "gpt-2", -1, -1, -1, -1}},
};

const legacy_text_rule *legacy_text_rule_find(const char *family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].family, family) == 0)
            return &families[i].rule;
    return NULL;
}
