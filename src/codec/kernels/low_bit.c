/* Q1_0 and Q2_0: one scale for many codes of one or two bits.
 *
 *             0    2                      18
 *     Q1_0    | d  | 128 codes of 1 bit   |     x = code ? d : -d           d: the mean magnitude
 *     Q2_0    | d  | 64 codes of 2 bits   |     x = (code - 1) * d          d: the largest
 *
 * Codes are in the order of the elements, the first in the lowest bits of the first byte. */
#include "codec/kernels/block.h"

enum {
    CODES = 2,
    BYTES = 18,
    Q1_ELEMENTS = 128,
    Q2_ELEMENTS = 64,
    WORD_BITS = 32,
    WORD_BYTES = 4,
    Q2_PER_WORD = WORD_BITS / 2,
};

/* ---- Q1_0 ----------------------------------------------------------------------------------- */

void KERNEL(decode_Q1_0)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += WORD_BITS) {
        const uint8_t *block = blocks + i / Q1_ELEMENTS * BYTES;
        floats scale = floats_of(load_half(block));
        uint32_t word =
            load_u32(block + CODES + i % Q1_ELEMENTS / WORD_BITS * WORD_BYTES, HOST_IS_BIG_ENDIAN);
        for (size_t j = 0; j < WORD_BITS; j += LANES)
            floats_store(values + i + j, negate_by_bits(scale, ~word >> j));
    }
}

static void store_signs(const float *x, uint8_t *codes)
{
    for (size_t i = 0; i < Q1_ELEMENTS; i += WORD_BITS, codes += WORD_BYTES) {
        uint32_t word = 0;
        for (size_t j = 0; j < WORD_BITS; j += LANES)
            word |= mask_bits(greater_equal(floats_load(x + i + j), floats_of(0))) << j;
        store_u32(codes, word, HOST_IS_BIG_ENDIAN);
    }
}

/* Sums run along the elements: blocks are in the lanes. */
void KERNEL(encode_Q1_0)(const encode_row *row, uint8_t *blocks)
{
    uint64_t count = row->columns / Q1_ELEMENTS;
    floats x[Q1_ELEMENTS];
    float sums[LANES];

    for (uint64_t i = 0; i < count; i += LANES) {
        const float *values = row->values + i * Q1_ELEMENTS;
        size_t filled = lanes_filled(count - i);
        floats sum = floats_of(0);
        groups_load(values, filled, Q1_ELEMENTS, x);
        for (size_t k = 0; k < Q1_ELEMENTS; k++)
            sum = sum + absolute(x[k]);
        floats_store(sums, sum);
        for (size_t j = 0; j < filled; j++, blocks += BYTES, values += Q1_ELEMENTS) {
            store_half(blocks, sums[j] / Q1_ELEMENTS);
            store_signs(values, blocks + CODES);
        }
    }
}

/* ---- Q2_0 ----------------------------------------------------------------------------------- */

void KERNEL(decode_Q2_0)(const uint8_t *blocks, uint64_t elements, float *values)
{
    static const int32_t place[Q2_PER_WORD] = {0,  2,  4,  6,  8,  10, 12, 14,
                                               16, 18, 20, 22, 24, 26, 28, 30};

    for (uint64_t i = 0; i < elements; i += Q2_PER_WORD) {
        const uint8_t *block = blocks + i / Q2_ELEMENTS * BYTES;
        floats scale = floats_of(load_half(block));
        uint32_t word = load_u32(block + CODES + i % Q2_ELEMENTS / Q2_PER_WORD * WORD_BYTES,
                                 HOST_IS_BIG_ENDIAN);
        for (size_t j = 0; j < Q2_PER_WORD; j += LANES) {
            ints codes = (ints_of((int32_t)word) >> ints_load(place + j)) & 3;
            floats_store(values + i + j, floats_from(codes - 1) * scale);
        }
    }
}

static void encode_q2_0(const float *x, uint8_t *block)
{
    float scale = block_largest(x, Q2_ELEMENTS);
    floats inverse = floats_of(inverse_of(scale));
    uint8_t codes[Q2_ELEMENTS];

    if (scale > 0 && isinf(1 / scale)) { /* nothing is left of it in binary16 either */
        memset(block, 0, BYTES);
        return;
    }
    store_half(block, scale);
    for (size_t i = 0; i < Q2_ELEMENTS; i += LANES)
        bytes_store(codes + i, round_away(clamp(floats_load(x + i) * inverse, -1, 1)) + 1);
    for (size_t i = 0; i < Q2_ELEMENTS; i += 4)
        block[CODES + i / 4] =
            (uint8_t)(codes[i] | codes[i + 1] << 2 | codes[i + 2] << 4 | codes[i + 3] << 6);
}

BLOCK_ENCODER(Q2_0, Q2_ELEMENTS, BYTES, encode_q2_0)
