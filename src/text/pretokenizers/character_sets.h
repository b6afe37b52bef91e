/* The sets of characters in regular expressions: \p{L}, \s, a letter of Greek, [^\r\n\p{N}]. */
#ifndef TEXT_CHARACTER_SETS_H
#define TEXT_CHARACTER_SETS_H

#include "gufo/base.h"

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

void character_sets_free(character_sets *sets);

/* The next element of an expression (not empty): a set that goes beyond ASCII, or other
 * bytes. */
gufo_str expression_element(gufo_str expression, bool *is_set);

/* The number of the set that is spelt so; equal texts are one set.  GUFO_E_ARGUMENT if it cannot
 * be read. */
gufo_status character_sets_add(character_sets *sets, gufo_str text, size_t *number,
                               gufo_error *error);

bool character_set_has(const character_sets *sets, size_t number, uint32_t code_point,
                       uint32_t class_bit);

/* The last code point from this one on for which all sets answer as for this one, as long as its
 * class does not change. */
uint32_t character_sets_same_until(const character_sets *sets, uint32_t code_point);

#endif
