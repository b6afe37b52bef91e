/* Low-rank products: what an adapter adds to a matrix.
 *
 *     values[row][column] += number * (sum over k of left[row][k] * right[k][column])
 *
 * Products of floats are exact as doubles.  They are added in the order of k, so that every level
 * gives the same bits, with or without fused instructions. */
#ifndef CODEC_PRODUCT_H
#define CODEC_PRODUCT_H

#include "codec/kernels.h"

typedef struct low_rank_product {
    double *values; /* rows, one after the other */
    uint64_t rows, columns;
    const float *left;  /* `rank` numbers for each row */
    const float *right; /* `rank` rows */
    uint64_t rank;
    double number;
} low_rank_product;

typedef void product_kernel(const low_rank_product *p);

product_kernel product_add_portable, product_add_avx2, product_add_avx512, product_add_neon;

/* The kernel of a level, which is available. */
product_kernel *cpu_product(gufo_cpu cpu);

#endif
