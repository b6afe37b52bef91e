/* What IQ4_NL and IQ4_XS share: codes of four bits for values that are closer together near zero,
 * 32 of them in 16 bytes (code i in the low half of byte i, code 16 + i in the high one), and the
 * search for the scale of 32 elements. */
#ifndef CODEC_KERNELS_IQ4_H
#define CODEC_KERNELS_IQ4_H

#include "codec/kernels/search/refine.h"

enum { IQ4_ELEMENTS = 32, IQ4_BYTES = 16 };

static const float iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

/* From where on a code is the nearest one: halfway from the value below. */
static const float iq4_limits[16] = {-INFINITY, -115.5f, -93.5f, -74,   -57,   -42, -28.5f, -16,
                                     -4.5f,     7,       19,     31.5f, 45.5f, 61,  79,     101};

/* The code whose value is nearest to v, of two the higher one; 0 for NaN.  A binary search. */
static inline ints iq4_code(floats v)
{
    ints code = ints_of(0);

    for (int step = 8; step > 0; step /= 2) {
        ints next = code | ints_of(step);
        code = ints_select(greater_equal(v, lookup16(iq4_limits, next)), next, code);
    }
    return code;
}

static inline floats iq4_nearest(floats v)
{
    return lookup16(iq4_values, iq4_code(v));
}

/* ---- 32 elements ---------------------------------------------------------------------------- */

static inline void iq4_decode(const uint8_t *bytes, float scale, float *values)
{
    for (size_t i = 0; i < IQ4_BYTES; i += LANES) {
        ints pair = bytes_load(bytes + i);
        floats low = lookup16(iq4_values, pair & 15);
        floats high = lookup16(iq4_values, shift_right(pair, 4));
        floats_store(values + i, floats_of(scale) * low);
        floats_store(values + IQ4_BYTES + i, floats_of(scale) * high);
    }
}

static inline void iq4_encode(const float *x, float scale, uint8_t *bytes)
{
    floats inverse = floats_of(inverse_of(scale));

    for (size_t i = 0; i < IQ4_BYTES; i += LANES) {
        ints low = iq4_code(floats_load(x + i) * inverse);
        ints high = iq4_code(floats_load(x + IQ4_BYTES + i) * inverse);
        bytes_store(bytes + i, low | shift_left(high, 4));
    }
}

/* ---- the search ----------------------------------------------------------------------------- */

/* The sums A and C (fit.h) of the values that the inverse scale gives. */
static inline fit_sums iq4_try(const floats *x, const floats *w, floats inverse)
{
    fit_sums sums = {floats_of(0), floats_of(0)};

    for (size_t i = 0; i < IQ4_ELEMENTS; i++) {
        floats v = iq4_nearest(inverse * x[i]), wv = w[i] * v;
        sums.a = sums.a + wv * x[i];
        sums.c = sums.c + wv * v;
    }
    return sums;
}

/* The scale with the least error when errors weigh w, not rounded.  The element of largest
 * magnitude is tried at 127 and, on the side that reaches further, from -134 to -120. */
static inline floats iq4_search(const floats *x, const floats *w)
{
    floats extreme = fit_extreme(x, IQ4_ELEMENTS), zero = floats_of(0);
    mask zeros = less(absolute(extreme), floats_of(FIT_SMALLEST));
    fit_sums sums = iq4_try(x, w, floats_of(1) / (extreme / floats_of(127)));
    floats scale = fit_scale(sums), best = scale * sums.a;

    for (int place = -134; place <= -120; place++) {
        sums = iq4_try(x, w, floats_of((float)place) / extreme);
        mask better = both(greater(sums.c, zero), greater(sums.a * sums.a, best * sums.c));
        floats s = sums.a / sums.c;
        scale = select(better, s, scale);
        best = select(better, s * sums.a, best);
    }
    return select(zeros, zero, scale);
}

/* High effort: as iq4_search, for the importance q alone. */
static inline floats iq4_refine(const floats *x, const floats *q)
{
    static const refine_places places[2] = {{-157, 6, 9}, {92, 6, 9}};

    return refine_scale(x, q, IQ4_ELEMENTS, iq4_nearest, places);
}

#endif
