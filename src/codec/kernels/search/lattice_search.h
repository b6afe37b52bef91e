/* Lattices: the code vector that suits a group of weights best.
 *
 * The error of a code vector is a sum over the group's elements
 *
 *     sum w[e] * (s * level[code[e]] - x[e])^2
 *
 * whose terms have one value per code: 8 elements of 4 codes, or 4 elements of 8, are 32 terms.
 * They are computed first.  A candidate then takes a look-up and an addition per element, and every
 * lane another candidate; its sum runs along the elements in their order. */
#ifndef CODEC_KERNELS_LATTICE_SEARCH_H
#define CODEC_KERNELS_LATTICE_SEARCH_H

#include "codec/lanes.h"
#include "codec/lattice.h"

/* Who includes this says how many bits a code has, 2 or 3: enum { CODE_BITS = 2 }.  That number and what follows from it
 * are all that the compiler has to know of a type, so that the types of a file share what is compiled. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SUPER_WEIGHTS = 256,
    MOST_SUBS = 16,
    GROUP_WEIGHTS = 32 >> CODE_BITS,
    MOST_GROUPS = 8, /* of a sub-block */
    TERMS = 32,
    TERM_VECTORS = TERMS / LANES,
    MOST_TRIALS = 32,
    PADDING = 16, /* numbers that may be read past the last group */
};

/* Of a super-block. */
static inline float mean_square(const float *x)
{
    float sum = 0;

    for (size_t i = 0; i < SUPER_WEIGHTS; i++)
        sum += x[i] * x[i];
    return sum / SUPER_WEIGHTS;
}

static inline uint32_t code_of(uint32_t codes, size_t e)
{
    return codes >> CODE_BITS * e & ((1u << CODE_BITS) - 1);
}

/* A look-up by the lowest code of a vector. */
static inline floats lookup_code(const float *table, ints codes)
{
    return CODE_BITS == 2 ? lookup4(table, codes) : lookup8(table, codes);
}

/* The levels of a type, repeated to fill the lanes. */
typedef struct lattice_levels {
    float of[16];
} lattice_levels;

/* x and w of a group, spread over its terms. */
typedef struct group_spread {
    floats x[TERM_VECTORS], w[TERM_VECTORS];
} group_spread;

/* Reads 16 numbers of each, whatever the size of the group. */
ALWAYS_INLINE void spread_group(const float *x, const float *w, group_spread *spread)
{
    static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    for (size_t v = 0; v < TERM_VECTORS; v++) {
        ints element = shift_right(ints_of((int32_t)(v * LANES)) + ints_load(numbers), CODE_BITS);
        spread->x[v] = lookup16(x, element);
        spread->w[v] = lookup16(w, element);
    }
}

ALWAYS_INLINE void compute_terms(const group_spread *group, float scale,
                                 const lattice_levels *levels, float *terms)
{
    for (size_t v = 0; v < TERM_VECTORS; v++) {
        floats reached = floats_of(scale) * floats_load(levels->of + v * LANES % 16);
        floats rest = reached - group->x[v];
        floats_store(terms + v * LANES, group->w[v] * rest * rest);
    }
}

/* The errors of the LANES code vectors at `list`. */
ALWAYS_INLINE floats errors_of(const uint16_t *list, const float *terms)
{
    ints codes = shorts_load(list);
    floats sum = lookup_code(terms, codes);

#define ADD_ELEMENT(e) \
    sum = sum + lookup_code(terms + ((e) << CODE_BITS), shift_right(codes, (e)*CODE_BITS))
    ADD_ELEMENT(1);
    ADD_ELEMENT(2);
    ADD_ELEMENT(3);
    if (CODE_BITS == 3)
        return sum;
    ADD_ELEMENT(4);
    ADD_ELEMENT(5);
    ADD_ELEMENT(6);
    ADD_ELEMENT(7);
#undef ADD_ELEMENT
    return sum;
}

/* The lanes that hold the least of the numbers; one bit at least. */
static inline uint32_t least_lanes(floats v)
{
    return mask_bits(equal(v, floats_of(-highest(floats_of(0) - v))));
}

/* The first place of the least error, lane j holding the least one of places place[j] + j. */
static inline uint32_t first_place(floats least, ints place)
{
    uint32_t lanes = least_lanes(least), first = UINT32_MAX;
    int32_t places[LANES];

    ints_store(places, place);
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t j = (uint32_t)__builtin_ctz(lanes), at = (uint32_t)places[j] + j;
        first = at < first ? at : first;
    }
    return first;
}

/* The code vector with the least error, the first of several; the first of all if no error is a
 * finite number.  Lists fill whole vectors with their first candidate (lattice.h), which cannot win
 * again. */
ALWAYS_INLINE uint32_t nearest_in(const uint16_t *list, uint32_t count, const float *terms)
{
    floats least = minimum(errors_of(list, terms), floats_of(FLT_MAX));
    ints place = ints_of(0);

    if (count <= LANES)
        return list[__builtin_ctz(least_lanes(least))];
    for (uint32_t i = LANES; i < count; i += LANES) {
        floats error = errors_of(list + i, terms);
        mask nearer = less(error, least);
        least = select(nearer, error, least);
        place = ints_select(nearer, ints_of((int32_t)i), place);
    }
    return list[first_place(least, place)];
}

/* ---- trials --------------------------------------------------------------------------------- */

/* Scales to be tried.  The nearest code to x is slope * x + offset, rounded. */
typedef struct scale_trials {
    int count;
    float scale[MOST_TRIALS], slope[MOST_TRIALS];
} scale_trials;

/* The nearest code vectors, whether they are in the grid or not.  A float near 1.5 * 2^23 ends in
 * the bits of a whole number. */
ALWAYS_INLINE void nearest_codes(const float *x, float offset, const scale_trials *t,
                                 int32_t *codes)
{
    const int most = CODE_BITS == 2 ? 2 : 7;

    for (int k = 0; k < t->count; k += LANES) {
        floats slope = floats_load(t->slope + k);
        ints vector = ints_of(0);
        for (size_t e = GROUP_WEIGHTS; e-- > 0;) {
            floats code = clamp(slope * floats_of(x[e]) + floats_of(offset), 0, (float)most);
            ints whole = float_bits(code + floats_of(0x1.8p23f)) & ints_of((1 << CODE_BITS) - 1);
            vector = shift_left(vector, CODE_BITS) | whole;
        }
        ints_store(codes + k, vector);
    }
}

/* Finds the codes of one group for all trials.  Bit k of the result: those of trial k came from the
 * list of candidates. */
static uint32_t pick_codes(const float *x, const float *w, const lattice_levels *levels,
                           float offset, const lattice *l, const scale_trials *t, int32_t *codes)
{
    const lattice_levels own_levels = *levels; /* which no term is written over */
    float terms[TERMS];
    group_spread spread;
    uint32_t listed = 0;

    spread_group(x, w, &spread);
    nearest_codes(x, offset, t, codes);
    for (int k = 0; k < t->count; k++) {
        uint32_t place = l->places[codes[k]];
        if ((place & LATTICE_OFF_GRID) == 0)
            continue;
        compute_terms(&spread, t->scale[k], &own_levels, terms);
        codes[k] = (int32_t)nearest_in(lattice_candidates(l, place), lattice_candidate_count(place),
                                       terms);
        listed |= 1u << k;
    }
    return listed;
}

/* ---- results -------------------------------------------------------------------------------- */

/* What a super-block will be stored as: the value of a weight is d (2 scale + 1) times the level of
 * its code. */
typedef struct lattice_choice {
    float d;
    uint32_t scale[MOST_SUBS];
    uint32_t codes[SUPER_WEIGHTS / 4];  /* vectors, by group, and SECOND_SET */
    uint32_t signs[SUPER_WEIGHTS / 32]; /* a bit per weight (IQ2, IQ3) */
} lattice_choice;

/* The levels of the group are the second set that the type has (IQ1). */
enum { SECOND_SET = 1 << 16 };

/* The scale code whose odd number 2c + 1 is nearest to v. */
static inline uint32_t nearest_scale(float v, float most)
{
    float code[LANES];

    floats_store(code, round_even(clamp(floats_of(0.5f * (v - 1)), 0, most)));
    return (uint32_t)code[0];
}

#endif
