/* Q8_0, Q8_1, Q8_K: bytes and a scale.
 *
 *             0    2    4                     34   36
 *     Q8_0    | d  | 32 signed codes          |        d binary16
 *     Q8_1    | d  | s  | 32 signed codes          |   s = d * sum of codes, for dot products
 *
 *             0         4                     260         292
 *     Q8_K    | d       | 256 signed codes    | 16 sums   |   d float; sums of 16 codes, 16 bits
 *
 *     x = code * d
 *
 * Q8_1 and Q8_K hold activations while a model runs; files do not. */
#include "codec/kernels/block.h"

enum {
    Q8_ELEMENTS = 32,
    Q8_0_CODES = 2,
    Q8_0_BYTES = Q8_0_CODES + Q8_ELEMENTS,
    Q8_1_SUM = 2,
    Q8_1_CODES = 4,
    Q8_1_BYTES = Q8_1_CODES + Q8_ELEMENTS,
    Q8_K_ELEMENTS = 256,
    Q8_K_CODES = 4,
    Q8_K_SUMS = Q8_K_CODES + Q8_K_ELEMENTS,
    Q8_K_SUMMED = 16,
    Q8_K_BYTES = Q8_K_SUMS + Q8_K_ELEMENTS / Q8_K_SUMMED * 2,
};

static inline void decode_codes(const uint8_t *codes, size_t n, float scale, float *values)
{
    for (size_t i = 0; i < n; i += LANES)
        floats_store(values + i, floats_from(bytes_load_signed(codes + i)) * floats_of(scale));
}

void KERNEL(decode_Q8_0)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += Q8_ELEMENTS, blocks += Q8_0_BYTES)
        decode_codes(blocks + Q8_0_CODES, Q8_ELEMENTS, load_half(blocks), values + i);
}

void KERNEL(decode_Q8_1)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += Q8_ELEMENTS, blocks += Q8_1_BYTES)
        decode_codes(blocks + Q8_1_CODES, Q8_ELEMENTS, load_half(blocks), values + i);
}

void KERNEL(decode_Q8_K)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += Q8_K_ELEMENTS, blocks += Q8_K_BYTES) {
        float scale = float_from_bits(load_u32(blocks, HOST_IS_BIG_ENDIAN));
        decode_codes(blocks + Q8_K_CODES, Q8_K_ELEMENTS, scale, values + i);
    }
}

static inline void store_codes(const float *x, float inverse, uint8_t *codes)
{
    for (size_t i = 0; i < Q8_ELEMENTS; i += LANES) {
        floats scaled = floats_load(x + i) * floats_of(inverse);
        bytes_store(codes + i, round_away(clamp(scaled, -127, 127)));
    }
}

static int sum_of_codes(const uint8_t *codes, size_t n)
{
    int sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (int8_t)codes[i];
    return sum;
}

/* Encodes `count` blocks, with a scale per lane. */
static inline void encode_blocks(const float *x, size_t count, uint8_t *blocks)
{
    floats scale = blocks_largest(x, count, Q8_ELEMENTS) / floats_of(127);
    float inverse[LANES];
    uint8_t scales[2 * LANES];

    floats_store(inverse, inverses_of(scale));
    scales_store(scales, scale);
    for (size_t j = 0; j < count; j++, x += Q8_ELEMENTS, blocks += Q8_0_BYTES) {
        memcpy(blocks, scales + 2 * j, 2);
        store_codes(x, inverse[j], blocks + Q8_0_CODES);
    }
}

void KERNEL(encode_Q8_0)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t i = 0; i < row->columns; i += LANES * Q8_ELEMENTS) {
        size_t count = lanes_filled((row->columns - i) / Q8_ELEMENTS);
        encode_blocks(row->values + i, count, blocks);
        blocks += count * Q8_0_BYTES;
    }
}

void KERNEL(encode_Q8_1)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t i = 0; i < row->columns; i += Q8_ELEMENTS, blocks += Q8_1_BYTES) {
        const float *x = row->values + i;
        float scale = block_largest(x, Q8_ELEMENTS) / 127;
        store_codes(x, inverse_of(scale), blocks + Q8_1_CODES);
        store_half(blocks, scale);
        store_half(blocks + Q8_1_SUM,
                   (float)sum_of_codes(blocks + Q8_1_CODES, Q8_ELEMENTS) * scale);
    }
}

static void encode_super_block(const float *x, uint8_t *block)
{
    float extreme = block_extreme(x, Q8_K_ELEMENTS), inverse = -127 / extreme;
    uint8_t *codes = block + Q8_K_CODES, *sums = block + Q8_K_SUMS;

    if (extreme == 0) {
        memset(block, 0, Q8_K_BYTES);
        return;
    }
    store_u32(block, float_to_bits(1 / inverse), HOST_IS_BIG_ENDIAN);
    if (isinf(inverse))
        inverse = 0;
    for (size_t i = 0; i < Q8_K_ELEMENTS; i += LANES) {
        floats scaled = floats_load(x + i) * floats_of(inverse);
        bytes_store(codes + i, ints_from(round_even(clamp(scaled, -127, 127))));
    }
    for (size_t i = 0; i < Q8_K_ELEMENTS; i += Q8_K_SUMMED, sums += 2)
        store_u16(sums, (uint16_t)sum_of_codes(codes + i, Q8_K_SUMMED), HOST_IS_BIG_ENDIAN);
}

BLOCK_ENCODER(Q8_K, Q8_K_ELEMENTS, Q8_K_BYTES, encode_super_block)
