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
enum { CODE_BITS = 2 };

#include "codec/kernels/block.h"
#include "codec/kernels/search/lattice_decode.h"
#include "codec/kernels/search/lattice_refine.h"
#include "codec/kernels/search/lattice_search.h"

#include <math.h>

/* The first search for IQ1_S and IQ1_M: which weights of a sub-block become -1, 0 and 1.
 *
 * In ascending order the weights with code 0 come first, then those with code 1, then those with
 * code 2: two cuts say it all, and all pairs of cuts are tried, with all shifts.  A = sum w x level
 * and C = sum w level^2 are sums over the sorted weights; the largest A^2 / C wins (fit.h).
 *
 *     sorted weights    x0 <= x1 <= x2 | x3 <= x4 | x5 ...     first = 3, second = 5
 *     codes              0     0     0    1     1    2
 *
 * Every lane is another sub-block. */

enum { S_SUB = 32, M_SUB = 16 }; /* weights of a sub-block */

#define SHIFT 0.125f

/* The levels of groups that are moved up, and of those that are moved down, as often as the lanes
 * need them. */
static const lattice_levels shifted_levels[2] = {
    {{-0.875f, 0.125f, 1.125f, 0, -0.875f, 0.125f, 1.125f, 0, -0.875f, 0.125f, 1.125f, 0, -0.875f,
      0.125f, 1.125f, 0}},
    {{-1.125f, -0.125f, 0.875f, 0, -1.125f, -0.125f, 0.875f, 0, -1.125f, -0.125f, 0.875f, 0,
      -1.125f, -0.125f, 0.875f, 0}},
};

/* ---- a batch -------------------------------------------------------------------------------- */

/* Two super-blocks fill the lanes with sub-blocks. */
enum { BATCH = 2, BATCH_WEIGHTS = BATCH * SUPER_WEIGHTS };

/* How a sub-block was cut: in ascending order, weights before `first` have code 0, those from
 * `second` on code 2. */
typedef struct cuts {
    float scale[BATCH * MOST_SUBS];
    int32_t first[BATCH * MOST_SUBS];
    int32_t second[BATCH * MOST_SUBS]; /* < 0: there is none that is any good */
    int32_t shifts[BATCH * MOST_SUBS]; /* bit 0: the first half is moved down; bit 1: the second */
} cuts;

typedef struct iq1_batch {
    size_t count; /* of super-blocks */
    const float *importance;
    float x[BATCH_WEIGHTS + PADDING], w[BATCH_WEIGHTS + PADDING];
    int32_t rank[BATCH_WEIGHTS]; /* of a weight in its sub-block, in ascending order */
    float sorted_x[BATCH_WEIGHTS], sorted_w[BATCH_WEIGHTS];
    float sorted_half[BATCH_WEIGHTS]; /* 0: it was in the first half, 1: in the second */
    cuts cuts;
} iq1_batch;

static inline void batch_load(iq1_batch *b, const encode_row *row, uint64_t column)
{
    uint64_t left = (row->columns - column) / SUPER_WEIGHTS;

    b->count = left < BATCH ? (size_t)left : BATCH;
    b->importance = importance_at(row->importance, column);
    memset(b->x, 0, sizeof b->x);
    memset(b->w, 0, sizeof b->w);
    memcpy(b->x, row->values + column, b->count * SUPER_WEIGHTS * sizeof *b->x);
    for (size_t at = 0; at < b->count * SUPER_WEIGHTS; at += SUPER_WEIGHTS) {
        float energy = 2 * mean_square(b->x + at);
        for (size_t i = at; i < at + SUPER_WEIGHTS; i += LANES) {
            floats x = floats_load(b->x + i), w = x * x;
            if (b->importance != NULL)
                w = floats_load(b->importance + i) * square_root(floats_of(energy) + w);
            floats_store(b->w + i, w);
        }
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Whole numbers in the order of the weights; -0 is 0, and so is NaN. */
static inline void order_keys(const float *x, size_t n, int32_t *keys)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = float_to_bits(x[i]);
        int32_t magnitude = (int32_t)(bits & 0x7fffffffu);
        int32_t key = bits >> 31 != 0 ? -magnitude : magnitude;
        keys[i] = magnitude > 0x7f800000 ? 0 : key;
    }
}

/* The rank of a weight is the number of those that are smaller, or equal and before it. */
static inline void rank_weights(const float *x, size_t n, int32_t *rank)
{
    static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int32_t keys[S_SUB];
    ints one = ints_of(1), zero = ints_of(0);

    order_keys(x, n, keys);
    for (size_t i = 0; i < n; i += LANES) {
        ints mine = ints_load(keys + i), place = ints_load(numbers) + ints_of((int32_t)i);
        ints found = zero;
        for (size_t j = 0; j < n; j++) {
            ints before = ints_select(ints_greater(place, ints_of((int32_t)j)), one, zero);
            mask smaller = ints_greater(mine, ints_of(keys[j]) - before);
            found = found + ints_select(smaller, one, zero);
        }
        ints_store(rank + i, found);
    }
}

static inline void sort_sub_blocks(iq1_batch *b, size_t n)
{
    for (size_t at = 0; at < b->count * SUPER_WEIGHTS; at += n) {
        rank_weights(b->x + at, n, b->rank + at);
        for (size_t i = 0; i < n; i++) {
            size_t to = at + (size_t)b->rank[at + i];
            b->sorted_x[to] = b->x[at + i];
            b->sorted_w[to] = b->w[at + i];
            b->sorted_half[to] = i < n / 2 ? 0 : 1;
        }
    }
}

/* ---- cuts ----------------------------------------------------------------------------------- */

/* The best cut so far in every lane. */
typedef struct best_cut {
    floats best, scale;         /* A^2 / C and A / C, fit.h */
    ints first, second, shifts; /* second < 0: there is none that is any good */
} best_cut;

static inline void best_cut_init(best_cut *b)
{
    b->best = floats_of(-FLT_MAX);
    b->scale = floats_of(0);
    b->first = b->shifts = ints_of(0);
    b->second = ints_of(-1);
}

/* As cuts get better, most are soon passed over. */
static inline void consider_cut(best_cut *b, floats a, floats c, int32_t first, int32_t second,
                                int32_t shifts)
{
    mask better = greater(a * a, b->best * c);

    if (!any(better))
        return;
    better = both(better, greater(c, floats_of(0)));
    floats scale = a / c;
    b->scale = select(better, scale, b->scale);
    b->best = select(better, scale * a, b->best);
    b->first = ints_select(better, ints_of(first), b->first);
    b->second = ints_select(better, ints_of(second), b->second);
    b->shifts = ints_select(better, ints_of(shifts), b->shifts);
}

static inline void best_cut_store(const best_cut *b, cuts *to, size_t at)
{
    floats_store(to->scale + at, b->scale);
    ints_store(to->first + at, b->first);
    ints_store(to->second + at, b->second);
    ints_store(to->shifts + at, b->shifts);
}

/* ---- IQ1_S ---------------------------------------------------------------------------------- */

/* A cut's sums are differences of sums over the sorted weights.  Those of the first and last part
 * are there, for both sets of levels, before cuts are tried; those of the middle, with levels
 * +-1/8, are the same for both except for the sign, and powers of two may be multiplied in
 * before. */
typedef struct s_part {
    floats a[2], c[2]; /* by set of levels */
} s_part;

typedef struct s_sums {
    floats a[S_SUB + 1], c[S_SUB + 1]; /* of the weights before, times 1/8 and 1/64 */
    s_part low[S_SUB + 1];             /* all before have level 0 */
    s_part high[S_SUB + 1];            /* the others have level 2 */
} s_sums;

static inline s_part s_part_of(floats sum_wx, floats sum_w, size_t level)
{
    s_part part;

    for (size_t set = 0; set < 2; set++) {
        floats of = floats_of(shifted_levels[set].of[level]);
        part.a[set] = sum_wx * of;
        part.c[set] = sum_w * of * of;
    }
    return part;
}

static inline void s_sums_init(s_sums *s, const floats *x, const floats *w)
{
    floats wx[S_SUB + 1], ww[S_SUB + 1];

    wx[0] = ww[0] = floats_of(0);
    for (size_t i = 0; i < S_SUB; i++) {
        wx[i + 1] = wx[i] + w[i] * x[i];
        ww[i + 1] = ww[i] + w[i];
    }
    for (size_t i = 0; i <= S_SUB; i++) {
        s->low[i] = s_part_of(wx[i], ww[i], 0);
        s->high[i] = s_part_of(wx[S_SUB] - wx[i], ww[S_SUB] - ww[i], 2);
        s->a[i] = wx[i] * floats_of(SHIFT);
        s->c[i] = ww[i] * floats_of(SHIFT * SHIFT);
    }
}

static inline void s_search(const s_sums *s, best_cut *best)
{
    for (int32_t i = 0; i <= S_SUB; i++) {
        s_part low = s->low[i];
        for (int32_t j = i; j <= S_SUB; j++) {
            const s_part *high = &s->high[j];
            floats a = s->a[j] - s->a[i], c = s->c[j] - s->c[i];
            consider_cut(best, low.a[0] + a + high->a[0], low.c[0] + c + high->c[0], i, j, 0);
            consider_cut(best, low.a[1] - a + high->a[1], low.c[1] + c + high->c[1], i, j, 3);
        }
    }
}

static inline void search_s(iq1_batch *b)
{
    floats x[S_SUB], w[S_SUB];
    size_t subs = b->count * (SUPER_WEIGHTS / S_SUB);
    s_sums sums;
    best_cut best;

    sort_sub_blocks(b, S_SUB);
    for (size_t at = 0; at < subs; at += LANES) {
        groups_load(b->sorted_x + at * S_SUB, lanes_filled(subs - at), S_SUB, x);
        groups_load(b->sorted_w + at * S_SUB, lanes_filled(subs - at), S_SUB, w);
        s_sums_init(&sums, x, w);
        best_cut_init(&best);
        s_search(&sums, &best);
        best_cut_store(&best, &b->cuts, at);
    }
}

/* ---- IQ1_M ---------------------------------------------------------------------------------- */

/* Every half has its own shift.  Sums run along the sorted weights; those of the first two
 * parts are carried on from cut to cut. */
enum { M_SHIFTS = 4 };

typedef struct m_sums {
    floats a[M_SHIFTS], c[M_SHIFTS];
} m_sums;

/* The addends of weight i if it has this level. */
typedef struct m_addends {
    m_sums of[3][M_SUB];
} m_addends;

static inline void m_add(m_sums *s, const m_sums *addend)
{
    for (size_t k = 0; k < M_SHIFTS; k++) {
        s->a[k] = s->a[k] + addend->a[k];
        s->c[k] = s->c[k] + addend->c[k];
    }
}

/* Bit 0 of k is the set of the second half, bit 1 that of the first: the reference's order. */
static inline void m_addends_init(m_addends *m, const floats *x, const floats *w,
                                  const floats *half)
{
    for (size_t level = 0; level < 3; level++) {
        floats up = floats_of(shifted_levels[0].of[level]);
        floats down = floats_of(shifted_levels[1].of[level]);
        for (size_t i = 0; i < M_SUB; i++) {
            m_sums *s = &m->of[level][i];
            mask second = greater(half[i], floats_of(0));
            s->a[0] = w[i] * up * x[i];
            s->a[3] = w[i] * down * x[i];
            s->c[0] = w[i] * up * up;
            s->c[3] = w[i] * down * down;
            s->a[1] = select(second, s->a[3], s->a[0]);
            s->a[2] = select(second, s->a[0], s->a[3]);
            s->c[1] = select(second, s->c[3], s->c[0]);
            s->c[2] = select(second, s->c[0], s->c[3]);
        }
    }
}

static inline void m_search(const m_addends *m, best_cut *best)
{
    static const int32_t shifts[M_SHIFTS] = {0, 2, 1, 3};
    m_sums low;

    for (size_t k = 0; k < M_SHIFTS; k++)
        low.a[k] = low.c[k] = floats_of(0);
    for (int32_t i = 0; i <= M_SUB; i++) {
        m_sums middle = low;
        for (int32_t j = i; j <= M_SUB; j++) {
            m_sums all = middle;
            for (int32_t l = j; l < M_SUB; l++)
                m_add(&all, &m->of[2][l]);
            for (size_t k = 0; k < M_SHIFTS; k++)
                consider_cut(best, all.a[k], all.c[k], i, j, shifts[k]);
            if (j < M_SUB)
                m_add(&middle, &m->of[1][j]);
        }
        if (i < M_SUB)
            m_add(&low, &m->of[0][i]);
    }
}

static inline void search_m(iq1_batch *b)
{
    floats x[M_SUB], w[M_SUB], half[M_SUB];
    size_t subs = b->count * (SUPER_WEIGHTS / M_SUB);
    m_addends addends;
    best_cut best;

    sort_sub_blocks(b, M_SUB);
    for (size_t at = 0; at < subs; at += LANES) {
        size_t count = lanes_filled(subs - at);
        groups_load(b->sorted_x + at * M_SUB, count, M_SUB, x);
        groups_load(b->sorted_w + at * M_SUB, count, M_SUB, w);
        groups_load(b->sorted_half + at * M_SUB, count, M_SUB, half);
        m_addends_init(&addends, x, w, half);
        best_cut_init(&best);
        m_search(&addends, &best);
        best_cut_store(&best, &b->cuts, at);
    }
}

/* ---- IQ1_S and IQ1_M ------------------------------------------------------------------------ */

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
    spread_group(x, w, &spread);
    compute_terms(&spread, scale, &shifted_levels[down], terms);
    return nearest_in(lattice_candidates(l, place), lattice_candidate_count(place), terms);
}

static inline float level_of(uint32_t codes, size_t e)
{
    return shifted_levels[(codes & SECOND_SET) != 0].of[code_of(codes, e)];
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
    .refine = {.sub = S_SUB,
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
    .refine = {.sub = M_SUB,
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
