/* Sorting without memory, of numbers that refer to something else, and of records themselves; finding
 * in what is sorted. */
#ifndef GUFO_BASE_SORT_H
#define GUFO_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether record `a` of `owner` comes before record `b`: a strict order of all records. */
typedef bool sort_before(const void *owner, uint32_t a, uint32_t b);

/* Puts indices in order: in place, without memory, and no order of the input makes it slow. */
void sort_indices(uint32_t *indices, uint64_t count, sort_before *before, const void *owner);

/* Whether a record comes before another one. */
typedef bool sort_item_before(const void *a, const void *b);

/* Puts `count` records of `size` bytes in order, likewise.  (qsort of the C library may
 * allocate.) */
void sort_items(void *items, size_t count, size_t size, sort_item_before *before);

/* Whether a row comes before what is looked for. */
typedef bool row_is_before(const void *ordered, size_t row, const void *wanted);

/* The first of `count` rows in order that does not come before what is looked for; `count` if all do. */
static inline size_t first_row_from(const void *ordered, size_t count, row_is_before *is_before,
                                    const void *wanted)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (is_before(ordered, middle, wanted))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The last of `count` records that begins at or before `value`; 0 if none does.  Records ascend by
 * their beginnings: the first is *begins, and each of the others `stride` bytes behind. */
static inline uint64_t last_begun(const uint64_t *begins, size_t stride, uint64_t count,
                                  uint64_t value)
{
    uint64_t low = 0, high = count, begin;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        memcpy(&begin, (const uint8_t *)begins + (size_t)middle * stride, sizeof begin);
        if (begin <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
