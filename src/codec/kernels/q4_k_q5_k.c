/* Q4_K and Q5_K: 4.5 and 5.5 bits per weight.
 *
 *     0     2      4          16                                              144
 *     +-----+------+----------+------------------------------------------------+
 *     |  d  | dmin |  scales  | codes: 256 of 4 bits                           |   Q4_K
 *     +-----+------+----------+-----------+------------------------------------+-----------+
 *     |  d  | dmin |  scales  | high bits | low bits: 256 of 4 bits                        |   Q5_K
 *     +-----+------+----------+-----------+------------------------------------------------+
 *     0     2      4          16          48                                              176
 *
 *     bits of codes that are 32 apart share a byte, see k_pack
 *     scales: a scale and a min of 6 bits per sub-block of 32 weights
 *         byte j < 4   bits 0-5: scale j;      bits 6-7: bits 4-5 of scale j + 4
 *         byte 4 + j   bits 0-5: min j;        bits 6-7: bits 4-5 of min j + 4
 *         byte 8 + j   bits 0-3: of scale j + 4;  bits 4-7: bits 0-3 of min j + 4
 *
 *     value = (d * scale) * code - dmin * min */
#include "codec/kernels/k_encode.h"

enum { SUB = 32, SUBS = K_WEIGHTS / SUB, D = 0, DMIN = 2, SCALES = 4 };
enum { Q4_CODES = 16, Q4_BYTES = 144, Q5_HIGH = 16, Q5_CODES = 48, Q5_BYTES = 176 };

/* Eight scales, then eight mins.  Four at a time: bytes of a word never meet, so that its byte
 * order does not matter. */
static void unpack_scales(const uint8_t packed[12], uint8_t scales[2 * SUBS])
{
    uint32_t in[3];

    memcpy(in, packed, sizeof in);
    uint32_t out[4] = {
        in[0] & 0x3f3f3f3fu,
        (in[2] & 0x0f0f0f0fu) | (in[0] >> 2 & 0x30303030u),
        in[1] & 0x3f3f3f3fu,
        (in[2] >> 4 & 0x0f0f0f0fu) | (in[1] >> 2 & 0x30303030u),
    };
    memcpy(scales, out, sizeof out);
}

static void pack_scales(const uint8_t scales[2 * SUBS], uint8_t packed[12])
{
    uint32_t in[4];

    memcpy(in, scales, sizeof in);
    uint32_t out[3] = {
        in[0] | (in[1] & 0x30303030u) << 2,
        in[2] | (in[3] & 0x30303030u) << 2,
        (in[1] & 0x0f0f0f0fu) | (in[3] & 0x0f0f0f0fu) << 4,
    };
    memcpy(packed, out, sizeof out);
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* The factors of the sub-blocks: value = scale * code - min. */
static void load_scales(const uint8_t *block, float scale[2 * SUBS], float min[2 * SUBS])
{
    uint8_t codes[4 * SUBS] = {0};
    floats d = floats_of(load_half(block + D)), dmin = floats_of(load_half(block + DMIN));

    unpack_scales(block + SCALES, codes);
    for (size_t j = 0; j < SUBS; j += LANES) {
        floats_store(scale + j, d * floats_from(bytes_load(codes + j)));
        floats_store(min + j, dmin * floats_from(bytes_load(codes + SUBS + j)));
    }
}

static void decode_block(const uint8_t *block, const k_codes *codes, float *values)
{
    float scale[2 * SUBS], min[2 * SUBS];

    load_scales(block, scale, min);
    for (size_t j = 0; j < SUBS; j++)
        k_decode_affine(codes->byte + SUB * j, SUB, scale[j], min[j], values + SUB * j);
}

void KERNEL(decode_Q4_K)(const uint8_t *blocks, uint64_t elements, float *values)
{
    k_codes codes;

    for (uint64_t i = 0; i < elements; i += K_WEIGHTS, blocks += Q4_BYTES) {
        k_unpack(blocks + Q4_CODES, 4, 4, 0, &codes);
        decode_block(blocks, &codes, values + i);
    }
}

void KERNEL(decode_Q5_K)(const uint8_t *blocks, uint64_t elements, float *values)
{
    k_codes codes;

    for (uint64_t i = 0; i < elements; i += K_WEIGHTS, blocks += Q5_BYTES) {
        k_unpack(blocks + Q5_CODES, 4, 4, 0, &codes);
        k_unpack(blocks + Q5_HIGH, 1, 4, 4, &codes);
        decode_block(blocks, &codes, values + i);
    }
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* The root mean square of the sub-block plus |x|. */
static void weigh(k_groups *g, size_t n)
{
    floats squares = floats_of(0);

    for (size_t i = 0; i < n; i++)
        squares = squares + g->x[i] * g->x[i];
    floats mean = square_root(squares / floats_of((float)n));
    for (size_t i = 0; i < n; i++)
        g->w[i] = mean + absolute(g->x[i]);
}

static const k_affine q4_k = {SUB,
                              .top = 15,
                              .scale_top = 63,
                              .weigh = weigh,
                              .search = {-1, 0.1f, 20, .magnitude = false},
                              .importance_search = {-0.9f, 0.05f, 36, .magnitude = false},
                              .energy_factor = 2};

static const k_affine q5_k = {SUB,
                              .top = 31,
                              .scale_top = 63,
                              .weigh = weigh,
                              .search = {-0.5f, 0.1f, 15, .magnitude = false},
                              .importance_search = {-0.9f, 0.05f, 36, .magnitude = false},
                              .energy_factor = 2};

/* Stores d, dmin and the scales, and chooses the codes. */
static void store_scales(const k_batch *b, size_t at, float top, uint8_t *block, k_codes *codes)
{
    uint8_t scales[2 * SUBS];
    float d = store_half(block + D, b->d[at]);
    float dmin = store_half(block + DMIN, b->dmin[at]);

    for (size_t j = 0; j < SUBS; j++) {
        scales[j] = (uint8_t)b->scale_code[at * SUBS + j];
        scales[SUBS + j] = (uint8_t)b->min_code[at * SUBS + j];
    }
    pack_scales(scales, block + SCALES);
    k_affine_codes(b, at, top, d, dmin, codes);
}

static void store_q4(const k_batch *b, size_t at, uint8_t *block)
{
    k_codes codes;

    store_scales(b, at, q4_k.top, block, &codes);
    k_pack(&codes, 4, 4, 0, block + Q4_CODES);
}

static void store_q5(const k_batch *b, size_t at, uint8_t *block)
{
    k_codes codes;

    store_scales(b, at, q5_k.top, block, &codes);
    k_pack(&codes, 4, 4, 0, block + Q5_CODES);
    k_pack(&codes, 1, 4, 4, block + Q5_HIGH);
}

static void fit_q4(k_batch *b)
{
    k_fit_affine(b, &q4_k);
}

static void fit_q5(k_batch *b)
{
    k_fit_affine(b, &q5_k);
}

void KERNEL(encode_Q4_K)(const encode_row *row, uint8_t *blocks)
{
    static const k_type type = {SUB,
                                Q4_BYTES,
                                fit_q4,
                                store_q4,
                                KERNEL(decode_Q4_K),
                                {0, 15, 0, 63, 63, .reach = {{3, 2}, {2, 2}, {1, 1}}}};

    k_encode(row, &type, blocks);
}

void KERNEL(encode_Q5_K)(const encode_row *row, uint8_t *blocks)
{
    static const k_type type = {SUB,
                                Q5_BYTES,
                                fit_q5,
                                store_q5,
                                KERNEL(decode_Q5_K),
                                {0, 31, 0, 63, 63, .reach = {{4, 3}, {1, 1}, {1, 1}}}};

    k_encode(row, &type, blocks);
}
