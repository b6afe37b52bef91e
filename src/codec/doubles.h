/* Rows of numbers as doubles, on which operations are done: from floats, back to floats, and the
 * operations that need vectors to be fast.  All levels give the same bits. */
#ifndef CODEC_DOUBLES_H
#define CODEC_DOUBLES_H

#include "codec/kernels.h"

/* A low-rank product, which is what an adapter adds to a matrix:
 *
 *     values[row][column] += number * (sum over k of left[row][k] * right[k][column])
 *
 * Products of floats are exact as doubles.  They are added in the order of k. */
typedef struct low_rank_product {
    double *values; /* rows, one after the other */
    uint64_t rows, columns;
    const float *left;  /* `rank` numbers for each row */
    const float *right; /* `rank` rows */
    uint64_t rank;
    double number;
} low_rank_product;

typedef struct double_kernels {
    void (*widen)(const float *from, uint64_t count, double *to);
    void (*narrow)(const double *from, uint64_t count, float *to);
    /* Each becomes a float whose last bit says whether something was cut off.  It is never halfway
     * between two numbers that have two bits less: whatever rounds it next, rounds as if it saw all
     * of it. */
    void (*round_odd)(double *values, uint64_t count);
    void (*add_product)(const low_rank_product *p);
    /* The same from floats to floats, in place of p->values: rounded once, to odd or to the
     * nearest.  No double leaves the registers. */
    void (*merge_product)(const low_rank_product *p, float *values, bool to_odd);
} double_kernels;

extern const double_kernels doubles_portable, doubles_avx2, doubles_avx512, doubles_neon;

/* Those of a level; of plain C if it is not available. */
const double_kernels *cpu_doubles(gufo_cpu cpu);

#endif
