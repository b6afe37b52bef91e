/* From a name to the index of its owner, in constant time.
 *
 * An open-addressing table of 32-bit indices; names stay where they are and are asked for by index.
 * Names are compared by length and bytes and never cut at a NUL. */
#ifndef GUFO_FORMAT_NAME_INDEX_H
#define GUFO_FORMAT_NAME_INDEX_H

#include "base/hash.h"
#include "base/memory.h"

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

#endif
