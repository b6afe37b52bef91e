/* Which cuts of a text can make a difference for a vocabulary: those between bytes that a token has
 * side by side.  Programs moreover disagree at white space beyond ASCII, and at punctuation that Unicode got after
 * 8.0, which never count. */
#include "import/tokenizers/material.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#include "text/vocabulary/byte_alphabet.h"
#include "text/pipeline/unicode/code_map.h"
#include "text/vocabulary/characters.h"

enum { LAST_CHARACTER = 0x200, NO_BYTE = 256 };

static void learn_token(byte_pairs *pairs, const uint16_t *bytes, gufo_str text)
{
    unsigned before = NO_BYTE;

    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);
        unsigned byte = code_point < LAST_CHARACTER ? bytes[code_point] : NO_BYTE;

        if (before != NO_BYTE && byte != NO_BYTE)
            pairs->bits[before][byte / 8] |= (uint8_t)(1U << byte % 8);
        before = byte;
    }
}

gufo_status byte_pairs_learn(byte_pairs *pairs, const token_list *tokens,
                             const gufo_allocator *allocator, gufo_error *error)
{
    static const char *const properties[] = {"step_punctuation"};
    uint16_t bytes[LAST_CHARACTER];
    byte_texts alphabet;

    memset(pairs, 0, sizeof *pairs);
    for (unsigned i = 0; i < LAST_CHARACTER; i++)
        bytes[i] = NO_BYTE;
    byte_alphabet_fill(&alphabet);
    for (unsigned byte = 0; byte < 256; byte++) {
        size_t size;

        bytes[lenient_decode(alphabet.text[byte], alphabet.len[byte], &size)] = (uint16_t)byte;
    }
    for (uint32_t id = 0; id < tokens->count; id++)
        if (tokens->tokens[id].type == TOKEN_NORMAL)
            learn_token(pairs, bytes, tokens->tokens[id].text);
    pairs->punctuation = code_map_of_properties(properties, 1, allocator);
    return pairs->punctuation != NULL ? GUFO_OK : fail_memory(error);
}

void byte_pairs_free(byte_pairs *pairs, const gufo_allocator *allocator)
{
    if (pairs->punctuation != NULL)
        code_map_free(pairs->punctuation, allocator);
    mem_free(allocator, pairs->punctuation);
}

/* Which class programs see depends on which one, and on its version. */
static bool is_disputed(const byte_pairs *pairs, gufo_str text, size_t at)
{
    size_t size;
    uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);

    return code_point >= 0x80 &&
           (class_of(code_point) == CLASS_W ||
            (class_of(code_point) == CLASS_P && code_point <= LAST_CODE_POINT &&
             code_map_get(pairs->punctuation, code_point) == 0));
}

bool cut_is_material(const byte_pairs *pairs, gufo_str text, size_t at)
{
    uint8_t before = (uint8_t)text.data[at - 1], behind = (uint8_t)text.data[at];
    size_t start = at;

    if ((pairs->bits[before][behind / 8] >> behind % 8 & 1) == 0)
        return false;
    /* A cut may be inside a character. */
    while (start > 0 && ((uint8_t)text.data[start] & 0xC0) == 0x80)
        start--;
    return !is_disputed(pairs, text, start) &&
           !is_disputed(pairs, text, character_before(text, at));
}
