/* The piece of a token: its stored text, read as its algorithm and its attributes say.
 *
 *     control, unknown, user-defined   as stored
 *     normal                           U+2581 is a space; or, in byte-level BPE, characters are bytes
 *     byte                             "<0x0A>" is the byte 0A
 *     unused, or of no known type      nothing
 *     any token of RWKV                escapes are resolved */
#include "text/piece.h"

#include "base/text.h"
#include "text/characters/escaped.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* ---- forms of token texts ------------------------------------------------------------------- */

static bool add_stored(gufo_str text, gufo_text *out)
{
    return text_add(out, text.data, text.len);
}

static bool add_spaces(gufo_str text, gufo_text *out)
{
    if (!text_reserve(out, text.len))
        return false;
    for (size_t at = 0; at < text.len;) {
        bool space = str_begins(str_from(text, at), ESCAPED_SPACE);

        text_put_byte(out, space ? ' ' : text.data[at]);
        at += space ? sizeof ESCAPED_SPACE - 1 : 1;
    }
    return true;
}

/* "[UNK_BYTE_0xe282ac" + text + "]": what llama.cpp prints for a character outside the alphabet. */
static bool add_unknown(uint32_t code_point, gufo_str text, gufo_text *out)
{
    static const char before[] = "[UNK_BYTE_0x", digits[] = "0123456789abcdef";
    char bytes[4];
    size_t size = lenient_encode(code_point, bytes);

    if (!text_add(out, before, sizeof before - 1) || !text_reserve(out, 2 * size))
        return false;
    for (size_t i = 0; i < size; i++) {
        text_put_byte(out, digits[(uint8_t)bytes[i] >> 4]);
        text_put_byte(out, digits[(uint8_t)bytes[i] & 15]);
    }
    return text_add(out, text.data, text.len) && text_add(out, "]", 1);
}

static bool add_alphabet(gufo_str text, gufo_text *out)
{
    bool enough = text_reserve(out, text.len);
    size_t size;

    for (size_t at = 0; at < text.len && enough; at += size) {
        uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);
        int byte = byte_alphabet_byte(code_point);

        if (byte >= 0)
            text_put_byte(out, (char)byte); /* no longer than its character */
        else
            enough = add_unknown(code_point, text, out) && text_reserve(out, text.len - at - size);
    }
    return enough;
}

/* Up to two digits behind "<0x". */
static bool add_byte(gufo_str text, gufo_text *out)
{
    uint64_t value;

    (void)str_hex(text, 3, 2, &value);
    return text_add(out, &(char){(char)value}, 1);
}

static bool add_nothing(gufo_str text, gufo_text *out)
{
    (void)text;
    (void)out;
    return true;
}

/* ---- the form of a token -------------------------------------------------------------------- */

/* For the original's ids runs of spaces are user-defined and normal (opening/added_tokens.c). */
static bool is_stored(const gufo_vocab *vocab, uint32_t attributes)
{
    if (vocab->original && (attributes & GUFO_TOKEN_NORMAL) != 0 &&
        (attributes & VOCAB_SPECIAL) == GUFO_TOKEN_USER_DEFINED)
        return false;
    return (attributes & VOCAB_SPECIAL) != 0;
}

typedef bool add_form(gufo_str text, gufo_text *out);

bool piece_add(const gufo_vocab *vocab, uint32_t id, gufo_text *out)
{
    uint32_t attributes = vocab->attributes[id];
    bool alphabet = vocab->algorithm == &algorithm_bpe && !vocab->escape_spaces;
    add_form *add = add_nothing;

    if (vocab->algorithm == &algorithm_rwkv)
        add = add_unescaped;
    else if (is_stored(vocab, attributes))
        add = add_stored;
    else if ((attributes & GUFO_TOKEN_NORMAL) != 0)
        add = alphabet ? add_alphabet : add_spaces;
    else if ((attributes & GUFO_TOKEN_BYTE) != 0)
        add = add_byte;
    return add(vocab_text(vocab, id), out);
}
