/* Fitting: the scale, and for some types the offset, that a group of weights is stored with.
 *
 * A group is x[0..n-1], every lane another one; w are the weights of the squared errors.  Codes l
 * are whole numbers, held as floats.
 *
 *     fit_sym       x ~ s * l, l from -q to q - 1     19 inverse scales are tried
 *     fit_descent   x ~ s * l, l from -q to q - 1     one inverse scale, then code by code
 *     fit_pos       x ~ s * l, l from 0 to q          9 inverse scales, then code by code
 *     fit_affine    x ~ s * l - m, l from 0 to q      inverse scales, a line through each result
 *
 * For given codes the best scale is A / C with A = sum w x l and C = sum w l l, and the error falls
 * by A^2 / C: the larger, the better the codes.
 *
 * These are the searches of the format's reference.  The order of additions, of candidates and of
 * the products (from left to right) is part of the result. */
#ifndef CODEC_KERNELS_FIT_H
#define CODEC_KERNELS_FIT_H

#include "codec/lanes.h"

enum { FIT_MOST = 32 }; /* elements of a group */

/* A group without an element of this magnitude is taken for zeros. */
#define FIT_SMALLEST 1e-15f

/* The codes that an inverse scale gives, from `low` to `high`. */
static inline floats fit_code(floats scaled, float low, float high)
{
    return round_even(clamp(scaled, low, high));
}

/* The element of largest magnitude with its sign; the first of several. */
static inline floats fit_extreme(const floats *x, size_t n)
{
    floats extreme = floats_of(0), magnitude = floats_of(0);

    for (size_t i = 0; i < n; i++) {
        floats a = absolute(x[i]);
        extreme = select(greater(a, magnitude), x[i], extreme);
        magnitude = maximum(a, magnitude);
    }
    return extreme;
}

/* ---- without an offset ---------------------------------------------------------------------- */

/* A group as the searches see it, and the sums A and C of the codes they hold. */
typedef struct fit_group {
    const floats *x, *w;
    floats wx[FIT_MOST];
    size_t n;
    float low, high; /* of the codes */
} fit_group;

typedef struct fit_sums {
    floats a, c;
} fit_sums;

static inline void fit_group_init(fit_group *g, const floats *x, const floats *w, size_t n,
                                  float low, float high)
{
    g->x = x, g->w = w, g->n = n;
    g->low = low, g->high = high;
    for (size_t i = 0; i < n; i++)
        g->wx[i] = w[i] * x[i];
}

/* The sums of the codes that the inverse scale t gives; the codes too, unless that is NULL. */
static inline fit_sums fit_try(const fit_group *g, floats t, floats *codes)
{
    fit_sums sums = {floats_of(0), floats_of(0)};

    for (size_t i = 0; i < g->n; i++) {
        floats l = fit_code(t * g->x[i], g->low, g->high);
        sums.a = sums.a + g->wx[i] * l;
        sums.c = sums.c + g->w[i] * l * l;
        if (codes != NULL)
            codes[i] = l;
    }
    return sums;
}

/* A / C; 0 if C is not positive. */
static inline floats fit_scale(fit_sums sums)
{
    return select(greater(sums.c, floats_of(0)), sums.a / sums.c, floats_of(0));
}

/* Takes the scale of these sums where A^2 / C is larger than the best so far, which is
 * *best = scale * A.  Returns where. */
static inline mask fit_accept(fit_sums sums, floats *scale, floats *best)
{
    mask better = both(greater(sums.c, floats_of(0)), greater(sums.a * sums.a, *best * sums.c));
    floats s = sums.a / sums.c;

    *scale = select(better, s, *scale);
    *best = select(better, s * sums.a, *best);
    return better;
}

/* Returns the scales, which may be negative: the sign is such that the element of largest magnitude
 * takes the code -q, the side that has one more.  A group of zeros has scale 0 and codes -q. */
static inline floats fit_sym(const floats *x, const floats *w, size_t n, float q, floats *codes)
{
    floats extreme = fit_extreme(x, n), zero = floats_of(0);
    mask zeros = less(absolute(extreme), floats_of(FIT_SMALLEST));
    fit_group g;

    fit_group_init(&g, x, w, n, -q, q - 1);
    floats inverse = floats_of(-q) / extreme;
    fit_sums sums = fit_try(&g, inverse, NULL);
    floats scale = fit_scale(sums), best = scale * sums.a;

    for (int k = -9; k <= 9; k++) {
        if (k == 0)
            continue;
        floats t = floats_of(-(q + 0.1f * (float)k)) / extreme;
        sums = fit_try(&g, t, NULL);
        inverse = select(fit_accept(sums, &scale, &best), t, inverse);
    }
    for (size_t i = 0; i < n; i++)
        codes[i] = select(zeros, floats_of(-q), fit_code(inverse * x[i], g.low, g.high));
    return select(zeros, zero, scale);
}

/* Takes element i out of the sums and proposes the code that suits the scale of the others; keeps
 * it where that raises A^2 / C.  Returns where.  (Codes that are not negative leave a positive C,
 * except for rounding.) */
static inline mask fit_improve_code(const fit_group *g, size_t i, floats *code, fit_sums *sums)
{
    floats zero = floats_of(0), w = g->w[i], wx = g->wx[i];
    fit_sums rest = {sums->a - wx * *code, sums->c - w * *code * *code};
    floats l = fit_code(g->x[i] * rest.c / rest.a, g->low, g->high);
    fit_sums with = {rest.a + wx * l, rest.c + w * l * l};
    mask better = both(greater(with.a * with.a * sums->c, sums->a * sums->a * with.c),
                       both(greater(rest.a, zero), not(equal(l, *code))));

    better = both(better, greater(g->low < 0 ? with.c : rest.c, zero));
    *code = select(better, l, *code);
    sums->a = select(better, with.a, sums->a);
    sums->c = select(better, with.c, sums->c);
    return better;
}

/* Up to five passes over the codes, until one changes nothing.  Every step waits for the one
 * before: several vectors of groups side by side hide that. */
static inline void fit_improve(const fit_group *g, size_t count, floats (*codes)[FIT_MOST],
                               fit_sums *sums)
{
    for (int pass = 0; pass < 5; pass++) {
        mask changed = greater(floats_of(0), floats_of(0));
        for (size_t i = 0; i < g->n; i++)
            for (size_t v = 0; v < count; v++)
                changed = either(changed, fit_improve_code(&g[v], i, &codes[v][i], &sums[v]));
        if (!any(changed))
            return;
    }
}

enum { FIT_ABREAST = 4 };

/* As fit_sym, from its first candidate; w is x^2.  FIT_ABREAST vectors of groups at once. */
static inline void fit_descent(floats (*x)[FIT_MOST], size_t n, float q, floats (*codes)[FIT_MOST],
                               floats *scale)
{
    fit_group g[FIT_ABREAST];
    fit_sums sums[FIT_ABREAST];
    floats w[FIT_ABREAST][FIT_MOST];
    mask zeros[FIT_ABREAST];

    for (size_t v = 0; v < FIT_ABREAST; v++) {
        floats extreme = fit_extreme(x[v], n);
        zeros[v] = less(absolute(extreme), floats_of(FIT_SMALLEST));
        for (size_t i = 0; i < n; i++)
            w[v][i] = x[v][i] * x[v][i];
        fit_group_init(&g[v], x[v], w[v], n, -q, q - 1);
        sums[v] = fit_try(&g[v], floats_of(-q) / extreme, codes[v]);
    }
    fit_improve(g, FIT_ABREAST, codes, sums);
    for (size_t v = 0; v < FIT_ABREAST; v++) {
        for (size_t i = 0; i < n; i++)
            codes[v][i] = select(zeros[v], floats_of(-q), codes[v][i]);
        scale[v] = select(zeros[v], floats_of(0), fit_scale(sums[v]));
    }
}

/* The error of the codes that the inverse scale t gives. */
static inline floats fit_pos_error(const fit_group *g, floats t)
{
    floats scale = floats_of(1) / t, error = floats_of(0);

    for (size_t i = 0; i < g->n; i++) {
        floats rest = g->x[i] - scale * fit_code(t * g->x[i], g->low, g->high);
        error = error + g->w[i] * rest * rest;
    }
    return error;
}

/* x are not negative.  A group of zeros has scale 0 and codes 0. */
static inline floats fit_pos(const floats *x, const floats *w, size_t n, float q, floats *codes)
{
    floats largest = floats_of(0), found[1][FIT_MOST];
    fit_group g;

    for (size_t i = 0; i < n; i++)
        largest = maximum(x[i], largest);
    mask zeros = less(largest, floats_of(FIT_SMALLEST));

    fit_group_init(&g, x, w, n, 0, q);
    floats inverse = floats_of(q) / largest, least = fit_pos_error(&g, inverse);
    for (int k = -4; k <= 4; k++) {
        if (k == 0)
            continue;
        floats t = floats_of(0.1f * (float)k + q) / largest, error = fit_pos_error(&g, t);
        mask better = less(error, least);
        inverse = select(better, t, inverse);
        least = select(better, error, least);
    }
    fit_sums sums = fit_try(&g, inverse, *found);
    fit_improve(&g, 1, found, &sums);
    for (size_t i = 0; i < n; i++)
        codes[i] = select(zeros, floats_of(0), found[0][i]);
    return select(zeros, floats_of(0), fit_scale(sums));
}

/* ---- with an offset ------------------------------------------------------------------------- */

/* What fit_affine tries: inverse scales (first + step * k + q) / range, k from 0 to last; and
 * whether errors count by their magnitude rather than by their square. */
typedef struct fit_search {
    float first, step;
    int last;
    bool magnitude;
} fit_search;

typedef struct fit_line {
    floats scale, offset; /* x ~ scale * l + offset */
} fit_line;

/* The line through codes and x with the least sum of squares whose offset is not positive.  *exists
 * says where there is one.  sw and swx are the sums of w and w x. */
static inline fit_line fit_least_squares(const floats *x, const floats *w, size_t n, floats sw,
                                         floats swx, const floats *codes, mask *exists)
{
    floats zero = floats_of(0), sl = zero, sll = zero, sxl = zero;

    for (size_t i = 0; i < n; i++) {
        floats wl = w[i] * codes[i];
        sl = sl + wl;
        sll = sll + wl * codes[i];
        sxl = sxl + wl * x[i];
    }
    floats determinant = sw * sll - sl * sl;
    fit_line line = {(sw * sxl - swx * sl) / determinant, (sll * swx - sl * sxl) / determinant};
    mask above = greater(line.offset, zero);
    line.scale = select(above, sxl / sll, line.scale);
    line.offset = select(above, zero, line.offset);
    *exists = greater(determinant, zero);
    return line;
}

static inline floats fit_line_error(const floats *x, const floats *w, size_t n, bool magnitude,
                                    const floats *codes, fit_line line)
{
    floats error = floats_of(0);

    for (size_t i = 0; i < n; i++) {
        floats rest = line.scale * codes[i] + line.offset - x[i];
        floats distance = rest * rest;
        if (magnitude)
            distance = absolute(rest);
        error = error + w[i] * distance;
    }
    return error;
}

/* An inverse scale for a range so small that it would be infinite is 0: all codes are. */
static inline floats fit_finite(floats inverse)
{
    return select(greater(inverse, floats_of(FLT_MAX)), floats_of(0), inverse);
}

static inline void fit_line_codes(const floats *x, size_t n, floats origin, floats inverse, float q,
                                  floats *codes)
{
    for (size_t i = 0; i < n; i++)
        codes[i] = fit_code(inverse * (x[i] - origin), 0, q);
}

/* Returns the lines; offsets are 0 or negative.  Codes are counted from the offset of the best line
 * so far, so that what is accepted moves what is tried later.  Where no x is larger than both 0 and
 * the smallest one, scale and codes are 0. */
static inline fit_line fit_affine(const floats *x, const floats *w, size_t n, float q,
                                  const fit_search *search, floats *codes)
{
    floats low = x[0], high = x[0], sw = w[0], swx = w[0] * x[0], zero = floats_of(0);
    floats tried[FIT_MOST];

    for (size_t i = 1; i < n; i++) {
        low = minimum(x[i], low);
        high = maximum(x[i], high);
        sw = sw + w[i];
        swx = swx + w[i] * x[i];
    }
    low = minimum(zero, low);
    mask flat = not(greater(high, low));
    floats inverse = floats_of(q) / (high - low), origin = low;
    fit_line best = {floats_of(1) / inverse, low};
    inverse = fit_finite(inverse);
    fit_line_codes(x, n, origin, inverse, q, tried);
    floats least = fit_line_error(x, w, n, search->magnitude, tried, best);

    for (int k = 0; k <= search->last; k++) {
        floats t = floats_of(search->first + search->step * (float)k + q) / (high - best.offset);
        mask exists;
        t = fit_finite(t);
        fit_line_codes(x, n, best.offset, t, q, tried);
        fit_line line = fit_least_squares(x, w, n, sw, swx, tried, &exists);
        floats error = fit_line_error(x, w, n, search->magnitude, tried, line);
        mask better = both(exists, less(error, least));
        inverse = select(better, t, inverse);
        origin = select(better, best.offset, origin);
        least = select(better, error, least);
        best.scale = select(better, line.scale, best.scale);
        best.offset = select(better, line.offset, best.offset);
    }
    best.scale = select(flat, zero, best.scale);
    best.offset = select(flat, low, best.offset);
    fit_line_codes(x, n, origin, select(flat, zero, inverse), q, codes);
    return best;
}

#endif
