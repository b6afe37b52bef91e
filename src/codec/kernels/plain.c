/* Plain numbers: a block is one number.
 *
 *     F32, F64           as the processor has them
 *     F16                s eeeee mmmmmmmmmm    binary16, see half.h
 *     BF16               s eeeeeeee mmmmmmm    the upper half of a float
 *     I8, I16, I32, I64  two's complement
 */
#include "codec/lanes.h"

#include <math.h>

/* ---- F32 and F64 ---------------------------------------------------------------------------- */

CODER(F32, copy_numbers(values, blocks, elements, sizeof *values, HOST_IS_BIG_ENDIAN),
      copy_numbers(blocks, row->values, row->columns, sizeof *row->values, HOST_IS_BIG_ENDIAN))

void KERNEL(decode_F64)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i++, blocks += sizeof(double)) {
        double v;
        copy_numbers(&v, blocks, 1, sizeof v, HOST_IS_BIG_ENDIAN);
        values[i] = (float)v;
    }
}

void KERNEL(encode_F64)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t i = 0; i < row->columns; i++, blocks += sizeof(double)) {
        double v = row->values[i];
        copy_numbers(blocks, &v, 1, sizeof v, HOST_IS_BIG_ENDIAN);
    }
}

/* ---- 16 bits -------------------------------------------------------------------------------- */

/* Four registers in a step: the loop itself would take as long as to convert one. */
#define SHORT_DECODER(name, floats_at, float_at)                                        \
    void KERNEL(decode_##name)(const uint8_t *blocks, uint64_t elements, float *values) \
    {                                                                                   \
        enum { STEP = 4 * LANES };                                                      \
        uint64_t i = 0;                                                                 \
                                                                                        \
        for (; i + STEP <= elements; i += STEP)                                         \
            for (uint64_t j = i; j < i + STEP; j += LANES)                              \
                floats_store(values + j, floats_at(blocks + 2 * j));                    \
        for (; i + LANES <= elements; i += LANES)                                       \
            floats_store(values + i, floats_at(blocks + 2 * i));                        \
        for (; i < elements; i++)                                                       \
            values[i] = float_at(blocks + 2 * i);                                       \
    }

/* ---- F16 ------------------------------------------------------------------------------------ */

SHORT_DECODER(F16, halves_load, load_half)

void KERNEL(encode_F16)(const encode_row *row, uint8_t *blocks)
{
    const float *values = row->values;
    uint64_t i = 0;

    for (; i + LANES <= row->columns; i += LANES)
        halves_store(blocks + 2 * i, floats_load(values + i));
    for (; i < row->columns; i++)
        store_u16(blocks + 2 * i, half_from_float(values[i]), HOST_IS_BIG_ENDIAN);
}

/* ---- BF16 ----------------------------------------------------------------------------------- */

static inline floats bfloats_load(const uint8_t *from)
{
    return bits_float(shift_left(words_load(from), 16));
}

static inline float load_bfloat(const uint8_t *from)
{
    return float_from_bits((uint32_t)load_u16(from, HOST_IS_BIG_ENDIAN) << 16);
}

/* To the nearest, ties to even.  NaN keeps its sign and upper payload and becomes quiet. */
static ints bfloats_from(floats v)
{
    ints bits = float_bits(v), upper = shift_right(bits, 16);
    ints rounded = wrapping_sum(bits, (upper & 1) + 0x7fff);

    return ints_select(equal(v, v), shift_right(rounded, 16), upper | 0x40);
}

SHORT_DECODER(BF16, bfloats_load, load_bfloat)

void KERNEL(encode_BF16)(const encode_row *row, uint8_t *blocks)
{
    const float *values = row->values;
    uint64_t whole = row->columns - row->columns % LANES;
    size_t rest = (size_t)(row->columns - whole);
    float last[LANES] = {0};
    uint8_t words[2 * LANES];

    for (uint64_t i = 0; i < whole; i += LANES)
        words_store(blocks + 2 * i, bfloats_from(floats_load(values + i)));
    memcpy(last, values + whole, rest * sizeof *last);
    words_store(words, bfloats_from(floats_load(last)));
    memcpy(blocks + 2 * whole, words, 2 * rest);
}

/* ---- whole numbers -------------------------------------------------------------------------- */

static int64_t load_whole(const uint8_t *at, size_t bytes)
{
    switch (bytes) {
    case 1:
        return (int8_t)*at;
    case 2:
        return (int16_t)load_u16(at, HOST_IS_BIG_ENDIAN);
    case 4:
        return (int32_t)load_u32(at, HOST_IS_BIG_ENDIAN);
    default:
        return (int64_t)load_u64(at, HOST_IS_BIG_ENDIAN);
    }
}

static void store_whole(uint8_t *at, int64_t v, size_t bytes)
{
    switch (bytes) {
    case 1:
        *at = (uint8_t)v;
        return;
    case 2:
        store_u16(at, (uint16_t)v, HOST_IS_BIG_ENDIAN);
        return;
    case 4:
        store_u32(at, (uint32_t)v, HOST_IS_BIG_ENDIAN);
        return;
    default:
        store_u64(at, (uint64_t)v, HOST_IS_BIG_ENDIAN);
    }
}

static void decode_whole(const uint8_t *blocks, uint64_t elements, float *values, size_t bytes)
{
    for (uint64_t i = 0; i < elements; i++)
        values[i] = (float)load_whole(blocks + bytes * i, bytes);
}

/* The nearest whole number, ties to even, limited to [-most - 1, most]; NaN becomes 0. */
static int64_t nearest_whole(float value, int64_t most)
{
    double limit = (double)most;

    if (isnan(value))
        return 0;
    if (value >= limit)
        return most;
    return value <= -limit - 1 ? -most - 1 : (int64_t)rintf(value);
}

static void encode_whole(const encode_row *row, uint8_t *blocks, size_t bytes)
{
    int64_t most = INT64_MAX >> (64 - 8 * bytes);

    for (uint64_t i = 0; i < row->columns; i++)
        store_whole(blocks + bytes * i, nearest_whole(row->values[i], most), bytes);
}

CODER(I8, decode_whole(blocks, elements, values, 1), encode_whole(row, blocks, 1))
CODER(I16, decode_whole(blocks, elements, values, 2), encode_whole(row, blocks, 2))
CODER(I32, decode_whole(blocks, elements, values, 4), encode_whole(row, blocks, 4))
CODER(I64, decode_whole(blocks, elements, values, 8), encode_whole(row, blocks, 8))
