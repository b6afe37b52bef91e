/* Q2_K: 2.625 bits per weight.
 *
 *     0         16                                                          80    82     84
 *     +---------+-----------------------------------------------------------+-----+------+
 *     | scales  | codes: 256 of 2 bits                                      |  d  | dmin |
 *     +---------+-----------------------------------------------------------+-----+------+
 *     byte j: sub-block j of 16 weights, low nibble its scale, high nibble its min
 *     codes: four that are 32 apart share a byte, see k_pack
 *
 *     value = (d * scale) * code - dmin * min */
#include "codec/kernels/search/k_encode.h"

enum { SUB = 16, SUBS = K_WEIGHTS / SUB, SCALES = 0, CODES = 16, D = 80, DMIN = 82, BYTES = 84 };

/* ---- decoding ------------------------------------------------------------------------------- */

/* The factors of the sub-blocks: value = scale * code - min. */
static void load_scales(const uint8_t *block, float scale[SUBS], float min[SUBS])
{
    floats d = floats_of(load_half(block + D)), dmin = floats_of(load_half(block + DMIN));

    for (size_t j = 0; j < SUBS; j += LANES) {
        ints both_nibbles = bytes_load(block + SCALES + j);
        floats_store(scale + j, d * floats_from(both_nibbles & ints_of(15)));
        floats_store(min + j, dmin * floats_from(shift_right(both_nibbles, 4)));
    }
}

static void decode_block(const uint8_t *block, float *values)
{
    k_codes codes;
    float scale[SUBS], min[SUBS];

    load_scales(block, scale, min);
    k_unpack(block + CODES, 2, 4, 0, &codes);
    for (size_t j = 0; j < SUBS; j++)
        k_decode_affine(codes.byte + SUB * j, SUB, scale[j], min[j], values + SUB * j);
}

BLOCK_DECODER(Q2_K, K_WEIGHTS, BYTES, decode_block)

/* ---- encoding ------------------------------------------------------------------------------- */

static void weigh(k_groups *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        g->w[i] = absolute(g->x[i]);
}

static const k_affine q2_k = {SUB,
                              .top = 3,
                              .scale_top = 15,
                              .weigh = weigh,
                              .search = {-0.5f, 0.1f, 15, .magnitude = true},
                              .importance_search = {-0.9f, 0.05f, 36, .magnitude = false},
                              .energy_factor = 1};

static void store_block(const k_batch *b, size_t at, uint8_t *block)
{
    k_codes codes;
    float d = store_half(block + D, b->d[at]);
    float dmin = store_half(block + DMIN, b->dmin[at]);

    for (size_t j = 0; j < SUBS; j++) {
        unsigned scale = (unsigned)b->scale_code[at * SUBS + j];
        unsigned min = (unsigned)b->min_code[at * SUBS + j];
        block[SCALES + j] = (uint8_t)(scale | min << 4);
    }
    k_affine_codes(b, at, q2_k.top, d, dmin, &codes);
    k_pack(&codes, 2, 4, 0, block + CODES);
}

static void fit(k_batch *b)
{
    k_fit_affine(b, &q2_k);
}

void KERNEL(encode_Q2_K)(const encode_row *row, uint8_t *blocks)
{
    static const k_type type = {SUB,
                                BYTES,
                                fit,
                                store_block,
                                KERNEL(decode_Q2_K),
                                {0, 3, 0, 15, 15, .reach = {{3, 3}, {1, 1}, {1, 1}}}};

    k_encode(row, &type, blocks);
}
