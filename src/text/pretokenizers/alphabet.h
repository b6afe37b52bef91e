/* An alphabet of one byte per character, made for a few regular expressions.
 *
 * Expressions tell characters apart by their sets alone.  All characters beyond ASCII that are in
 * the same sets are one class, and a class is one byte from 80h on; ASCII characters are themselves.
 * Expressions rewritten for these bytes match what the originals match in text of Unicode, whatever
 * PCRE2 knows of Unicode, and faster.
 *
 *     \p{L}+|[^\s\p{L}]     sets \p{L} and [^\s\p{L}]; of the characters beyond ASCII
 *                           80h: white space, in neither; 81h: letters; 82h: all others
 *     [A-Za-z\x81]+|[...]   the rewritten expression */
#ifndef TEXT_ALPHABET_H
#define TEXT_ALPHABET_H

#include "base/buffer.h"
#include "gufo/base.h"

/* ---- sets of characters in regular expressions: \p{L}, \s, a letter of Greek, [^\r\n\p{N}] -- */

/* A part of a set: the characters from first to last whose class is one of the bits. */
typedef struct set_item {
    uint32_t first, last;
    uint32_t classes; /* 1 << character_class */
} set_item;

typedef struct character_set {
    gufo_str text;       /* as the expression spells it */
    size_t first, count; /* items */
    bool negated;
} character_set;

typedef struct character_sets {
    const gufo_allocator *allocator;
    character_set *sets;
    uint64_t count, room;
    set_item *items;
    uint64_t item_count, item_room;
} character_sets;

/* ---- the alphabet --------------------------------------------------------------------------- */

#define ALPHABET_PAGES (0x110000 >> 8)

typedef struct alphabet {
    character_sets sets;
    uint64_t classes[128]; /* of byte 80h + i: bit k for set k */
    unsigned class_count;
    uint16_t pages[ALPHABET_PAGES]; /* of 256 code points: where in `bytes` */
    buffer bytes;
} alphabet;

void alphabet_free(alphabet *a);

/* Takes the sets of an expression; the text must live as long as the alphabet. */
gufo_status alphabet_learn(alphabet *a, const char *expression, gufo_error *error);
/* All expressions are learnt: finds the classes.  GUFO_E_LIMIT: too many. */
gufo_status alphabet_close(alphabet *a, gufo_error *error);

/* The byte of a code point; those above 10FFFF are U+FFFD. */
static inline uint8_t alphabet_byte(const alphabet *a, uint32_t code_point)
{
    if (code_point > 0x10FFFF)
        code_point = 0xFFFD;
    return a->bytes.data[(size_t)a->pages[code_point >> 8] << 8 | (code_point & 0xFF)];
}

/* The bytes of a set that was learnt. */
typedef struct byte_set {
    bool has[256];
} byte_set;

byte_set alphabet_set(const alphabet *a, gufo_str set);

/* Appends a learnt expression, rewritten and terminated. */
gufo_status alphabet_rewrite(const alphabet *a, const char *expression, buffer *out,
                             gufo_error *error);

#endif
