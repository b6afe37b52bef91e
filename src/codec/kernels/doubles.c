/* Rows of doubles.
 *
 * A low-rank product is computed in tiles that stay in registers, below a strip of the right factor
 * that was made of floats once, for all rows:
 *
 *                 right   k  | . . . . . . . . |   WIDTH columns
 *     left                k+1| . . . . . . . . |
 *     row 0    k k+1 ...     | = = = = = = = = |   PARTS vectors of each of ROWS rows
 *     row 1                  | = = = = = = = = |
 */
#include "codec/kernels.h"

#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* The compiler's own vectors are the same on every processor.  A tile and a vector of each factor fit
 * into its registers. */
#if defined(__AVX512F__)
enum { LANES = 8, PARTS = 4, ROWS = 4 };
#elif defined(__AVX2__)
enum { LANES = 4, PARTS = 4, ROWS = 3 };
#else
enum { LANES = 2, PARTS = 2, ROWS = 4 };
#endif

enum { WIDTH = LANES * PARTS, MOST_RANK = 64, MOST_LEFT = 2048 };

typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));

/* ---- floats and doubles --------------------------------------------------------------------- */

static inline doubles widened(const float *from)
{
    floats v;

    memcpy(&v, from, sizeof v);
#if defined(__AVX512F__)
    return (doubles)_mm512_cvtps_pd((__m256)v); /* gcc 12 makes two halves of it by itself */
#else
    return __builtin_convertvector(v, doubles);
#endif
}

static void widen(const float *from, uint64_t count, double *to)
{
    uint64_t at = 0;

    for (; at + LANES <= count; at += LANES) {
        doubles wide = widened(from + at);

        memcpy(to + at, &wide, sizeof wide);
    }
    for (; at < count; at++)
        to[at] = (double)from[at];
}

static inline void store_narrow(doubles v, float *to)
{
    floats close = __builtin_convertvector(v, floats);

    memcpy(to, &close, sizeof close);
}

static void narrow(const double *from, uint64_t count, float *to)
{
    uint64_t at = 0;

    for (; at + LANES <= count; at += LANES) {
        doubles v;

        memcpy(&v, from + at, sizeof v);
        store_narrow(v, to + at);
    }
    for (; at < count; at++)
        to[at] = (float)from[at];
}

/* ---- rounding to odd ------------------------------------------------------------------------ */

#define CUT_BIT (UINT64_C(1) << 29) /* the last bit of a float, in a double; all below are cut */
#define EXPONENT (UINT64_C(0x7ff) << 52)
#define LEAST_EXPONENT (UINT64_C(897) << 52) /* of the normal floats: 2^-126 */

/* Below the normal floats the last bit is that of 2^-149. */
static double odd_below(double value)
{
    double units = value * 0x1p149, whole = trunc(units);

    if (whole != units && fmod(whole, 2) == 0)
        whole += copysign(1, value);
    return whole * 0x1p-149;
}

static double odd_number(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if ((bits & EXPONENT) < LEAST_EXPONENT)
        return odd_below(value);
    bits = (bits & ~(CUT_BIT - 1)) | (((bits & (CUT_BIT - 1)) + (CUT_BIT - 1)) & CUT_BIT);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static inline bool any_negative(words v)
{
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)v) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)v) != 0;
#else
    return (v[0] | v[1]) >> 63 != 0;
#endif
}

/* Without a branch for each: what is cut off carries when it is added to all ones.  False, and
 * nothing done, if any is below the normal floats. */
__attribute__((always_inline)) static inline bool round_vectors(doubles *values, unsigned count)
{
    words small = {0};

#pragma GCC unroll 4
    for (unsigned i = 0; i < count; i++)
        small |= ((words)values[i] & EXPONENT) - LEAST_EXPONENT;
    if (any_negative(small))
        return false;
#pragma GCC unroll 4
    for (unsigned i = 0; i < count; i++) {
        words bits = (words)values[i];

        bits = (bits & ~(CUT_BIT - 1)) | (((bits & (CUT_BIT - 1)) + (CUT_BIT - 1)) & CUT_BIT);
        values[i] = (doubles)bits;
    }
    return true;
}

enum { VECTORS = 4, RUN = VECTORS * LANES };

static bool round_run(double *values)
{
    doubles v[VECTORS];

#pragma GCC unroll 4
    for (unsigned i = 0; i < VECTORS; i++)
        memcpy(&v[i], values + i * LANES, sizeof v[i]);
    if (!round_vectors(v, VECTORS))
        return false;
#pragma GCC unroll 4
    for (unsigned i = 0; i < VECTORS; i++)
        memcpy(values + i * LANES, &v[i], sizeof v[i]);
    return true;
}

static void round_odd(double *values, uint64_t count)
{
    uint64_t at = 0;

    while (at < count) {
        uint64_t end = count - at < RUN ? count : at + RUN;

        if (end - at == RUN && round_run(values + at))
            at = end;
        for (; at < end; at++)
            values[at] = odd_number(values[at]);
    }
}

/* ---- the end of a product ------------------------------------------------------------------- */

/* What becomes of sums: a constant wherever it is passed on. */
typedef enum ending { IN_DOUBLES, IN_FLOATS, IN_ODD_FLOATS } ending;

typedef struct task {
    const low_rank_product *p;
    float *floats; /* in place of p->values, which IN_DOUBLES has */
} task;

/* Adds sums to a row of a tile. */
__attribute__((always_inline)) static inline void add_row(const task *t, ending how, uint64_t place,
                                                          const doubles sums[PARTS])
{
    doubles v[PARTS];

#pragma GCC unroll 4
    for (unsigned part = 0; part < PARTS; part++) {
        if (how == IN_DOUBLES)
            memcpy(&v[part], t->p->values + place + part * LANES, sizeof v[part]);
        else
            v[part] = widened(t->floats + place + part * LANES);
        v[part] += t->p->number * sums[part];
    }
    if (how == IN_ODD_FLOATS && !round_vectors(v, PARTS)) {
        double each[WIDTH]; /* a copy, so that `v` may stay in registers */

        memcpy(each, v, sizeof each);
        round_odd(each, WIDTH);
        memcpy(v, each, sizeof v);
    }
#pragma GCC unroll 4
    for (unsigned part = 0; part < PARTS; part++)
        if (how == IN_DOUBLES)
            memcpy(t->p->values + place + part * LANES, &v[part], sizeof v[part]);
        else
            store_narrow(v[part], t->floats + place + part * LANES);
}

static void add_number(const task *t, ending how, uint64_t place, double sum)
{
    double change = t->p->number * sum, value;

    if (how == IN_DOUBLES) {
        t->p->values[place] += change;
        return;
    }
    value = (double)t->floats[place] + change;
    t->floats[place] = (float)(how == IN_ODD_FLOATS ? odd_number(value) : value);
}

/* ---- products ------------------------------------------------------------------------------- */

/* sum + factor * v, where the product is exact: the same in one step. */
static inline doubles added(doubles sum, double factor, doubles v)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(_mm512_set1_pd(factor), v, sum);
#elif defined(__FMA__)
    return _mm256_fmadd_pd(_mm256_set1_pd(factor), v, sum);
#else
    return sum + factor * v;
#endif
}

/* WIDTH columns of the right factor, [first, last) of its rows, and some rows of the left one.  A
 * rank that does not fit is worked on in parts, again for every tile. */
typedef struct strip {
    doubles right[MOST_RANK][PARTS];
    double left[MOST_LEFT];
    uint64_t column, first, last;
} strip;

static void fill_strip(strip *s, const low_rank_product *p, uint64_t first)
{
    s->first = first;
    s->last = p->rank - first < MOST_RANK ? p->rank : first + MOST_RANK;
    for (uint64_t k = first; k < s->last; k++)
#pragma GCC unroll 4
        for (unsigned part = 0; part < PARTS; part++)
            s->right[k - first][part] =
                widened(p->right + k * p->columns + s->column + part * LANES);
}

/* `rows` is a constant wherever it is passed on, and the sums stay in registers. */
__attribute__((always_inline)) static inline void sum_tile(const strip *s, const double *left,
                                                           unsigned rows, doubles sums[ROWS][PARTS])
{
    uint64_t count = s->last - s->first;

    for (uint64_t k = 0; k < count; k++)
#pragma GCC unroll 4
        for (unsigned i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (unsigned part = 0; part < PARTS; part++)
                sums[i][part] = added(sums[i][part], left[i * count + k], s->right[k][part]);
}

__attribute__((always_inline)) static inline void add_tile(const task *t, ending how,
                                                           const strip *s, const double *left,
                                                           uint64_t row, unsigned rows)
{
    doubles sums[ROWS][PARTS];

#pragma GCC unroll 4
    for (unsigned i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (unsigned part = 0; part < PARTS; part++)
            sums[i][part] = (doubles){0};
    sum_tile(s, left, rows, sums);
#pragma GCC unroll 4
    for (unsigned i = 0; i < rows; i++)
        add_row(t, how, (row + i) * t->p->columns + s->column, sums[i]);
}

/* A tile of a rank that does not fit into a strip. */
static void add_deep_tile(const task *t, ending how, strip *s, uint64_t row, unsigned rows)
{
    const low_rank_product *p = t->p;
    doubles sums[ROWS][PARTS] = {{{0}}};

    for (uint64_t first = 0; first < p->rank; first += MOST_RANK) {
        fill_strip(s, p, first);
#pragma GCC unroll 4
        for (unsigned i = 0; i < rows; i++)
            widen(p->left + (row + i) * p->rank + first, s->last - first,
                  s->left + i * (s->last - first));
        sum_tile(s, s->left, rows, sums);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < rows; i++)
        add_row(t, how, (row + i) * p->columns + s->column, sums[i]);
}

/* Rows whose left factor is in the strip. */
__attribute__((always_inline)) static inline void add_strip(const task *t, ending how, strip *s,
                                                            uint64_t first, uint64_t count)
{
    uint64_t row = 0, rank = t->p->rank;

    fill_strip(s, t->p, 0);
    for (; row + ROWS <= count; row += ROWS)
        add_tile(t, how, s, s->left + row * rank, first + row, ROWS);
    for (; row < count; row++)
        add_tile(t, how, s, s->left + row * rank, first + row, 1);
}

static void add_deep_strip(const task *t, ending how, strip *s)
{
    uint64_t row = 0;

    for (; row < t->p->rows; row += ROWS)
        add_deep_tile(t, how, s, row,
                      t->p->rows - row < ROWS ? (unsigned)(t->p->rows - row) : ROWS);
}

/* Those that fill no strip. */
static void add_columns(const task *t, ending how, uint64_t row, uint64_t column)
{
    const low_rank_product *p = t->p;
    const float *left = p->left + row * p->rank;

    for (; column < p->columns; column++) {
        double sum = 0;

        for (uint64_t k = 0; k < p->rank; k++)
            sum += (double)left[k] * (double)p->right[k * p->columns + column];
        add_number(t, how, row * p->columns + column, sum);
    }
}

__attribute__((always_inline)) static inline void add_all(const task *t, ending how)
{
    const low_rank_product *p = t->p;
    uint64_t whole = p->columns - p->columns % WIDTH, count;
    strip s;

    for (uint64_t row = 0; p->rank <= MOST_RANK && row < p->rows; row += count) {
        count = MOST_LEFT / (p->rank > 0 ? p->rank : 1);
        count = p->rows - row < count ? p->rows - row : count;
        widen(p->left + row * p->rank, count * p->rank, s.left);
        for (s.column = 0; s.column < whole; s.column += WIDTH)
            add_strip(t, how, &s, row, count);
    }
    for (s.column = 0; p->rank > MOST_RANK && s.column < whole; s.column += WIDTH)
        add_deep_strip(t, how, &s);
    for (uint64_t row = 0; row < p->rows; row++)
        add_columns(t, how, row, whole);
}

static void add_product(const low_rank_product *p)
{
    add_all(&(task){.p = p}, IN_DOUBLES);
}

static void merge_product(const low_rank_product *p, float *values, bool to_odd)
{
    const task t = {.p = p, .floats = values};

    if (to_odd)
        add_all(&t, IN_ODD_FLOATS);
    else
        add_all(&t, IN_FLOATS);
}

const double_kernels KERNEL(doubles) = {widen, narrow, round_odd, add_product, merge_product};
