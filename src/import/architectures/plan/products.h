/* Tensors that are products of two others, as adapters have them: a pair of factors with a small inner
 * size, the rank.
 *
 *     W[o][i] = sum over k < rank of rows[o][k] * columns[k][i]
 *
 * Operations on tensors see W: a tensor of a checkpoint with numbers of a type of its own
 * (product_number), which no file has.  Number o * width + i of a product is at that place behind the
 * first one of it, and the products follow each other as if they were in one long file of 4 bytes for
 * each number.  So a chunk of a view says of which product it is, and which numbers. */
#ifndef IMPORT_ARCHITECTURES_PLAN_PRODUCTS_H
#define IMPORT_ARCHITECTURES_PLAN_PRODUCTS_H

#include "import/architectures/plan/views.h"

/* A factor: a matrix of a checkpoint, its axes as the product wants them. */
typedef struct product_factor {
    const checkpoint_tensor *tensor;
    uint64_t side; /* from one row (or column) of the product to the next, in numbers */
    uint64_t rank; /* from one k to the next */
} product_factor;

typedef struct product {
    uint64_t begin; /* of its numbers, in bytes; first: products are found by it */
    uint64_t height, width, rank;
    product_factor rows, columns;
    double scale;          /* that the numbers of W are multiplied by */
    checkpoint_tensor own; /* W */
} product;

typedef struct products {
    const checkpoint *files; /* of the factors */
    product *list;
    uint64_t count, room;
} products;

/* The type of numbers of products; no reader knows it. */
extern const number_type product_number;

/* Whether all numbers of a view are those of products. */
bool products_own(const view *v);

/* Completes `own` of a product, whose name, factors and sizes are set, behind `end` bytes of others;
 * *end is behind it then.  Its shape is that of a tensor of `seen`. */
gufo_status product_place(product *p, checkpoint *seen, uint64_t *end, gufo_error *error);

/* The factors of a view, in its own order: left [..., R, rank] and right [..., rank, C] where its shape
 * is [..., R, C].  *scale is what the left one is to be multiplied by.  Both are freed with view_free, also after a failure.
 * GUFO_E_TYPE where factors cannot follow what was done to the product. */
gufo_status products_divide(const products *list, const view *v, view *left, view *right,
                            double *scale, gufo_error *error);

#endif
