/* Characters: UTF-8 as tokenizers read it, and the classes of Unicode 15.1.
 *
 * The tables are our own (registry/unicode_classes.tsv), so that ids do not depend on the versions
 * of libraries. */
#ifndef TEXT_CHARACTERS_H
#define TEXT_CHARACTERS_H

#include "gufo/base.h"

typedef enum character_class {
    CLASS_OTHER = 0, /* unassigned: neither letter nor control */
    CLASS_L,         /* letters */
    CLASS_N,         /* numbers */
    CLASS_P,         /* punctuation */
    CLASS_S,         /* symbols */
    CLASS_M,         /* marks */
    CLASS_C,         /* controls: Cc, Cf, Cs, Co */
    CLASS_W,         /* white space */
    CLASS_COUNT,
} character_class;

character_class class_of(uint32_t code_point);
/* The same for code points in ascending order, with *row 0 at first; *last becomes the last one from here on that all
 * have this class. */
character_class class_next(size_t *row, uint32_t code_point, uint32_t *last);

/* The code point at the start of text (not empty), leniently: overlong forms, surrogates and values
 * above 10FFFF are taken as they are; a byte that begins no sequence is U+FFFD.  *size is how many
 * bytes it takes. */
uint32_t lenient_decode(const char *text, size_t len, size_t *size);
/* Writes a code point, surrogates included; returns the bytes written, at most 4.  Values above
 * 10FFFF are written as U+FFFD. */
size_t lenient_encode(uint32_t code_point, char out[4]);

/* Whether the character at text[at] is complete, and spelt as lenient_encode does. */
bool is_plain_character(gufo_str text, size_t at);
/* Where the character that ends at text[end] begins: bytes of no sequence are one each. */
size_t character_before(gufo_str text, size_t end);

/* The length that a first byte announces, 1 for 80 to BF; not more than `len`. */
static inline size_t length_by_first_byte(const char *text, size_t len)
{
    static const uint8_t lengths[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    size_t size = lengths[(uint8_t)*text >> 4];

    return size < len ? size : len;
}

#endif
