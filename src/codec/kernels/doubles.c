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
#include "codec/doubles.h"

#include <math.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* The compiler's own vectors are the same on every processor. */
#if defined(__AVX512F__)
enum { LANES = 8, PARTS = 4 };
#elif defined(__AVX2__)
enum { LANES = 4, PARTS = 2 };
#else
enum { LANES = 2, PARTS = 2 };
#endif

enum { ROWS = 4, WIDTH = LANES * PARTS, MOST_RANK = 64 };

typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));

/* ---- floats and doubles --------------------------------------------------------------------- */

static inline doubles widened(const float *from)
{
    floats v;

    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, doubles);
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

static void narrow(const double *from, uint64_t count, float *to)
{
    uint64_t at = 0;

    for (; at + LANES <= count; at += LANES) {
        doubles v;
        floats close;

        memcpy(&v, from + at, sizeof v);
        close = __builtin_convertvector(v, floats);
        memcpy(to + at, &close, sizeof close);
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

enum { VECTORS = 4, RUN = VECTORS * LANES };

/* RUN numbers without a branch: what is cut off carries when it is added to all ones.  False, and
 * nothing done, if any is below the normal floats. */
static inline bool round_run(double *values)
{
    words bits[VECTORS], small = {0};

    memcpy(bits, values, sizeof bits);
    for (unsigned i = 0; i < VECTORS; i++)
        small |= (bits[i] & EXPONENT) - LEAST_EXPONENT;
    for (unsigned i = 0; i < LANES; i++)
        if (small[i] >> 63 != 0)
            return false;
    for (unsigned i = 0; i < VECTORS; i++)
        bits[i] =
            (bits[i] & ~(CUT_BIT - 1)) | (((bits[i] & (CUT_BIT - 1)) + (CUT_BIT - 1)) & CUT_BIT);
    memcpy(values, bits, sizeof bits);
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

/* ---- products ------------------------------------------------------------------------------- */

/* sum + factor * v, where the product is exact: the same in one step. */
static inline doubles added(doubles sum, double factor, doubles v)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(_mm512_set1_pd(factor), v, sum);
#else
    return sum + factor * v;
#endif
}

/* WIDTH columns of the right factor, [first, last) of its rows.  A rank that does not fit is worked
 * on in parts, again for every tile. */
typedef struct strip {
    doubles right[MOST_RANK][PARTS];
    uint64_t column, first, last;
} strip;

static void fill_strip(strip *s, const low_rank_product *p, uint64_t first)
{
    s->first = first;
    s->last = p->rank - first < MOST_RANK ? p->rank : first + MOST_RANK;
    for (uint64_t k = first; k < s->last; k++)
        for (unsigned part = 0; part < PARTS; part++)
            s->right[k - first][part] =
                widened(p->right + k * p->columns + s->column + part * LANES);
}

/* Of rows from `row` on: `rows` is a constant wherever it is called, and the sums stay in
 * registers. */
__attribute__((always_inline)) static inline void sum_tile(const low_rank_product *p,
                                                           const strip *s, uint64_t row,
                                                           unsigned rows, doubles sums[ROWS][PARTS])
{
    const float *left = p->left + row * p->rank;

    for (uint64_t k = s->first; k < s->last; k++)
        for (unsigned i = 0; i < rows; i++) {
            double factor = (double)left[i * p->rank + k];

            for (unsigned part = 0; part < PARTS; part++)
                sums[i][part] = added(sums[i][part], factor, s->right[k - s->first][part]);
        }
}

__attribute__((always_inline)) static inline void add_sums(const low_rank_product *p,
                                                           const strip *s, uint64_t row,
                                                           unsigned rows, doubles sums[ROWS][PARTS])
{
    for (unsigned i = 0; i < rows; i++)
        for (unsigned part = 0; part < PARTS; part++) {
            double *at = p->values + (row + i) * p->columns + s->column + part * LANES;
            doubles v;

            memcpy(&v, at, sizeof v);
            v += p->number * sums[i][part];
            memcpy(at, &v, sizeof v);
        }
}

__attribute__((always_inline)) static inline void add_tile(const low_rank_product *p,
                                                           const strip *s, uint64_t row,
                                                           unsigned rows)
{
    doubles sums[ROWS][PARTS];

    for (unsigned i = 0; i < rows; i++)
        for (unsigned part = 0; part < PARTS; part++)
            sums[i][part] = (doubles){0};
    sum_tile(p, s, row, rows, sums);
    add_sums(p, s, row, rows, sums);
}

/* A tile of a rank that does not fit into a strip. */
static void add_deep_tile(const low_rank_product *p, strip *s, uint64_t row, unsigned rows)
{
    doubles sums[ROWS][PARTS] = {{{0}}};

    for (uint64_t first = 0; first < p->rank; first += MOST_RANK) {
        fill_strip(s, p, first);
        sum_tile(p, s, row, rows, sums);
    }
    add_sums(p, s, row, rows, sums);
}

static void add_strip(const low_rank_product *p, strip *s)
{
    uint64_t row = 0;

    if (p->rank > MOST_RANK) {
        for (; row < p->rows; row += ROWS)
            add_deep_tile(p, s, row, p->rows - row < ROWS ? (unsigned)(p->rows - row) : ROWS);
        return;
    }
    fill_strip(s, p, 0);
    for (; row + ROWS <= p->rows; row += ROWS)
        add_tile(p, s, row, ROWS);
    for (; row < p->rows; row++)
        add_tile(p, s, row, 1);
}

/* Those that fill no strip. */
static void add_columns(const low_rank_product *p, uint64_t row, uint64_t column)
{
    const float *left = p->left + row * p->rank;

    for (; column < p->columns; column++) {
        double sum = 0;

        for (uint64_t k = 0; k < p->rank; k++)
            sum += (double)left[k] * (double)p->right[k * p->columns + column];
        p->values[row * p->columns + column] += p->number * sum;
    }
}

static void add_product(const low_rank_product *p)
{
    strip s;

    for (s.column = 0; s.column + WIDTH <= p->columns; s.column += WIDTH)
        add_strip(p, &s);
    for (uint64_t row = 0; row < p->rows; row++)
        add_columns(p, row, s.column);
}

const double_kernels KERNEL(doubles) = {widen, narrow, round_odd, add_product};
