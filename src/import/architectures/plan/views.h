/* Numbers of files in another order: what operations on tensors make, before anything is read.
 *
 * A view has a shape, and its numbers, in the order of the shape, are those of one chunk after the
 * other.  A chunk is a box of numbers in a file, walked with a stride for every axis of the box:
 *
 *     file     a b c d e f          shape 3, 2
 *     chunk    count 3, 2  stride 1, 3
 *     view     a d | b e | c f
 *
 * Operations change shapes, counts, strides and the list of chunks alone.  pieces.c makes a piece for
 * the engine of the result. */
#ifndef IMPORT_ARCHITECTURES_PLAN_VIEWS_H
#define IMPORT_ARCHITECTURES_PLAN_VIEWS_H

#include "import/containers/checkpoint.h"
#include "produce/produce.h"

enum { VIEW_DIMS = CHECKPOINT_MAX_DIMS, VIEW_OPS = 4 };

typedef struct chunk {
    const source *source; /* NULL: `packed` has them, or they are zeros, wherever they are */
    struct packed_weight *packed; /* as if its numbers were F32 in a file; NULL: it has none */
    const number_type *number;
    uint64_t offset;                              /* of its first number, in bytes */
    uint64_t count[VIEW_DIMS], stride[VIEW_DIMS]; /* slowest first, strides in numbers */
    uint64_t numbers;
    uint32_t n_dims; /* 0: one number */
    uint32_t file;   /* of the checkpoint */
    bool swapped;
} chunk;

typedef struct view {
    const gufo_allocator *allocator;
    uint32_t n_dims;
    uint64_t shape[VIEW_DIMS]; /* slowest first */
    uint64_t numbers;
    chunk *chunks; /* each has whole entries of axis 0 */
    uint64_t count, room;
    row_op ops[VIEW_OPS]; /* on every number */
    uint32_t n_ops;
} view;

/* The numbers of a tensor of a checkpoint; a view that numbers are added to; zeros.  The view is
 * freed with view_free, also after a failure. */
gufo_status view_open(view *v, const checkpoint *c, const checkpoint_tensor *t,
                      const gufo_allocator *a, gufo_error *error);
gufo_status view_copy(view *v, const view *from, gufo_error *error);
void view_free(view *v);

/* Each fails with GUFO_E_ARGUMENT for what does not fit the shape; the sentence does not name the
 * tensor. */
gufo_status view_reshape(view *v, uint32_t n_dims, const uint64_t *shape, gufo_error *error);
gufo_status view_swap(view *v, uint32_t a, uint32_t b, gufo_error *error);
/* Entries first, first + step ... of an axis. */
gufo_status view_slice(view *v, uint32_t axis, uint64_t first, uint64_t count, uint64_t step,
                       gufo_error *error);
/* Appends the numbers of another view along an axis; the other axes are equal. */
gufo_status view_append(view *v, const view *more, uint32_t axis, gufo_error *error);
/* Appends zeros to axis 0. */
gufo_status view_append_zeros(view *v, uint64_t entries, gufo_error *error);
gufo_status view_operate(view *v, const row_op *op, gufo_error *error);
/* Appends a chunk to the list; the shape of the view is the caller's to set. */
gufo_status view_add_chunk(view *v, const chunk *c, gufo_error *error);

static inline bool chunk_is_zeros(const chunk *c)
{
    return c->source == NULL && c->packed == NULL;
}

/* Describes a chunk with a group of counts for each axis of `dims`, whose product it has: groups[i]
 * is the first count of axis i, groups[n_dims] the end.  False where no such description exists. */
bool chunk_align(chunk *c, uint32_t n_dims, const uint64_t *dims, uint32_t *groups);

#endif
