/* One block at a time, with lanes along its elements.  This serves where the order of elements does
 * not matter: a block's extremes, and codes once the scale is known.  n is a multiple of 16. */
#ifndef CODEC_KERNELS_BLOCK_H
#define CODEC_KERNELS_BLOCK_H

#include "codec/lanes.h"

#include <math.h>

/* The importance from column i on, of a row that may have none. */
static inline const float *importance_at(const float *importance, uint64_t i)
{
    return importance != NULL ? importance + i : NULL;
}

/* The largest magnitude.  NaN does not count. */
static inline float block_largest(const float *x, size_t n)
{
    floats largest = floats_of(0);

    for (size_t i = 0; i < n; i += LANES)
        largest = maximum(absolute(floats_load(x + i)), largest);
    return highest(largest);
}

typedef struct block_range {
    float low, high;
} block_range;

/* The least and the largest element.  Of zeros that differ in sign the first one counts, whatever
 * the lanes are.  NaN does not count. */
static inline block_range block_range_of(const float *x, size_t n)
{
    floats low = floats_of(FLT_MAX), high = floats_of(-FLT_MAX);

    for (size_t i = 0; i < n; i += LANES) {
        floats v = floats_load(x + i);
        low = minimum(v, low);
        high = maximum(v, high);
    }
    block_range range = {-highest(-low), highest(high)};
    for (size_t i = n; range.low == 0 && i-- > 0;)
        if (x[i] == 0)
            range.low = x[i];
    if (!(range.high > range.low))
        range.high = range.low;
    return range;
}

/* The element of largest magnitude with its sign; the first of several; 0 if there is none but
 * zeros. */
static inline float block_extreme(const float *x, size_t n)
{
    floats low = floats_of(0), high = floats_of(0);

    for (size_t i = 0; i < n; i += LANES) {
        floats v = floats_load(x + i);
        low = minimum(v, low);
        high = maximum(v, high);
    }
    float most = highest(high), below = highest(-low);
    if (most != below) /* without a branch on which is larger: nobody can foretell that */
        return copysignf(most > below ? most : below, most - below);
    for (size_t i = 0; most > 0; i++)
        if (fabsf(x[i]) == most)
            return x[i];
    return 0;
}

/* What divides by a scale; 0 for a scale so small that this would be infinite. */
static inline float inverse_of(float scale)
{
    float inverse = 1 / scale;

    return isinf(inverse) ? 0 : inverse;
}

/* The sum of q e^2, e being the error of the decoded element, q 1 if NULL: sixteen sums, whatever
 * LANES is, then their sum.  A block has up to 256 elements. */
static inline float block_error(const float *x, const float *q, size_t n, decode_kernel *decode,
                                const uint8_t *block)
{
    float values[256], sums[16], total = 0;

    decode(block, n, values);
    for (size_t j = 0; j < 16; j += LANES) {
        floats sum = floats_of(0);
        for (size_t i = j; i < n; i += 16) {
            floats rest = floats_load(values + i) - floats_load(x + i), square = rest * rest;
            if (q != NULL)
                square = floats_load(q + i) * square;
            sum = sum + square;
        }
        floats_store(sums + j, sum);
    }
    for (size_t j = 0; j < 16; j++)
        total += sums[j];
    return total;
}

/* Sixteen bytes, the low halves of which are codes[0..15], the high ones codes[16..31]. */
static inline void nibbles_store(uint8_t *to, const uint8_t codes[32])
{
    for (size_t i = 0; i < 16; i += LANES)
        bytes_store(to + i,
                    (bytes_load(codes + i) & 15) | shift_left(bytes_load(codes + 16 + i), 4));
}

#endif
