/* A set of bytes, as ranges: which parts of a file have been written. */
#ifndef GUFO_BASE_RANGES_H
#define GUFO_BASE_RANGES_H

#include "gufo/base.h"

/* Ascending, and neither overlapping nor touching. */
typedef struct ranges {
    struct range {
        uint64_t begin, end;
    } * list;
    size_t count;
    uint64_t capacity;
    const gufo_allocator *allocator;
} ranges;

/* Adds [begin, end); false without memory.  Writing in order, in either direction, keeps one range,
 * and takes constant time; in general it takes time in proportion to the ranges there are. */
bool ranges_add(ranges *set, uint64_t begin, uint64_t end);
bool ranges_cover(const ranges *set, uint64_t begin, uint64_t end);
void ranges_free(ranges *set);

#endif
