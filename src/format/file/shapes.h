/* Shapes, each kept once: a model has many tensors of few shapes, and a file may claim a million.
 *
 * A shape is a list of a fixed length, with 1 beyond its dimensions. */
#ifndef GUFO_FORMAT_SHAPES_H
#define GUFO_FORMAT_SHAPES_H

#include "format/file/name_index.h"
#include "format/file/records.h"

typedef struct shape_table {
    records list; /* `size` is set by whoever makes it: sizeof(uint64_t) for each dimension */
    name_index index;
} shape_table;

/* The same numbers, which stay where they are until shapes_free; NULL without memory. */
const uint64_t *shapes_share(shape_table *s, const uint64_t *shape,
                             const gufo_allocator *allocator);
void shapes_free(shape_table *s, const gufo_allocator *allocator);

#endif
