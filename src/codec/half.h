/* binary16 numbers, the scales of most blocks.
 *
 *     15 14     10 9          0
 *     +-+---------+------------+
 *     |s| exponent|  mantissa  |   (-1)^s * 2^(exponent - 15) * 1.mantissa
 *     +-+---------+------------+   exponent 0: 2^-14 * 0.mantissa; 31: infinite or NaN
 */
#ifndef CODEC_HALF_H
#define CODEC_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "base/bytes.h"

static inline float float_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t float_to_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exact; NaN becomes quiet.  Without an instruction for it the bits become those of a float whose
 * exponent is 112 too small; the product corrects that, for subnormal numbers as well. */
static inline float half_to_float(uint16_t half)
{
#ifdef __F16C__
    return _cvtsh_ss(half);
#else
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;

    if (magnitude >= 0x7c00u << 13) { /* infinite or NaN */
        uint32_t quiet = magnitude > 0x7c00u << 13 ? 1u << 22 : 0;
        return float_from_bits(sign | 0x7f800000u | magnitude | quiet);
    }
    return float_from_bits(sign | float_to_bits(float_from_bits(magnitude) * 0x1p112f));
#endif
}

/* To the nearest, ties to even; NaN keeps its sign only. */
static inline uint16_t half_from_float(float value)
{
    uint32_t bits = float_to_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    uint32_t magnitude = bits & 0x7fffffffu;

    if (magnitude > 0x7f800000u)
        return sign | 0x7e00u;
    if (magnitude >= 0x47800000u) /* 2^16 */
        return sign | 0x7c00u;
    if (magnitude < 0x38800000u) { /* 2^-14: adding 0.5 rounds to a multiple of 2^-24 */
        float shifted = float_from_bits(magnitude) + 0.5f;
        return sign | (uint16_t)(float_to_bits(shifted) - 0x3f000000u);
    }
    magnitude += 0xfffu + (magnitude >> 13 & 1u);
    return sign | (uint16_t)((magnitude - (112u << 23)) >> 13);
}

/* A scale in a block, little-endian. */
static inline float load_half(const uint8_t *at)
{
    return half_to_float(load_u16(at, HOST_IS_BIG_ENDIAN));
}

/* Stores a scale and returns what it now is.  The sign of a NaN would depend on the processor:
 * there is only one NaN in blocks. */
static inline float store_half(uint8_t *at, float scale)
{
    uint16_t half = half_from_float(scale);

    if ((half & 0x7fffu) > 0x7c00u)
        half = 0x7e00u;
    store_u16(at, half, HOST_IS_BIG_ENDIAN);
    return half_to_float(half);
}

#endif
