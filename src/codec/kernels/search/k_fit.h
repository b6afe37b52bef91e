/* K types: super-blocks of 256 weights whose sub-blocks of 16 or 32 have their own small scales.
 *
 *     super-block   d, dmin: binary16
 *     sub-block     scale, min: whole numbers of 4 to 8 bits
 *     weight        code: 2 to 6 bits        value = (d * scale) * code [- (dmin * min)]
 *
 * Encoding takes a batch of super-blocks through four steps:
 *
 *     1. every sub-block is fitted alone                                  lanes are sub-blocks
 *     2. the scales (and mins) of a super-block are made whole numbers    lanes are super-blocks
 *     3. codes are chosen again for the stored scales                     lanes are weights
 *     4. bytes are packed
 *
 * Steps 1 to 3 are here; k_encode.h leads through all four. */
#ifndef CODEC_KERNELS_K_FIT_H
#define CODEC_KERNELS_K_FIT_H

#include "codec/kernels/search/fit.h"
#include "codec/lanes.h"

/* K types: the codes of a super-block, and how they are packed. */

enum { K_WEIGHTS = 256 }; /* of a super-block */

/* The codes of a super-block, a byte each; eight at a time where they are packed. */
typedef union k_codes {
    uint8_t byte[K_WEIGHTS];
    uint64_t word[K_WEIGHTS / 8];
} k_codes;

/* ---- packing --------------------------------------------------------------------------------- */

/* Bytes of a word never meet, so that its byte order does not matter. */
#define K_EACH_BYTE 0x0101010101010101u

/* Fields of `bits` (4, 2, 1) bits.  Codes that are 8 * apart from each other share a byte, from
 * bit 0 up:
 *
 *     bits, apart   byte          codes
 *     4, 4          32 h + r       64 h + r + {0, 32}                 r < 32
 *     4, 8          64 h + r      128 h + r + {0, 64}                 r < 64
 *     2, 4          32 h + r      128 h + r + {0, 32, 64, 96}         r < 32
 *     1, 4          r             r + {0, 32, 64, 96, ... 224}        r < 32
 *
 * k_pack stores the bits of every code from bit `first` on.  k_unpack adds them to the codes, or
 * begins the codes with bit 0. */
static inline void k_pack(const k_codes *codes, int bits, size_t apart, int first, uint8_t *out)
{
    uint64_t field = K_EACH_BYTE * ((1u << bits) - 1), packed[16];
    size_t shares = 8u / (unsigned)bits, words = 32 / shares;

    for (size_t r = 0; r < words; r++) {
        const uint64_t *in = codes->word + r / apart * apart * shares + r % apart;
        packed[r] = 0;
        for (size_t k = 0; k < shares; k++)
            packed[r] |= (in[k * apart] >> first & field) << (int)k * bits;
    }
    memcpy(out, packed, words * sizeof *packed);
}

static inline void k_unpack(const uint8_t *in, int bits, size_t apart, int first, k_codes *codes)
{
    uint64_t field = K_EACH_BYTE * ((1u << bits) - 1), packed[16];
    size_t shares = 8u / (unsigned)bits, words = 32 / shares;

    memcpy(packed, in, words * sizeof *packed);
    for (size_t h = 0; h < words; h += apart) {
        for (size_t k = 0; k < shares; k++) {
            uint64_t *out = codes->word + h * shares + k * apart;
            for (size_t r = 0; r < apart; r++) {
                uint64_t unpacked = packed[h + r] >> (int)k * bits & field;
                out[r] = (first == 0 ? 0 : out[r]) | unpacked << first;
            }
        }
    }
}

/* ---- values --------------------------------------------------------------------------------- */

static inline void k_decode_affine(const uint8_t *restrict codes, size_t n, float scale, float min,
                                   float *restrict values)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats code = floats_from(bytes_load(codes + i));
        floats_store(values + i, floats_of(scale) * code - floats_of(min));
    }
}

/* Codes are counted from -q. */
static inline void k_decode_sym(const uint8_t *restrict codes, size_t n, float scale, int q,
                                float *restrict values)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats code = floats_from(bytes_load(codes + i) - ints_of(q));
        floats_store(values + i, floats_of(scale) * code);
    }
}

enum {
    K_MOST_SUBS = 16,
    K_BATCH = LANES, /* super-blocks that are encoded together */
};

/* A batch and what steps 1 and 2 find.  Arrays of numbers per sub-block or weight have those of a
 * super-block together. */
typedef struct k_batch {
    const float *values;
    const float *importance; /* of these columns, or NULL */
    size_t count;            /* super-blocks */
    size_t n, subs;          /* weights of a sub-block, sub-blocks of a super-block */

    float energy[K_BATCH * K_MOST_SUBS]; /* sum of squares in the super-block: with importance */
    float weight[K_BATCH * K_MOST_SUBS]; /* sum of the weights of the errors */
    float scale[K_BATCH * K_MOST_SUBS], min[K_BATCH * K_MOST_SUBS];
    float code[K_BATCH * K_WEIGHTS]; /* as fitted: kept where the stored scale is 0 */

    float d[K_BATCH], dmin[K_BATCH]; /* before they are rounded */
    float scale_code[K_BATCH * K_MOST_SUBS], min_code[K_BATCH * K_MOST_SUBS];
} k_batch;

/* ---- the batch ------------------------------------------------------------------------------ */

/* The sum of squares of every super-block, in the order of the weights; noted with each of its
 * sub-blocks. */
static inline void k_measure_energy(k_batch *b)
{
    floats x[K_WEIGHTS], sum = floats_of(0);
    float energy[LANES];

    groups_load(b->values, b->count, K_WEIGHTS, x);
    for (size_t i = 0; i < K_WEIGHTS; i++)
        sum = sum + x[i] * x[i];
    floats_store(energy, sum);
    for (size_t i = 0; i < K_BATCH * b->subs; i++)
        b->energy[i] = energy[i / b->subs];
}

/* The batch at `column`, of sub-blocks of n weights. */
static inline void k_batch_init(k_batch *b, const encode_row *row, uint64_t column, size_t n)
{
    uint64_t left = (row->columns - column) / K_WEIGHTS;

    b->values = row->values + column;
    b->importance = row->importance != NULL ? row->importance + column : NULL;
    b->count = left < K_BATCH ? (size_t)left : K_BATCH;
    b->n = n;
    b->subs = K_WEIGHTS / n;
}

/* ---- step 1: sub-blocks --------------------------------------------------------------------- */

/* Sub-blocks first, first + 1 ... in the lanes. */
typedef struct k_groups {
    size_t first, count;
    floats x[FIT_MOST], w[FIT_MOST];
} k_groups;

static inline floats k_sum(const floats *v, size_t n)
{
    floats sum = floats_of(0);

    for (size_t i = 0; i < n; i++)
        sum = sum + v[i];
    return sum;
}

static inline void k_groups_load(k_groups *g, const k_batch *b, size_t first)
{
    g->first = first;
    g->count = lanes_filled(b->count * b->subs - first);
    groups_load(b->values + first * b->n, g->count, b->n, g->x);
}

/* Weights of the errors: importance * sqrt(energy + x^2), with `factor` times the mean square of
 * the super-block for energy. */
static inline void k_weigh_importance(k_groups *g, const k_batch *b, float factor)
{
    floats energy = floats_of(factor) * floats_load(b->energy + g->first) / floats_of(K_WEIGHTS);

    groups_load(b->importance + g->first * b->n, g->count, b->n, g->w);
    for (size_t i = 0; i < b->n; i++)
        g->w[i] = g->w[i] * square_root(energy + g->x[i] * g->x[i]);
}

static inline void k_keep(k_batch *b, const k_groups *g, floats scale, const floats *codes)
{
    floats_store(b->scale + g->first, scale);
    floats_store(b->weight + g->first, k_sum(g->w, b->n));
    groups_store(b->code + g->first * b->n, g->count, b->n, codes);
}

/* ---- step 2: super-blocks ------------------------------------------------------------------- */

/* Scales and mins are not negative.  Without importance the largest of a super-block is `top`. */
static inline void k_largest_is_top(const float *scale, size_t count, size_t subs, float top,
                                    float *d, float *code)
{
    floats s[K_MOST_SUBS], largest = floats_of(0);

    groups_load(scale, count, subs, s);
    for (size_t j = 0; j < subs; j++)
        largest = maximum(s[j], largest);
    mask some = greater(largest, floats_of(0));
    floats inverse = select(some, fit_finite(floats_of(top) / largest), floats_of(0));
    for (size_t j = 0; j < subs; j++)
        s[j] = fit_code(inverse * s[j], 0, top);
    floats_store(d, largest / floats_of(top));
    groups_store(code, count, subs, s);
}

/* Scales of either sign: that of largest magnitude becomes `low`, and `high` is the largest.  Where
 * all are below `smallest` they become `low` and d is 0. */
static inline void k_extreme_is_lowest(k_batch *b, float low, float high, float smallest)
{
    floats s[K_MOST_SUBS];

    groups_load(b->scale, b->count, b->subs, s);
    floats extreme = fit_extreme(s, b->subs);
    mask none = less(absolute(extreme), floats_of(smallest));
    floats inverse = floats_of(low) / extreme;
    for (size_t j = 0; j < b->subs; j++)
        s[j] = select(none, floats_of(low), fit_code(inverse * s[j], low, high));
    floats_store(b->d, select(none, floats_of(0), floats_of(1) / inverse));
    groups_store(b->scale_code, b->count, b->subs, s);
}

/* With importance scales and mins are fitted, those of all super-blocks side by side. */
static inline void k_fit_tops(k_batch *b, float top)
{
    size_t lists = 2 * b->count, numbers = b->count * b->subs;
    float list[2 * K_BATCH * K_MOST_SUBS], weight[2 * K_BATCH * K_MOST_SUBS], d[2 * K_BATCH];

    for (size_t i = 0; i < numbers; i++) {
        list[i] = b->scale[i];
        list[numbers + i] = b->min[i];
        weight[i] = weight[numbers + i] = b->weight[i];
    }
    for (size_t i = 0; i < lists; i += LANES) {
        size_t count = lanes_filled(lists - i);
        floats x[K_MOST_SUBS], w[K_MOST_SUBS], codes[K_MOST_SUBS];
        groups_load(list + i * b->subs, count, b->subs, x);
        groups_load(weight + i * b->subs, count, b->subs, w);
        floats_store(d + i, fit_pos(x, w, b->subs, top, codes));
        groups_store(list + i * b->subs, count, b->subs, codes);
    }
    memcpy(b->d, d, b->count * sizeof *d);
    memcpy(b->dmin, d + b->count, b->count * sizeof *d);
    memcpy(b->scale_code, list, numbers * sizeof *list);
    memcpy(b->min_code, list + numbers, numbers * sizeof *list);
}

/* ---- both, for types with mins -------------------------------------------------------------- */

typedef struct k_affine {
    size_t n;                             /* weights of a sub-block */
    float top;                            /* the largest code */
    float scale_top;                      /* the largest scale and min */
    void (*weigh)(k_groups *g, size_t n); /* without importance */
    fit_search search, importance_search;
    float energy_factor;
} k_affine;

static inline void k_fit_affine(k_batch *b, const k_affine *type)
{
    k_groups g;
    floats codes[FIT_MOST];

    if (b->importance != NULL)
        k_measure_energy(b);
    for (size_t first = 0; first < b->count * b->subs; first += LANES) {
        k_groups_load(&g, b, first);
        if (b->importance != NULL)
            k_weigh_importance(&g, b, type->energy_factor);
        else
            type->weigh(&g, type->n);
        fit_line line =
            fit_affine(g.x, g.w, type->n, type->top,
                       b->importance != NULL ? &type->importance_search : &type->search, codes);
        k_keep(b, &g, line.scale, codes);
        floats_store(b->min + first, floats_of(0) - line.offset);
    }
    if (b->importance != NULL) {
        k_fit_tops(b, type->scale_top);
        return;
    }
    k_largest_is_top(b->scale, b->count, b->subs, type->scale_top, b->d, b->scale_code);
    k_largest_is_top(b->min, b->count, b->subs, type->scale_top, b->dmin, b->min_code);
}

/* ---- step 3: codes -------------------------------------------------------------------------- */

/* The codes of a sub-block, counted from `low`: the nearest to (x + min) / scale; `kept` where the
 * scale is 0. */
static inline void k_choose_codes(const float *x, size_t n, float scale, float min, float low,
                                  float high, const float *kept, uint8_t *codes)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats l = floats_load(kept + i);
        if (scale != 0)
            l = fit_code((floats_load(x + i) + floats_of(min)) / floats_of(scale), low, high);
        bytes_store(codes + i, ints_from(l - floats_of(low)));
    }
}

/* The codes of super-block `at` for the scales as they are stored. */
static inline void k_affine_codes(const k_batch *b, size_t at, float top, float d, float dmin,
                                  k_codes *codes)
{
    for (size_t j = 0; j < b->subs; j++) {
        size_t sub = at * b->subs + j, first = sub * b->n;
        k_choose_codes(b->values + first, b->n, d * b->scale_code[sub], dmin * b->min_code[sub], 0,
                       top, b->code + first, codes->byte + j * b->n);
    }
}

static inline void k_sym_codes(const k_batch *b, size_t at, float q, float d, k_codes *codes)
{
    for (size_t j = 0; j < b->subs; j++) {
        size_t sub = at * b->subs + j, first = sub * b->n;
        k_choose_codes(b->values + first, b->n, d * b->scale_code[sub], 0, -q, q - 1,
                       b->code + first, codes->byte + j * b->n);
    }
}

#endif
