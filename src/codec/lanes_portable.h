/* One lane, plain C: what all other levels have to agree with. */
#ifndef CODEC_LANES_PORTABLE_H
#define CODEC_LANES_PORTABLE_H

#include <math.h>

#define LANES 1

typedef float floats;
typedef int32_t ints;
typedef uint32_t unsigned_ints;
typedef bool mask;

OPERATION(floats, floats_of, (float v), v)
OPERATION(floats, floats_load, (const float *from), *from)

static inline void floats_store(float *to, floats v)
{
    *to = v;
}

OPERATION(ints, ints_of, (int32_t v), v)
OPERATION(ints, ints_load, (const int32_t *from), *from)

static inline void ints_store(int32_t *to, ints v)
{
    *to = v;
}

/* LANES bytes, as numbers from 0 to 255. */
OPERATION(ints, bytes_load, (const uint8_t *from), *from)
/* LANES bytes, as numbers from -128 to 127. */
OPERATION(ints, bytes_load_signed, (const uint8_t *from), (int8_t)*from)

/* The low byte of every lane. */
static inline void bytes_store(uint8_t *to, ints v)
{
    *to = (uint8_t)v;
}

/* LANES numbers of 16 bits. */
OPERATION(ints, shorts_load, (const uint16_t *from), *from)
/* LANES little-endian 16-bit numbers, from 0 to 65535. */
OPERATION(ints, words_load, (const uint8_t *from), load_u16(from, HOST_IS_BIG_ENDIAN))

/* The low 16 bits of every lane. */
static inline void words_store(uint8_t *to, ints v)
{
    store_u16(to, (uint16_t)v, HOST_IS_BIG_ENDIAN);
}

OPERATION(floats, floats_from, (ints v), (float)v)
/* Of whole numbers that fit: what does not, or is NaN, has to be clamped first. */
OPERATION(ints, ints_from, (floats v),
          v >= -2147483648.0f && v < 2147483648.0f ? (int32_t)v : INT32_MIN)
OPERATION(ints, float_bits, (floats v), (int32_t)float_to_bits(v))
OPERATION(floats, bits_float, (ints v), float_from_bits((uint32_t)v))
OPERATION(mask, less, (floats a, floats b), a < b)
OPERATION(mask, greater, (floats a, floats b), a > b)
OPERATION(mask, greater_equal, (floats a, floats b), a >= b)
OPERATION(mask, equal, (floats a, floats b), a == b)
OPERATION(mask, ints_equal, (ints a, ints b), a == b)
OPERATION(mask, ints_greater, (ints a, ints b), a > b)
OPERATION(mask, both, (mask a, mask b), (a && b))
OPERATION(mask, either, (mask a, mask b), a || b)
OPERATION(mask, not, (mask a), !a)
OPERATION(bool, any, (mask a), a)
/* Bit j is lane j. */
OPERATION(uint32_t, mask_bits, (mask a), a)
OPERATION(mask, mask_from_bits, (uint32_t bits), bits & 1u)
/* a where m, b elsewhere. */
OPERATION(floats, select, (mask m, floats a, floats b), m ? a : b)
OPERATION(ints, ints_select, (mask m, ints a, ints b), m ? a : b)
OPERATION(floats, minimum, (floats a, floats b), a < b ? a : b)
OPERATION(floats, maximum, (floats a, floats b), a > b ? a : b)
OPERATION(floats, absolute, (floats v), fabsf(v))
OPERATION(floats, square_root, (floats v), sqrtf(v))
/* Changes the sign of lane j where bit j of `bits` is set. */
OPERATION(floats, negate_by_bits, (floats v, uint32_t bits),
          float_from_bits(float_to_bits(v) ^ bits << 31))
/* table[index & 15]. */
OPERATION(floats, lookup16, (const float table[16], ints index), table[index & 15])
/* table[index & 3]. */
OPERATION(floats, lookup4, (const float table[4], ints index), table[index & 3])
/* table[index & 7]. */
OPERATION(floats, lookup8, (const float table[8], ints index), table[index & 7])
/* The largest lane; lanes hold no NaN. */
OPERATION(float, highest, (floats v), v)
/* LANES binary16 numbers, little-endian.  NaN becomes 0x7E00 with its sign. */
OPERATION(floats, halves_load, (const uint8_t *from),
          half_to_float(load_u16(from, HOST_IS_BIG_ENDIAN)))

static inline void halves_store(uint8_t *to, floats v)
{
    store_u16(to, half_from_float(v), HOST_IS_BIG_ENDIAN);
}

#endif
