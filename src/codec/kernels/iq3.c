/* IQ3_XXS and IQ3_S: code vectors of four weights from a grid, and signs.
 *
 *               0    2                   66                                98
 *     IQ3_XXS   | d  | 64 rows, a byte each | 8 words of signs and a scale |
 *                                           31   27     20     13      6     0
 *                                           +----+------+------+------+------+
 *                                           |  c | s[3] | s[2] | s[1] | s[0] |
 *                                           +----+------+------+------+------+
 *               0    2                   66                    74     106                     110
 *     IQ3_S     | d  | 64 rows, low byte | rows, the high bit  | 32 s | 8 c, half a byte each |
 *
 *     x = +- d (0.5 + c) / 2 * magnitude     (IQ3_XXS)
 *     x = +- d (1 + 2 c) * magnitude         (IQ3_S)
 *
 * s holds the signs of eight weights, a bit each; where there are seven, the eighth makes the
 * number of negative weights even.  c is the scale of 32 weights. */
enum { CODE_BITS = 3 };

#include "codec/kernels/search/lattice_decode.h"
#include "codec/kernels/search/lattice_fit.h"

enum {
    ROWS = 2,
    XXS_WORDS = 66,
    XXS_BYTES = 98,
    S_HIGH = 66,
    S_SIGNS = 74,
    S_SCALES = 106,
    S_BYTES = 110,
};

/* ---- decoding ------------------------------------------------------------------------------- */

void KERNEL(decode_IQ3_XXS)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;
    float scales[SUPER_SUBS];

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += XXS_BYTES) {
        float d = load_half(blocks);
        for (size_t g = 0; g < SUPER_WEIGHTS / 4; g++)
            put_row4(m.magnitudes + 4 * g, grid_iq3_xxs[blocks[ROWS + g]]);
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t word = load_u32(blocks + XXS_WORDS + 4 * j, HOST_IS_BIG_ENDIAN);
            m.signs[j] = even_signs_of_28(word);
            scales[j] = d * (0.5f + (float)(word >> 28)) * 0.5f;
        }
        for (size_t j = 0; j < SUPER_SUBS; j++)
            decode_signed(&m, j * 32, 32, scales[j], values + i);
    }
}

void KERNEL(decode_IQ3_S)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += S_BYTES) {
        float d = load_half(blocks);
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t high = blocks[S_HIGH + j];
            for (size_t g = 0; g < 8; g++) {
                uint32_t row = blocks[ROWS + 8 * j + g] | (high >> g & 1) << 8;
                put_row4(m.magnitudes + 32 * j + 4 * g, grid_iq3_s[row]);
            }
            m.signs[j] = load_u32(blocks + S_SIGNS + 4 * j, HOST_IS_BIG_ENDIAN);
        }
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t code = (uint32_t)blocks[S_SCALES + j / 2] >> j % 2 * 4 & 15;
            decode_signed(&m, j * 32, 32, d * (float)(1 + 2 * code), values + i);
        }
    }
}

/* ---- encoding ------------------------------------------------------------------------------- */

static void store_xxs(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    store_half(block, choice->d);
    for (size_t g = 0; g < SUPER_WEIGHTS / 4; g++)
        block[ROWS + g] = (uint8_t)l->places[choice->codes[g]];
    for (size_t j = 0; j < SUPER_SUBS; j++) {
        uint32_t word = choice->scale[j] << 28;
        for (size_t g = 0; g < 4; g++)
            word |= (choice->signs[j] >> 8 * g & 127) << 7 * g;
        store_u32(block + XXS_WORDS + 4 * j, word, HOST_IS_BIG_ENDIAN);
    }
}

static void store_s(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    memset(block, 0, S_BYTES);
    store_half(block, choice->d);
    for (size_t g = 0; g < SUPER_WEIGHTS / 4; g++) {
        uint32_t row = l->places[choice->codes[g]];
        block[ROWS + g] = (uint8_t)row;
        block[S_HIGH + g / 8] |= (uint8_t)(row >> 8 << g % 8);
    }
    for (size_t j = 0; j < SUPER_SUBS; j++) {
        store_u32(block + S_SIGNS + 4 * j, choice->signs[j], HOST_IS_BIG_ENDIAN);
        block[S_SCALES + j / 2] |= (uint8_t)(choice->scale[j] << j % 2 * 4);
    }
}

/* Magnitudes in units of the smallest, as often as the lanes need them. */
static const lattice_levels xxs_levels = {
    {1, 3, 5, 7, 9, 11, 13, 15.5f, 1, 3, 5, 7, 9, 11, 13, 15.5f}};

static const lattice_type xxs = {
    .sub = 32,
    .even = true,
    .top = 15,
    .step = 0.2f,
    .reach = 15,
    .look = LOOK_LISTED,
    .smallest = 1e-8f,
    .energy = 2,
    .correction = 1.0125f,
};

static const lattice_storage stored_xxs = {
    .bytes = XXS_BYTES,
    .store = store_xxs,
    .decode = KERNEL(decode_IQ3_XXS),
    .refine = REFINE_SIGNED(32, true, 0.5f, &xxs_levels),
};

void KERNEL(encode_IQ3_XXS)(const encode_row *row, uint8_t *blocks)
{
    lattice_encode(row, &xxs, &stored_xxs, blocks);
}

static const lattice_type s = {
    .sub = 32,
    .top = 15,
    .step = 0.2f,
    .reach = 9,
    .look = LOOK_ALL_IF_LISTED,
    .energy = 2,
    .correction = 1.033f,
};

static const lattice_storage stored_s = {
    .bytes = S_BYTES,
    .store = store_s,
    .decode = KERNEL(decode_IQ3_S),
    .refine = REFINE_SIGNED(32, false, 0.5f, &odd_levels),
};

void KERNEL(encode_IQ3_S)(const encode_row *row, uint8_t *blocks)
{
    lattice_encode(row, &s, &stored_s, blocks);
}
