/* Comparing models: the interface between the files of the comparison.
 *
 *     compare.c      two models: notes, sums
 *     candidates.c   one model and several
 *     metadata.c     keys and values
 *     data.c         tensors of one name: bytes and numbers, threads, progress, reading
 */
#ifndef EDIT_COMPARE_H
#define EDIT_COMPARE_H

#include "base/threads.h"
#include "gufo/compare.h"

typedef struct comparing {
    const gufo_model *const *models; /* a, then what is compared with it */
    size_t count;                    /* of these others */
    const gufo_compare_options *options;
    const gufo_run *run;
    gufo_comparison *result; /* of two models */
    const gufo_allocator *allocator;
    uint64_t done, total; /* bytes of a's tensors, for each other model that has such a tensor */
    uint64_t shown;       /* what was reported last */
} comparing;

/* One of the tensors that are compared. */
typedef struct compared_side {
    unsigned number; /* of its model: 0 is a */
    const gufo_model *model;
    const gufo_tensor *tensor;
    const gufo_element_type *type; /* NULL: not known */
    uint32_t rows;                 /* that are interleaved: 1, 4 or 8 */
    bool big;                      /* blocks are big-endian */
} compared_side;

/* A tensor that is compared with that of a, and what differs. */
typedef struct compared_other {
    compared_side side;
    gufo_tensor_difference *difference;
} compared_other;

/* Names the side in the error of a failure: the model says which file, and only we know which of
 * the models it is.  Returns `status`. */
gufo_status compare_side(unsigned number, gufo_status status, gufo_error *error);

/* GUFO_E_ARGUMENT for none, or too many, candidates. */
gufo_status compare_check_count(size_t count, gufo_error *error);

/* The differences between keys. */
gufo_status compare_all_metadata(comparing *c, gufo_error *error);

/* Refuses models without data, and counts the bytes to compare. */
gufo_status compare_measure(comparing *c, gufo_error *error);

/* Tensor `index` of model `number`. */
gufo_status compare_tensor_at(const comparing *c, unsigned number, uint64_t index, gufo_tensor *out,
                              gufo_error *error);
/* Compares a tensor with those of the other models: an element of `row` for each, in which both
 * tensors are set, or b is zeros and the kind is GUFO_DIFFERENCE_REMOVED. */
gufo_status compare_row(comparing *c, gufo_tensor_difference *row, gufo_error *error);

/* The differences between the bytes of two tensors of one type, and between the numbers of one and
 * `count` others of its shape. */
gufo_status compare_tensor_bytes(comparing *c, const compared_side sides[2],
                                 gufo_tensor_difference *difference, gufo_error *error);
gufo_status compare_tensor_values(comparing *c, const compared_side *a,
                                  const compared_other *others, size_t count, gufo_error *error);

/* Fills in what the sums come to. */
void compare_conclude(gufo_value_difference *d);

/* Reports how much of the tensor that is looked at is done, in bytes of a. */
gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error);

/* Runs a loop on as many threads as are asked for, in bounded memory: *memory has `bytes` for
 * each while it runs. */
gufo_status compare_run(const comparing *c, parallel_loop *loop, size_t bytes, void **memory,
                        gufo_error *error);

#endif
