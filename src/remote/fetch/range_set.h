/* Ranges of bytes that are there, in any order: what a download has, and what it lacks.
 *
 *     add [0, 4)  add [8, 12)  add [4, 6)      -->   [0, 6) [8, 12)        gap from 0: [6, 8) */
#ifndef REMOTE_FETCH_RANGE_SET_H
#define REMOTE_FETCH_RANGE_SET_H

#include "gufo/base.h"

typedef struct byte_range {
    uint64_t first, end;
} byte_range;

/* In order, and none touches the next.  {.allocator} is empty. */
typedef struct range_set {
    byte_range *ranges;
    uint64_t count, room;
    const gufo_allocator *allocator;
} range_set;

/* Adds a range, whose end is not before its beginning.  False without memory. */
bool range_set_add(range_set *set, byte_range range);
/* Adds all of `more`, which is empty then. */
bool range_set_take(range_set *set, range_set *more);
/* The first range from `from` on, up to `end`, that is not there, into *gap; false if all of it is. */
bool range_set_gap(const range_set *set, uint64_t from, uint64_t end, byte_range *gap);
/* How many bytes are there. */
uint64_t range_set_bytes(const range_set *set);
void range_set_clear(range_set *set);

#endif
