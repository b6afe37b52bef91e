/* IQ1_S and IQ1_M: code vectors of eight weights, -1, 0 or 1, from a grid; all of a vector are
 * moved up or down by 1/8.
 *
 *             0    2                   34                              50
 *     IQ1_S   | d  | 32 rows, low byte | 8 words, one for 32 weights   |
 *                                      15  14 12   11   9   8  6   5  3   2  0
 *                                      +--+------+-------+-------+-------+------+
 *                                      |- |  c   | row 3 | row 2 | row 1 | row 0 | (3 high bits)
 *                                      +--+------+-------+-------+-------+------+
 *             0                   32                                48                        56
 *     IQ1_M   | 32 rows, low byte | 32 halves of a byte: -, 3 bits  | 4 words: 4 bits of d, 4 c |
 *
 *     x = d (2c + 1) (element + 1/8), or - 1/8 where the bit "-" is set
 *
 * c, three bits, is the scale of 32 weights (IQ1_S) or 16 (IQ1_M; the first c is lowest in a word,
 * the lowest bits of d are in the first word). */
#include "codec/kernels/iq1_search.h"
#include "codec/kernels/lattice_decode.h"
#include "codec/kernels/lattice_refine.h"

#include <math.h>

enum {
    S_ROWS = 2,
    S_WORDS = 34,
    S_BYTES = 50,
    M_ROWS = 0,
    M_HIGH = 32,
    M_SCALES = 48,
    M_BYTES = 56,
    GROUPS = SUPER_WEIGHTS / 8,
};

/* ---- decoding ------------------------------------------------------------------------------- */

/* `count` weights from weight `first` of a super-block on; signs are those of the shifts. */
static inline void decode_shifted(const signed_magnitudes *from, size_t first, size_t count,
                                  float scale, float *values)
{
    for (size_t i = first; i < first + count; i += LANES) {
        uint32_t signs = from->signs[i / SUB_WEIGHTS] >> i % SUB_WEIGHTS;
        floats shift = negate_by_bits(floats_of(SHIFT), signs);
        floats element = floats_from(bytes_load_signed(from->magnitudes + i));
        floats_store(values + i, floats_of(scale) * (element + shift));
    }
}

void KERNEL(decode_IQ1_S)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;
    float scales[SUPER_SUBS];

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += S_BYTES) {
        float d = load_half(blocks);
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t word = load_u16(blocks + S_WORDS + 2 * j, HOST_IS_BIG_ENDIAN);
            for (size_t g = 0; g < 4; g++) {
                uint32_t row = blocks[S_ROWS + 4 * j + g] | (word >> 3 * g & 7u) << 8;
                put_row8(m.magnitudes + 32 * j + 8 * g, grid_iq1[row]);
            }
            m.signs[j] = (word >> 15) * 0xffffffffu;
            scales[j] = d * (float)(2 * (word >> 12 & 7u) + 1);
        }
        for (size_t j = 0; j < SUPER_SUBS; j++)
            decode_shifted(&m, j * 32, 32, scales[j], values + i);
    }
}

/* d, of which every word has four bits. */
static inline uint16_t gather_d(const uint8_t *block)
{
    uint32_t d = 0;

    for (size_t i = 0; i < 4; i++)
        d |= (uint32_t)(block[M_SCALES + 2 * i + 1] >> 4) << 4 * i;
    return (uint16_t)d;
}

void KERNEL(decode_IQ1_M)(const uint8_t *blocks, uint64_t elements, float *values)
{
    signed_magnitudes m;

    for (uint64_t i = 0; i < elements; i += SUPER_WEIGHTS, blocks += M_BYTES) {
        float d = half_to_float(gather_d(blocks));
        for (size_t j = 0; j < SUPER_SUBS; j++) {
            uint32_t high = load_u16(blocks + M_HIGH + 2 * j, HOST_IS_BIG_ENDIAN);
            m.signs[j] = 0;
            for (size_t g = 0; g < 4; g++) {
                uint32_t half = high >> 4 * g;
                uint32_t row = blocks[M_ROWS + 4 * j + g] | (half & 7u) << 8;
                put_row8(m.magnitudes + 32 * j + 8 * g, grid_iq1[row]);
                m.signs[j] |= (half >> 3 & 1u) * 0xffu << 8 * g;
            }
        }
        for (size_t j = 0; j < MOST_SUBS; j++) {
            uint32_t word = load_u16(blocks + M_SCALES + j / 4 * 2, HOST_IS_BIG_ENDIAN);
            float scale = d * (float)(2 * (word >> j % 4 * 3 & 7u) + 1);
            decode_shifted(&m, j * 16, 16, scale, values + i);
        }
    }
}

/* ---- sub-blocks ----------------------------------------------------------------------------- */

/* The vector of code 1 throughout: all elements are 0. */
enum { ALL_ONE = 0x5555 };

/* The grid has no such thing as zero; an eighth is the nearest. */
static inline void fit_nothing(uint32_t *codes, size_t groups)
{
    for (size_t g = 0; g < groups; g++)
        codes[g] = ALL_ONE;
}

static inline uint32_t cut_codes(const int32_t *rank, int32_t first, int32_t second)
{
    uint32_t codes = 0;

    for (size_t e = 0; e < 8; e++)
        codes |= (uint32_t)((rank[e] >= first) + (rank[e] >= second)) << 2 * e;
    return codes;
}

/* The codes of a group: what the cut says if that is in the grid, else the best candidate. */
static inline uint32_t grid_codes(const float *x, const float *w, float scale, bool down,
                                  const lattice *l, uint32_t codes, bool *listed)
{
    uint32_t place = l->places[codes];
    group_spread spread;
    float terms[TERMS];

    if ((place & LATTICE_OFF_GRID) == 0)
        return codes;
    *listed = true;
    spread_group(x, w, 2, &spread);
    compute_terms(&spread, scale, &shifted_levels[down], terms);
    return nearest_in(lattice_candidates(l, place), lattice_candidate_count(place), terms, 2);
}

static inline float level_of(uint32_t codes, size_t e)
{
    return shifted_levels[(codes & SECOND_SET) != 0].of[code_of(codes, e, 2)];
}

/* The scale that suits the codes of n weights, if it is positive. */
static inline float refit(const float *x, const float *w, size_t n, const uint32_t *codes,
                          float scale)
{
    float a = 0, c = 0;

    for (size_t i = 0; i < n; i++) {
        float level = level_of(codes[i / 8], i % 8);
        a += w[i] * level * x[i];
        c += w[i] * level * level;
    }
    return a > 0 && c > 0 ? a / c : scale;
}

/* Sub-block `at` of the batch: n weights, in halves with a shift each.  Returns its scale. */
static inline float fit_cut(const iq1_batch *b, size_t at, size_t n, const lattice *l,
                            uint32_t *codes)
{
    const float *x = b->x + at * n, *w = b->w + at * n;
    float scale = fabsf(b->cuts.scale[at]);
    bool mirrored = b->cuts.scale[at] < 0, listed = false;

    for (size_t g = 0; g < n / 8; g++) {
        uint32_t cut = cut_codes(b->rank + at * n + 8 * g, b->cuts.first[at], b->cuts.second[at]);
        bool down = ((b->cuts.shifts[at] >> (g >= n / 16) & 1) != 0) != mirrored;
        codes[g] = grid_codes(x + 8 * g, w + 8 * g, scale, down, l,
                              mirrored ? 2 * ALL_ONE - cut : cut, &listed);
        codes[g] |= down ? SECOND_SET : 0;
    }
    return listed ? refit(x, w, n, codes, scale) : scale;
}

/* Super-block `at` of the batch, from its cuts.  Nothing but zeros is all zero. */
static inline void fit_super_block(const iq1_batch *b, size_t at, size_t n, float smallest,
                                   const lattice *l, lattice_choice *choice)
{
    size_t subs = SUPER_WEIGHTS / n, groups = n / 8;
    float scales[MOST_SUBS], largest = 0;

    memset(choice, 0, sizeof *choice);
    for (size_t j = 0; j < subs; j++) {
        size_t sub = at * subs + j;
        scales[j] = 0;
        if (block_largest(b->x + sub * n, n) < smallest || b->cuts.second[sub] < 0)
            fit_nothing(choice->codes + j * groups, groups);
        else
            scales[j] = fit_cut(b, sub, n, l, choice->codes + j * groups);
        largest = scales[j] > largest ? scales[j] : largest;
    }
    if (!(largest > 0)) {
        memset(choice, 0, sizeof *choice);
        return;
    }
    choice->d = largest / 15;
    float inverse = 1 / choice->d;
    for (size_t j = 0; j < subs; j++)
        choice->scale[j] = nearest_scale(inverse * scales[j], 7);
}

/* ---- IQ1_S ---------------------------------------------------------------------------------- */

static void store_s(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    store_half(block, choice->d);
    for (size_t j = 0; j < SUPER_WEIGHTS / S_SUB; j++) {
        bool down = (choice->codes[4 * j] & SECOND_SET) != 0;
        uint32_t word = choice->scale[j] << 12 | (down ? 1u << 15 : 0);
        for (size_t g = 0; g < 4; g++) {
            uint32_t row = l->places[choice->codes[4 * j + g] & ~(uint32_t)SECOND_SET];
            block[S_ROWS + 4 * j + g] = (uint8_t)row;
            word |= row >> 8 << 3 * g;
        }
        store_u16(block + S_WORDS + 2 * j, (uint16_t)word, HOST_IS_BIG_ENDIAN);
    }
}

static const lattice_storage stored_s = {
    .bytes = S_BYTES,
    .store = store_s,
    .decode = KERNEL(decode_IQ1_S),
    .refine = {.bits = 2,
               .sub = S_SUB,
               .scale_most = 7,
               .sets = 2,
               .one_set = true,
               .slope = 1,
               .offset = {1 - SHIFT, 1 + SHIFT},
               .levels = shifted_levels},
};

void KERNEL(encode_IQ1_S)(const encode_row *row, uint8_t *blocks)
{
    iq1_batch b;
    lattice_choice choice;

    for (uint64_t column = 0; column < row->columns; column += BATCH_WEIGHTS) {
        batch_load(&b, row, column);
        search_s(&b);
        for (size_t at = 0; at < b.count; at++, blocks += S_BYTES) {
            fit_super_block(&b, at, S_SUB, 1e-12f, row->lattice, &choice);
            choice.d *= 1.125f;
            store_block(row, column + at * SUPER_WEIGHTS, &stored_s, &choice, blocks);
        }
    }
}

/* ---- IQ1_M ---------------------------------------------------------------------------------- */

/* The d that suits everything else. */
static float refit_d(const lattice_choice *choice, const float *x, const float *w)
{
    float a = 0, c = 0;

    for (size_t i = 0; i < SUPER_WEIGHTS; i++) {
        uint32_t scale = choice->scale[i / M_SUB];
        float v = level_of(choice->codes[i / 8], i % 8) * (float)(2 * scale + 1);
        a += w[i] * v * x[i];
        c += w[i] * v * v;
    }
    return c > 0 ? a / c : choice->d;
}

static void store_m(const lattice_choice *choice, const lattice *l, uint8_t *block)
{
    uint8_t half[2];

    memset(block, 0, M_BYTES);
    for (size_t g = 0; g < GROUPS; g++) {
        uint32_t row = l->places[choice->codes[g] & ~(uint32_t)SECOND_SET];
        uint32_t high = row >> 8 | ((choice->codes[g] & SECOND_SET) != 0 ? 8u : 0);
        block[M_ROWS + g] = (uint8_t)row;
        block[M_HIGH + g / 2] |= (uint8_t)(high << g % 2 * 4);
    }
    store_half(half, choice->d);
    uint32_t d = load_u16(half, HOST_IS_BIG_ENDIAN);
    for (size_t i = 0; i < 4; i++) {
        uint32_t word = (d >> 4 * i & 15u) << 12;
        for (size_t j = 0; j < 4; j++)
            word |= choice->scale[4 * i + j] << 3 * j;
        store_u16(block + M_SCALES + 2 * i, (uint16_t)word, HOST_IS_BIG_ENDIAN);
    }
}

static const lattice_storage stored_m = {
    .bytes = M_BYTES,
    .store = store_m,
    .decode = KERNEL(decode_IQ1_M),
    .refine = {.bits = 2,
               .sub = M_SUB,
               .scale_most = 7,
               .sets = 2,
               .slope = 1,
               .offset = {1 - SHIFT, 1 + SHIFT},
               .levels = shifted_levels},
};

void KERNEL(encode_IQ1_M)(const encode_row *row, uint8_t *blocks)
{
    iq1_batch b;
    lattice_choice choice;

    for (uint64_t column = 0; column < row->columns; column += BATCH_WEIGHTS) {
        batch_load(&b, row, column);
        search_m(&b);
        for (size_t at = 0; at < b.count; at++, blocks += M_BYTES) {
            size_t first = at * SUPER_WEIGHTS;
            fit_super_block(&b, at, M_SUB, 1e-7f, row->lattice, &choice);
            if (choice.d > 0)
                choice.d = refit_d(&choice, b.x + first, b.w + first) * 1.1125f;
            store_block(row, column + first, &stored_m, &choice, blocks);
        }
    }
}
