/* Numbers in lanes: the same arithmetic on LANES numbers at once.
 *
 * A kernel is written once, on `floats`, `ints` and `mask`, and compiled for every processor level:
 *
 *     level     LANES  floats
 *     portable      1  float
 *     neon          4  float32x4_t
 *     avx2          8  __m256
 *     avx512       16  __m512
 *
 * + - * / work on floats, and + - & | ^ << >> on ints, as on plain numbers.  Every operation rounds
 * once and lanes never meet, so that what a lane computes is what plain C computes, whatever LANES
 * is.  Sums therefore run along the elements of a lane, never across lanes: encoders give every
 * lane its own block or sub-block (groups_load).
 *
 * Comparisons with NaN are false; minimum and maximum then give their second argument. */
#ifndef CODEC_LANES_H
#define CODEC_LANES_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/half.h"
#include "codec/kernels.h"

_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, "floats are computed as floats");

/* An operation that is one expression: the rows of a level's table. */
#define OPERATION(result, name, parameters, ...) \
    static inline result name parameters         \
    {                                            \
        return __VA_ARGS__;                      \
    }

#if defined(GUFO_KERNELS_AVX512)
#include "codec/x86/lanes_avx512.h"
#elif defined(GUFO_KERNELS_AVX2)
#include "codec/x86/lanes_avx2.h"
#elif defined(GUFO_KERNELS_NEON)
#include "codec/arm/lanes_neon.h"
#else
#include "codec/lanes_portable.h"
#endif

/* ---- bits ----------------------------------------------------------------------------------- */

/* Zeros come in; `bits` is below 32. */
static inline ints shift_right(ints v, int bits)
{
    return (ints)((unsigned_ints)v >> (uint32_t)bits);
}

static inline ints shift_left(ints v, int bits)
{
    return (ints)((unsigned_ints)v << (uint32_t)bits);
}

/* The sum modulo 2^32. */
static inline ints wrapping_sum(ints a, ints b)
{
    return (ints)((unsigned_ints)a + (unsigned_ints)b);
}

/* ---- rounding ------------------------------------------------------------------------------- */

/* Limits v to [low, high]; NaN becomes low. */
static inline floats clamp(floats v, float low, float high)
{
    return minimum(maximum(v, floats_of(low)), floats_of(high));
}

/* The nearest whole number, ties to even, of |v| <= 2^22: at 1.5 * 2^23 floats are whole
 * numbers. */
static inline floats round_even(floats v)
{
    floats shift = floats_of(0x1.8p23f);

    return (v + shift) - shift;
}

/* The nearest whole number, ties away from zero, of |v| <= 2^22.  What is cut off afterwards must
 * be less than 1/2 before it is added: 0.49999997 + 0.5 would be 1. */
static inline ints round_away(floats v)
{
    ints sign = float_bits(v) & float_bits(floats_of(-0.0f));
    ints rest = sign | float_bits(floats_of(0x1.fffffep-2f));

    return ints_from(v + bits_float(rest));
}

/* 1/v, or 0 where v is 0. */
static inline floats inverse_or_zero(floats v)
{
    mask zero = equal(v, floats_of(0));

    return select(zero, floats_of(0), floats_of(1) / select(zero, floats_of(1), v));
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Which groups (blocks, sub-blocks) are in the lanes: `count` of LANES.  Lanes beyond hold the last
 * group once more; what they compute is not stored. */
static inline size_t lanes_filled(uint64_t left)
{
    return left < LANES ? (size_t)left : LANES;
}

/* Turns `count` consecutive groups of `n` floats: lane j of out[i] is element i of group j. */
static inline void groups_load(const float *from, size_t count, size_t n, floats *out)
{
#if LANES == 1
    (void)count;
    for (size_t i = 0; i < n; i++)
        out[i] = from[i];
#else
    const float *group[LANES];

    for (size_t j = 0; j < LANES; j++)
        group[j] = from + (j < count ? j : count - 1) * n;
    if (n % LANES == 0) {
        for (size_t i = 0; i < n; i += LANES) {
            for (size_t j = 0; j < LANES; j++)
                out[i + j] = floats_load(group[j] + i);
            transpose(out + i);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float element[LANES];
        for (size_t j = 0; j < LANES; j++)
            element[j] = group[j][i];
        out[i] = floats_load(element);
    }
#endif
}

/* The inverse: element i of group j goes to to[j * n + i], for `count` groups. */
static inline void groups_store(float *to, size_t count, size_t n, const floats *groups)
{
    size_t i = 0;

#if LANES > 1
    for (; n % LANES == 0 && i < n; i += LANES) {
        floats turned[LANES];
        memcpy(turned, groups + i, sizeof turned);
        transpose(turned);
        for (size_t j = 0; j < count; j++)
            floats_store(to + j * n + i, turned[j]);
    }
#endif
    for (; i < n; i++) {
        float element[LANES];
        floats_store(element, groups[i]);
        for (size_t j = 0; j < count; j++)
            to[j * n + i] = element[j];
    }
}

/* The inverse for small whole numbers: byte out[j * n + i] is lane j of codes[i]. */
static inline void groups_store_bytes(const floats *codes, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t lane[LANES];
        bytes_store(lane, ints_from(codes[i]));
        for (size_t j = 0; j < LANES; j++)
            out[j * n + i] = lane[j];
    }
}

/* ---- half precision ------------------------------------------------------------------------- */

/* What the values become when they are stored as scales: the nearest binary16 numbers. */
static inline floats rounded_to_half(floats v)
{
    uint8_t bytes[2 * LANES];

    halves_store(bytes, v);
    return halves_load(bytes);
}

#endif
