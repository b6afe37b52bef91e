/* Encoding and decoding in tests. */
#ifndef TEST_SUPPORT_CODEC_H
#define TEST_SUPPORT_CODEC_H

#include "check.h"
#include "digested.h"

/* The processor levels that this machine has, portable first. */
size_t cpu_level_count(void);
gufo_cpu cpu_level(size_t index);

/* Floats of a file into those of this machine, in place. */
void floats_from_little_endian(void *values, size_t count);

/* Encodes, and fails the test if that fails. */
void encode_with(const gufo_element_type *type, gufo_cpu cpu, gufo_effort effort,
                 const float *values, uint64_t rows, uint64_t columns, const float *importance,
                 void *blocks);

/* sqrt(sum q e^2 / sum q), q = 1 without importance. */
double weighted_rmse(const float *expected, const float *got, const float *importance,
                     uint64_t rows, uint64_t columns);

/* The same bits; any NaN is like any other. */
void check_same_floats(const float *got, const float *expected, uint64_t count, const char *name,
                       const char *level);

/* Where two sequences of blocks differ, in words. */
typedef struct difference_text {
    char text[160];
} difference_text;
difference_text first_difference(const gufo_element_type *type, const uint8_t *a, const uint8_t *b,
                                 size_t bytes);

#endif
