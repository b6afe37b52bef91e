/* Statistics of tensor data: every figure against one that is computed here in the simplest way,
 * from numbers that gufo_decode gives. */
#include "../support/allocator.h"
#include "../support/codec.h"
#include "../support/findings.h"
#include "../support/openers.h"
#include "../support/pace.h"

#include "base/bytes.h"

#include <math.h>

/* A file with one tensor. */
typedef struct sample {
    builder b;
    uint64_t data_at; /* where its data begins */
    uint8_t *bytes;   /* the data, little-endian */
    uint64_t size;
    const gufo_element_type *type;
    uint64_t dims[3];
    bool big;
    gufo_model *file;
    gufo_tensor tensor;
} sample;

static sample sample_new(uint32_t type, uint64_t columns, uint64_t rows, uint64_t matrices)
{
    sample s = {.type = gufo_element_type_by_id(type), .dims = {columns, rows, matrices}};
    uint64_t row_size;

    check(gufo_element_row_size(s.type, columns, &row_size, NULL) == GUFO_OK, "%s", s.type->name);
    s.size = row_size * rows * matrices;
    s.bytes = calloc((size_t)s.size + 1, 1);
    check(s.bytes != NULL, "memory");
    return s;
}

/* Builds the file from what is in `bytes`, and opens it. */
static void sample_open(sample *s)
{
    gufo_error error = no_error();

    s->b = builder_new((encoding){3, s->big});
    builder_header(&s->b, 1, 0);
    builder_tensor(&s->b, "t", s->type->id, 3, s->dims, 0);
    builder_pad(&s->b, 32);
    s->data_at = s->b.len;
    builder_raw(&s->b, s->bytes, (size_t)s->size);
    if (s->big)
        check_ok(gufo_swap_blocks(s->type, s->b.data + s->data_at, s->size / s->type->block_bytes,
                                  &error),
                 &error, "%s", s->type->name);
    s->file = gufo_model_open_memory(s->b.data, s->b.len, NULL, &error);
    check(s->file != NULL, "%s: %s", s->type->name, error.message);
    check(gufo_model_tensor_at(s->file, 0, &s->tensor), "%s", s->type->name);
}

static void sample_close(sample *s)
{
    gufo_model_free(s->file);
    builder_free(&s->b);
    free(s->bytes);
}

static uint64_t sample_count(const sample *s)
{
    return s->dims[0] * s->dims[1] * s->dims[2];
}

static gufo_stats scan_with(const sample *s, uint32_t flags, gufo_run run)
{
    gufo_error error = no_error();
    gufo_stats stats;

    check_ok(gufo_tensor_scan(s->file, &s->tensor, flags, &run, &stats, &error), &error, "%s",
             s->type->name);
    return stats;
}

static gufo_stats scan(const sample *s)
{
    return scan_with(s, 0, (gufo_run){.threads = 2});
}

static void fill_with_random_bytes(sample *s, uint64_t seed)
{
    for (uint64_t i = 0; i < s->size; i++)
        s->bytes[i] = (uint8_t)(random_next(&seed) >> 24);
}

static double random_double(uint64_t *seed)
{
    double fraction = (double)(int64_t)random_next(seed) * 0x1p-63;

    return fraction * (random_next(seed) % 2 == 0 ? 1e-9 : 1e200);
}

static void put_f32(sample *s, uint64_t index, float value)
{
    memcpy(s->bytes + 4 * index, &value, sizeof value);
    floats_from_little_endian(s->bytes + 4 * index, 1);
}

static void put_f64(sample *s, uint64_t index, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    store_u64(s->bytes + 8 * index, bits, HOST_IS_BIG_ENDIAN);
}

/* ---- expected figures ----------------------------------------------------------------------- */

/* All values in the order of elements, to be freed. */
static double *values_of(const sample *s)
{
    uint64_t count = sample_count(s);
    double *values = malloc((size_t)count * sizeof *values + 1);
    float *floats = malloc((size_t)count * sizeof *floats + 1);
    gufo_error error = no_error();

    check(values != NULL && floats != NULL, "memory");
    check_ok(gufo_decode(s->type, s->bytes, s->dims[1] * s->dims[2], s->dims[0], floats,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "%s", s->type->name);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *at = s->bytes + i * s->type->block_bytes;
        bool swap = HOST_IS_BIG_ENDIAN;

        values[i] = (double)floats[i];
        if (s->type->id == GUFO_TYPE_I32)
            values[i] = (int32_t)load_u32(at, swap);
        else if (s->type->id == GUFO_TYPE_I64)
            values[i] = (double)(int64_t)load_u64(at, swap);
        else if (s->type->id == GUFO_TYPE_F64)
            copy_numbers(&values[i], at, 1, 8, swap);
    }
    free(floats);
    return values;
}

/* What is expected; and whether the order of the data is that of elements. */
typedef struct expected {
    uint64_t finite, zeros, nan, positive, negative;
    uint64_t first_nan, first_positive, first_negative, minimum_at, maximum_at;
    double mean, deviation;
    bool in_order;
} expected;

static void count_value(expected *e, const double *values, uint64_t i)
{
    double v = values[i];

    if (isnan(v)) {
        e->first_nan = e->nan++ == 0 ? i : e->first_nan;
    } else if (isinf(v) && v > 0) {
        e->first_positive = e->positive++ == 0 ? i : e->first_positive;
    } else if (isinf(v)) {
        e->first_negative = e->negative++ == 0 ? i : e->first_negative;
    } else {
        if (e->finite == 0 || v < values[e->minimum_at])
            e->minimum_at = i;
        if (e->finite == 0 || v > values[e->maximum_at])
            e->maximum_at = i;
        e->zeros += v == 0;
        e->finite++;
    }
}

static expected expect(const sample *s, const double *values)
{
    expected e = {.in_order = (s->type->flags & GUFO_ELEMENT_REMOVED) == 0};
    uint64_t count = sample_count(s);
    long double sum = 0, squares = 0;

    for (uint64_t i = 0; i < count; i++) {
        count_value(&e, values, i);
        sum += isfinite(values[i]) ? (long double)values[i] : 0;
    }
    if (e.finite == 0)
        return e;
    sum /= e.finite;
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += ((long double)values[i] - sum) * ((long double)values[i] - sum);
    e.mean = (double)sum;
    e.deviation = (double)sqrtl(squares / e.finite);
    return e;
}

static void check_find(const gufo_stats_find *find, uint64_t count, uint64_t first, bool in_order,
                       const char *name, const char *label)
{
    check_u64(find->count, count, "%s: %s", label, name);
    if (count > 0 && in_order)
        check_u64(find->first, first, "%s: %s", label, name);
}

static void check_near(double got, double wanted, double scale, const char *name, const char *label)
{
    check(fabs(got - wanted) <= 1e-12 * scale, "%s: %s is %.17g, not %.17g", label, name, got,
          wanted);
}

/* A value within rounding of the edge of a bin may be on either side of it. */
static void check_bins(const gufo_stats *got, const double *values, uint64_t count,
                       const char *label)
{
    uint64_t sure[GUFO_STATS_BINS] = {0}, maybe[GUFO_STATS_BINS + 1] = {0}, below = 0, above = 0;
    double reach = GUFO_STATS_OUTLIER * got->deviation, width = got->high - got->low;
    uint64_t sum = got->outliers_below + got->outliers_above;

    for (uint64_t i = 0; i < count; i++) {
        double at = width > 0 ? (values[i] - got->low) / width * GUFO_STATS_BINS : 0;

        if (!isfinite(values[i]))
            continue;
        if (values[i] < got->mean - reach)
            below++;
        else if (values[i] > got->mean + reach)
            above++;
        else if (fabs(at - nearbyint(at)) < 1e-6)
            maybe[(size_t)nearbyint(at)]++;
        else
            sure[(size_t)at]++;
    }
    check_u64(got->outliers_below, below, "%s", label);
    check_u64(got->outliers_above, above, "%s", label);
    for (size_t i = 0; i < GUFO_STATS_BINS; i++) {
        sum += got->bins[i];
        check(got->bins[i] >= sure[i] && got->bins[i] <= sure[i] + maybe[i] + maybe[i + 1],
              "%s: bin %zu has %" PRIu64 ", not %" PRIu64, label, i, got->bins[i], sure[i]);
    }
    check_u64(sum, got->finite, "%s", label);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* The largest magnitudes, sorted: within a 32nd part of an octave of the least of them, squares differ by
 * less than 6 %.  Squares are those of values divided by the largest. */
static void check_energy(const gufo_stats *got, const double *values, uint64_t count,
                         const char *label)
{
    double *sizes = malloc((size_t)count * sizeof *sizes + 1);
    long double all = 0, largest = 0;
    uint64_t finite = 0, top;

    check(sizes != NULL, "memory");
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            sizes[finite++] = fabs(values[i]);
    qsort(sizes, (size_t)finite, sizeof *sizes, by_size);
    top = (finite + GUFO_STATS_TOP - 1) / GUFO_STATS_TOP;
    for (uint64_t i = 0; i < finite && sizes[0] > 0; i++) {
        long double part = (long double)sizes[i] / sizes[0] * (sizes[i] / sizes[0]);

        all += part;
        largest += i < top ? part : 0;
    }
    check(all > 0 ? fabs(got->top_energy - (double)(largest / all)) <= 0.06 * got->top_energy
                  : got->top_energy == 0,
          "%s: energy %.17g, not %.17Lg", label, got->top_energy, largest / all);
    check(got->rms <= sizes[0] &&
              fabsl(got->rms - sizes[0] * sqrtl(all / finite)) <= 1e-9 * sizes[0],
          "%s: root mean square %.17g", label, got->rms);
    check(got->rms > 0 ? gufo_stats_peak(got) == sizes[0] / got->rms : gufo_stats_peak(got) == 0,
          "%s: peak %g", label, gufo_stats_peak(got));
    free(sizes);
}

static void check_stats(const sample *s, const gufo_stats *got, const char *label)
{
    double *values = values_of(s);
    expected e = expect(s, values);

    check_u64(got->elements, sample_count(s), "%s", label);
    check_u64(got->finite, e.finite, "%s", label);
    check_find(&got->nan, e.nan, e.first_nan, e.in_order, "NaN", label);
    check_find(&got->positive_infinite, e.positive, e.first_positive, e.in_order, "inf", label);
    check_find(&got->negative_infinite, e.negative, e.first_negative, e.in_order, "-inf", label);
    if (e.finite > 0) {
        double size = fmax(fabs(values[e.minimum_at]), fabs(values[e.maximum_at]));

        check_u64(got->zeros, e.zeros, "%s", label);
        check(got->minimum == values[e.minimum_at], "%s: minimum %g", label, got->minimum);
        check(got->maximum == values[e.maximum_at], "%s: maximum %g", label, got->maximum);
        check(values[got->minimum_at] == got->minimum, "%s: place of the minimum", label);
        check(values[got->maximum_at] == got->maximum, "%s: place of the maximum", label);
        if (e.in_order) {
            check_u64(got->minimum_at, e.minimum_at, "%s", label);
            check_u64(got->maximum_at, e.maximum_at, "%s", label);
        }
        check_near(got->mean, e.mean, size, "mean", label);
        check_near(got->deviation, e.deviation, e.deviation + size * 1e-3, "deviation", label);
        check_bins(got, values, sample_count(s), label);
        check_energy(got, values, sample_count(s), label);
    }
    free(values);
}

/* ---- figures -------------------------------------------------------------------------------- */

/* Any bytes, in every type and byte order: infinite and NaN values are among them. */
static void test_every_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i / 2);
        sample s;
        gufo_stats stats;

        if ((type->flags & GUFO_ELEMENT_DECODES) == 0 || type->id == GUFO_TYPE_F64)
            continue;
        s = sample_new(type->id, 768, 8, 1);
        s.big = i % 2 == 1;
        fill_with_random_bytes(&s, i / 2 + 1);
        sample_open(&s);
        stats = scan(&s);
        check_stats(&s, &stats, type->name);
        sample_close(&s);
    }
}

/* Lengths around those of pieces and chunks; more than one chunk. */
static void test_every_length(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t columns, rows, matrices;
    } shapes[] = {
        {GUFO_TYPE_F32, 1, 1, 1},          {GUFO_TYPE_F32, 7, 1, 1},
        {GUFO_TYPE_F32, 2047, 1, 1},       {GUFO_TYPE_F32, 2049, 1, 1},
        {GUFO_TYPE_F32, 3, 87383, 1},      {GUFO_TYPE_F16, 600001, 1, 1},
        {GUFO_TYPE_Q8_0, 96, 71, 40},      {GUFO_TYPE_Q4_0_8_8, 96, 2736, 1},
        {GUFO_TYPE_Q4_0_4_4, 4128, 4, 17}, {GUFO_TYPE_IQ4_NL_4_4, 32, 8, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        sample s =
            sample_new(shapes[i].type, shapes[i].columns, shapes[i].rows, shapes[i].matrices);
        gufo_stats stats;

        fill_with_random_bytes(&s, i + 1);
        sample_open(&s);
        stats = scan(&s);
        check_stats(&s, &stats, s.type->name);
        sample_close(&s);
    }
}

/* Numbers that a float cannot hold are not infinities, and are reported exactly. */
static void test_wide_numbers(void **state)
{
    sample s = sample_new(GUFO_TYPE_F64, 100, 41, 1);
    uint64_t seed = 1;
    gufo_stats stats;

    (void)state;
    for (uint64_t i = 0; i < sample_count(&s); i++)
        put_f64(&s, i, random_double(&seed));
    put_f64(&s, 4000, -1e300);
    put_f64(&s, 123, 0x1.123456789abcdp+800);
    sample_open(&s);
    stats = scan(&s);
    check(stats.minimum == -1e300 && stats.maximum == 0x1.123456789abcdp+800, "extremes");
    check_u64(stats.minimum_at, 4000, "minimum");
    check_u64(stats.finite, 4100, "finite");
    sample_close(&s);

    s = sample_new(GUFO_TYPE_F64, 100, 41, 1);
    for (uint64_t i = 0; i < sample_count(&s); i++)
        put_f64(&s, i, random_double(&seed) * (i % 7 == 0 ? 1e-150 : 1e-60));
    sample_open(&s);
    stats = scan(&s);
    check_stats(&s, &stats, "F64");
    sample_close(&s);
}

static bool is_near(double got, double wanted)
{
    return fabs(got - wanted) <= fabs(wanted) * 1e-12;
}

/* Sums and squares that no double can hold; the same numbers a power of two smaller are the
 * measure.  Small ones come first: pieces of both kinds are joined. */
static void test_beyond_the_range(void **state)
{
    static const int exponents[] = {0, 390, 420, 1000, 1023};
    gufo_stats wanted = {0};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(exponents); k++) {
        sample s = sample_new(GUFO_TYPE_F64, 100, 90, 1);
        double unit = ldexp(1, exponents[k]);
        gufo_stats stats;

        for (uint64_t i = 0; i < sample_count(&s); i++)
            put_f64(&s, i,
                    i < 4500 ? ldexp((double)i, exponents[k] - 100)
                             : (i % 10 == 0 ? -1.5 : 1.875) * unit);
        sample_open(&s);
        stats = scan(&s);
        wanted = k == 0 ? stats : wanted;
        check_u64(stats.finite, 9000, "finite");
        check(stats.minimum == -1.5 * unit && stats.maximum == 1.875 * unit, "extremes");
        check(is_near(stats.mean / unit, wanted.mean), "%d: mean %g", exponents[k], stats.mean);
        check(is_near(stats.deviation / unit, wanted.deviation), "%d: deviation %g", exponents[k],
              stats.deviation);
        check(memcmp(stats.bins, wanted.bins, sizeof stats.bins) == 0, "%d: bins", exponents[k]);
        check_u64(stats.bins[0], 450, "lowest");
        check_u64(stats.bins[GUFO_STATS_BINS - 1], 4050, "highest");
        sample_close(&s);
    }
}

/* Constant, at the end of the range: the mean is not rounded out of it. */
static void test_largest(void **state)
{
    sample s = sample_new(GUFO_TYPE_F64, 1000, 7, 1);
    gufo_stats stats;

    (void)state;
    for (uint64_t i = 0; i < sample_count(&s); i++)
        put_f64(&s, i, -0x1.fffffffffffffp+1023);
    sample_open(&s);
    stats = scan(&s);
    check(stats.mean == -0x1.fffffffffffffp+1023, "mean %a", stats.mean);
    check(stats.deviation < 1e295, "deviation %g", stats.deviation);
    check(gufo_stats_peak(&stats) == 1, "peak %.17g", gufo_stats_peak(&stats));
    check(stats.top_energy == 7.0 / 7000, "energy %.17g", stats.top_energy);
    check_u64(stats.outliers_above + stats.outliers_below, 0, "outliers");
    sample_close(&s);
}

/* -0 is reported as 0. */
static void test_negative_zero(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 64, 1, 1);
    gufo_stats stats;

    (void)state;
    for (uint64_t i = 0; i < 64; i++)
        put_f32(&s, i, -0.0f);
    sample_open(&s);
    stats = scan(&s);
    check_u64(stats.zeros, 64, "zeros");
    check_u64(stats.bins[0], 64, "bins");
    check(stats.top_energy == 0 && stats.rms == 0 && gufo_stats_peak(&stats) == 0, "sizes");
    check(!signbit(stats.minimum) && !signbit(stats.maximum) && !signbit(stats.mean), "extremes");
    check(!signbit(stats.low) && !signbit(stats.high), "histogram");
    sample_close(&s);
}

static void test_constant(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 1000, 600, 1);
    gufo_stats stats;

    (void)state;
    for (uint64_t i = 0; i < sample_count(&s); i++)
        put_f32(&s, i, 0.1f);
    sample_open(&s);
    stats = scan(&s);
    check(stats.mean == (double)0.1f && stats.deviation == 0, "mean %.17g, deviation %.17g",
          stats.mean, stats.deviation);
    check_u64(stats.bins[0], sample_count(&s), "bins");
    check_u64(stats.minimum_at + stats.maximum_at + stats.zeros, 0, "places");
    sample_close(&s);
}

/* Extremes are found in every place, and 0 is none of them where it does not occur. */
static void test_extremes(void **state)
{
    enum { COUNT = 2051 };

    (void)state;
    for (uint64_t at = 0; at < COUNT; at += at < 24 || at > 2029 ? 1 : 59) {
        for (int sign = -1; sign <= 1; sign += 2) {
            sample s = sample_new(GUFO_TYPE_F32, COUNT, 1, 1);
            gufo_stats stats;

            for (uint64_t i = 0; i < COUNT; i++)
                put_f32(&s, i, (float)sign * (i == at ? 3.0f : 2.0f));
            sample_open(&s);
            stats = scan(&s);
            check(stats.minimum == (sign < 0 ? -3 : 2), "%g at %" PRIu64, stats.minimum, at);
            check(stats.maximum == (sign < 0 ? -2 : 3), "%g at %" PRIu64, stats.maximum, at);
            check_u64(sign < 0 ? stats.minimum_at : stats.maximum_at, at, "place");
            check_u64(sign < 0 ? stats.maximum_at : stats.minimum_at, at == 0, "the other's");
            sample_close(&s);
        }
    }
}

/* Whole numbers from 0 to 63 have a bin each. */
static void test_bins(void **state)
{
    sample s = sample_new(GUFO_TYPE_I8, 64, 65, 1);
    gufo_stats stats;

    (void)state;
    for (uint64_t row = 0; row < 65; row++)
        for (uint64_t i = 0; i < 64; i++)
            s.bytes[row * 64 + i] = (uint8_t)(i < row ? i : 0);
    sample_open(&s);
    stats = scan(&s);
    check(stats.low == 0 && stats.high == 63, "range");
    check_u64(stats.zeros, stats.bins[0], "zeros");
    for (uint64_t i = 1; i < 64; i++)
        check_u64(stats.bins[i], 64 - i, "bin");
    sample_close(&s);
}

/* Values of 1 and -1, and a few far away. */
static void test_outliers(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 10000, 10, 1);
    gufo_stats stats;

    (void)state;
    for (uint64_t i = 0; i < sample_count(&s); i++)
        put_f32(&s, i, i % 2 == 0 ? 1.0f : -1.0f);
    put_f32(&s, 20, 7);
    put_f32(&s, 22, 8);
    put_f32(&s, 99999, -7);
    put_f32(&s, 5, 5.5f);
    sample_open(&s);
    stats = scan(&s);
    check_u64(stats.outliers_above, 2, "above");
    check_u64(stats.outliers_below, 1, "below");
    check(stats.high == stats.mean + 6 * stats.deviation && stats.high < 7, "high %g", stats.high);
    check(stats.low == stats.mean - 6 * stats.deviation && stats.low > -7, "low %g", stats.low);
    check(stats.minimum == -7 && stats.maximum == 8, "extremes");
    /* 100 values: 8, two of 7, 5.5, and 96 of 1. */
    check_near(stats.top_energy, (64 + 98 + 30.25 + 96) / (99996 + 64 + 98 + 30.25), 1, "energy",
               "outliers");
    check_near(gufo_stats_peak(&stats), 8 / sqrt((99996 + 64 + 98 + 30.25) / 100000), 8, "peak",
               "outliers");
    check_stats(&s, &stats, "outliers");
    sample_close(&s);
}

/* The first of each kind, in a later chunk; the others are counted. */
static void test_nonfinite(void **state)
{
    static const struct {
        uint64_t index;
        float value;
    } planted[] = {{262144, INFINITY}, {262145, NAN},   {262143, -INFINITY},
                   {300000, NAN},      {300001, 1e30f}, {599999, INFINITY}};
    sample s = sample_new(GUFO_TYPE_F32, 1000, 200, 3);
    gufo_stats_place place;
    gufo_stats stats;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(planted); i++)
        put_f32(&s, planted[i].index, planted[i].value);
    sample_open(&s);
    stats = scan(&s);
    check_stats(&s, &stats, "nonfinite");
    check_u64(stats.nan.count, 2, "NaN");
    check_u64(stats.nan.offset, s.data_at + 4 * 262145, "offset");
    check_u64(stats.positive_infinite.offset, s.data_at + 4 * 262144, "offset");
    check_u64(stats.negative_infinite.offset, s.data_at + 4 * 262143, "offset");
    check(stats.maximum == (double)1e30f, "maximum");
    check_u64(stats.finite, 600000 - 5, "finite");
    check_u64(stats.zeros, 600000 - 6, "zeros");
    place = gufo_stats_place_of(&s.tensor, stats.maximum_at);
    check_u64(place.matrix, 1, "matrix");
    check_u64(place.row, 100, "row");
    check_u64(place.column, 1, "column");
    sample_close(&s);
}

static void test_nothing_finite(void **state)
{
    sample s = sample_new(GUFO_TYPE_F16, 50, 50, 1);
    gufo_stats stats;

    (void)state;
    memset(s.bytes, 0xff, (size_t)s.size);
    sample_open(&s);
    stats = scan(&s);
    check_u64(stats.nan.count, 2500, "NaN");
    check_u64(stats.finite + stats.bins[0] + stats.outliers_above, 0, "finite");
    check(stats.mean == 0 && stats.deviation == 0 && stats.minimum == 0, "figures");
    sample_close(&s);
}

/* ---- the same whatever works ---------------------------------------------------------------- */

static void test_same_with_all_threads_and_kernels(void **state)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_Q4_K, GUFO_TYPE_Q4_0_4_8};

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        sample s = sample_new(types[i], 256, 4600, 1);
        gufo_stats first, other;

        fill_with_random_bytes(&s, 99);
        sample_open(&s);
        first = scan_with(&s, 0, (gufo_run){.threads = 1, .cpu = GUFO_CPU_PORTABLE});
        for (unsigned threads = 0; threads < all_some_or_few(9, 3, 0); threads++) {
            other = scan_with(
                &s, 0,
                (gufo_run){.threads = threads, .cpu = cpu_level(threads % cpu_level_count())});
            check_view(((gufo_str){(const char *)&other, sizeof other}),
                       ((gufo_str){(const char *)&first, sizeof first}), "%s: %u threads",
                       s.type->name, threads);
        }
        other = scan_with(&s, GUFO_STATS_ONE_PASS, (gufo_run){.threads = 0});
        check(other.mean == first.mean && other.deviation == first.deviation, "one pass");
        check(other.high == 0 && other.bins[0] == 0 && other.top_energy == 0, "one pass");
        check(other.rms == first.rms, "one pass");
        sample_close(&s);
    }
}

/* ---- scales --------------------------------------------------------------------------------- */

/* A block is bad if and only if it decodes to something that is not finite, but for the types where
 * finite scales can give infinite values, and MXFP4, where 255 decodes to numbers. */
static bool scale_shows_in_values(uint32_t type)
{
    return type != GUFO_TYPE_Q8_K && type != GUFO_TYPE_MXFP4 && type != GUFO_TYPE_NVFP4;
}

/* Block `b`, counted in the order of elements. */
static bool block_is_finite(const sample *s, const double *values, uint64_t b)
{
    uint32_t elements = s->type->block_elements;

    for (uint64_t i = b * elements; i < (b + 1) * elements; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void test_scales_show_in_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        uint64_t bad = 0, first = 0;
        sample s;
        double *values;
        gufo_stats stats;

        if ((type->flags & GUFO_ELEMENT_QUANTIZED) == 0 || !scale_shows_in_values(type->id) ||
            (type->flags & GUFO_ELEMENT_DECODES) == 0)
            continue;
        s = sample_new(type->id, 1024, all_or_few(200, 40), 1);
        fill_with_random_bytes(&s, 77 + i);
        sample_open(&s);
        stats = scan(&s);
        values = values_of(&s);
        for (uint64_t b = 0; b < sample_count(&s) / type->block_elements; b++)
            if (!block_is_finite(&s, values, b) && bad++ == 0)
                first = b;
        check(bad > 0, "%s: nothing to find", type->name);
        check_u64(stats.bad_scales.count, bad, "%s", type->name);
        if ((type->flags & GUFO_ELEMENT_REMOVED) == 0)
            check_u64(stats.bad_scales.first, first * type->block_elements, "%s", type->name);
        free(values);
        sample_close(&s);
    }
}

/* Where scales are. */
static const struct scale_place {
    uint32_t type;
    uint32_t offset; /* in the block; of a group of interleaved blocks */
    const char *bytes;
    uint32_t size;
    uint32_t row; /* of the block, if they are interleaved */
} scale_places[] = {
    {GUFO_TYPE_Q4_0, 0, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q4_1, 0, "\x01\xfc", 2, 0},
    {GUFO_TYPE_Q4_1, 2, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q5_1, 2, "\x00\xfe", 2, 0},
    {GUFO_TYPE_Q8_0, 0, "\xff\xff", 2, 0},
    {GUFO_TYPE_Q2_K, 80, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q2_K, 82, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q3_K, 108, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q4_K, 2, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q6_K, 208, "\x00\x7c", 2, 0},
    {GUFO_TYPE_Q8_K, 0, "\x00\x00\x80\x7f", 4, 0},
    {GUFO_TYPE_IQ1_M, 48, "\x00\x00\x00\x00\x00\xc0\x00\x70", 8, 0},
    {GUFO_TYPE_TQ1_0, 52, "\x00\x7c", 2, 0},
    {GUFO_TYPE_TQ2_0, 64, "\x00\x7c", 2, 0},
    {GUFO_TYPE_MXFP4, 0, "\xff", 1, 0},
    {GUFO_TYPE_Q4_0_4_4, 4, "\x00\x7c", 2, 2},
    {GUFO_TYPE_Q4_0_8_8, 14, "\x00\xfc", 2, 7},
    {GUFO_TYPE_IQ4_NL_4_4, 0, "\x01\x7c", 2, 0},
};

/* Blocks of 512 columns, and rows of the interleaved types in groups of 8. */
static void test_places_of_scales(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(scale_places); i++) {
        const struct scale_place *p = &scale_places[i / 2];
        const uint64_t all_rows = all_or_few(560, 40);
        sample s = sample_new(p->type, 512, all_rows, 1);
        bool merged = (s.type->flags & GUFO_ELEMENT_REMOVED) != 0;
        uint64_t rows = !merged ? 1 : p->type == GUFO_TYPE_Q4_0_8_8 ? 8 : 4;
        uint64_t group_bytes = rows * s.type->block_bytes, in_row = 512 / s.type->block_elements;
        uint64_t row = all_rows - 8,
                 group = row / rows * in_row + 1; /* the second one of that row */
        gufo_stats stats;

        s.big = i % 2 == 1;
        memcpy(s.bytes + group * group_bytes + p->offset, p->bytes, p->size);
        /* A later one, whose second scale is wrong, too, counts as one. */
        memset(s.bytes + (group + 1) * group_bytes, rows == 1 ? 0xff : 0, (size_t)group_bytes);
        sample_open(&s);
        stats = scan(&s);
        check_u64(stats.bad_scales.count, rows == 1 ? 2 : 1, "%s", s.type->name);
        check_u64(stats.bad_scales.first, (row + p->row) * 512 + s.type->block_elements, "%s",
                  s.type->name);
        check_u64(stats.bad_scales.offset, s.data_at + group * group_bytes + p->offset, "%s",
                  s.type->name);
        sample_close(&s);
    }
}

static void test_every_scale_of_nvfp4_is_a_number(void **state)
{
    sample s = sample_new(GUFO_TYPE_NVFP4, 256, 16, 1);
    gufo_stats stats;

    (void)state;
    memset(s.bytes, 0xff, (size_t)s.size);
    sample_open(&s);
    stats = scan(&s);
    check_u64(stats.bad_scales.count, 0, "NVFP4");
    sample_close(&s);
}

/* ---- how scales are distributed ------------------------------------------------------------- */

static gufo_scales scan_scales(const sample *s, gufo_run run)
{
    gufo_error error = no_error();
    gufo_scales scales;

    check_ok(gufo_tensor_scan_scales(s->file, &s->tensor, &run, &scales, &error), &error, "%s",
             s->type->name);
    return scales;
}

static uint64_t scale_at(const gufo_scale_counts *counts, int exponent)
{
    return counts->exponents[exponent - GUFO_SCALE_LEAST_EXPONENT];
}

/* What each kind of number counts as.  `bytes` are those of a scale, little-endian. */
static const struct scale_kind {
    uint32_t type;
    const char *bytes;
    uint32_t offset, size;
    bool is_minimum;
    bool is_zero, is_negative, is_subnormal, is_saturated, is_nonfinite;
    int exponent; /* counted, unless it is 0 or not a number */
} scale_kinds[] = {
    {GUFO_TYPE_Q8_0, "\x00\x3c", 0, 2, .exponent = 0},
    {GUFO_TYPE_Q8_0, "\x00\x80", 0, 2, .is_zero = true},
    {GUFO_TYPE_Q8_0, "\x00\xb8", 0, 2, .is_negative = true, .exponent = -1},
    {GUFO_TYPE_Q8_0, "\x01\x00", 0, 2, .is_subnormal = true, .exponent = -24},
    {GUFO_TYPE_Q8_0, "\xff\x03", 0, 2, .is_subnormal = true, .exponent = -15},
    {GUFO_TYPE_Q8_0, "\x00\x04", 0, 2, .exponent = -14},
    {GUFO_TYPE_Q8_0, "\xff\xfb", 0, 2, .is_saturated = true, .is_negative = true, .exponent = 15},
    {GUFO_TYPE_Q8_0, "\x00\x7c", 0, 2, .is_nonfinite = true},
    {GUFO_TYPE_Q4_1, "\x00\x40", 2, 2, .is_minimum = true, .exponent = 1},
    {GUFO_TYPE_Q4_K, "\xff\x7b", 2, 2, .is_minimum = true, .is_saturated = true, .exponent = 15},
    {GUFO_TYPE_Q2_K, "\x00\x40", 80, 2, .exponent = 1},
    {GUFO_TYPE_Q8_K, "\xff\xff\x7f\x7f", 0, 4, .is_saturated = true, .exponent = 15},
    {GUFO_TYPE_Q8_K, "\x01\x00\x00\x00", 0, 4, .is_subnormal = true, .exponent = -48},
    {GUFO_TYPE_IQ1_M, "\x00\x00\x00\x00\x00\xc0\x00\x30", 48, 8, .exponent = 0},
    {GUFO_TYPE_IQ1_M, "\x00\xf0\x00\xf0\x00\xb0\x00\x70", 48, 8, .is_saturated = true,
     .exponent = 15},
    {GUFO_TYPE_MXFP4, "\x7f", 0, 1, .exponent = 0},
    {GUFO_TYPE_MXFP4, "\x4f", 0, 1, .exponent = -48},
    {GUFO_TYPE_MXFP4, "\x00", 0, 1, .exponent = -48},
    {GUFO_TYPE_MXFP4, "\xfe", 0, 1, .is_saturated = true, .exponent = 15},
    {GUFO_TYPE_MXFP4, "\xff", 0, 1, .is_nonfinite = true},
};

/* One block of a matrix is of this kind; a scale of the others is 0, but for MXFP4, which has no 0. */
static void test_kinds_of_scales(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(scale_kinds); i++) {
        const struct scale_kind *k = &scale_kinds[i / 2];
        bool has_zero = k->type != GUFO_TYPE_MXFP4;
        sample s = sample_new(k->type, 512, 3, 1);
        uint64_t blocks = 3 * 512 / s.type->block_elements;
        const gufo_scale_counts *counts;
        gufo_scales scales;

        s.big = i % 2 == 1;
        memcpy(s.bytes + s.type->block_bytes + k->offset, k->bytes, k->size);
        sample_open(&s);
        scales = scan_scales(&s, (gufo_run){.threads = 1});
        counts = k->is_minimum ? &scales.minimums : &scales.scales;
        check_u64(counts->count, blocks, "%s %zu", s.type->name, i);
        check_u64(counts->zeros, has_zero ? blocks - !k->is_zero : 0, "%s %zu", s.type->name, i);
        check_u64(counts->negative, k->is_negative, "%s %zu", s.type->name, i);
        check_u64(counts->subnormal, k->is_subnormal, "%s %zu", s.type->name, i);
        check_u64(counts->saturated, k->is_saturated, "%s %zu", s.type->name, i);
        check_u64(counts->nonfinite, k->is_nonfinite, "%s %zu", s.type->name, i);
        if (!k->is_zero && !k->is_nonfinite)
            check(scale_at(counts, k->exponent) >= 1, "%s %zu: exponent", s.type->name, i);
        for (int e = 0; has_zero && e < GUFO_SCALE_EXPONENTS; e++)
            check(counts->exponents[e] == 0 || e + GUFO_SCALE_LEAST_EXPONENT == k->exponent,
                  "%s %zu: exponent %d", s.type->name, i, e + GUFO_SCALE_LEAST_EXPONENT);
        sample_close(&s);
    }
}

static uint64_t all_exponents(const gufo_scale_counts *counts)
{
    uint64_t sum = counts->zeros + counts->nonfinite;

    for (size_t i = 0; i < GUFO_SCALE_EXPONENTS; i++)
        sum += counts->exponents[i];
    return sum;
}

/* Every type, with any bytes: each block counts once, bad ones are those of the other scan, and threads make
 * no difference. */
static void test_scales_of_every_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        gufo_scales one, several;
        sample s;
        uint64_t blocks;

        if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
            continue;
        s = sample_new(type->id, 1024, 320, 1);
        blocks = sample_count(&s) / type->block_elements;
        fill_with_random_bytes(&s, 9 + i);
        sample_open(&s);
        one = scan_scales(&s, (gufo_run){.threads = 1});
        several = scan_scales(&s, (gufo_run){.threads = 3});
        check_view(((gufo_str){(const char *)&several, sizeof several}),
                   ((gufo_str){(const char *)&one, sizeof one}), "%s", type->name);
        check(one.scales.count == 0 || one.scales.count == blocks, "%s: blocks", type->name);
        check(one.minimums.count == 0 || one.minimums.count == blocks, "%s: blocks", type->name);
        check_u64(all_exponents(&one.scales), one.scales.count, "%s", type->name);
        check_u64(all_exponents(&one.minimums), one.minimums.count, "%s", type->name);
        check((one.scales.count > 0) ==
                  ((type->flags & GUFO_ELEMENT_QUANTIZED) != 0 && type->id != GUFO_TYPE_NVFP4),
              "%s: has scales", type->name);
        if (one.minimums.count == 0)
            check_u64(one.scales.nonfinite, scan(&s).bad_scales.count, "%s", type->name);
        sample_close(&s);
    }
}

static void test_scales_are_refused(void **state)
{
    static const gufo_element_type unknown = {57, "57", 1, 1, 0};
    sample s = sample_new(GUFO_TYPE_I8, 64, 1, 1);
    gufo_scales scales;

    (void)state;
    s.type = &unknown;
    sample_open(&s);
    check(gufo_tensor_scan_scales(s.file, &s.tensor, NULL, &scales, NULL) == GUFO_E_TYPE, "type");
    check_u64(scales.scales.count, 0, "nothing");
    sample_close(&s);
}

/* ---- what cannot be looked through ---------------------------------------------------------- */

static void check_refused(const sample *s, const gufo_run *run, gufo_status status,
                          const char *part)
{
    gufo_error error = no_error();
    gufo_stats stats;

    check_status(gufo_tensor_scan(s->file, &s->tensor, 0, run, &stats, &error), status, &error,
                 "%s", part);
    check(strstr(error.message, part) != NULL, "'%s' lacks '%s'", error.message, part);
}

static void test_refused(void **state)
{
    static const gufo_element_type unknown = {57, "57", 1, 1, 0};
    static const gufo_element_type forgotten = {GUFO_TYPE_Q4_2, "Q4_2", 1, 1, 0};
    sample s = sample_new(GUFO_TYPE_I8, 64, 1, 1);

    (void)state;
    s.type = &unknown;
    sample_open(&s);
    check_refused(&s, NULL, GUFO_E_TYPE, "type 57, which is not known");
    sample_close(&s);
    s = sample_new(GUFO_TYPE_I8, 64, 1, 1);
    s.type = &forgotten;
    sample_open(&s);
    check_refused(&s, NULL, GUFO_E_TYPE, "Q4_2, which cannot be decoded");
    sample_close(&s);
    s = sample_new(GUFO_TYPE_Q4_0_4_4, 64, 6, 1);
    sample_open(&s);
    check_refused(&s, NULL, GUFO_E_ARGUMENT, "6 rows; Q4_0_4_4 merges 4");
    sample_close(&s);
    s = sample_new(GUFO_TYPE_I8, 64, 1, 1);
    sample_open(&s);
    check_refused(&s, &(gufo_run){.cpu = (gufo_cpu)99}, GUFO_E_ARGUMENT, "");
    sample_close(&s);
}

/* Of a truncated tensor all whole blocks. */
static void test_truncated(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t cut, elements;
    } cuts[] = {{GUFO_TYPE_F32, 41, 1024 * 600 - 11},
                {GUFO_TYPE_Q8_0, 41, 1024 * 600 - 64},
                {GUFO_TYPE_Q4_0_8_8, 1, 1024 * 600 - 256},
                {GUFO_TYPE_F32, 1024 * 600 * 4, 0}};
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        sample s = sample_new(cuts[i].type, 1024, 600, 1);
        gufo_error error = no_error();
        gufo_stats stats;

        fill_with_random_bytes(&s, 5);
        sample_open(&s);
        gufo_model_free(s.file);
        s.file = gufo_model_open_memory(s.b.data, s.b.len - (size_t)cuts[i].cut, &lenient, &error);
        check(s.file != NULL && gufo_model_tensor_at(s.file, 0, &s.tensor), "%s", error.message);
        stats = scan(&s);
        check_u64(stats.elements, cuts[i].elements, "%s", s.type->name);
        sample_close(&s);
    }
}

static void test_empty(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 32, 0, 1);
    gufo_stats stats;

    (void)state;
    sample_open(&s);
    stats = scan(&s);
    check_u64(stats.elements + stats.finite, 0, "empty");
    check_u64(gufo_stats_place_of(&s.tensor, 3).column, 3, "empty");
    sample_close(&s);
}

/* Data of a pipe is gone. */
static void test_pipe(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 32, 1, 1);
    gufo_error error = no_error();
    gufo_stats stats;
    gufo_tensor tensor;
    findings found;
    opened o;

    (void)state;
    sample_open(&s);
    open_way(&o, WAY_PIPE, s.b.data, s.b.len, NULL);
    check(o.file != NULL && gufo_model_tensor_at(o.file, 0, &tensor), "%s", o.error.message);
    check_status(gufo_tensor_scan(o.file, &tensor, 0, NULL, &stats, &error), GUFO_E_ARGUMENT,
                 &error, "pipe");
    findings_init(&found);
    error = no_error();
    check_status(gufo_model_check_data(o.file, NULL, findings_add, &found, &error), GUFO_E_ARGUMENT,
                 &error, "pipe");
    check_u64(found.count, 0, "pipe");
    findings_free(&found);
    close_way(&o);
    sample_close(&s);
}

/* Progress comes in order and ends at the total; whoever asks gets a stop. */
typedef struct watch {
    uint64_t calls, stop_at, done, total;
    bool sound;
} watch;

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    watch *w = context;

    w->sound = w->sound && done > w->done && done <= total && (w->calls == 0 || total == w->total);
    w->done = done;
    w->total = total;
    return ++w->calls != w->stop_at;
}

static void test_progress(void **state)
{
    sample s = sample_new(GUFO_TYPE_F16, 1000, 600, 1);
    watch w = {.sound = true};
    gufo_run run = {.threads = 3, .progress = on_progress, .progress_context = &w};

    (void)state;
    sample_open(&s);
    (void)scan_with(&s, 0, run);
    check(w.sound && w.done == w.total, "progress");
    check_u64(w.total, 2 * s.size, "two passes");
    check_u64(w.calls, 6, "three chunks, twice");
    for (uint64_t stop = 1; stop <= 6; stop++) {
        w = (watch){.sound = true, .stop_at = stop};
        check_refused(&s, &run, GUFO_E_STOPPED, "stopped");
        check_u64(w.calls, stop, "stop");
    }
    sample_close(&s);
}

/* Every failure to read, and every one to get memory. */
static void test_failures(void **state)
{
    sample s = sample_new(GUFO_TYPE_F16, 1000, 600, 1);
    counter c;
    gufo_allocator allocator;
    gufo_run run = {.threads = 2};
    gufo_error error = no_error();
    size_t reads, calls;
    gufo_stats stats;
    opened o;

    (void)state;
    sample_open(&s);
    open_way(&o, WAY_SOURCE, s.b.data, s.b.len, NULL);
    check(o.file != NULL, "%s", o.error.message);
    reads = o.source.calls;
    for (size_t n = 1; n <= 6; n++) {
        o.source.calls = reads;
        o.source.fail_at = reads + n;
        run.threads = 1;
        check_status(gufo_tensor_scan(o.file, &s.tensor, 0, &run, &stats, &error), GUFO_E_IO,
                     &error, "read %zu", n);
    }
    check_u64(o.source.bad, 0, "reads outside the file");
    close_way(&o);

    counter_init(&c);
    allocator = counter_allocator(&c);
    run = (gufo_run){.threads = 2, .allocator = &allocator};
    (void)scan_with(&s, 0, run);
    calls = c.calls;
    for (size_t n = 1; n <= calls; n++) {
        c.calls = 0;
        c.fail_at = n;
        check_status(gufo_tensor_scan(s.file, &s.tensor, 0, &run, &stats, &error), GUFO_E_MEMORY,
                     &error, "request %zu", n);
        check_u64(c.in_use, 0, "memory is left");
    }
    sample_close(&s);
}

/* Memory does not depend on the tensor, a single long row among them. */
static void test_memory(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 3000000, 1, 1);
    counter c;
    gufo_allocator allocator;
    gufo_run run = {.threads = 2, .allocator = &allocator};

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    sample_open(&s);
    (void)scan_with(&s, 0, run);
    check(c.peak < 3 << 20, "%zu bytes", c.peak);
    sample_close(&s);
}

/* ---- findings ------------------------------------------------------------------------------- */

static findings check_sample(const sample *s, const gufo_run *run)
{
    gufo_error error = no_error();
    findings found;

    findings_init(&found);
    check_ok(gufo_model_check_data(s->file, run, findings_add, &found, &error), &error, "%s",
             s->type->name);
    return found;
}

static void check_finding(const findings *found, const char *rule, uint64_t offset,
                          const char *message)
{
    const kept_finding *f = findings_get(found, rule, 0);

    check_u64(found->count, 1, "%s", rule);
    check(f != NULL, "no %s", rule);
    check_u64(f->offset, offset, "%s", rule);
    check(strcmp(f->subject, "t") == 0, "%s", f->subject);
    check(strcmp(f->message, message) == 0, "'%s'\nis not\n'%s'", f->message, message);
}

static void test_findings(void **state)
{
    sample s = sample_new(GUFO_TYPE_F32, 10, 20, 3);
    findings found;

    (void)state;
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_u64(found.count, 0, "all is well");
    findings_free(&found);
    sample_close(&s);

    s = sample_new(GUFO_TYPE_F32, 10, 20, 3);
    put_f32(&s, 10 * 20 + 10 * 7 + 9, -INFINITY);
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "data-nonfinite", s.data_at + 4 * 279,
                  "tensor \"t\": the value in matrix 1, row 7, column 9 is negative infinity");
    findings_free(&found);
    sample_close(&s);

    s = sample_new(GUFO_TYPE_F32, 10, 20, 3);
    put_f32(&s, 30, INFINITY);
    put_f32(&s, 29, NAN);
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "data-nonfinite", s.data_at + 4 * 29,
                  "tensor \"t\": 2 values are infinite or NaN; the first, in matrix 0, row 2, "
                  "column 9, is NaN");
    findings_free(&found);
    sample_close(&s);
}

/* Scales come before the values that they spoil. */
static void test_findings_of_scales(void **state)
{
    sample s = sample_new(GUFO_TYPE_Q8_0, 64, 2, 1);
    findings found;

    (void)state;
    memcpy(s.bytes + 34, "\x00\x7c\x01\xff", 4);
    memset(s.bytes + 34 + 4, 1, 30);
    memcpy(s.bytes + 3 * 34, "\x00\x7e", 2);
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "scale-nonfinite", s.data_at + 34,
                  "tensor \"t\" (Q8_0): 2 blocks have a scale that is infinite or NaN, the first "
                  "in matrix 0, row 0, column 32; 64 values of the tensor are infinite or NaN");
    findings_free(&found);
    sample_close(&s);

    s = sample_new(GUFO_TYPE_Q4_0, 64, 1, 1);
    memcpy(s.bytes + 18, "\x00\x7c", 2);
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "scale-nonfinite", s.data_at + 18,
                  "tensor \"t\" (Q4_0): 1 block has a scale that is infinite or NaN, in matrix 0, "
                  "row 0, column 32; 32 values of the tensor are infinite or NaN");
    findings_free(&found);
    sample_close(&s);

    /* 6 * 2^127, of a scale that is not wrong. */
    s = sample_new(GUFO_TYPE_MXFP4, 32, 1, 1);
    s.bytes[0] = 254;
    s.bytes[3] = 0x07;
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "data-nonfinite", s.data_at,
                  "tensor \"t\": the value in matrix 0, row 0, column 2 is infinity");
    findings_free(&found);
    sample_close(&s);

    /* Of several in one block the first value. */
    s = sample_new(GUFO_TYPE_MXFP4, 32, 1, 1);
    s.bytes[0] = 254;
    s.bytes[3] = 0x0f;
    s.bytes[4] = 0x07;
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "data-nonfinite", s.data_at,
                  "tensor \"t\": 2 values are infinite or NaN; the first, in matrix 0, row 0, "
                  "column 2, is negative infinity");
    findings_free(&found);
    sample_close(&s);
}

/* Several kinds in one block, whose offset they share: the first element is reported. */
static void test_finding_inside_a_block(void **state)
{
    static const struct {
        int8_t first, second;
        const char *kind;
    } rows[] = {{127, -127, "infinity"}, {-127, 127, "negative infinity"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum { CODES = 4 }; /* of Q8_K, behind the scale */
        sample s = sample_new(GUFO_TYPE_Q8_K, 256, 2, 1);
        char message[200];
        findings found;

        put_f32(&s, 0, 3e38f);
        s.bytes[CODES + 7] = (uint8_t)rows[i].first;
        s.bytes[CODES + 9] = (uint8_t)rows[i].second;
        sample_open(&s);
        found = check_sample(&s, NULL);
        snprintf(message, sizeof message,
                 "tensor \"t\": 2 values are infinite or NaN; the first, in matrix 0, row 0, "
                 "column 7, is %s",
                 rows[i].kind);
        check_finding(&found, "data-nonfinite", s.data_at, message);
        findings_free(&found);
        sample_close(&s);
    }
}

/* For two dimensions no matrix is reported. */
static void test_finding_in_a_matrix(void **state)
{
    builder b = builder_new((encoding){3, false});
    findings found;
    gufo_error error = no_error();
    gufo_model *file;

    (void)state;
    builder_header(&b, 1, 0);
    builder_tensor(&b, "t", GUFO_TYPE_F32, 2, (uint64_t[]){2, 2}, 0);
    builder_pad(&b, 32);
    for (int i = 0; i < 4; i++)
        builder_f32(&b, i == 3 ? NAN : 0);
    file = open_built(&b, "matrix");
    findings_init(&found);
    check_ok(gufo_model_check_data(file, NULL, findings_add, &found, &error), &error, "check");
    check_finding(&found, "data-nonfinite", b.len - 4,
                  "tensor \"t\": the value in row 1, column 1 is NaN");
    findings_free(&found);
    gufo_model_free(file);
    builder_free(&b);
}

/* Places are asked for of any tensor, those without dimensions among them. */
static void test_places(void **state)
{
    static const struct {
        uint64_t dims[4], index;
        struct {
            uint64_t matrix, row, column;
        } place;
    } rows[] = {
        {{3, 2, 2, 1}, 11, {1, 1, 2}}, {{3, 2, 2, 2}, 23, {3, 1, 2}}, {{7, 1, 1, 1}, 6, {0, 0, 6}},
        {{0, 0, 0, 0}, 0, {0, 0, 0}},  {{4, 0, 1, 1}, 3, {0, 0, 3}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_tensor tensor = {.type = GUFO_TYPE_F32};
        gufo_stats_place got;

        memcpy(tensor.dims, rows[i].dims, sizeof tensor.dims);
        got = gufo_stats_place_of(&tensor, rows[i].index);
        check_u64(got.matrix, rows[i].place.matrix, "row %zu", i);
        check_u64(got.row, rows[i].place.row, "row %zu", i);
        check_u64(got.column, rows[i].place.column, "row %zu", i);
    }
}

static void test_finding_of_what_is_unchecked(void **state)
{
    static const gufo_element_type unknown = {57, "57", 1, 1, 0};
    sample s = sample_new(GUFO_TYPE_I8, 64, 1, 1);
    findings found;

    (void)state;
    s.type = &unknown;
    sample_open(&s);
    found = check_sample(&s, NULL);
    check_finding(&found, "data-unchecked", s.data_at,
                  "tensor \"t\" has element type 57, which is not known: its data was not checked");
    findings_free(&found);
    sample_close(&s);
}

/* One bar for all tensors; a stop ends the check. */
static void test_check_progress(void **state)
{
    enum { COLUMNS = 300000, TENSORS = 3 };
    watch w = {.sound = true};
    gufo_run run = {.threads = 2, .progress = on_progress, .progress_context = &w};
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *file;
    findings found;

    (void)state;
    builder_header(&b, TENSORS, 0);
    for (uint64_t i = 0; i < TENSORS; i++)
        builder_tensor(&b, (const char *[]){"a", "b", "c"}[i], i == 1 ? 57 : GUFO_TYPE_I8, 1,
                       (uint64_t[]){COLUMNS}, i * COLUMNS);
    builder_pad(&b, 32);
    builder_fill(&b, 1, TENSORS * COLUMNS);
    file = open_built(&b, "progress");
    findings_init(&found);
    check_ok(gufo_model_check_data(file, &run, findings_add, &found, &error), &error, "check");
    check(w.sound && w.done == TENSORS * COLUMNS && w.total == w.done, "progress");
    check_u64(w.calls, 4, "two chunks each of the two that can be decoded");
    check_u64(found.count, 1, "one is unknown");
    w = (watch){.sound = true, .stop_at = 3};
    check_status(gufo_model_check_data(file, &run, findings_add, &found, &error), GUFO_E_STOPPED,
                 &error, "stop");
    findings_free(&found);
    gufo_model_free(file);
    builder_free(&b);
}

/* ---- all tensors ---------------------------------------------------------------------------- */

/* Two of a type with scales, one of floats, one that begins inside another, and one of an unknown type. */
static gufo_model *open_several(builder *b, uint64_t rows)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t offset;
    } tensors[] = {{"a", GUFO_TYPE_Q8_0, 0},
                   {"b", GUFO_TYPE_F32, 1},
                   {"c", GUFO_TYPE_Q8_0, 5},
                   {"inside", GUFO_TYPE_Q8_0, 5},
                   {"unknown", 57, 6}};
    const gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    uint64_t step = rows * 34; /* bytes of a, with the floats four times */
    gufo_error error = no_error();
    gufo_model *file;

    step = (step + 31) / 32 * 32;
    *b = builder_new((encoding){3, false});
    builder_header(b, COUNT_OF(tensors), 0);
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        builder_tensor(b, tensors[i].name, tensors[i].type, 2, (uint64_t[]){32, rows},
                       tensors[i].offset * step + (i == 3 ? 32 : 0));
    builder_pad(b, 32);
    builder_fill(b, 1, (size_t)(7 * step));
    file = gufo_model_open_memory(b->data, b->len, &lenient, &error);
    check(file != NULL, "%s", error.message);
    return file;
}

static void test_all_tensors(void **state)
{
    enum { ROWS = 4000 };
    watch w = {.sound = true};
    gufo_run run = {.threads = 2, .progress = on_progress, .progress_context = &w};
    gufo_error error = no_error();
    gufo_scales scales;
    gufo_tensor tensor;
    gufo_stats stats;
    builder b;
    gufo_model *file = open_several(&b, ROWS);
    gufo_model_numbers *numbers = gufo_model_numbers_new(file, NULL, &run, &error);

    (void)state;
    check(numbers != NULL, "%s", error.message);
    check(w.sound && w.done == w.total, "progress");
    check_u64(w.total, ROWS * (3 * 34 + 2 * 128 + 3 * 34), "bytes of all readings");
    check_u64(numbers->tensors, 5, "tensors");
    for (uint64_t i = 0; i < 3; i++) {
        check(gufo_model_tensor_at(file, i, &tensor), "tensor");
        check_ok(gufo_tensor_scan(file, &tensor, 0, NULL, &stats, &error), &error, "scan");
        check(memcmp(&numbers->stats[i], &stats, sizeof stats) == 0, "tensor %" PRIu64, i);
    }
    check_u64(numbers->stats[3].elements, 0, "inside another one");
    check_u64(numbers->stats[4].elements, 0, "unknown");
    check_u64(numbers->scales_count, 1, "types with scales");
    check_u64(numbers->scales[0].type, GUFO_TYPE_Q8_0, "type");
    check_ok(gufo_tensor_scan_scales(file, &tensor, NULL, &scales, &error), &error, "scales");
    check_u64(scales.scales.count, ROWS, "scales of a tensor");
    check_u64(numbers->scales[0].scales.count, 2 * ROWS, "scales of the type");
    check_u64(numbers->scales[0].minimums.count, 0, "no minimums");
    gufo_model_numbers_free(numbers);
    gufo_model_numbers_free(NULL);
    gufo_model_free(file);
    builder_free(&b);
}

/* A stop in any reading, each failure of memory, and what is no option. */
static void test_all_tensors_fail(void **state)
{
    enum { ROWS = 4000 };
    const gufo_model_numbers_options later = {.reserved = {1}};
    gufo_model_numbers *numbers = NULL;
    gufo_error error = no_error();
    builder b;
    gufo_model *file = open_several(&b, ROWS);
    watch w = {.sound = true};
    gufo_run run = {.threads = 1, .progress = on_progress, .progress_context = &w};
    uint64_t calls;

    (void)state;
    gufo_model_numbers_free(gufo_model_numbers_new(file, NULL, &run, &error));
    calls = w.calls;
    for (uint64_t stop = 1; stop <= calls; stop++) {
        w = (watch){.sound = true, .stop_at = stop};
        check(gufo_model_numbers_new(file, NULL, &run, &error) == NULL, "stop %" PRIu64, stop);
        check_u64(error.code, GUFO_E_STOPPED, "stop");
        check_u64(w.calls, stop, "stop");
    }
    for (size_t at = 1; numbers == NULL; at++) {
        gufo_allocator allocator;
        const gufo_model_numbers_options options = {.allocator = &allocator};
        counter c;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = at;
        numbers = gufo_model_numbers_new(
            file, &options, &(gufo_run){.threads = 1, .allocator = &allocator}, &error);
        check(numbers != NULL || error.code == GUFO_E_MEMORY, "request %zu", at);
        gufo_model_numbers_free(numbers);
        check_u64(c.in_use, 0, "request %zu", at);
    }
    check(gufo_model_numbers_new(file, &later, NULL, &error) == NULL, "reserved");
    check_u64(error.code, GUFO_E_ARGUMENT, "reserved");
    check(gufo_model_numbers_new(file, NULL, &(gufo_run){.cpu = (gufo_cpu)99}, &error) == NULL,
          "cpu");
    check_u64(error.code, GUFO_E_ARGUMENT, "cpu");
    gufo_model_free(file);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_beyond_the_range),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_negative_zero),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_nothing_finite),
        cmocka_unit_test(test_same_with_all_threads_and_kernels),
        cmocka_unit_test(test_scales_show_in_values),
        cmocka_unit_test(test_places_of_scales),
        cmocka_unit_test(test_every_scale_of_nvfp4_is_a_number),
        cmocka_unit_test(test_kinds_of_scales),
        cmocka_unit_test(test_scales_of_every_type),
        cmocka_unit_test(test_scales_are_refused),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_findings_of_scales),
        cmocka_unit_test(test_finding_inside_a_block),
        cmocka_unit_test(test_finding_in_a_matrix),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_finding_of_what_is_unchecked),
        cmocka_unit_test(test_check_progress),
        cmocka_unit_test(test_all_tensors),
        cmocka_unit_test(test_all_tensors_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
