/* IQ2_XXS, IQ2_XS and IQ2_S: code vectors of eight weights from a grid, and signs.
 *
 *               0    2                                             66
 *     IQ2_XXS   | d  | 8 times: 4 rows, a byte each | signs, scale |
 *                                                   31   27     20     13      6     0
 *                                                   +----+------+------+------+------+
 *                                                   |  c | s[3] | s[2] | s[1] | s[0] |
 *                                                   +----+------+------+------+------+
 *               0    2                            66                    74
 *     IQ2_XS    | d  | 32 words: s, 7 bits; row, 9 | 16 c, half a byte each |
 *
 *               0    2                   34      66                     74                     82
 *     IQ2_S     | d  | 32 rows, low byte | 32 s  | rows, 2 high bits    | 16 c, half a byte each |
 *
 *     x = +- d (0.5 + c) / 4 * magnitude
 *
 * s holds the signs of a group, a bit each; where there are seven, the eighth makes the number of
 * negative weights even.  c is the scale of 32 weights (IQ2_XXS) or 16. */
enum { CODE_BITS = 2 };

#include "codec/kernels/search/lattice_decode.h"
#include "codec/kernels/search/lattice_fit.h"

enum {
    ROWS = 2,
    XXS_SUB_BYTES = 8,
    XXS_BYTES = ROWS + SUPER_SUBS * XXS_SUB_BYTES,
    XS_SCALES = 66,
    XS_BYTES = 74,
    S_SIGNS = 34,
    S_HIGH = 66,
    S_SCALES = 74,
    S_BYTES = 82,
};

/* ---- decoding ------------------------------------------------------------------------------- */

static inline float scale_of(float d, uint32_t code)
{
    return d * (0.5f + (float)code) * 0.25f;
}

/* Scales of 16 weights, half a byte each. */
static inline void decode_halves(const signed_magnitudes *from, float d, const uint8_t *scales,
                                 float *values)
{
    for (size_t j = 0; j < SUPER_SUBS; j++) {
        decode_signed(from, j * 32, 16, scale_of(d, scales[j] & 15u), values);
        decode_signed(from, j * 32 + 16, 16, scale_of(d, scales[j] >> 4), values);
    }
}

void KERNEL(decode_IQ2_XXS)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;
    float scales[SUPER_SUBS];

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += XXS_BYTES) {
        float d = load_half(blocks);
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            const uint8_t *sub = blocks + ROWS + j * XXS_SUB_BYTES;
            uint32_t word = load_u32(sub + 4, HOST_IS_BIG_ENDIAN);
            for (size_t g = 0; g < 4; g++)
                put_row8(m.magnitudes + 32 * j + 8 * g, grid_iq2_xxs[sub[g]]);
            m.signs[j] = even_signs_of_28(word);
            scales[j] = scale_of(d, word >> 28);
        }
        for (size_t j = 0; j < SUPER_SUBS; j++)
            decode_signed(&m, j * 32, 32, scales[j], values + i);
    }
}

void KERNEL(decode_IQ2_XS)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += XS_BYTES) {
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t sevens = 0;
            for (size_t g = 0; g < 4; g++) {
                uint32_t word = load_u16(blocks + ROWS + 8 * j + 2 * g, HOST_IS_BIG_ENDIAN);
                put_row8(m.magnitudes + 32 * j + 8 * g, grid_iq2_xs[word & 511]);
                sevens |= word >> 9 << 8 * g;
            }
            m.signs[j] = even_signs(sevens);
        }
        decode_halves(&m, load_half(blocks), blocks + XS_SCALES, values + i);
    }
}

void KERNEL(decode_IQ2_S)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += S_BYTES) {
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            for (size_t g = 0; g < 4; g++) {
                uint32_t high = blocks[S_HIGH + j] >> 2 * g & 3u;
                uint32_t row = blocks[ROWS + 4 * j + g] | high << 8;
                put_row8(m.magnitudes + 32 * j + 8 * g, grid_iq2_s[row]);
            }
            m.signs[j] = load_u32(blocks + S_SIGNS + 4 * j, HOST_IS_BIG_ENDIAN);
        }
        decode_halves(&m, load_half(blocks), blocks + S_SCALES, values + i);
    }
}

/* ---- encoding ------------------------------------------------------------------------------- */

static inline void store_halves(const lattice_choice *choice, uint8_t *scales)
{
    for (size_t j = 0; j < SUPER_SUBS; j++)
        scales[j] = (uint8_t)(choice->scale[2 * j] | choice->scale[2 * j + 1] << 4);
}

/* The signs of group g of eight. */
static inline uint32_t signs_of(const lattice_choice *choice, size_t g)
{
    return choice->signs[g / 4] >> g % 4 * 8 & 0xffu;
}

static void store_xxs(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    store_half(block, choice->d);
    for (size_t j = 0; j < SUPER_SUBS; j++) {
        uint8_t *sub = block + ROWS + j * XXS_SUB_BYTES;
        uint32_t word = choice->scale[j] << 28;
        for (size_t g = 0; g < 4; g++) {
            sub[g] = (uint8_t)l->places[choice->codes[4 * j + g]];
            word |= (signs_of(choice, 4 * j + g) & 127) << 7 * g;
        }
        store_u32(sub + 4, word, HOST_IS_BIG_ENDIAN);
    }
}

static void store_xs(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    store_half(block, choice->d);
    for (size_t g = 0; g < SUPER_WEIGHTS / 8; g++) {
        uint32_t word = l->places[choice->codes[g]] | (signs_of(choice, g) & 127) << 9;
        store_u16(block + ROWS + 2 * g, (uint16_t)word, HOST_IS_BIG_ENDIAN);
    }
    store_halves(choice, block + XS_SCALES);
}

static void store_s(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    memset(block, 0, S_BYTES);
    store_half(block, choice->d);
    for (size_t g = 0; g < SUPER_WEIGHTS / 8; g++) {
        uint32_t row = l->places[choice->codes[g]];
        block[ROWS + g] = (uint8_t)row;
        block[S_SIGNS + g] = (uint8_t)signs_of(choice, g);
        block[S_HIGH + g / 4] |= (uint8_t)(row >> 8 << g % 4 * 2);
    }
    store_halves(choice, block + S_SCALES);
}

/* Magnitudes in units of the smallest, as often as the lanes need them. */
static const lattice_levels magnitude_levels = {
    {1, 3.125f, 5.375f, 0, 1, 3.125f, 5.375f, 0, 1, 3.125f, 5.375f, 0, 1, 3.125f, 5.375f, 0}};

static const lattice_type xxs = {
    .sub = 32,
    .even = true,
    .fitted = true,
    .top = 5,
    .step = 0.1f,
    .reach = 6,
    .look = LOOK_ALL,
    .smallest = 1e-15f,
    .energy = 1,
    .correction = 1,
};

static const lattice_storage stored_xxs = {
    .bytes = XXS_BYTES,
    .store = store_xxs,
    .decode = KERNEL(decode_IQ2_XXS),
    .refine = REFINE_SIGNED(32, true, 0.5f / 1.0625f, &magnitude_levels),
};

void KERNEL(encode_IQ2_XXS)(const encode_row *row, uint8_t *blocks)
{
    lattice_encode(row, &xxs, &stored_xxs, blocks);
}

static const lattice_type xs = {
    .sub = 16,
    .even = true,
    .top = 5,
    .step = 0.1f,
    .reach = 9,
    .look = LOOK_LISTED,
    .smallest = 1e-15f,
    .energy = 1,
    .correction = 1,
};

static const lattice_storage stored_xs = {
    .bytes = XS_BYTES,
    .store = store_xs,
    .decode = KERNEL(decode_IQ2_XS),
    .refine = REFINE_SIGNED(16, true, 0.5f / 1.0625f, &magnitude_levels),
};

void KERNEL(encode_IQ2_XS)(const encode_row *row, uint8_t *blocks)
{
    lattice_encode(row, &xs, &stored_xs, blocks);
}

static const lattice_type s = {
    .sub = 16,
    .top = 5,
    .step = 0.1f,
    .reach = 9,
    .look = LOOK_LISTED,
    .smallest = 1e-8f,
    .energy = 2,
    .floor = 0.25f,
    .correction = 0.9875f,
};

static const lattice_storage stored_s = {
    .bytes = S_BYTES,
    .store = store_s,
    .decode = KERNEL(decode_IQ2_S),
    .refine = REFINE_SIGNED(16, false, 0.5f / 1.0625f, &magnitude_levels),
};

void KERNEL(encode_IQ2_S)(const encode_row *row, uint8_t *blocks)
{
    lattice_encode(row, &s, &stored_s, blocks);
}
