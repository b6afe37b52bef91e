/* Sets of code points as lists of ranges, and the properties of Unicode by name. */
#ifndef TEXT_PIPELINE_CODE_RANGES_H
#define TEXT_PIPELINE_CODE_RANGES_H

#include "gufo/base.h"

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

#endif
