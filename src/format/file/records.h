/* A list of records that grows without moving them.
 *
 * Chunk k holds 8 << k records, so that a list of n records takes room for at most 2n + 8, a record
 * keeps its address, and finding one needs no search:
 *
 *     record i: (i + 8) = 8 << k + rest, k from the highest bit     chunks[k][rest] */
#ifndef GUFO_FORMAT_RECORDS_H
#define GUFO_FORMAT_RECORDS_H

#include "base/memory.h"

enum { RECORDS_FIRST = 8, RECORDS_FIRST_BITS = 3, RECORDS_CHUNKS = 32 };

typedef struct records {
    unsigned char *chunks[RECORDS_CHUNKS];
    uint64_t count;
    size_t size; /* of a record */
} records;

static inline void *records_at(const records *list, uint64_t index)
{
    uint64_t place = index + RECORDS_FIRST;
    unsigned bits = 63 - (unsigned)__builtin_clzll(place);
    uint64_t rest = place - ((uint64_t)1 << bits);

    return list->chunks[bits - RECORDS_FIRST_BITS] + rest * list->size;
}

/* Room for one more record at the end, zeroed; NULL without memory.  At most GUFO_MAX_COUNT. */
void *records_add(records *list, const gufo_allocator *allocator);
void records_free(records *list, const gufo_allocator *allocator);

#endif
