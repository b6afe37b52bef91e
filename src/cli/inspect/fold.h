/* Tensors whose names differ in a number alone, as one line:
 *
 *     blk.0.attn_q.weight  Q4_K  4096 x 4096
 *     blk.1.attn_q.weight  Q4_K  4096 x 4096      blk.0-1,3.attn_q.weight  Q4_K  4096 x 4096
 *     blk.3.attn_q.weight  Q4_K  4096 x 4096  */
#ifndef CLI_INSPECT_FOLD_H
#define CLI_INSPECT_FOLD_H

#include "gufo/format.h"

#include <stdio.h>

/* A tensor, with the place of the first number in its name: the whole segment of a name. */
typedef struct fold_tensor {
    gufo_str name;
    uint64_t index; /* in the model */
    uint64_t dims[GUFO_MAX_DIMS];
    uint64_t size, number;
    uint32_t type, n_dims;
    size_t digits_at, digits_end; /* equal: there is none */
} fold_tensor;

/* Tensors of one type and shape, by number. */
typedef struct fold_group {
    const fold_tensor *tensors;
    uint64_t count;
    uint64_t first; /* the least index */
    uint64_t size;  /* bytes of all; UINT64_MAX if that overflows */
} fold_group;

typedef struct fold {
    fold_tensor *tensors;
    fold_group *groups; /* in the order of their first tensors */
    uint64_t tensor_count, group_count;
} fold;

/* All tensors that match (NULL: all): to be freed with fold_free.  False without memory. */
bool fold_tensors(fold *f, const gufo_model *model, const char *glob);
void fold_free(fold *f);

/* "blk.0-2,5.attn_q.weight"; as it is, it may hold any bytes. */
void fold_put_name(FILE *out, const fold_group *group);

#endif
