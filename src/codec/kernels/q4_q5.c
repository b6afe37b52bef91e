/* Q4_0, Q4_1, Q5_0, Q5_1: 32 codes of 4 or 5 bits, a scale, and for the types _1 an offset.
 *
 *             0    2    4    6    8              bytes
 *     Q4_0    | d  | codes                       18
 *     Q4_1    | d  | m  | codes                  20
 *     Q5_0    | d  | fifth   | codes             22     bit i of fifth belongs to code i
 *     Q5_1    | d  | m  | fifth   | codes        24
 *
 *     codes, 16 bytes: in byte i code i in the low half, code 16 + i in the high one
 *
 *     Q4_0, Q5_0    x = (code - zero) * d    zero = 8, 16
 *     Q4_1, Q5_1    x = code * d + m
 *
 * Without an offset there is one code more below zero than above: d takes the sign that makes the
 * element of largest magnitude code 0. */
#include "codec/kernels/search/refine.h"

enum { ELEMENTS = 32, CODE_BYTES = 16, MOST_BYTES = 24 };

/* One of the four types. */
typedef struct layout {
    int bits;
    bool offset;
} layout;

static const layout q4_0 = {4, false}, q4_1 = {4, true}, q5_0 = {5, false}, q5_1 = {5, true};

/* Where the codes are, with their fifth bits. */
static inline size_t codes_at(layout type)
{
    return type.offset ? 4 : 2;
}

static inline size_t block_bytes(layout type)
{
    return codes_at(type) + (type.bits == 5 ? 4 : 0) + CODE_BYTES;
}

static inline int largest_code(layout type)
{
    return (1 << type.bits) - 1;
}

/* The code of zero. */
static inline int zero_code(layout type)
{
    return type.offset ? 0 : 1 << (type.bits - 1);
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* LANES elements.  Bit 0 of `fifth` belongs to the first. */
static inline void decode_lanes(layout type, ints codes, uint32_t fifth, floats scale,
                                floats offset, float *values)
{
    if (type.bits == 5)
        codes = codes | ints_select(mask_from_bits(fifth), ints_of(16), ints_of(0));
    floats v = floats_from(codes - zero_code(type)) * scale;
    if (type.offset)
        v = v + offset;
    floats_store(values, v);
}

static inline void decode_block(layout type, const uint8_t *block, float *values)
{
    const uint8_t *codes = block + codes_at(type);
    floats scale = floats_of(load_half(block));
    floats offset = floats_of(type.offset ? load_half(block + 2) : 0);
    uint32_t fifth = 0;

    if (type.bits == 5) {
        fifth = load_u32(codes, HOST_IS_BIG_ENDIAN);
        codes += 4;
    }
    for (size_t i = 0; i < CODE_BYTES; i += LANES) {
        ints pair = bytes_load(codes + i);
        decode_lanes(type, pair & 15, fifth >> i, scale, offset, values + i);
        decode_lanes(type, shift_right(pair, 4), fifth >> (16 + i), scale, offset, values + 16 + i);
    }
}

static inline void decode_blocks(layout type, const uint8_t *blocks, uint64_t elements,
                                 float *values)
{
    for (uint64_t i = 0; i < elements; i += ELEMENTS, blocks += block_bytes(type))
        decode_block(type, blocks, values + i);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Scale and offset are binary16 already. */
static inline void store_block(layout type, const uint8_t *scale, const uint8_t *offset,
                               const uint8_t *codes, uint8_t *block)
{
    memcpy(block, scale, 2);
    if (type.offset)
        memcpy(block + 2, offset, 2);
    block += codes_at(type);
    if (type.bits == 5) {
        uint32_t fifth = 0;
        for (size_t i = 0; i < ELEMENTS; i += LANES)
            fifth |= mask_bits(ints_greater(bytes_load(codes + i), ints_of(15))) << i;
        store_u32(block, fifth, HOST_IS_BIG_ENDIAN);
        block += 4;
    }
    nibbles_store(block, codes);
}

/* Encodes `count` blocks, one per lane.  The scale spreads the codes from the least element to the
 * largest, or from zero to the one of largest magnitude. */
static inline void encode_spread(layout type, const float *x, size_t count, uint8_t *blocks)
{
    floats scale, origin = floats_of(0);
    float inverse[LANES], first[LANES];
    uint8_t scales[2 * LANES], offsets[2 * LANES];

    if (type.offset) {
        block_range span = blocks_span(x, count, ELEMENTS);
        origin = span.low;
        scale = (span.high - span.low) / floats_of((float)largest_code(type));
    } else {
        scale = blocks_extreme(x, count, ELEMENTS) / floats_of((float)-zero_code(type));
    }
    floats_store(inverse, inverses_of(scale));
    floats_store(first, origin);
    scales_store(scales, scale);
    scales_store(offsets, origin);
    for (size_t j = 0; j < count; j++, x += ELEMENTS, blocks += block_bytes(type)) {
        floats middle = floats_of((float)zero_code(type) + 0.5f);
        uint8_t codes[ELEMENTS];
        for (size_t i = 0; i < ELEMENTS; i += LANES) {
            floats code =
                (floats_load(x + i) - floats_of(first[j])) * floats_of(inverse[j]) + middle;
            bytes_store(codes + i, ints_from(clamp(code, 0, (float)largest_code(type))));
        }
        store_block(type, scales + 2 * j, offsets + 2 * j, codes, blocks);
    }
}

/* The mean square of a row. */
static float mean_square(const float *x, uint64_t n)
{
    float sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum / (float)n;
}

/* Encodes `count` blocks, one per lane, such that the error with the weights
 * importance * sqrt(row's mean square + x^2) is least.  An offset beyond the range of binary16
 * would be infinite: it is limited. */
static inline void encode_weighted(layout type, const float *values, const float *importance,
                                   size_t count, float row_square, uint8_t *blocks)
{
    static const fit_search search = {-0.9f, 0.05f, 36, false};
    floats x[ELEMENTS], w[ELEMENTS], codes[ELEMENTS];
    fit_line line = {floats_of(0), floats_of(0)};
    uint8_t bytes[LANES * ELEMENTS], scales[2 * LANES], offsets[2 * LANES];

    groups_load(values, count, ELEMENTS, x);
    groups_load(importance, count, ELEMENTS, w);
    for (size_t i = 0; i < ELEMENTS; i++)
        w[i] = w[i] * square_root(floats_of(row_square) + x[i] * x[i]);
    if (type.offset) {
        line = fit_affine(x, w, ELEMENTS, (float)largest_code(type), &search, codes);
        line.offset = maximum(line.offset, floats_of(-65504));
    } else {
        line.scale = fit_sym(x, w, ELEMENTS, (float)zero_code(type), codes);
        for (size_t i = 0; i < ELEMENTS; i++)
            codes[i] = codes[i] + floats_of((float)zero_code(type));
    }
    groups_store_bytes(codes, ELEMENTS, bytes);
    scales_store(scales, line.scale);
    scales_store(offsets, line.offset);
    for (size_t j = 0; j < count; j++, blocks += block_bytes(type))
        store_block(type, scales + 2 * j, offsets + 2 * j, bytes + j * ELEMENTS, blocks);
}

/* ---- high effort ---------------------------------------------------------------------------- */

static floats nearest_of_4_bits(floats v)
{
    return fit_code(v, -8, 7);
}

static floats nearest_of_5_bits(floats v)
{
    return fit_code(v, -16, 15);
}

static inline fit_line refine_lanes(layout type, const floats *x, const floats *q)
{
    static const refine_places places_4[2] = {{-10, 0.4f, 9}, {5.8f, 0.4f, 9}};
    static const refine_places places_5[2] = {{-19, 0.6f, 9}, {13, 0.6f, 9}};
    floats zero = floats_of(0);

    if (type.offset)
        return refine_line(x, q, ELEMENTS, (float)largest_code(type));
    if (type.bits == 4)
        return (fit_line){refine_scale(x, q, ELEMENTS, nearest_of_4_bits, places_4), zero};
    return (fit_line){refine_scale(x, q, ELEMENTS, nearest_of_5_bits, places_5), zero};
}

/* A block for a scale and an offset as they are stored. */
static inline void encode_nearest(layout type, const float *x, float scale, float offset,
                                  uint8_t *block)
{
    floats inverse = floats_of(inverse_of(scale));
    float zero = (float)zero_code(type), top = (float)largest_code(type);
    uint8_t codes[ELEMENTS], scale_half[2], offset_half[2];

    for (size_t i = 0; i < ELEMENTS; i += LANES) {
        floats scaled = (floats_load(x + i) - floats_of(offset)) * inverse;
        bytes_store(codes + i, ints_from(fit_code(scaled, -zero, top - zero)) + zero_code(type));
    }
    store_half(scale_half, scale);
    store_half(offset_half, offset);
    store_block(type, scale_half, offset_half, codes, block);
}

static inline void refine(layout type, decode_kernel *decode, const float *values,
                          const float *importance, size_t count, uint8_t *blocks)
{
    floats x[ELEMENTS], q[ELEMENTS];
    float scale[LANES], offset[LANES];

    groups_load(values, count, ELEMENTS, x);
    refine_load_importance(importance, count, ELEMENTS, q);
    fit_line line = refine_lanes(type, x, q);
    floats_store(scale, line.scale);
    floats_store(offset, line.offset);
    for (size_t j = 0; j < count; j++, blocks += block_bytes(type)) {
        size_t at = j * ELEMENTS;
        uint8_t other[MOST_BYTES];
        encode_nearest(type, values + at, scale[j], offset[j], other);
        refine_keep_better(values + at, importance_at(importance, at), ELEMENTS, decode,
                           block_bytes(type), other, blocks);
    }
}

static inline void encode(layout type, decode_kernel *decode, const encode_row *row,
                          uint8_t *blocks)
{
    bool weighted = row->importance != NULL;
    float row_square = weighted ? mean_square(row->values, row->columns) : 0;

    for (uint64_t at = 0; at < row->columns; at += LANES * ELEMENTS) {
        size_t count = lanes_filled((row->columns - at) / ELEMENTS);
        const float *x = row->values + at, *importance = importance_at(row->importance, at);
        if (weighted)
            encode_weighted(type, x, importance, count, row_square, blocks);
        else
            encode_spread(type, x, count, blocks);
        if (row->effort == GUFO_EFFORT_HIGH)
            refine(type, decode, x, importance, count, blocks);
        blocks += count * block_bytes(type);
    }
}

/* ---- the types ------------------------------------------------------------------------------ */

CODER(Q4_0, decode_blocks(q4_0, blocks, elements, values),
      encode(q4_0, KERNEL(decode_Q4_0), row, blocks))
CODER(Q4_1, decode_blocks(q4_1, blocks, elements, values),
      encode(q4_1, KERNEL(decode_Q4_1), row, blocks))
CODER(Q5_0, decode_blocks(q5_0, blocks, elements, values),
      encode(q5_0, KERNEL(decode_Q5_0), row, blocks))
CODER(Q5_1, decode_blocks(q5_1, blocks, elements, values),
      encode(q5_1, KERNEL(decode_Q5_1), row, blocks))
