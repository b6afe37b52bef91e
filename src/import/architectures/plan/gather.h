/* Rows whose numbers are anywhere: for orders that the segments of the engine do not describe. */
#ifndef IMPORT_ARCHITECTURES_PLAN_GATHER_H
#define IMPORT_ARCHITECTURES_PLAN_GATHER_H

#include "import/architectures/plan/views.h"

/* What the elements of a view are, that are gathered. */
typedef enum gather_form {
    GATHER_NUMBERS,
    GATHER_ROWS,   /* whole rows of packed weights, as F32 */
    GATHER_BLOCKS, /* the same, as blocks */
} gather_form;

/* Rows of a view; their context, one block of memory. */
typedef struct gathering {
    const gufo_allocator *allocator;
    const checkpoint *checkpoint;
    chunk *chunks;
    uint64_t *begins; /* the first element of each chunk in the view */
    uint64_t count;
    uint64_t columns; /* elements in a row */
    uint64_t width;   /* bytes of an element */
    gather_form form;
} gathering;

/* Makes what `rows.read` reads from: one block of memory.  NULL without it. */
gathering *gather_new(const view *v, const checkpoint *c, uint64_t columns);
/* The same for a view whose elements are rows of packed weights, of `width` bytes each. */
gathering *gather_new_rows(const view *v, const checkpoint *c, uint64_t width, gather_form form);

/* rows.read, with a gathering as context.  Any thread. */
gufo_status gather_rows(const struct rows *r, uint64_t first, uint64_t count, void *out,
                        gufo_error *error);
/* rows.read of rows that are zeros. */
gufo_status gather_zeros(const struct rows *r, uint64_t first, uint64_t count, void *out,
                         gufo_error *error);

#endif
