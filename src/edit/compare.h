/* Comparing two models: the interface between the files of the comparison.
 *
 *     compare.c            pairs of tensors, notes, sums
 *     compare_metadata.c   keys and values
 *     compare_data.c       bytes
 *     compare_values.c     numbers
 *     compare_shared.c     threads, progress, reading
 */
#ifndef EDIT_COMPARE_H
#define EDIT_COMPARE_H

#include "base/threads.h"
#include "gufo/compare.h"

typedef struct comparing {
    const gufo_model *models[2]; /* a, b */
    const gufo_compare_options *options;
    const gufo_run *run;
    gufo_comparison *result;
    const gufo_allocator *allocator;
    uint64_t done, total; /* bytes of a's tensors that have one of that name in b */
    uint64_t shown;       /* what was reported last */
} comparing;

/* One of two tensors. */
typedef struct compared_side {
    unsigned number; /* 0: a, 1: b */
    const gufo_model *model;
    const gufo_tensor *tensor;
    const gufo_element_type *type; /* NULL: not known */
    uint32_t rows;                 /* that are interleaved: 1, 4 or 8 */
    bool big;                      /* blocks are big-endian */
} compared_side;

/* Names the side in the error of a failure: the model says which file, and only we know which of
 * the two models it is.  Returns `status`. */
gufo_status compare_side(unsigned number, gufo_status status, gufo_error *error);

/* Reads bytes of a tensor; a failure names the side. */
gufo_status compare_read(const compared_side *side, uint64_t offset, void *buffer, uint64_t size,
                         gufo_error *error);

/* The differences between keys, and between the data of two tensors. */
gufo_status compare_all_metadata(comparing *c, gufo_error *error);
gufo_status compare_tensor_bytes(comparing *c, const compared_side sides[2],
                                 gufo_tensor_difference *difference, gufo_error *error);
gufo_status compare_tensor_values(comparing *c, const compared_side sides[2],
                                  gufo_tensor_difference *difference, gufo_error *error);

/* Fills in what the sums come to. */
void compare_conclude(gufo_value_difference *d);

/* Reports how much of the tensor that is looked at is done, in bytes of a. */
gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error);

/* Runs a loop on as many threads as are asked for, in bounded memory: *memory has `bytes` for
 * each while it runs. */
gufo_status compare_run(const comparing *c, parallel_loop *loop, size_t bytes, void **memory,
                        gufo_error *error);

#endif
