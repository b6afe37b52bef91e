/* High effort for groups with their own scale: a second search, for what decoding will give.
 *
 * It minimises the sum of q e^2 over the group, e being the error of the decoded element and q its
 * importance (1 without any).  A scale (and offset) is tried as it will be stored, with the
 * values that are nearest to the elements then; and so is the one that suits these values best.
 * Searches start from several places where the extreme elements may end up: far apart, for each
 * leads to the best of its neighbourhood.
 *
 * The result takes the place of the first search's where decoding says that it is better. */
#ifndef CODEC_KERNELS_REFINE_H
#define CODEC_KERNELS_REFINE_H

#include "codec/kernels/block.h"
#include "codec/kernels/search/fit.h"

/* ---- without an offset ---------------------------------------------------------------------- */

/* The value of a code that is nearest to a number, scales being 1. */
typedef floats nearest_value(floats v);

/* Places to be tried: first, first + step ... `count` of them. */
typedef struct refine_places {
    float first, step;
    int count;
} refine_places;

/* The best scale so far, its error, and the sums of its values. */
typedef struct refine_choice {
    floats scale, error;
    fit_sums sums;
} refine_choice;

static inline refine_choice refine_none(void)
{
    floats zero = floats_of(0);

    return (refine_choice){zero, floats_of(FLT_MAX), {zero, zero}};
}

/* The importance of `count` groups of n elements; 1 without any. */
static inline void refine_load_importance(const float *importance, size_t count, size_t n,
                                          floats *q)
{
    if (importance != NULL)
        groups_load(importance, count, n, q);
    for (size_t i = 0; i < n && importance == NULL; i++)
        q[i] = floats_of(1);
}

/* Keeps the scale where it is the best so far; returns the one that suits its values best. */
static inline floats refine_try(const floats *x, const floats *q, size_t n, nearest_value *nearest,
                                floats scale, refine_choice *best)
{
    floats inverse = inverse_or_zero(scale), error = floats_of(0);
    fit_sums sums = {floats_of(0), floats_of(0)};

    for (size_t i = 0; i < n; i++) {
        floats v = nearest(inverse * x[i]), rest = scale * v - x[i], qv = q[i] * v;
        error = error + q[i] * (rest * rest);
        sums.a = sums.a + qv * x[i];
        sums.c = sums.c + qv * v;
    }
    mask better = less(error, best->error);
    best->scale = select(better, scale, best->scale);
    best->error = select(better, error, best->error);
    best->sums.a = select(better, sums.a, best->sums.a);
    best->sums.c = select(better, sums.c, best->sums.c);
    return fit_scale(sums);
}

/* The best scale, a binary16 number. */
static inline floats refine_scale(const floats *x, const floats *q, size_t n,
                                  nearest_value *nearest, const refine_places places[2])
{
    floats extreme = fit_extreme(x, n);
    refine_choice best = refine_none();

    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < places[side].count; k++) {
            float place = places[side].first + places[side].step * (float)k;
            floats scale = rounded_to_half(extreme / floats_of(place));
            floats suited = refine_try(x, q, n, nearest, scale, &best);
            refine_try(x, q, n, nearest, rounded_to_half(suited), &best);
        }
    }
    return best.scale;
}

/* ---- with an offset ------------------------------------------------------------------------- */

typedef struct refine_line_choice {
    fit_line line;
    floats error;
} refine_line_choice;

/* Keeps the line where it is the best so far; returns the one that suits its codes, 0 to top, best
 * (least squares), or the same where none exists. */
static inline fit_line refine_try_line(const floats *x, const floats *q, size_t n, float top,
                                       fit_line line, refine_line_choice *best)
{
    floats zero = floats_of(0), inverse = inverse_or_zero(line.scale), error = zero;
    floats sq = zero, sx = zero, sl = zero, sll = zero, sxl = zero;

    for (size_t i = 0; i < n; i++) {
        floats l = fit_code((x[i] - line.offset) * inverse, 0, top), ql = q[i] * l;
        floats rest = line.scale * l + line.offset - x[i];
        error = error + q[i] * (rest * rest);
        sq = sq + q[i];
        sx = sx + q[i] * x[i];
        sl = sl + ql;
        sll = sll + ql * l;
        sxl = sxl + ql * x[i];
    }
    mask better = less(error, best->error);
    best->line.scale = select(better, line.scale, best->line.scale);
    best->line.offset = select(better, line.offset, best->line.offset);
    best->error = select(better, error, best->error);
    floats determinant = sq * sll - sl * sl;
    mask exists = greater(determinant, zero);
    line.scale = select(exists, (sq * sxl - sx * sl) / determinant, line.scale);
    line.offset = select(exists, (sll * sx - sl * sxl) / determinant, line.offset);
    return line;
}

static inline fit_line refine_rounded(fit_line line)
{
    return (fit_line){rounded_to_half(line.scale), rounded_to_half(line.offset)};
}

/* The best line, of binary16 numbers.  The least and the largest element are tried at codes up to
 * one beyond the ends, where they are cut off. */
static inline fit_line refine_line(const floats *x, const floats *q, size_t n, float top)
{
    floats zero = floats_of(0), low = x[0], high = x[0];
    refine_line_choice best = {{zero, zero}, floats_of(FLT_MAX)};

    for (size_t i = 1; i < n; i++) {
        low = minimum(x[i], low);
        high = maximum(x[i], high);
    }
    for (int below = 0; below <= 2; below++) {
        for (int above = 0; above <= 2; above++) {
            float beyond_low = 0.5f * (float)below, beyond_high = 0.5f * (float)above;
            floats scale = (high - low) / floats_of(top + beyond_low + beyond_high);
            fit_line line = {scale, low + scale * floats_of(beyond_low)};
            for (int round = 0; round < 3; round++)
                line = refine_try_line(x, q, n, top, refine_rounded(line), &best);
        }
    }
    return best.line;
}

/* ---- the better of two blocks --------------------------------------------------------------- */

/* Replaces a block of n elements by the other if that one's error is lower, and by more than sums
 * are off. */
static inline void refine_keep_better(const float *x, const float *q, size_t n,
                                      decode_kernel *decode, size_t bytes, const uint8_t *other,
                                      uint8_t *block)
{
    float error = block_error(x, q, n, decode, block);

    if (block_error(x, q, n, decode, other) < error * 0.99999f)
        memcpy(block, other, bytes);
}

#endif
