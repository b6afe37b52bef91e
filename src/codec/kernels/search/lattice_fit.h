/* Fitting IQ2 and IQ3: a scale for every sub-block, and a code vector for every group.
 *
 * Signs are taken off: a = |x|.  Code c means the odd number 2c + 1 here, whatever its magnitude in
 * the grid.  Inverse scales t around the one that takes the largest a to the highest code are
 * tried:
 *
 *     codes of a group    the nearest ones, (t a - 1) / 2 rounded; if that vector is not in the
 *                         grid, the candidate with the least error for the scale 1 / t
 *     sums                A = sum w a (2c + 1), C = sum w (2c + 1)^2
 *
 * and the one with the largest A^2 / C gives the scale A / C.  Every lane tries another t, so that
 * sums run along the weights, in order; only candidates share the lanes among them
 * (lattice_search.h).
 *
 * This is the search of the format's reference: the order of operations is part of the result. */
#ifndef CODEC_KERNELS_LATTICE_FIT_H
#define CODEC_KERNELS_LATTICE_FIT_H

#include "codec/kernels/search/fit.h"
#include "codec/kernels/search/lattice_refine.h"

#include <math.h>

/* Which groups are looked at again with the scale that was found. */
typedef enum second_look {
    LOOK_ALL,           /* all */
    LOOK_LISTED,        /* those whose codes were not in the grid */
    LOOK_ALL_IF_LISTED, /* all of a sub-block that has such a group */
} second_look;

/* What sets the types apart. */
typedef struct lattice_type {
    size_t sub;      /* weights of a sub-block */
    bool even;       /* the number of negative weights of eight */
    bool fitted;     /* scales are tried around a fitted one, not the largest weight's */
    float top, step; /* t is (top + step k) / largest a */
    int reach;       /* k from -reach to reach */
    second_look look;
    float smallest;   /* a sub-block without an a of that size is zero */
    float energy;     /* weights are q sqrt(energy * mean of x^2 + x^2), without importance */
    float floor;      /* x^2 + floor * energy * mean of x^2 */
    float correction; /* of d, for magnitudes are not quite odd numbers */
} lattice_type;

/* A super-block: the weights of errors, their roots, magnitudes (one of eight may be negative,
 * where the sign had to be the wrong one), and signs. */
typedef struct lattice_super {
    const float *x, *importance;
    float w[SUPER_WEIGHTS], root[SUPER_WEIGHTS + PADDING], a[SUPER_WEIGHTS + PADDING];
    uint32_t signs[SUPER_WEIGHTS / 32];
} lattice_super;

/* Odd numbers, as often as the lanes need them. */
enum { FIFTH = CODE_BITS == 2 ? 1 : 9 };

static const lattice_levels odd_levels = {{1, 3, 5, 7, FIFTH, FIFTH + 2, FIFTH + 4, FIFTH + 6, 1, 3,
                                           5, 7, FIFTH, FIFTH + 2, FIFTH + 4, FIFTH + 6}};

/* ---- weights and signs ---------------------------------------------------------------------- */

static void weigh_errors(lattice_super *s, const lattice_type *type)
{
    float energy = 0;

    if (s->importance != NULL || type->floor > 0)
        energy = type->energy * mean_square(s->x);
    for (size_t i = 0; i < SUPER_WEIGHTS; i += LANES) {
        floats x = floats_load(s->x + i), w = x * x;
        if (s->importance != NULL)
            w = floats_load(s->importance + i) * square_root(floats_of(energy) + w);
        else if (type->floor > 0)
            w = floats_of(type->floor * energy) + w;
        floats_store(s->w + i, w);
        floats_store(s->root + i, square_root(w));
    }
}

/* Turns the sign that matters least, of eight. */
static inline void flip_least_sign(lattice_super *s, size_t first)
{
    size_t turned = first;
    float least = s->w[first] * s->x[first] * s->x[first];

    for (size_t i = first + 1; i < first + 8; i++) {
        float matter = s->w[i] * s->x[i] * s->x[i];
        if (matter < least) {
            least = matter;
            turned = i;
        }
    }
    s->a[turned] = -s->a[turned];
    s->signs[turned / 32] ^= 1u << turned % 32;
}

static void take_signs_off(lattice_super *s, const lattice_type *type)
{
    memset(s->signs, 0, sizeof s->signs);
    for (size_t i = 0; i < SUPER_WEIGHTS; i += LANES) {
        floats x = floats_load(s->x + i);
        uint32_t negative = mask_bits(not(greater_equal(x, floats_of(0))));
        s->signs[i / 32] |= negative << i % 32;
        floats_store(s->a + i, absolute(x));
    }
    for (size_t i = 0; type->even && i < SUPER_WEIGHTS; i += 8)
        if (is_odd(s->signs[i / 32] >> i % 32 & 0xffu))
            flip_least_sign(s, i);
}

static void lattice_super_load(lattice_super *s, const encode_row *row, uint64_t column,
                               const lattice_type *type)
{
    s->x = row->values + column;
    s->importance = importance_at(row->importance, column);
    weigh_errors(s, type);
    take_signs_off(s, type);
    for (size_t i = SUPER_WEIGHTS; i < SUPER_WEIGHTS + PADDING; i++)
        s->a[i] = s->root[i] = 0;
}

/* ---- trials --------------------------------------------------------------------------------- */

/* What came of the scales that were tried. */
typedef struct lattice_trials {
    scale_trials scales;
    int32_t codes[MOST_GROUPS][MOST_TRIALS]; /* vectors */
    uint32_t listed[MOST_GROUPS];            /* bit k: that of trial k came from the list */
    float a[MOST_TRIALS], c[MOST_TRIALS];    /* sums */
} lattice_trials;

/* Sets trials to inverse scales (numerators[k] / reference).  One that is infinite gives zeros. */
static inline void set_trials(scale_trials *t, const float *numerators, int count, float reference)
{
    t->count = count;
    for (int k = 0; k < count; k += LANES) {
        floats inverse = floats_load(numerators + k) / floats_of(reference);
        floats_store(t->scale + k, floats_of(1) / inverse);
        inverse = select(greater(inverse, floats_of(FLT_MAX)), floats_of(0), inverse);
        floats_store(t->slope + k, floats_of(0.5f) * inverse);
    }
}

/* The sums A and C of all trials over a sub-block. */
static void sum_trials(const float *a, const float *w, size_t groups, lattice_trials *t)
{
    for (int k = 0; k < t->scales.count; k += LANES) {
        floats sum_a = floats_of(0), sum_c = floats_of(0);
        for (size_t g = 0; g < groups; g++) {
            ints codes = ints_load(t->codes[g] + k);
            for (size_t e = 0; e < GROUP_WEIGHTS; e++) {
                size_t i = g * GROUP_WEIGHTS + e;
                floats odd = lookup_code(odd_levels.of, codes);
                sum_a = sum_a + floats_of(w[i] * a[i]) * odd;
                sum_c = sum_c + floats_of(w[i]) * odd * odd;
                codes = shift_right(codes, CODE_BITS);
            }
        }
        floats_store(t->a + k, sum_a);
        floats_store(t->c + k, sum_c);
    }
}

/* The best trial, the first of several; -1 if none is any good. */
static inline int best_trial(const lattice_trials *t)
{
    int found = -1;
    float best = 0;

    for (int k = 0; k < t->scales.count; k++) {
        if (t->c[k] > 0 && t->a[k] * t->a[k] > best * t->c[k]) {
            best = t->a[k] / t->c[k] * t->a[k];
            found = k;
        }
    }
    return found;
}

/* ---- sub-blocks ----------------------------------------------------------------------------- */

static inline size_t groups_of(const lattice_type *type)
{
    return type->sub / GROUP_WEIGHTS;
}

/* Tries the trials on the sub-block at a. */
static void try_scales(const lattice_super *s, size_t first, const lattice_type *type,
                       const lattice *l, lattice_trials *t)
{
    for (size_t g = 0; g < groups_of(type); g++) {
        size_t at = first + g * GROUP_WEIGHTS;
        t->listed[g] =
            pick_codes(s->a + at, s->root + at, &odd_levels, -0.5f, l, &t->scales, t->codes[g]);
    }
}

/* Looks at groups again with the scale that was found; bit g of `listed`: that group's codes came
 * from the list.  Returns the scale of the codes that result. */
static float look_again(const lattice_super *s, size_t first, const lattice_type *type,
                        const lattice *l, float scale, uint32_t listed, uint32_t *codes)
{
    static const float one[MOST_TRIALS] = {1};
    lattice_trials t;
    bool all = type->look != LOOK_LISTED;

    if (!(scale > 0) || (listed == 0 && type->look != LOOK_ALL))
        return scale;
    set_trials(&t.scales, one, 1, scale);
    t.scales.scale[0] = scale;
    for (size_t g = 0; g < groups_of(type); g++) {
        size_t at = first + g * GROUP_WEIGHTS;
        ints_store(t.codes[g], ints_of((int32_t)codes[g]));
        if (all || (listed >> g & 1) != 0)
            pick_codes(s->a + at, s->root + at, &odd_levels, -0.5f, l, &t.scales, t.codes[g]);
        codes[g] = (uint32_t)t.codes[g][0];
    }
    sum_trials(s->a + first, s->w + first, groups_of(type), &t);
    return t.c[0] > 0 ? t.a[0] / t.c[0] : scale;
}

/* Fits the sub-block whose largest a is `largest`, or whose first scale is `start`.  Returns its
 * scale. */
static float fit_sub_block(const lattice_super *s, size_t first, const lattice_type *type,
                           const lattice *l, const float *numerators, float largest, float start,
                           uint32_t *codes)
{
    lattice_trials t;
    uint32_t listed = type->look == LOOK_ALL_IF_LISTED ? 1 : 0;
    float scale = start;

    set_trials(&t.scales, numerators, 2 * type->reach + 1, largest);
    try_scales(s, first, type, l, &t);
    sum_trials(s->a + first, s->w + first, groups_of(type), &t);
    int best = best_trial(&t);
    if (best >= 0) {
        scale = t.a[best] / t.c[best];
        listed = 0;
    }
    for (size_t g = 0; g < groups_of(type); g++) {
        codes[g] = best >= 0 ? (uint32_t)t.codes[g][best] : 0;
        listed |= best >= 0 ? (t.listed[g] >> best & 1) << g : 0;
    }
    return look_again(s, first, type, l, scale, listed, codes);
}

/* ---- the first scale of IQ2_XXS ------------------------------------------------------------- */

/* Where the search for IQ2_XXS begins: a ~ scale * l, l whole numbers up to 4.  The reference keeps
 * l in an unsigned byte; where a is negative (a sign had to be wrong) -1 turns into 255 there, but
 * not in the sums that are made before. */
enum { START_MOST = 4, START_WEIGHTS = 32 };

typedef struct start_fit {
    floats a[START_WEIGHTS], w[START_WEIGHTS], l[START_WEIGHTS];
} start_fit;

static inline floats start_code(floats v)
{
    return round_even(clamp(v, -0x1p22f, START_MOST));
}

static inline floats start_byte(floats l)
{
    return floats_from(ints_from(l) & ints_of(255));
}

static inline floats start_error(const start_fit *f, floats inverse, bool as_bytes)
{
    floats scale = floats_of(1) / inverse, error = floats_of(0);

    for (size_t i = 0; i < START_WEIGHTS; i++) {
        floats l = start_code(inverse * f->a[i]);
        floats rest = f->a[i] - scale * (as_bytes ? start_byte(l) : l);
        error = error + f->w[i] * rest * rest;
    }
    return error;
}

static inline floats start_inverse(const start_fit *f, floats largest)
{
    floats inverse = floats_of(START_MOST) / largest, least = start_error(f, inverse, true);

    for (int k = -4; k <= 4; k++) {
        if (k == 0)
            continue;
        floats t = floats_of(0.1f * (float)k + START_MOST) / largest;
        floats error = start_error(f, t, false);
        mask better = less(error, least);
        inverse = select(better, t, inverse);
        least = select(better, error, least);
    }
    return inverse;
}

/* One code after the other takes the value that suits the scale of the others, where that is better
 * (fit.h).  Returns where one changed. */
static inline mask start_improve(start_fit *f, fit_sums *sums)
{
    floats zero = floats_of(0);
    mask changed = greater(zero, zero);

    for (size_t i = 0; i < START_WEIGHTS; i++) {
        floats w = f->w[i], wa = w * f->a[i], l = f->l[i];
        fit_sums rest = {sums->a - wa * l, sums->c - w * l * l};
        floats next = start_code(f->a[i] * rest.c / rest.a);
        mask possible =
            both(both(greater(rest.a, zero), greater(rest.c, zero)), not(equal(next, l)));
        fit_sums with = {rest.a + wa * next, rest.c + w * next * next};
        mask better =
            both(possible, greater(with.a * with.a * sums->c, sums->a * sums->a * with.c));
        f->l[i] = select(better, start_byte(next), l);
        sums->a = select(better, with.a, sums->a);
        sums->c = select(better, with.c, sums->c);
        changed = either(changed, better);
    }
    return changed;
}

static inline floats start_scale(start_fit *f)
{
    floats largest = floats_of(0), inverse;
    fit_sums sums = {floats_of(0), floats_of(0)};

    for (size_t i = 0; i < START_WEIGHTS; i++)
        largest = maximum(f->a[i], largest);
    inverse = start_inverse(f, largest);
    for (size_t i = 0; i < START_WEIGHTS; i++) {
        floats l = start_code(inverse * f->a[i]);
        sums.a = sums.a + f->w[i] * f->a[i] * l;
        sums.c = sums.c + f->w[i] * l * l;
        f->l[i] = start_byte(l);
    }
    for (int pass = 0; pass < 5 && any(start_improve(f, &sums)); pass++)
        ;
    return fit_scale(sums);
}

static inline void fit_starts(const lattice_super *s, float *starts)
{
    enum { SUBS = SUPER_WEIGHTS / START_WEIGHTS };
    start_fit f;

    for (size_t j = 0; j < SUBS; j += LANES) {
        size_t count = lanes_filled(SUBS - j);
        float scales[LANES];
        groups_load(s->a + j * START_WEIGHTS, count, START_WEIGHTS, f.a);
        groups_load(s->w + j * START_WEIGHTS, count, START_WEIGHTS, f.w);
        floats_store(scales, start_scale(&f));
        memcpy(starts + j, scales, count * sizeof *scales);
    }
}

/* ---- super-blocks --------------------------------------------------------------------------- */

static inline float largest_of(const float *a, size_t n)
{
    float largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = a[i] > largest ? a[i] : largest;
    return largest;
}

/* The scales become 2c + 1 times d. */
static inline void choose_scale_codes(const float *scales, size_t subs, float correction,
                                      lattice_choice *choice)
{
    float largest = largest_of(scales, subs), d = largest / 31, inverse = 1 / d;

    if (isinf(inverse))
        inverse = 0;
    choice->d = d * correction;
    for (size_t j = 0; j < subs; j++)
        choice->scale[j] = nearest_scale(inverse * scales[j], 15);
}

/* A sub-block that is empty has no signs.  A scale cannot be negative: its signs turn instead. */
static void set_sign_of_scale(const lattice_type *type, size_t sub, bool empty, float *scale,
                              uint32_t *signs)
{
    size_t first = sub * type->sub;
    uint32_t mine = (type->sub == 32 ? 0xffffffffu : 0xffffu) << first % 32;

    if (empty)
        signs[first / 32] &= ~mine;
    if (*scale < 0) {
        *scale = -*scale;
        signs[first / 32] ^= mine;
    }
}

/* Fits a super-block as the reference does.  Nothing but zeros is all zero. */
static void lattice_fit(const lattice_super *s, const lattice_type *type, const lattice *l,
                        lattice_choice *choice)
{
    size_t subs = SUPER_WEIGHTS / type->sub, groups = groups_of(type);
    float numerators[MOST_TRIALS] = {0}, scales[MOST_SUBS], starts[MOST_SUBS];
    bool zero = true;

    for (int k = -type->reach; k <= type->reach; k++)
        numerators[k + type->reach] = type->top + type->step * (float)k;
    if (type->fitted)
        fit_starts(s, starts);
    memset(choice, 0, sizeof *choice);
    memcpy(choice->signs, s->signs, sizeof choice->signs);
    for (size_t j = 0; j < subs; j++) {
        float largest = largest_of(s->a + j * type->sub, type->sub), start = largest / type->top;
        bool empty = type->smallest > 0 ? largest < type->smallest : largest == 0;
        if (type->fitted) {
            start = starts[j];
            largest = start * ((type->top + 1) / 2);
            empty = empty || !(largest > 0);
        }
        scales[j] = 0;
        if (!empty)
            scales[j] = fit_sub_block(s, j * type->sub, type, l, numerators, largest, start,
                                      choice->codes + j * groups);
        zero = zero && scales[j] == 0;
        set_sign_of_scale(type, j, empty, &scales[j], choice->signs);
    }
    if (zero)
        memset(choice, 0, sizeof *choice);
    else
        choose_scale_codes(scales, subs, type->correction, choice);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void lattice_encode(const encode_row *row, const lattice_type *type,
                           const lattice_storage *storage, uint8_t *blocks)
{
    lattice_super s;
    lattice_choice choice;

    for (uint64_t i = 0; i < row->columns; i += SUPER_WEIGHTS, blocks += storage->bytes) {
        lattice_super_load(&s, row, i, type);
        lattice_fit(&s, type, row->lattice, &choice);
        store_block(row, i, storage, &choice, blocks);
    }
}

#endif
