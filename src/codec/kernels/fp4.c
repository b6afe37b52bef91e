/* MXFP4 and NVFP4: floats of four bits, and scales of eight.
 *
 *             0  1                  17
 *     MXFP4   |e | 32 codes         |     in byte i code i in the low half, code 16 + i in the high
 *
 *             0       4                              36
 *     NVFP4   | e[4]  | 4 times 16 codes             |     of sub-block s in byte i code i in the
 *                                                          low half, code 8 + i in the high one
 *
 *     code   s m m m   E2M1: magnitudes 0 0.5 1 1.5 2 3 4 6
 *     MXFP4 e          E8M0: 2^(e - 127)
 *     NVFP4 e          E4M3 without a sign: 2^(eeee - 7) * 1.mmm, for eeee = 0 2^-6 * 0.mmm
 *
 *     x = twice the magnitude of the code * half the scale
 *
 * Source: OCP Microscaling Formats (MX) 1.0, 5.3 and 5.4. */
#include "codec/kernels/search/refine.h"

enum { MX_ELEMENTS = 32, MX_CODES = 1, MX_BYTES = 17 };

static const float doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* Between the doubled magnitudes.  Times half a scale they are exact, and so is what is compared
 * with them. */
enum { LIMITS = 7 };
static const float limits[LIMITS] = {0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10};

/* Half a scale as the unit of the limits: if it is 0, nothing reaches them. */
static inline float unit_of(float half_scale)
{
    return half_scale > 0 ? half_scale : INFINITY;
}

/* Codes of x, one a byte: the nearest magnitude, of two that are equally near the smaller one;
 * there is no -0. */
static inline void store_codes(const float *x, size_t n, float half_scale, uint8_t *codes)
{
    float unit = unit_of(half_scale);

    for (size_t i = 0; i < n; i += LANES) {
        floats v = floats_load(x + i), magnitude = absolute(v);
        ints code = ints_of(0);
        for (int k = 0; k < LIMITS; k++)
            code =
                ints_select(greater(magnitude, floats_of(limits[k] * unit)), ints_of(k + 1), code);
        mask negative = both(less(v, floats_of(0)), ints_greater(code, ints_of(0)));
        bytes_store(codes + i, code | ints_select(negative, ints_of(8), ints_of(0)));
    }
}

/* ---- high effort ---------------------------------------------------------------------------- */

/* The sum of q e^2 over n elements, one group in every lane, which has its own half scale. */
static inline floats error_of(const floats *x, const floats *q, size_t n, floats half_scale)
{
    mask some = greater(half_scale, floats_of(0));
    floats unit = select(some, half_scale, floats_of(INFINITY)), error = floats_of(0);

    for (size_t i = 0; i < n; i++) {
        floats magnitude = absolute(x[i]), value = floats_of(0);
        for (int k = 0; k < LIMITS; k++)
            value = select(greater(magnitude, floats_of(limits[k]) * unit),
                           floats_of(doubled[k + 1]), value);
        floats rest = value * half_scale - magnitude;
        error = error + q[i] * (rest * rest);
    }
    return error;
}

/* The bytes of scales that are tried: some below the one that takes the largest magnitude to the
 * largest value, where that is cut off, and some above. */
typedef struct scale_range {
    float (*half_of)(uint8_t scale);
    int below, above, top;
} scale_range;

/* Replaces the scales of LANES groups of n elements by the best of those in range. */
static inline void refine_scales(const float *values, const float *importance, size_t count,
                                 size_t n, const scale_range *range, uint8_t scales[LANES])
{
    floats x[MX_ELEMENTS], q[MX_ELEMENTS], least = floats_of(FLT_MAX);
    ints first = bytes_load(scales), best = first;

    groups_load(values, count, n, x);
    refine_load_importance(importance, count, n, q);
    for (int k = -range->below; k <= range->above; k++) {
        int32_t tried[LANES];
        float half[LANES];
        ints_store(tried, first + k);
        for (size_t j = 0; j < LANES; j++) {
            tried[j] = tried[j] < 0 ? 0 : tried[j] > range->top ? range->top : tried[j];
            half[j] = range->half_of((uint8_t)tried[j]);
        }
        floats error = error_of(x, q, n, floats_load(half));
        mask better = less(error, least);
        best = ints_select(better, ints_load(tried), best);
        least = select(better, error, least);
    }
    bytes_store(scales, best);
}

/* ---- MXFP4 ---------------------------------------------------------------------------------- */

/* Half of 2^(e - 127); the first two are subnormal. */
static inline float e8m0_half(uint8_t e)
{
    return float_from_bits(e < 2 ? 0x200000u << e : (e - 1u) << 23);
}

void KERNEL(decode_MXFP4)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += MX_ELEMENTS, blocks += MX_BYTES) {
        floats half_scale = floats_of(e8m0_half(*blocks));
        for (size_t j = 0; j < MX_ELEMENTS / 2; j += LANES) {
            ints pair = bytes_load(blocks + MX_CODES + j);
            floats_store(values + i + j, lookup16(doubled, pair & 15) * half_scale);
            floats_store(values + i + MX_ELEMENTS / 2 + j,
                         lookup16(doubled, shift_right(pair, 4)) * half_scale);
        }
    }
}

/* The exponent that takes the largest magnitude to 4 or more, less than 8: the float's own, less 2,
 * and 0 where there is none so small. */
static inline uint8_t mx_exponent(float largest)
{
    uint32_t exponent = float_to_bits(largest) >> 23;

    return (uint8_t)(exponent > 2 ? exponent - 2 : 0);
}

static void store_mx(const float *x, uint8_t scale, uint8_t *block)
{
    uint8_t codes[MX_ELEMENTS];

    *block = scale;
    store_codes(x, MX_ELEMENTS, e8m0_half(scale), codes);
    nibbles_store(block + MX_CODES, codes);
}

static void refine_mx(const float *values, const float *importance, size_t count, uint8_t *blocks)
{
    static const scale_range range = {e8m0_half, 1, 1, 254};
    uint8_t scales[LANES] = {0}, other[MX_BYTES];

    for (size_t j = 0; j < count; j++)
        scales[j] = blocks[j * MX_BYTES];
    refine_scales(values, importance, count, MX_ELEMENTS, &range, scales);
    for (size_t j = 0; j < count; j++, blocks += MX_BYTES) {
        size_t at = j * MX_ELEMENTS;
        store_mx(values + at, scales[j], other);
        refine_keep_better(values + at, importance_at(importance, at), MX_ELEMENTS,
                           KERNEL(decode_MXFP4), MX_BYTES, other, blocks);
    }
}

void KERNEL(encode_MXFP4)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t at = 0; at < row->columns; at += LANES * MX_ELEMENTS) {
        const float *x = row->values + at;
        size_t count = lanes_filled((row->columns - at) / MX_ELEMENTS);
        for (size_t j = 0; j < count; j++)
            store_mx(x + j * MX_ELEMENTS,
                     mx_exponent(block_largest(x + j * MX_ELEMENTS, MX_ELEMENTS)),
                     blocks + j * MX_BYTES);
        if (row->effort == GUFO_EFFORT_HIGH)
            refine_mx(x, importance_at(row->importance, at), count, blocks);
        blocks += count * MX_BYTES;
    }
}

/* ---- NVFP4 ---------------------------------------------------------------------------------- */

enum {
    NV_ELEMENTS = 64,
    NV_SUBS = 4,
    NV_SUB = NV_ELEMENTS / NV_SUBS,
    NV_CODES = NV_SUBS,
    NV_SUB_BYTES = NV_SUB / 2,
    NV_BYTES = NV_CODES + NV_SUBS * NV_SUB_BYTES,
};

/* Half of the scale.  The bits become those of a float, whose exponent is 119 larger.  The
 * subnormal ones, common in models, are spared the detour over subnormal floats, which processors
 * are slow with. 127 is NaN, and taken for 0; 255 counts as a number. */
static inline float ue4m3_half(uint8_t e)
{
    if (e == 127)
        return 0;
    e &= 127;
    return e < 8 ? (float)e * 0x1p-10f : float_from_bits(((uint32_t)e << 20) + (119u << 23));
}

/* Halves of eight bytes at once; no bit gets into another byte, whatever their order. */
static inline void nv_split(const uint8_t *bytes, uint8_t codes[NV_SUB])
{
    const uint64_t low_halves = 0x0f0f0f0f0f0f0f0f;
    uint64_t pairs, low, high;

    memcpy(&pairs, bytes, sizeof pairs);
    low = pairs & low_halves;
    high = pairs >> 4 & low_halves;
    memcpy(codes, &low, sizeof low);
    memcpy(codes + NV_SUB_BYTES, &high, sizeof high);
}

static inline void nv_join(const uint8_t codes[NV_SUB], uint8_t *bytes)
{
    uint64_t low, high;

    memcpy(&low, codes, sizeof low);
    memcpy(&high, codes + NV_SUB_BYTES, sizeof high);
    low |= high << 4;
    memcpy(bytes, &low, sizeof low);
}

static void decode_nv(const uint8_t *block, float *values)
{
    uint8_t codes[NV_ELEMENTS];

    for (size_t s = 0; s < NV_SUBS; s++)
        nv_split(block + NV_CODES + s * NV_SUB_BYTES, codes + s * NV_SUB);
    for (size_t i = 0; i < NV_ELEMENTS; i += LANES)
        floats_store(values + i, lookup16(doubled, bytes_load(codes + i)) *
                                     floats_of(ue4m3_half(block[i / NV_SUB])));
}

BLOCK_DECODER(NVFP4, NV_ELEMENTS, NV_BYTES, decode_nv)

/* The nearest scale to v >= 0; halves are rounded up. */
static inline uint8_t ue4m3_nearest(float v)
{
    float limited = v < 448 ? v : 448;

    if (limited < 0x1p-6f)
        return (uint8_t)(limited * 512 + 0.5f);
    return (uint8_t)(((float_to_bits(limited) + 0x80000u) >> 20) - ((127u - 7) << 3));
}

/* What the format's reference takes for it: never the step from subnormal to normal numbers, and
 * 448 for all from 256 on. */
static inline uint8_t ue4m3_reference(float v)
{
    uint8_t nearest = ue4m3_nearest(v);

    if (v < 0x1p-6f && nearest == 8)
        return 7;
    return nearest >= 0x78 ? 0x7e : nearest;
}

static void store_nv(const float *x, const uint8_t scales[NV_SUBS], uint8_t *block)
{
    uint8_t codes[NV_SUB];

    for (size_t s = 0; s < NV_SUBS; s++) {
        block[s] = scales[s];
        store_codes(x + s * NV_SUB, NV_SUB, ue4m3_half(scales[s]), codes);
        nv_join(codes, block + NV_CODES + s * NV_SUB_BYTES);
    }
}

static void encode_nv(const float *x, uint8_t *block)
{
    uint8_t scales[NV_SUBS];

    for (size_t s = 0; s < NV_SUBS; s++)
        scales[s] = ue4m3_reference(block_largest(x + s * NV_SUB, NV_SUB) / 6);
    store_nv(x, scales, block);
}

/* Tries scales up to that which takes the largest magnitude to 4: there the values below it are
 * closer together. */
static void refine_nv(const float *values, const float *importance, size_t count, uint8_t *blocks)
{
    static const scale_range range = {ue4m3_half, 2, 6, 126};
    uint8_t scales[LANES * NV_SUBS], other[NV_BYTES];

    for (size_t s = 0; s < LANES * NV_SUBS; s++)
        scales[s] =
            s < count * NV_SUBS ? ue4m3_nearest(block_largest(values + s * NV_SUB, NV_SUB) / 6) : 0;
    for (size_t s = 0; s < count * NV_SUBS; s += LANES)
        refine_scales(values + s * NV_SUB, importance_at(importance, s * NV_SUB),
                      lanes_filled(count * NV_SUBS - s), NV_SUB, &range, scales + s);
    for (size_t j = 0; j < count; j++, blocks += NV_BYTES) {
        size_t at = j * NV_ELEMENTS;
        store_nv(values + at, scales + j * NV_SUBS, other);
        refine_keep_better(values + at, importance_at(importance, at), NV_ELEMENTS,
                           KERNEL(decode_NVFP4), NV_BYTES, other, blocks);
    }
}

void KERNEL(encode_NVFP4)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t at = 0; at < row->columns; at += LANES * NV_ELEMENTS) {
        const float *x = row->values + at;
        size_t count = lanes_filled((row->columns - at) / NV_ELEMENTS);
        for (size_t j = 0; j < count; j++)
            encode_nv(x + j * NV_ELEMENTS, blocks + j * NV_BYTES);
        if (row->effort == GUFO_EFFORT_HIGH)
            refine_nv(x, importance_at(row->importance, at), count, blocks);
        blocks += count * NV_BYTES;
    }
}
