/* One lane, plain C: what all other levels have to agree with. */
#ifndef CODEC_LANES_PORTABLE_H
#define CODEC_LANES_PORTABLE_H

#include <math.h>

#define LANES 1

typedef float floats;
typedef int32_t ints;
typedef uint32_t unsigned_ints;
typedef bool mask;

static inline floats floats_of(float v)
{
    return v;
}

static inline floats floats_load(const float *from)
{
    return *from;
}

static inline void floats_store(float *to, floats v)
{
    *to = v;
}

static inline ints ints_of(int32_t v)
{
    return v;
}

static inline ints ints_load(const int32_t *from)
{
    return *from;
}

static inline void ints_store(int32_t *to, ints v)
{
    *to = v;
}

/* LANES bytes, as numbers from 0 to 255. */
static inline ints bytes_load(const uint8_t *from)
{
    return *from;
}

/* LANES bytes, as numbers from -128 to 127. */
static inline ints bytes_load_signed(const uint8_t *from)
{
    return (int8_t)*from;
}

/* The low byte of every lane. */
static inline void bytes_store(uint8_t *to, ints v)
{
    *to = (uint8_t)v;
}

/* LANES numbers of 16 bits. */
static inline ints shorts_load(const uint16_t *from)
{
    return *from;
}

/* LANES little-endian 16-bit numbers, from 0 to 65535. */
static inline ints words_load(const uint8_t *from)
{
    return load_u16(from, HOST_IS_BIG_ENDIAN);
}

/* The low 16 bits of every lane. */
static inline void words_store(uint8_t *to, ints v)
{
    store_u16(to, (uint16_t)v, HOST_IS_BIG_ENDIAN);
}

static inline floats floats_from(ints v)
{
    return (float)v;
}

/* Of whole numbers that fit: what does not, or is NaN, has to be clamped first. */
static inline ints ints_from(floats v)
{
    return v >= -2147483648.0f && v < 2147483648.0f ? (int32_t)v : INT32_MIN;
}

static inline ints float_bits(floats v)
{
    return (int32_t)float_to_bits(v);
}

static inline floats bits_float(ints v)
{
    return float_from_bits((uint32_t)v);
}

/* Shifts in zeros from above. */
static inline mask less(floats a, floats b)
{
    return a < b;
}

static inline mask greater(floats a, floats b)
{
    return a > b;
}

static inline mask greater_equal(floats a, floats b)
{
    return a >= b;
}

static inline mask equal(floats a, floats b)
{
    return a == b;
}

static inline mask ints_equal(ints a, ints b)
{
    return a == b;
}

static inline mask ints_greater(ints a, ints b)
{
    return a > b;
}

static inline mask both(mask a, mask b)
{
    return a && b;
}

static inline mask either(mask a, mask b)
{
    return a || b;
}

static inline mask not(mask a)
{
    return !a;
}

static inline bool any(mask a)
{
    return a;
}

/* Bit j is lane j. */
static inline uint32_t mask_bits(mask a)
{
    return a;
}

static inline mask mask_from_bits(uint32_t bits)
{
    return bits & 1u;
}

/* a where m, b elsewhere. */
static inline floats select(mask m, floats a, floats b)
{
    return m ? a : b;
}

static inline ints ints_select(mask m, ints a, ints b)
{
    return m ? a : b;
}

static inline floats minimum(floats a, floats b)
{
    return a < b ? a : b;
}

static inline floats maximum(floats a, floats b)
{
    return a > b ? a : b;
}

static inline floats absolute(floats v)
{
    return fabsf(v);
}

static inline floats square_root(floats v)
{
    return sqrtf(v);
}

/* Changes the sign of lane j where bit j of `bits` is set. */
static inline floats negate_by_bits(floats v, uint32_t bits)
{
    return float_from_bits(float_to_bits(v) ^ bits << 31);
}

/* table[index & 15]. */
static inline floats lookup16(const float table[16], ints index)
{
    return table[index & 15];
}

/* table[index & 3]. */
static inline floats lookup4(const float table[4], ints index)
{
    return table[index & 3];
}

/* table[index & 7]. */
static inline floats lookup8(const float table[8], ints index)
{
    return table[index & 7];
}

/* The largest lane; lanes hold no NaN. */
static inline float highest(floats v)
{
    return v;
}

/* LANES binary16 numbers, little-endian.  NaN becomes 0x7E00 with its sign. */
static inline floats halves_load(const uint8_t *from)
{
    return half_to_float(load_u16(from, HOST_IS_BIG_ENDIAN));
}

static inline void halves_store(uint8_t *to, floats v)
{
    store_u16(to, half_from_float(v), HOST_IS_BIG_ENDIAN);
}

#endif
