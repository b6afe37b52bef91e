/* Lattices, high effort: a second search that looks at what decoding will give.
 *
 * The first search weighs errors by a guess, takes whole numbers for the levels of the grid, and
 * does not look at codes again when scales have been rounded.  This one minimises the sum of q e^2
 * over a super-block, e being the error of the decoded weight and q its importance (1 without
 * any):
 *
 *     1. some d around the first search's, each with the two scale codes c of every sub-block that
 *        come nearest to its scale
 *     2. the neighbours of these c, with codes that suit d (2c + 1); then the d that suits all
 *        codes: least squares.  This a few times
 *     3. every group's best row of the whole grid
 *
 * Every lane tries another d (2c + 1).  Of this and the first search's result the block with the
 * smaller error is kept, so that the error is never higher. */
#ifndef CODEC_KERNELS_LATTICE_REFINE_H
#define CODEC_KERNELS_LATTICE_REFINE_H

#include "codec/kernels/block.h"
#include "codec/kernels/search/lattice_search.h"

/* What decoding knows: a weight is d (2c + 1) times the level of its code, maybe with a sign. */
typedef struct refine_type {
    size_t sub;       /* weights of a sub-block */
    float scale_most; /* the largest c */
    bool has_signs;   /* a sign for every weight: */
    bool even;        /* of eight an even number is negative */
    size_t sets;      /* of levels: every group has one of them, */
    bool one_set;     /* or every sub-block */
    float slope;      /* the nearest code is slope * x / (d (2c + 1)) + offset, rounded */
    float offset[2];
    const lattice_levels *levels;
} refine_type;

/* That of types with a sign for every weight. */
#define REFINE_SIGNED(sub_weights, even_signs, code_slope, code_levels)                         \
    {                                                                                           \
        .sub = sub_weights, .scale_most = 15, .has_signs = true, .even = even_signs, .sets = 1, \
        .slope = code_slope, .offset = {-0.5f}, .levels = code_levels                           \
    }

/* A super-block: what its weights are to be like (signs taken off, where there are signs; negative
 * where a sign has to be the wrong one), and their importance. */
typedef struct refine_super {
    const refine_type *type;
    const lattice *lattice;
    const float *values;
    float x[SUPER_WEIGHTS + PADDING], q[SUPER_WEIGHTS + PADDING];
} refine_super;

/* Scales tried on a sub-block, what was picked and its error. */
typedef struct refine_trials {
    scale_trials scales;
    int32_t codes[2][MOST_GROUPS][MOST_TRIALS]; /* by set; then in the first the better ones */
    float error[2][MOST_TRIALS];                /* likewise */
} refine_trials;

static inline size_t refine_groups(const refine_type *type)
{
    return type->sub / GROUP_WEIGHTS;
}

/* ---- trials --------------------------------------------------------------------------------- */

/* The error of a group's codes. */
ALWAYS_INLINE floats group_error(const float *x, const float *q, const lattice_levels *levels,
                                 floats scale, ints codes)
{
    floats error = floats_of(0);

    for (size_t e = 0; e < GROUP_WEIGHTS; e++) {
        floats rest = scale * lookup_code(levels->of, codes) - floats_of(x[e]);
        error = error + floats_of(q[e]) * (rest * rest);
        codes = shift_right(codes, CODE_BITS);
    }
    return error;
}

/* Picks codes for one group with one set of levels; error[k] is theirs. */
static void refine_pick(const refine_super *s, size_t at, size_t set, const scale_trials *scales,
                        int32_t *codes, float *error)
{
    const refine_type *type = s->type;
    const lattice_levels *levels = &type->levels[set];

    pick_codes(s->x + at, s->q + at, levels, type->offset[set], s->lattice, scales, codes);
    for (int k = 0; k < scales->count; k += LANES) {
        floats e = group_error(s->x + at, s->q + at, levels, floats_load(scales->scale + k),
                               ints_load(codes + k));
        floats_store(error + k, e);
    }
}

/* Takes the second set where its error is lower, for `groups` groups at once. */
static inline void take_better_set(const scale_trials *scales, int32_t (*first)[MOST_TRIALS],
                                   int32_t (*second)[MOST_TRIALS], size_t groups,
                                   float *first_error, const float *second_error)
{
    for (int k = 0; k < scales->count; k += LANES) {
        floats a = floats_load(first_error + k), b = floats_load(second_error + k);
        mask better = less(b, a);
        floats_store(first_error + k, select(better, b, a));
        for (size_t g = 0; g < groups; g++) {
            ints other = ints_load(second[g] + k) | ints_of(SECOND_SET);
            ints_store(first[g] + k, ints_select(better, other, ints_load(first[g] + k)));
        }
    }
}

static inline void add_errors(const scale_trials *scales, const float *error, float *sum)
{
    for (int k = 0; k < scales->count; k += LANES)
        floats_store(sum + k, floats_load(sum + k) + floats_load(error + k));
}

/* Picks codes for a sub-block, for all trials. */
static void refine_try(const refine_super *s, size_t sub, refine_trials *t)
{
    const refine_type *type = s->type;
    size_t groups = refine_groups(type);
    float error[2][MOST_TRIALS];

    memset(t->error, 0, sizeof t->error);
    for (size_t g = 0; g < groups; g++) {
        size_t at = sub * type->sub + g * GROUP_WEIGHTS;
        for (size_t set = 0; set < type->sets; set++) {
            refine_pick(s, at, set, &t->scales, t->codes[set][g], error[set]);
            if (set == 0 || type->one_set)
                continue;
            take_better_set(&t->scales, &t->codes[0][g], &t->codes[1][g], 1, error[0], error[1]);
        }
        for (size_t set = 0; set < (type->one_set ? type->sets : 1); set++)
            add_errors(&t->scales, error[set], t->error[set]);
    }
    if (type->one_set)
        take_better_set(&t->scales, t->codes[0], t->codes[1], groups, t->error[0], t->error[1]);
}

static inline float limited_code(float c, float most)
{
    return c > 0 ? (c < most ? c : most) : 0;
}

/* Appends a scale to the trials. */
static inline void add_trial(const refine_type *type, float d, float c, scale_trials *t)
{
    float scale = d * (2 * c + 1), slope = type->slope / scale;

    t->scale[t->count] = scale;
    t->slope[t->count++] = slope < FLT_MAX ? slope : 0;
}

/* Lanes past the last trial repeat it. */
static inline void fill_trials(scale_trials *t)
{
    for (int k = t->count; k < MOST_TRIALS; k++) {
        t->scale[k] = t->scale[t->count - 1];
        t->slope[k] = t->slope[t->count - 1];
    }
}

/* ---- signs ---------------------------------------------------------------------------------- */

static inline bool is_odd(uint32_t signs)
{
    signs ^= signs >> 4;
    signs ^= signs >> 2;
    return ((signs ^ signs >> 1) & 1u) != 0;
}

/* Of eight weights, the one whose wrong sign costs least, their codes being what they are. */
static inline size_t cheapest_sign(const refine_super *s, size_t first,
                                   const lattice_choice *choice)
{
    size_t cheapest = first;
    float least = FLT_MAX;

    for (size_t i = first; i < first + 8; i++) {
        uint32_t code = code_of(choice->codes[i / GROUP_WEIGHTS], i % GROUP_WEIGHTS);
        float cost = s->q[i] * fabsf(s->values[i]) * s->type->levels[0].of[code];
        if (cost < least) {
            least = cost;
            cheapest = i;
        }
    }
    return cheapest;
}

/* Chooses signs, and sets what the weights are to be like. */
static void choose_signs(refine_super *s, lattice_choice *choice)
{
    memset(choice->signs, 0, sizeof choice->signs);
    for (size_t i = 0; i < SUPER_WEIGHTS; i++) {
        s->x[i] = fabsf(s->values[i]);
        choice->signs[i / 32] |= (s->values[i] < 0 ? 1u : 0u) << i % 32;
    }
    for (size_t i = 0; s->type->even && i < SUPER_WEIGHTS; i += 8) {
        if (!is_odd(choice->signs[i / 32] >> i % 32 & 0xffu))
            continue;
        size_t wrong = cheapest_sign(s, i, choice);
        s->x[wrong] = -s->x[wrong];
        choice->signs[wrong / 32] ^= 1u << wrong % 32;
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

static inline float stored_scale(float d)
{
    uint8_t half[2];

    return store_half(half, d);
}

/* 1: the d to continue with. */
enum { FIRST_D = 8 };

static void refine_first_d(const refine_super *s, lattice_choice *choice)
{
    static const float factors[FIRST_D] = {0.86f, 0.9f, 0.94f, 0.97f, 1, 1.04f, 1.08f, 1.14f};
    const refine_type *type = s->type;
    float sums[FIRST_D] = {0}, codes[FIRST_D][MOST_SUBS];
    int best = 0;

    for (size_t j = 0; j < SUPER_WEIGHTS / type->sub; j++) {
        float old = choice->d * (float)(2 * choice->scale[j] + 1), tried[2 * FIRST_D];
        refine_trials t;
        t.scales.count = 0;
        for (int i = 0; i < FIRST_D; i++) {
            float d = stored_scale(choice->d * factors[i]), c = (old / d - 1) / 2;
            float below = (float)(int)limited_code(c, type->scale_most);
            tried[2 * i] = below;
            tried[2 * i + 1] = limited_code(below + 1, type->scale_most);
            add_trial(type, d, tried[2 * i], &t.scales);
            add_trial(type, d, tried[2 * i + 1], &t.scales);
        }
        fill_trials(&t.scales);
        refine_try(s, j, &t);
        for (int i = 0; i < FIRST_D; i++) {
            int k = 2 * i + (t.error[0][2 * i + 1] < t.error[0][2 * i]);
            sums[i] += t.error[0][k];
            codes[i][j] = tried[k];
        }
    }
    for (int i = 1; i < FIRST_D; i++)
        best = sums[i] < sums[best] ? i : best;
    choice->d = stored_scale(choice->d * factors[best]);
    for (size_t j = 0; j < SUPER_WEIGHTS / type->sub; j++)
        choice->scale[j] = (uint32_t)codes[best][j];
}

/* 2: scale codes and codes for this d. */
static void refine_scales(const refine_super *s, lattice_choice *choice)
{
    const refine_type *type = s->type;
    size_t groups = refine_groups(type);

    for (size_t j = 0; j < SUPER_WEIGHTS / type->sub; j++) {
        static const float steps[] = {0, -1, 1};
        refine_trials t;
        float tried[3];
        int best = 0;
        t.scales.count = 0;
        for (int i = 0; i < 3; i++) {
            tried[i] = limited_code((float)choice->scale[j] + steps[i], type->scale_most);
            add_trial(type, choice->d, tried[i], &t.scales);
        }
        fill_trials(&t.scales);
        refine_try(s, j, &t);
        for (int i = 1; i < 3; i++)
            best = t.error[0][i] < t.error[0][best] ? i : best;
        choice->scale[j] = (uint32_t)tried[best];
        for (size_t g = 0; g < groups; g++)
            choice->codes[j * groups + g] = (uint32_t)t.codes[0][g][best];
    }
}

/* The d that suits codes and scale codes. */
static void refine_d(const refine_super *s, lattice_choice *choice)
{
    const refine_type *type = s->type;
    float a = 0, c = 0;

    for (size_t j = 0; j < SUPER_WEIGHTS / type->sub; j++) {
        float odd = (float)(2 * choice->scale[j] + 1);
        for (size_t i = j * type->sub; i < (j + 1) * type->sub; i++) {
            uint32_t codes = choice->codes[i / GROUP_WEIGHTS];
            uint32_t code = code_of(codes, i % GROUP_WEIGHTS);
            float v = type->levels[(codes & SECOND_SET) != 0].of[code] * odd, qv = s->q[i] * v;
            a += qv * s->x[i];
            c += qv * v;
        }
    }
    if (a > 0 && c > 0)
        choice->d = stored_scale(a / c);
}

/* 3: the best rows, of sub-block j. */
static void refine_rows(const refine_super *s, size_t j, lattice_choice *choice)
{
    const refine_type *type = s->type;
    size_t groups = refine_groups(type);
    float scale = choice->d * (float)(2 * choice->scale[j] + 1);

    for (size_t g = j * groups; g < (j + 1) * groups; g++) {
        uint32_t set = choice->codes[g] & SECOND_SET;
        float terms[TERMS];
        group_spread spread;
        spread_group(s->x + g * GROUP_WEIGHTS, s->q + g * GROUP_WEIGHTS, &spread);
        compute_terms(&spread, scale, &type->levels[set != 0], terms);
        choice->codes[g] = nearest_in(s->lattice->rows, s->lattice->row_count, terms) | set;
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

enum { REFINE_ROUNDS = 3 };

/* Improves what the first search chose. */
static void refine_choice(refine_super *s, lattice_choice *choice)
{
    if (s->type->has_signs)
        choose_signs(s, choice);
    choice->d = stored_scale(choice->d);
    refine_first_d(s, choice);
    for (int round = 0; round < REFINE_ROUNDS; round++) {
        refine_scales(s, choice);
        if (s->type->has_signs)
            choose_signs(s, choice);
        refine_d(s, choice);
    }
    for (size_t j = 0; j < SUPER_WEIGHTS / s->type->sub; j++)
        refine_rows(s, j, choice);
    if (s->type->has_signs)
        choose_signs(s, choice);
    refine_d(s, choice);
}

/* q may be NULL. */
static void refine_load(refine_super *s, const float *x, const float *q, const lattice *l,
                        const refine_type *type)
{
    *s = (refine_super){.type = type, .lattice = l, .values = x};
    for (size_t i = 0; i < SUPER_WEIGHTS; i++) {
        s->x[i] = x[i];
        s->q[i] = q != NULL ? q[i] : 1;
    }
}

/* How a type is stored, and how it is read. */
typedef struct lattice_storage {
    size_t bytes; /* of a block; 128 at most */
    void (*store)(const lattice_choice *choice, const lattice *l, uint8_t *block);
    decode_kernel *decode;
    refine_type refine;
} lattice_storage;

/* Replaces the block by what the second search finds, if that has the lower error, by more than
 * sums are off. */
static void refine_block(const encode_row *row, uint64_t column, const lattice_storage *storage,
                         lattice_choice *choice, uint8_t *block)
{
    const float *x = row->values + column;
    const float *q = importance_at(row->importance, column);
    float error = block_error(x, q, SUPER_WEIGHTS, storage->decode, block);
    uint8_t other[128];
    refine_super s;

    refine_load(&s, x, q, row->lattice, &storage->refine);
    refine_choice(&s, choice);
    storage->store(choice, row->lattice, other);
    if (block_error(x, q, SUPER_WEIGHTS, storage->decode, other) < error * 0.99999f)
        memcpy(block, other, storage->bytes);
}

/* Stores what the first search chose, and continues the search if the caller asks for it. */
static void store_block(const encode_row *row, uint64_t column, const lattice_storage *storage,
                        lattice_choice *choice, uint8_t *block)
{
    storage->store(choice, row->lattice, block);
    if (row->effort == GUFO_EFFORT_HIGH && choice->d > 0)
        refine_block(row, column, storage, choice, block);
}

#endif
