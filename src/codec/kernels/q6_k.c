/* Q6_K: 6.5625 bits per weight.
 *
 *     0                                      128                  192        208   210
 *     +--------------------------------------+--------------------+----------+-----+
 *     | low bits: 256 of 4 bits              | high bits: of 2    |  scales  |  d  |
 *     +--------------------------------------+--------------------+----------+-----+
 *     low bits of codes that are 64 apart, high bits of codes that are 32 apart share a byte: see
 *         k_pack
 *     scales: sixteen signed bytes, one per sub-block of 16 weights
 *
 *     value = (d * scale) * (code - 32) */
#include "codec/kernels/search/k_encode.h"

enum { SUB = 16, SUBS = K_WEIGHTS / SUB, LOW = 0, HIGH = 128, SCALES = 192, D = 208, BYTES = 210 };

/* ---- decoding ------------------------------------------------------------------------------- */

static void decode_block(const uint8_t *block, float *values)
{
    k_codes codes;
    float scale[SUBS], d = load_half(block + D);

    for (size_t j = 0; j < SUBS; j += LANES)
        floats_store(scale + j, floats_of(d) * floats_from(bytes_load_signed(block + SCALES + j)));
    k_unpack(block + LOW, 4, 8, 0, &codes);
    k_unpack(block + HIGH, 2, 4, 4, &codes);
    for (size_t j = 0; j < SUBS; j++)
        k_decode_sym(codes.byte + SUB * j, SUB, scale[j], 32, values + SUB * j);
}

BLOCK_DECODER(Q6_K, K_WEIGHTS, BYTES, decode_block)

/* ---- encoding ------------------------------------------------------------------------------- */

enum { Q = 32 }; /* codes are -Q to Q - 1 */

static void fit(k_batch *b)
{
    k_groups g;
    floats codes[SUB];

    for (size_t first = 0; first < b->count * SUBS; first += LANES) {
        k_groups_load(&g, b, first);
        if (b->importance != NULL)
            groups_load(b->importance + first * SUB, g.count, SUB, g.w);
        for (size_t i = 0; i < SUB && b->importance == NULL; i++)
            g.w[i] = g.x[i] * g.x[i];
        floats scale = fit_sym(g.x, g.w, SUB, Q, codes);
        k_keep(b, &g, scale, codes);
    }
    k_extreme_is_lowest(b, -128, 127, FIT_SMALLEST);
}

static void store_block(const k_batch *b, size_t at, uint8_t *block)
{
    k_codes codes;
    float d = store_half(block + D, b->d[at]);

    if (b->d[at] == 0) {
        memset(block, 0, BYTES);
        return;
    }
    for (size_t j = 0; j < SUBS; j++)
        block[SCALES + j] = (uint8_t)(int8_t)b->scale_code[at * SUBS + j];
    k_sym_codes(b, at, Q, d, &codes);
    k_pack(&codes, 4, 8, 0, block + LOW);
    k_pack(&codes, 2, 4, 4, block + HIGH);
}

void KERNEL(encode_Q6_K)(const encode_row *row, uint8_t *blocks)
{
    static const k_type type = {SUB,
                                BYTES,
                                fit,
                                store_block,
                                KERNEL(decode_Q6_K),
                                {-Q, Q - 1, -128, 127, 0, .reach = {{12, 0}, {2, 0}, {1, 0}}}};

    k_encode(row, &type, blocks);
}
