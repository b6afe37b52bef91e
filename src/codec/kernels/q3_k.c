/* Q3_K: 3.4375 bits per weight.
 *
 *     0            32                                         96         108   110
 *     +------------+------------------------------------------+----------+-----+
 *     | high bits  | low bits: 256 of 2 bits                  |  scales  |  d  |
 *     +------------+------------------------------------------+----------+-----+
 *     bits of codes that are 32 apart share a byte, see k_pack
 *     scales: sixteen of 6 bits, one per sub-block of 16 weights, 32 more than their value
 *         byte j < 8          low nibble: bits 0-3 of scale j; high nibble: of scale j + 8
 *         byte 8 + j, j < 4   bits 4-5 of scales j, j + 4, j + 8, j + 12 from bit 0 up
 *
 *     value = (d * (scale - 32)) * (code - 4) */
#include "codec/kernels/search/k_encode.h"

enum { SUB = 16, SUBS = K_WEIGHTS / SUB, HIGH = 0, LOW = 32, SCALES = 96, D = 108, BYTES = 110 };

/* Four scales at a time: bytes of a word never meet, so that its byte order does not matter. */
static void unpack_scales(const uint8_t packed[12], uint8_t scales[SUBS])
{
    uint32_t word[3], out[4];

    memcpy(word, packed, sizeof word);
    for (int k = 0; k < 4; k++) {
        uint32_t low = word[k % 2] >> k / 2 * 4 & 0x0f0f0f0fu;
        uint32_t high = word[2] >> 2 * k & 0x03030303u;
        out[k] = low | high << 4;
    }
    memcpy(scales, out, sizeof out);
}

static void pack_scales(const uint8_t scales[SUBS], uint8_t packed[12])
{
    uint32_t word[4], out[3] = {0};

    memcpy(word, scales, sizeof word);
    for (int k = 0; k < 4; k++) {
        out[k % 2] |= (word[k] & 0x0f0f0f0fu) << k / 2 * 4;
        out[2] |= (word[k] >> 4 & 0x03030303u) << 2 * k;
    }
    memcpy(packed, out, sizeof out);
}

/* ---- decoding ------------------------------------------------------------------------------- */

static void decode_block(const uint8_t *block, float *values)
{
    uint8_t scales[SUBS];
    k_codes codes;
    float scale[SUBS], d = load_half(block + D);

    unpack_scales(block + SCALES, scales);
    for (size_t j = 0; j < SUBS; j += LANES)
        floats_store(scale + j, floats_of(d) * floats_from(bytes_load(scales + j) - ints_of(32)));
    k_unpack(block + LOW, 2, 4, 0, &codes);
    k_unpack(block + HIGH, 1, 4, 2, &codes);
    for (size_t j = 0; j < SUBS; j++)
        k_decode_sym(codes.byte + SUB * j, SUB, scale[j], 4, values + SUB * j);
}

BLOCK_DECODER(Q3_K, K_WEIGHTS, BYTES, decode_block)

/* ---- encoding ------------------------------------------------------------------------------- */

enum { Q = 4, SCALE_Q = 32 }; /* codes are -Q to Q - 1, scales -SCALE_Q to SCALE_Q - 1 */

static void fit_with_importance(k_batch *b)
{
    k_groups g;
    floats codes[SUB];

    k_measure_energy(b);
    for (size_t first = 0; first < b->count * SUBS; first += LANES) {
        k_groups_load(&g, b, first);
        k_weigh_importance(&g, b, 2);
        floats scale = fit_sym(g.x, g.w, SUB, Q, codes);
        k_keep(b, &g, scale, codes);
    }
}

/* FIT_ABREAST vectors of sub-blocks at a time; those beyond the last are the first once more. */
static void fit_without_importance(k_batch *b)
{
    size_t subs = b->count * SUBS;

    for (size_t first = 0; first < subs; first += FIT_ABREAST * LANES) {
        floats x[FIT_ABREAST][FIT_MOST], codes[FIT_ABREAST][FIT_MOST], scale[FIT_ABREAST];
        for (size_t v = 0; v < FIT_ABREAST; v++) {
            size_t at = first + v * LANES < subs ? first + v * LANES : first;
            groups_load(b->values + at * SUB, lanes_filled(subs - at), SUB, x[v]);
        }
        fit_descent(x, SUB, Q, codes, scale);
        for (size_t v = 0; v < FIT_ABREAST && first + v * LANES < subs; v++) {
            size_t at = first + v * LANES;
            floats_store(b->scale + at, scale[v]);
            groups_store(b->code + at * SUB, lanes_filled(subs - at), SUB, codes[v]);
        }
    }
}

static void fit(k_batch *b)
{
    floats s[SUBS], w[SUBS], codes[SUBS];

    if (b->importance == NULL) {
        fit_without_importance(b);
        k_extreme_is_lowest(b, -SCALE_Q, SCALE_Q - 1, FLT_TRUE_MIN);
        return;
    }
    fit_with_importance(b);
    groups_load(b->scale, b->count, SUBS, s);
    groups_load(b->weight, b->count, SUBS, w);
    floats_store(b->d, fit_sym(s, w, SUBS, SCALE_Q, codes));
    groups_store(b->scale_code, b->count, SUBS, codes);
}

static void store_block(const k_batch *b, size_t at, uint8_t *block)
{
    uint8_t scales[SUBS];
    k_codes codes;
    float d = store_half(block + D, b->d[at]);

    for (size_t j = 0; j < SUBS; j++)
        scales[j] = (uint8_t)(b->scale_code[at * SUBS + j] + SCALE_Q);
    pack_scales(scales, block + SCALES);
    k_sym_codes(b, at, Q, d, &codes);
    k_pack(&codes, 2, 4, 0, block + LOW);
    k_pack(&codes, 1, 4, 2, block + HIGH);
}

void KERNEL(encode_Q3_K)(const encode_row *row, uint8_t *blocks)
{
    static const k_type type = {
        SUB,
        BYTES,
        fit,
        store_block,
        KERNEL(decode_Q3_K),
        {-Q, Q - 1, -SCALE_Q, SCALE_Q - 1, 0, .reach = {{6, 0}, {1, 0}, {1, 0}}}};

    k_encode(row, &type, blocks);
}
