/* Which bytes follow each other inside the texts of tokens.
 *
 * Where two bytes of a text follow each other in no token, no token and no merge crosses: the text
 * can be cut there without changing an id. */
#ifndef TEXT_BYTE_PAIRS_H
#define TEXT_BYTE_PAIRS_H

#include "text/characters/characters.h"

typedef struct byte_pairs {
    uint64_t bits[65536 / 64];
} byte_pairs;

/* Adds the pairs in a token's text.  Texts are encoded as they are, before spaces are replaced by
 * U+2581: the space of a pair means that character, whole. */
void byte_pairs_add(byte_pairs *pairs, gufo_str token);

static inline void byte_pairs_join(byte_pairs *pairs, char left, char right)
{
    unsigned pair = (unsigned)(uint8_t)left << 8 | (uint8_t)right;

    pairs->bits[pair >> 6] |= UINT64_C(1) << (pair & 63);
}

static inline bool byte_pairs_has(const byte_pairs *pairs, char left, char right)
{
    unsigned pair = (unsigned)(uint8_t)left << 8 | (uint8_t)right;

    return (pairs->bits[pair >> 6] >> (pair & 63) & 1) != 0;
}

/* Whether a character begins at text[at], by the lengths that first bytes announce: no byte before
 * announces more.  `text` begins with one.  (True means that it does; false, that it may not.) */
static inline bool starts_character(const char *text, size_t at)
{
    size_t most = at < 3 ? at : 3;

    for (size_t back = 1; back <= most; back++)
        if ((uint8_t)text[at - back] >= 0xc0 && length_by_first_byte(text + at - back, 4) > back)
            return false;
    return true;
}

/* The end of the piece that begins at text[at]: the next place where no token and no character
 * crosses, or `len`. */
static inline size_t piece_end(const byte_pairs *pairs, const char *text, size_t at, size_t len)
{
    for (at++; at < len; at++)
        if (!byte_pairs_has(pairs, text[at - 1], text[at]) && starts_character(text, at))
            return at;
    return len;
}

/* The last such place in a text, not its end; 0 if it has none. */
size_t last_piece(const byte_pairs *pairs, gufo_str text);

#endif
