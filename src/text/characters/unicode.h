/* What Unicode says of characters: sets of them, a byte or a text for each, and clusters. */
#ifndef TEXT_UNICODE_H
#define TEXT_UNICODE_H

#include "base/buffer.h"
#include "text/characters/origins.h"

/* ---- sets of code points as lists of ranges, and the properties of Unicode by name ---------- */

#define LAST_CODE_POINT 0x10FFFFu

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* {.allocator} is the empty set. */
typedef struct code_ranges {
    const gufo_allocator *allocator;
    code_range *list;
    uint64_t count, room;
} code_ranges;

void code_ranges_free(code_ranges *r);

/* Appends a range, or all those of another set; false without memory.  The list is in order again
 * after code_ranges_sort, which the functions below need. */
bool code_ranges_add(code_ranges *r, uint32_t first, uint32_t last);
bool code_ranges_join(code_ranges *r, const code_ranges *other);
/* Sorts the ranges and joins those that touch. */
void code_ranges_sort(code_ranges *r);

/* All other code points; those of both sets.  False without memory: then the set is as it was. */
bool code_ranges_invert(code_ranges *r);
bool code_ranges_intersect(code_ranges *r, const code_ranges *other);

bool code_ranges_has(const code_ranges *r, uint32_t code_point);

/* Whether a property of registry/character_properties.tsv has this name: in any case, blanks, "_" and "-"
 * do not count, unless `exact`, which also finds our own names, that have blanks. */
typedef enum property_match { PROPERTY_OF_FILE, PROPERTY_EXACT } property_match;
bool code_ranges_knows(gufo_str name, property_match how);
/* Appends the characters of such a property, or of a set of registry/character_ranges.tsv; sorted.
 * False without memory, or if there is none. */
bool code_ranges_add_property(code_ranges *r, gufo_str name, property_match how);

/* ---- a byte for each code point, found in two steps ----------------------------------------- */

typedef struct code_map {
    uint16_t pages[(LAST_CODE_POINT >> 8) + 1]; /* of 256 code points: where in `blocks` */
    uint8_t *blocks;
} code_map;

static inline uint8_t code_map_get(const code_map *m, uint32_t code_point)
{
    return m->blocks[(size_t)m->pages[code_point >> 8] << 8 | (code_point & 0xFF)];
}

/* Fills *m from a byte for each code point; false without memory. */
bool code_map_pack(code_map *m, const uint8_t *flat, const gufo_allocator *allocator);
void code_map_free(code_map *m, const gufo_allocator *allocator);

/* A map whose bytes have bit i where the property i (exact names, up to eight) has the character.
 * NULL without memory. */
code_map *code_map_of_properties(const char *const *names, size_t count,
                                 const gufo_allocator *allocator);

/* The code point at the start of valid UTF-8, and how many bytes it takes. */
static inline uint32_t utf8_next(const char *text, size_t *size)
{
    const uint8_t *b = (const uint8_t *)text;

    if (b[0] < 0x80) {
        *size = 1;
        return b[0];
    }
    if (b[0] < 0xE0) {
        *size = 2;
        return (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu);
    }
    if (b[0] < 0xF0) {
        *size = 3;
        return (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
    }
    *size = 4;
    return (b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu);
}

/* Where the last character of text[.. end) begins, which has one. */
static inline size_t utf8_before(const char *text, size_t end)
{
    do
        end--;
    while (((uint8_t)text[end] & 0xC0) == 0x80);
    return end;
}

/* Where the first character that is not ASCII begins, from `at` on. */
size_t utf8_skip_ascii(gufo_str text, size_t at);

/* ---- a text for some code points: lower case, decompositions -------------------------------- */

/* {.allocator} has none. */
typedef struct code_texts {
    const gufo_allocator *allocator;
    uint8_t
        pages[(LAST_CODE_POINT >> 8) + 1]; /* of 256 code points: 1 + where in `numbers`; 0: none */
    uint16_t *numbers;                     /* of texts; 0: none */
    uint64_t page_count, page_room;
    gufo_str *list; /* views of `texts`, once all are there */
    uint64_t count, room;
    buffer texts;
} code_texts;

void code_texts_free(code_texts *t);

/* Adds a text, as tables have it: numbers of characters in hexadecimal.  False without memory. */
bool code_texts_add(code_texts *t, uint32_t code_point, const char *numbers);
/* After the last one. */
void code_texts_close(code_texts *t);

/* The text of a code point; empty if it has none. */
static inline gufo_str code_texts_get(const code_texts *t, uint32_t code_point)
{
    uint8_t page = t->pages[code_point >> 8];
    uint16_t number = page == 0 ? 0 : t->numbers[(size_t)(page - 1) << 8 | (code_point & 0xFF)];

    return number == 0 ? (gufo_str){"", 0} : t->list[number - 1];
}

/* ---- extended grapheme clusters of Unicode 17 (UAX #29): what a reader takes as one character -- */

/* The classes of characters; NULL without memory.  Freed by code_map_free and mem_free. */
code_map *graphemes_new(const gufo_allocator *allocator);

/* Where the cluster ends that begins at `at`, of a text that was cut into clusters up to there. */
size_t grapheme_end(const code_map *classes, gufo_str text, size_t at);

/* ---- form NFC ------------------------------------------------------------------------------- */

/* Appends a text, which is UTF-8, in form NFC; `origins` (may be NULL) gets those of its bytes.  False
 * without memory. */
bool add_composed(gufo_text *out, gufo_str text, origin_list *origins);

#endif
