/* What a list of records, and the names in it, are kept in. */
#ifndef GUFO_FORMAT_RECORDS_H
#define GUFO_FORMAT_RECORDS_H

#include "base/hash.h"
#include "base/memory.h"

/* A list of records that grows without moving them.
 *
 * Chunk k holds 8 << k records, so that a list of n records takes room for at most 2n + 8, a record
 * keeps its address, and finding one needs no search:
 *
 *     record i: (i + 8) = 8 << k + rest, k from the highest bit     chunks[k][rest] */
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

/* From a name to the index of its owner, in constant time.
 *
 * An open-addressing table of 32-bit indices; names stay where they are and are asked for by index.
 * Names are compared by length and bytes and never cut at a NUL. */
typedef gufo_str name_of_fn(const void *owner, uint64_t index);

typedef struct name_index {
    uint32_t *slots; /* index + 1; 0: empty */
    uint64_t mask;   /* slots - 1 */
    hash_key key;
    name_of_fn *name_of;
    const void *owner;
} name_index;

/* Makes an empty index for up to `count` names. */
gufo_status name_index_new(name_index *index, uint64_t count, name_of_fn *name_of,
                           const void *owner, const gufo_allocator *allocator, gufo_error *error);
void name_index_free(name_index *index, const gufo_allocator *allocator);

/* Makes room for `count` names, the first `had` of which were added. */
gufo_status name_index_fit(name_index *index, uint64_t had, uint64_t count,
                           const gufo_allocator *allocator, gufo_error *error);

/* Makes room for one more name where names are added one by one: grows when two thirds are full. */
gufo_status name_index_grow(name_index *index, uint64_t count, const gufo_allocator *allocator,
                            gufo_error *error);

/* Adds name number `number`.  If an equal name exists already, *first receives its number, nothing
 * is added and the result is false. */
bool name_index_add(name_index *index, uint64_t number, uint64_t *first);
bool name_index_find(const name_index *index, gufo_str name, uint64_t *number);

/* Takes name number `number` out, which must still have the name that it was added with; or all. */
void name_index_remove(name_index *index, uint64_t number);
void name_index_clear(name_index *index);

/* Shapes, each kept once: a model has many tensors of few shapes, and a file may claim a million.
 *
 * A shape is a list of a fixed length, with 1 beyond its dimensions. */
typedef struct shape_table {
    records list; /* `size` is set by whoever makes it: sizeof(uint64_t) for each dimension */
    name_index index;
} shape_table;

/* The same numbers, which stay where they are until shapes_free; NULL without memory. */
const uint64_t *shapes_share(shape_table *s, const uint64_t *shape,
                             const gufo_allocator *allocator);
void shapes_free(shape_table *s, const gufo_allocator *allocator);

#endif
