/* Sorting without memory: of numbers that refer to something else, and of records themselves. */
#ifndef GUFO_BASE_SORT_H
#define GUFO_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether record `a` of `owner` comes before record `b`: a strict order of all records. */
typedef bool sort_before(const void *owner, uint32_t a, uint32_t b);

/* Puts indices in order: in place, without memory, and no order of the input makes it slow. */
void sort_indices(uint32_t *indices, uint64_t count, sort_before *before, const void *owner);

/* Whether a record comes before another one. */
typedef bool sort_item_before(const void *a, const void *b);

/* Puts `count` records of `size` bytes in order, likewise.  (qsort of the C library may
 * allocate.) */
void sort_items(void *items, size_t count, size_t size, sort_item_before *before);

#endif
