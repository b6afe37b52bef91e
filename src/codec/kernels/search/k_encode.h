/* K types: encoding of a row, whatever the type. */
#ifndef CODEC_KERNELS_K_ENCODE_H
#define CODEC_KERNELS_K_ENCODE_H

#include <math.h>

#include "codec/kernels/search/k_fit.h"
#include "codec/kernels/search/refine.h"

/* K types, high effort: a second search that looks at what decoding will give.
 *
 * The first search weighs errors by a guess and chooses codes, then scales, each as if the others
 * were exact.  This one minimises the sum of q e^2 over the super-block, e being the error of the
 * decoded weight and q its importance (1 without any):
 *
 *     1. every sub-block is fitted alone, weighted by q
 *     2. whole numbers near those scales and mins are tried with d and dmin as they are stored,
 *        each with the codes that suit it best
 *     3. d and dmin are solved for, the rest being what it is: least squares; back to 2
 *
 * The best of all rounds goes into the batch.  k_encode.h keeps the first search's block where that
 * is as good. */

enum { K_SUBS_OF_BATCH = K_BATCH * K_MOST_SUBS, K_ROUNDS = 3 };

/* What can be stored, and how far from the first guess to look for it. */
typedef struct k_range {
    float low, high;             /* codes */
    float scale_low, scale_high; /* scales */
    float min_high;              /* mins; 0: the type has none */
    struct {
        int scale, min;
    } reach[K_ROUNDS];
} k_range;

/* Per sub-block: the scales in the making, and sums over the weights with their codes l. */
typedef struct k_trial {
    float d[K_SUBS_OF_BATCH], dmin[K_SUBS_OF_BATCH];    /* of the super-block, as stored */
    float scale[K_SUBS_OF_BATCH], min[K_SUBS_OF_BATCH]; /* whole numbers */
    float error[K_SUBS_OF_BATCH];
    float q[K_SUBS_OF_BATCH], ql[K_SUBS_OF_BATCH], qll[K_SUBS_OF_BATCH]; /* sums of q, q l, q l^2 */
    float qx[K_SUBS_OF_BATCH], qxl[K_SUBS_OF_BATCH];                     /* of q x, q x l */
} k_trial;

/* x and q of the sub-blocks from `first` on. */
static inline void k_groups_load_with_q(k_groups *g, const k_batch *b, size_t first)
{
    k_groups_load(g, b, first);
    if (b->importance != NULL)
        groups_load(b->importance + first * b->n, g->count, b->n, g->w);
    else
        for (size_t i = 0; i < b->n; i++)
            g->w[i] = floats_of(1);
}

static inline floats k_code_of(floats x, floats inverse, floats min, const k_range *range)
{
    return fit_code((x + min) * inverse, range->low, range->high);
}

/* The error with this scale and min. */
static inline floats k_error(const k_groups *g, size_t n, const k_range *range, floats scale,
                             floats min)
{
    floats inverse = inverse_or_zero(scale), error = floats_of(0);

    for (size_t i = 0; i < n; i++) {
        floats rest = scale * k_code_of(g->x[i], inverse, min, range) - min - g->x[i];
        error = error + g->w[i] * (rest * rest);
    }
    return error;
}

/* ---- the sub-blocks alone ------------------------------------------------------------------- */

/* The weight of largest magnitude may take either end of the codes, and be beyond it: what cutting
 * it off costs may be won back with the others. */
static inline floats k_fit_ends(const k_groups *g, size_t n, const k_range *range)
{
    floats extreme = fit_extreme(g->x, n), scale = floats_of(0), best = floats_of(0);
    fit_group group;

    fit_group_init(&group, g->x, g->w, n, range->low, range->high);
    for (int k = -6; k <= 12; k++) {
        float beyond = 0.15f * (float)k;
        fit_sums low = fit_try(&group, floats_of(range->low - beyond) / extreme, NULL);
        fit_sums high = fit_try(&group, floats_of(range->high + beyond) / extreme, NULL);
        fit_accept(low, &scale, &best);
        fit_accept(high, &scale, &best);
    }
    return scale;
}

/* Step 1. */
static inline void k_refine_alone(k_batch *b, const k_range *range)
{
    static const fit_search search = {-0.9f, 0.05f, 36, .magnitude = false};
    k_groups g;
    floats codes[FIT_MOST];

    for (size_t first = 0; first < b->count * b->subs; first += LANES) {
        fit_line line = {floats_of(0), floats_of(0)};
        k_groups_load_with_q(&g, b, first);
        if (range->min_high > 0)
            line = fit_affine(g.x, g.w, b->n, range->high, &search, codes);
        else
            line.scale = k_fit_ends(&g, b->n, range);
        floats_store(b->scale + first, line.scale);
        floats_store(b->min + first, floats_of(0) - line.offset);
    }
}

/* ---- the super-block ------------------------------------------------------------------------ */

/* d and dmin of super-block `at` for its sub-blocks, as they are stored. */
static inline void k_set_supers(const k_batch *b, k_trial *t, size_t at, float d, float dmin)
{
    uint8_t half[2];
    float stored = store_half(half, d), stored_min = store_half(half, dmin);

    for (size_t j = at * b->subs; j < (at + 1) * b->subs; j++) {
        t->d[j] = stored;
        t->dmin[j] = stored_min;
    }
}

/* The largest scale and min become the largest whole numbers. */
static inline void k_first_supers(const k_batch *b, k_trial *t, const k_range *range)
{
    for (size_t at = 0; at < b->count; at++) {
        float scale = 0, min = 0, d;
        for (size_t j = at * b->subs; j < (at + 1) * b->subs; j++) {
            scale = fabsf(b->scale[j]) > fabsf(scale) ? b->scale[j] : scale;
            min = b->min[j] > min ? b->min[j] : min;
        }
        d = scale / (range->scale_low < 0 ? range->scale_low : range->scale_high);
        k_set_supers(b, t, at, d, range->min_high > 0 ? min / range->min_high : 0);
    }
}

static inline void k_first_codes(const k_batch *b, k_trial *t, const k_range *range)
{
    for (size_t i = 0; i < b->count * b->subs; i += LANES) {
        floats scale = floats_load(b->scale + i) * inverse_or_zero(floats_load(t->d + i));
        floats min = floats_load(b->min + i) * inverse_or_zero(floats_load(t->dmin + i));
        floats_store(t->scale + i, fit_code(scale, range->scale_low, range->scale_high));
        floats_store(t->min + i, fit_code(min, 0, range->min_high));
    }
}

typedef struct k_choice {
    floats scale, min, error;
} k_choice;

static inline void k_consider(const k_groups *g, size_t n, const k_range *range, floats d,
                              floats dmin, floats scale, floats min, k_choice *best)
{
    scale = clamp(scale, range->scale_low, range->scale_high);
    min = clamp(min, 0, range->min_high);
    floats error = k_error(g, n, range, d * scale, dmin * min);
    mask better = less(error, best->error);
    best->scale = select(better, scale, best->scale);
    best->min = select(better, min, best->min);
    best->error = select(better, error, best->error);
}

static inline void k_sum_up(const k_groups *g, size_t n, const k_range *range, k_trial *t)
{
    size_t at = g->first;
    floats scale = floats_load(t->d + at) * floats_load(t->scale + at);
    floats min = floats_load(t->dmin + at) * floats_load(t->min + at);
    floats inverse = inverse_or_zero(scale), zero = floats_of(0);
    floats q = zero, ql = zero, qll = zero, qx = zero, qxl = zero;

    for (size_t i = 0; i < n; i++) {
        floats l = k_code_of(g->x[i], inverse, min, range), w = g->w[i], wl = w * l;
        q = q + w;
        ql = ql + wl;
        qll = qll + wl * l;
        qx = qx + w * g->x[i];
        qxl = qxl + wl * g->x[i];
    }
    floats_store(t->q + at, q);
    floats_store(t->ql + at, ql);
    floats_store(t->qll + at, qll);
    floats_store(t->qx + at, qx);
    floats_store(t->qxl + at, qxl);
}

/* Tries the neighbours of the scales and mins; of scales of either sign also those of their
 * negatives. */
static inline void k_improve_subs(const k_batch *b, k_trial *t, const k_range *range, int round)
{
    k_groups g;
    int scales = range->reach[round].scale, mins = range->reach[round].min;
    int signs = round == 0 && range->scale_low < 0 ? 2 : 1;

    for (size_t first = 0; first < b->count * b->subs; first += LANES) {
        k_groups_load_with_q(&g, b, first);
        floats d = floats_load(t->d + first), dmin = floats_load(t->dmin + first);
        floats scale = floats_load(t->scale + first), min = floats_load(t->min + first);
        k_choice best = {scale, min, k_error(&g, b->n, range, d * scale, dmin * min)};
        for (int sign = 0; sign < signs; sign++) {
            for (int i = -scales; i <= scales; i++)
                for (int j = -mins; j <= mins; j++)
                    k_consider(&g, b->n, range, d, dmin, scale + floats_of((float)i),
                               min + floats_of((float)j), &best);
            scale = floats_of(0) - scale;
        }
        floats_store(t->scale + first, best.scale);
        floats_store(t->min + first, best.min);
        floats_store(t->error + first, best.error);
        k_sum_up(&g, b->n, range, t);
    }
}

/* The d and dmin that suit the whole numbers and codes of super-block `at` best. */
static inline void k_solve(const k_batch *b, k_trial *t, size_t at)
{
    float aa = 0, ab = 0, bb = 0, ax = 0, bx = 0; /* x ~ d a - dmin b */
    size_t first = at * b->subs;
    float d = t->d[first], dmin = t->dmin[first];

    for (size_t j = first; j < first + b->subs; j++) {
        aa += t->scale[j] * t->scale[j] * t->qll[j];
        ab += t->scale[j] * t->min[j] * t->ql[j];
        bb += t->min[j] * t->min[j] * t->q[j];
        ax += t->scale[j] * t->qxl[j];
        bx -= t->min[j] * t->qx[j];
    }
    float determinant = aa * bb - ab * ab;
    if (bb > 0 && determinant > 0) {
        d = (ax * bb + ab * bx) / determinant;
        dmin = (aa * bx + ab * ax) / determinant;
    } else if (aa > 0) {
        d = ax / aa;
    }
    k_set_supers(b, t, at, d, dmin);
}

/* Keeps the trial where it is the best so far. */
static inline void k_keep_best(k_batch *b, const k_trial *t, float least[K_BATCH])
{
    for (size_t at = 0; at < b->count; at++) {
        size_t first = at * b->subs;
        float error = 0;
        for (size_t j = first; j < first + b->subs; j++)
            error += t->error[j];
        if (!(error < least[at]))
            continue;
        least[at] = error;
        b->d[at] = t->d[first];
        b->dmin[at] = t->dmin[first];
        memcpy(b->scale_code + first, t->scale + first, b->subs * sizeof(float));
        memcpy(b->min_code + first, t->min + first, b->subs * sizeof(float));
    }
}

/* Replaces what the batch was fitted with. */
static inline void k_refine(k_batch *b, const k_range *range)
{
    k_trial t = {0};
    float least[K_BATCH];

    for (size_t at = 0; at < K_BATCH; at++)
        least[at] = FLT_MAX;
    k_refine_alone(b, range);
    k_first_supers(b, &t, range);
    k_first_codes(b, &t, range);
    for (int round = 0; round < K_ROUNDS; round++) {
        k_improve_subs(b, &t, range, round);
        k_keep_best(b, &t, least);
        for (size_t at = 0; at < b->count; at++)
            k_solve(b, &t, at);
    }
}

/* ---- a row ---------------------------------------------------------------------------------- */

typedef struct k_type {
    size_t n, bytes;                                            /* of a sub-block, of a block */
    void (*fit)(k_batch *b);                                    /* steps 1 and 2 */
    void (*store)(const k_batch *b, size_t at, uint8_t *block); /* steps 3 and 4 */
    decode_kernel *decode;
    k_range range;
} k_type;

/* High effort: the second search's blocks where their error is lower. */
static inline void k_encode_better(k_batch *b, const k_type *type, uint8_t *blocks)
{
    uint8_t other[K_WEIGHTS];

    k_refine(b, &type->range);
    for (size_t at = 0; at < b->count; at++) {
        size_t first = at * K_WEIGHTS;
        type->store(b, at, other);
        refine_keep_better(b->values + first, importance_at(b->importance, first), K_WEIGHTS,
                           type->decode, type->bytes, other, blocks + at * type->bytes);
    }
}

static inline void k_encode(const encode_row *row, const k_type *type, uint8_t *blocks)
{
    k_batch b;

    for (uint64_t column = 0; column < row->columns; column += K_BATCH * K_WEIGHTS) {
        k_batch_init(&b, row, column, type->n);
        type->fit(&b);
        for (size_t at = 0; at < b.count; at++)
            type->store(&b, at, blocks + at * type->bytes);
        if (row->effort == GUFO_EFFORT_HIGH)
            k_encode_better(&b, type, blocks);
        blocks += b.count * type->bytes;
    }
}

#endif
