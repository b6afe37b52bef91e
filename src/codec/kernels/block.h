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

/* The least and the largest element; lanes hold those of different blocks, or of parts of one. */
typedef struct block_range {
    floats low, high;
} block_range;

/* From the ranges of LANES blocks, whose lanes are parts of that block, one with a block per
 * lane. */
static inline block_range ranges_turned(const block_range *parts)
{
    block_range range = parts[0];
#if LANES > 1
    floats lows[LANES], highs[LANES];

    for (size_t j = 0; j < LANES; j++) {
        lows[j] = parts[j].low;
        highs[j] = parts[j].high;
    }
    transpose(lows);
    transpose(highs);
    range = (block_range){lows[0], highs[0]};
    for (size_t j = 1; j < LANES; j++) {
        range.low = minimum(lows[j], range.low);
        range.high = maximum(highs[j], range.high);
    }
#endif
    return range;
}

/* Those of `count` blocks of `n` elements, one per lane, which are not above `low` and not below
 * `high`.  Of zeros that differ in sign any may be given.  NaN does not count. */
static inline block_range blocks_range(const float *x, size_t count, size_t n, float low,
                                       float high)
{
    block_range parts[LANES];

    for (size_t j = 0; j < LANES; j++) {
        const float *block = x + (j < count ? j : count - 1) * n;
        parts[j] = (block_range){floats_of(low), floats_of(high)};
        for (size_t i = 0; i < n; i += LANES) {
            floats v = floats_load(block + i);
            parts[j].low = minimum(v, parts[j].low);
            parts[j].high = maximum(v, parts[j].high);
        }
    }
    return ranges_turned(parts);
}

/* The largest magnitudes of `count` blocks, one per lane.  NaN does not count. */
static inline floats blocks_largest(const float *x, size_t count, size_t n)
{
    block_range range = blocks_range(x, count, n, 0, 0);

    return absolute(maximum(range.high, -range.low));
}

static inline float first_zero(const float *x)
{
    while (*x != 0)
        x++;
    return *x;
}

/* Where codes with an offset begin and end, for `count` blocks.  Of zeros that differ in sign the
 * first one counts, whatever the lanes are. */
static inline block_range blocks_span(const float *x, size_t count, size_t n)
{
    block_range range = blocks_range(x, count, n, FLT_MAX, -FLT_MAX);

    if (any(equal(range.low, floats_of(0)))) {
        float low[LANES];
        floats_store(low, range.low);
        for (size_t j = 0; j < count; j++)
            if (low[j] == 0)
                low[j] = first_zero(x + j * n);
        range.low = floats_load(low);
    }
    range.high = select(greater(range.high, range.low), range.high, range.low);
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
    if (most != below) /* without a branch on which is larger: it is unpredictable */
        return copysignf(most > below ? most : below, most - below);
    for (size_t i = 0; most > 0; i++)
        if (fabsf(x[i]) == most)
            return x[i];
    return 0;
}

/* The same for `count` blocks, one per lane. */
static inline floats blocks_extreme(const float *x, size_t count, size_t n)
{
    block_range range = blocks_range(x, count, n, 0, 0);
    floats below = -range.low, extreme = select(greater(range.high, below), range.high, range.low);
    mask same = equal(range.high, below);

    if (any(same)) {
        float each[LANES];
        floats_store(each, extreme);
        for (size_t j = 0; j < count; j++)
            if (mask_bits(same) >> j & 1)
                each[j] = block_extreme(x + j * n, n);
        extreme = floats_load(each);
    }
    return extreme;
}

/* What divides by a scale; 0 for a scale so small that this would be infinite. */
static inline float inverse_of(float scale)
{
    float inverse = 1 / scale;

    return isinf(inverse) ? 0 : inverse;
}

/* The same for a scale per lane. */
static inline floats inverses_of(floats scales)
{
    floats inverse = floats_of(1) / scales;

    return select(greater(absolute(inverse), floats_of(FLT_MAX)), floats_of(0), inverse);
}

/* One binary16 number per lane, as store_half would write it. */
static inline void scales_store(uint8_t *to, floats scales)
{
    floats nan = bits_float(ints_of(0x7fc00000)); /* processors differ in its sign */

    halves_store(to, select(equal(scales, scales), scales, nan));
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
