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
#include "codec/kernels/block.h"
#include "codec/kernels/search/k_encode.h"

enum { SUB = 32, SUBS = K_WEIGHTS / SUB, D = 0, DMIN = 2, SCALES = 4 };
enum { Q4_CODES = 16, Q4_BYTES = 144, Q5_HIGH = 16, Q5_CODES = 48, Q5_BYTES = 176 };

/* Four words.  They stay in a register: words that were stored one by one would have to reach the
 * cache before all four can be loaded. */
typedef uint32_t words __attribute__((vector_size(16)));

/* Eight scales, then eight mins, of the first 16 bytes of a block.  Four at a time: bytes of a word
 * never meet, so that its byte order does not matter. */
static inline void unpack_scales(const uint8_t *block, uint8_t scales[2 * SUBS])
{
    const words six_bits = {0x3f3f3f3fu, 0x0f0f0f0fu, 0x3f3f3f3fu, 0x0f0f0f0fu};
    const words upper_bits = {0, 0x30303030u, 0, 0x30303030u};
    words in;

    memcpy(&in, block, sizeof in);
    words low = __builtin_shufflevector(in, in, 1, 3, 2, 3) >> (words){0, 0, 0, 4};
    words high = __builtin_shufflevector(in, in, 1, 1, 2, 2) >> 2;
    words out = (low & six_bits) | (high & upper_bits);
    memcpy(scales, &out, sizeof out);
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
static inline void load_factors(const uint8_t *block, float factors[2 * SUBS])
{
    uint8_t codes[2 * SUBS];
    floats d = floats_of(load_half(block + D)), dmin = floats_of(load_half(block + DMIN));

    unpack_scales(block, codes);
    for (size_t j = 0; j < 2 * SUBS; j += LANES) {
        floats factor = select(mask_from_bits(0xffu >> j), d, dmin);
        floats_store(factors + j, factor * floats_from(bytes_load(codes + j)));
    }
}

static inline floats affine(ints code, float scale, float min)
{
    return floats_of(scale) * floats_from(code) - floats_of(min);
}

#if LANES >= 8

enum { QUARTERS = 4, RUNS = QUARTERS * LANES / SUB }; /* of 32 codes in a register */

/* These bits of each byte: after a shift of words, others come from the byte beside it. */
static inline quarters bits_of_bytes(quarters bytes, uint64_t bits)
{
    return bytes & K_EACH_BYTE * bits;
}

/* The values of a register of codes: run r is sub-block 2 r from the first one on. */
static inline void store_values(quarters codes, const float *scale, float *values)
{
    const float *min = scale + SUBS;

    for (size_t k = 0; k < QUARTERS; k++) {
        size_t sub = k * LANES / SUB * 2, at = k * LANES % SUB;
        floats_store(values + sub * SUB + at, affine(quarter(codes, (int)k), scale[sub], min[sub]));
    }
}

/* Sub-blocks that are next to each other share bytes. */
static inline void decode_q4(const uint8_t *restrict block, const float *restrict factors,
                             float *restrict values)
{
    for (size_t j = 0; j < SUBS; j += (size_t)2 * RUNS, values += 2 * RUNS * SUB) {
        quarters both = quarters_load(block + Q4_CODES + j / 2 * SUB);
        store_values(bits_of_bytes(both, 15), factors + j, values);
        store_values(bits_of_bytes(both >> 4, 15), factors + j + 1, values + SUB);
    }
}

/* Bit j of a byte of the high bits is bit 4 of a code of sub-block j; where a register has two runs,
 * bit j + 2 in the second one. */
static inline void decode_q5(const uint8_t *restrict block, const float *restrict factors,
                             float *restrict values)
{
    quarters upper = quarters_repeated(block + Q5_HIGH, 2), lower = upper << 4;

    for (size_t j = 0; j < SUBS; j += (size_t)2 * RUNS, values += 2 * RUNS * SUB) {
        quarters both = quarters_load(block + Q5_CODES + j / 2 * SUB);
        quarters high = (j < SUBS / 2 ? lower : upper) >> j % 4;
        store_values(bits_of_bytes(both, 15) | bits_of_bytes(high, 16), factors + j, values);
        store_values(bits_of_bytes(both >> 4, 15) | bits_of_bytes(high >> 1, 16), factors + j + 1,
                     values + SUB);
    }
}

#else

static inline void decode_q4(const uint8_t *restrict block, const float *restrict factors,
                             float *restrict values)
{
    const uint8_t *codes = block + Q4_CODES;
    const float *scale = factors, *min = factors + SUBS;

    for (size_t j = 0; j < SUBS; j += 2, codes += SUB, values += 2 * SUB)
        for (size_t i = 0; i < SUB; i += LANES) {
            ints both = bytes_load(codes + i);
            floats_store(values + i, affine(both & 15, scale[j], min[j]));
            floats_store(values + SUB + i, affine(shift_right(both, 4), scale[j + 1], min[j + 1]));
        }
}

static inline void decode_q5(const uint8_t *restrict block, const float *restrict factors,
                             float *restrict values)
{
    k_codes codes;

    k_unpack(block + Q5_CODES, 4, 4, 0, &codes);
    k_unpack(block + Q5_HIGH, 1, 4, 4, &codes);
    for (size_t j = 0; j < SUBS; j++)
        k_decode_affine(codes.byte + SUB * j, SUB, factors[j], factors[SUBS + j], values + SUB * j);
}

#endif

enum { BATCH = 16 };

/* The factors of several blocks come before their values.  A load copies one of them to all lanes;
 * gcc shuffles registers, which takes longer, where it sees what was stored. */
static inline void load_all_factors(const uint8_t *blocks, size_t count, size_t bytes,
                                    float factors[BATCH][2 * SUBS])
{
    for (size_t i = 0; i < count; i++)
        load_factors(blocks + i * bytes, factors[i]);
}

#define FACTORED_DECODER(name, block_bytes, decode_block)                                  \
    void KERNEL(decode_##name)(const uint8_t *blocks, uint64_t elements, float *values)    \
    {                                                                                      \
        float factors[BATCH][2 * SUBS];                                                    \
                                                                                           \
        for (uint64_t left = elements / K_WEIGHTS; left > 0;) {                            \
            size_t count = left < BATCH ? (size_t)left : BATCH;                            \
            load_all_factors(blocks, count, block_bytes, factors);                         \
            for (size_t i = 0; i < count; i++, blocks += block_bytes, values += K_WEIGHTS) \
                decode_block(blocks, factors[i], values);                                  \
            left -= count;                                                                 \
        }                                                                                  \
    }

FACTORED_DECODER(Q4_K, Q4_BYTES, decode_q4)
FACTORED_DECODER(Q5_K, Q5_BYTES, decode_q5)

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
