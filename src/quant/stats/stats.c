/* Statistics of a tensor's data, in two passes:
 *
 *     first     mean, deviation, extremes, zeros, what is not finite, scales
 *     second    with them: outliers, histogram, the energy of the largest
 *
 * A piece that is in the cache is looked through twice by itself, so that squares are those of
 * differences from a mean near by, and nothing is lost to cancellation; two parts with n and k
 * values then make one:
 *
 *     mean    = mean_n + d k / (n + k)                      d = mean_k - mean_n
 *     squares = squares_n + squares_k + d d n k / (n + k)
 *
 * (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances,
 * 1979.)  Parts are joined in the order of the data.  Of doubles so large that squares would
 * overflow, both are kept in units of a power of two. */
#include "base/bytes.h"
#include "quant/stats/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sums ----------------------------------------------------------------------------------- */

/* Loops over a piece add in LANES sums side by side, which processors do in one go, and add those
 * up in a fixed order. */
enum { LANES = 8 };

static double add_lanes(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
           ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

static double sum_of(const double *values, uint64_t count)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += values[i + k];
    for (size_t k = 0; i < count; i++, k++)
        lanes[k] += values[i];
    return add_lanes(lanes);
}

static double squares_of(const double *values, uint64_t count, double mean)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += (values[i + k] - mean) * (values[i + k] - mean);
    for (size_t k = 0; i < count; i++, k++)
        lanes[k] += (values[i] - mean) * (values[i] - mean);
    return add_lanes(lanes);
}

typedef struct extremes {
    double low, high;
} extremes;

static extremes extremes_of(const double *values, uint64_t count)
{
    double low[LANES], high[LANES];
    uint64_t i = 0;

    for (size_t k = 0; k < LANES; k++)
        low[k] = high[k] = values[0];
    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            low[k] = values[i + k] < low[k] ? values[i + k] : low[k];
            high[k] = values[i + k] > high[k] ? values[i + k] : high[k];
        }
    }
    for (; i < count; i++) {
        low[0] = values[i] < low[0] ? values[i] : low[0];
        high[0] = values[i] > high[0] ? values[i] : high[0];
    }
    for (size_t k = 1; k < LANES; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    return (extremes){low[0], high[0]};
}

static uint64_t zeros_of(const double *values, uint64_t count)
{
    uint64_t zeros = 0;

    for (uint64_t i = 0; i < count; i++)
        zeros += values[i] == 0;
    return zeros;
}

/* ---- first pass ----------------------------------------------------------------------------- */

/* What is known of some part of the data. */
typedef struct moments {
    uint64_t looked_at, finite, zeros;
    double mean, squares; /* sum of the squares of differences from the mean */
    int exponent;         /* both are those of values / 2^exponent */
    double minimum, maximum;
    uint64_t minimum_at, maximum_at;
    gufo_stats_find nan, positive_infinite, negative_infinite, bad_scales;
} moments;

/* For numbers whose magnitudes are up to `largest`: 0 unless sums of their squares may overflow. */
static int exponent_for(double largest)
{
    return largest < 0x1p400 ? 0 : ilogb(largest);
}

static void change_exponent(moments *m, int exponent)
{
    m->mean = ldexp(m->mean, m->exponent - exponent);
    m->squares = ldexp(m->squares, 2 * (m->exponent - exponent));
    m->exponent = exponent;
}

/* Of `more` mean and squares are changed, too. */
static void join(moments *m, moments *more)
{
    if (m->exponent < more->exponent)
        change_exponent(m, more->exponent);
    if (more->exponent < m->exponent)
        change_exponent(more, m->exponent);
    double n = (double)m->finite, k = (double)more->finite, d = more->mean - m->mean;

    m->looked_at += more->looked_at;
    m->zeros += more->zeros;
    stats_find_add(&m->nan, &more->nan);
    stats_find_add(&m->positive_infinite, &more->positive_infinite);
    stats_find_add(&m->negative_infinite, &more->negative_infinite);
    stats_find_add(&m->bad_scales, &more->bad_scales);
    if (more->finite == 0)
        return;
    if (m->finite == 0 || more->minimum < m->minimum) {
        m->minimum = more->minimum;
        m->minimum_at = more->minimum_at;
    }
    if (m->finite == 0 || more->maximum > m->maximum) {
        m->maximum = more->maximum;
        m->maximum_at = more->maximum_at;
    }
    m->mean = m->finite == 0 ? more->mean : m->mean + d * (k / (n + k));
    m->squares =
        m->finite == 0 ? more->squares : m->squares + more->squares + d * d * (n * (k / (n + k)));
    m->finite += more->finite;
}

/* Notes values that are not finite, and copies the others to `finite`.  Returns how many there are.
 */
static uint64_t sort_out(moments *m, const stats_piece *piece, double *finite)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < piece->count; i++) {
        double value = piece->values[i];

        if (isfinite(value)) {
            finite[count++] = value;
            continue;
        }
        gufo_stats_find *find = isnan(value) ? &m->nan
                                : value > 0  ? &m->positive_infinite
                                             : &m->negative_infinite;
        gufo_stats_find one = {
            .count = 1, .first = stats_index(piece, i), .offset = stats_offset(piece, i)};

        stats_find_add(find, &one);
    }
    return count;
}

static uint64_t index_of(const stats_piece *piece, double value)
{
    uint64_t i = 0;

    while (i < piece->count - 1 && piece->values[i] != value)
        i++;
    return stats_index(piece, i);
}

/* Minimum and maximum of a piece are looked for a second time only if they are new ones. */
static void note_extremes(moments *m, const moments *all, const stats_piece *piece, extremes e)
{
    m->minimum = e.low;
    m->maximum = e.high;
    if (all->finite == 0 || e.low < all->minimum)
        m->minimum_at = index_of(piece, e.low);
    if (all->finite == 0 || e.high > all->maximum)
        m->maximum_at = index_of(piece, e.high);
}

/* Divides them by 2^exponent, into `scaled`. */
static const double *scale(const double *values, uint64_t count, int exponent, double *scaled)
{
    for (uint64_t i = 0; i < count; i++)
        scaled[i] = ldexp(values[i], -exponent);
    return scaled;
}

static void measure_piece(const void *context, const stats_piece *piece, void *result)
{
    double others[STATS_PIECE];
    const double *values = piece->values;
    moments *all = result, m = {.looked_at = piece->count, .finite = piece->count};
    double sum = sum_of(values, piece->count);

    (void)context;
    if (!isfinite(sum)) { /* one value that is not finite makes the sum such */
        m.finite = sort_out(&m, piece, others);
        values = others;
    }
    if (m.finite > 0) {
        extremes e = extremes_of(values, m.finite);

        note_extremes(&m, all, piece, e);
        m.zeros = zeros_of(values, m.finite);
        m.exponent = exponent_for(fmax(fabs(e.low), fabs(e.high)));
        if (m.exponent != 0)
            values = scale(values, m.finite, m.exponent, others);
        if (values == others)
            sum = sum_of(values, m.finite);
        m.mean = sum / (double)m.finite;
        m.squares = squares_of(values, m.finite, m.mean);
    }
    stats_scales_count(piece, &m.bad_scales);
    join(all, &m);
}

static void take_moments(void *context, const void *result)
{
    moments more = *(const moments *)result;

    join(context, &more);
}

/* ---- second pass ---------------------------------------------------------------------------- */

/* Bins from `low` to `high`. */
typedef struct range {
    double low, high;
    double factor; /* the power of two that makes numbers of about 1 of the differences */
    double bins;   /* per such a number */
} range;

typedef struct bins {
    uint64_t below, above;
    uint64_t counts[GUFO_STATS_BINS];
} bins;

/* Magnitudes, the largest first: a bin is a 32nd part of an octave.  The last one has all that are below
 * 2^-24 of the largest, whose squares do not matter. */
enum { OCTAVE = 32, MAGNITUDES = 24 * OCTAVE, MANTISSA = 52 };

typedef struct magnitudes {
    uint64_t counts[MAGNITUDES];
    double squares[MAGNITUDES]; /* of values times the factor */
} magnitudes;

typedef struct spread {
    bins bins;
    magnitudes sizes;
} spread;

typedef struct distribution {
    range range;
    double factor; /* the power of two that makes the largest magnitude about 1 */
    spread spread;
} distribution;

/* All values but outliers. */
static range choose_range(const gufo_stats *s)
{
    double reach = GUFO_STATS_OUTLIER * s->deviation, half;
    range r = {.low = fmax(s->minimum, s->mean - reach), .high = fmin(s->maximum, s->mean + reach)};

    if (!(r.high > r.low))
        return r;
    half = r.high / 2 - r.low / 2; /* the difference itself may overflow */
    r.factor = ldexp(1, half < 0x1p1000 ? -ilogb(half) : -1000);
    r.bins = GUFO_STATS_BINS / (r.high * r.factor - r.low * r.factor);
    return r;
}

/* Of the least numbers the power itself would be infinite. */
static double factor_for(double largest)
{
    return largest > 0 ? ldexp(1, largest > 0x1p-1000 ? -ilogb(largest) : 1000) : 1;
}

static size_t bin_of(const range *r, double value)
{
    double bin = (value * r->factor - r->low * r->factor) * r->bins;

    return bin < GUFO_STATS_BINS ? (size_t)bin : GUFO_STATS_BINS - 1;
}

/* Numbers that are not negative have the order of their bits: exponent and five bits of the mantissa are
 * the octave and its part. */
static size_t size_of(double magnitude)
{
    uint64_t bits, top = (UINT64_C(1023) * OCTAVE) + OCTAVE - 1; /* just below 2 */

    memcpy(&bits, &magnitude, sizeof bits);
    bits >>= MANTISSA - 5;
    return top - bits < MAGNITUDES ? (size_t)(top - bits) : MAGNITUDES - 1;
}

static void count_piece(const void *context, const stats_piece *piece, void *result)
{
    const distribution *d = context;
    const range *r = &d->range;
    spread *s = result;

    for (uint64_t i = 0; i < piece->count; i++) {
        double value = piece->values[i], magnitude = fabs(value) * d->factor;

        if (!isfinite(value))
            continue;
        if (value >= r->low && value <= r->high)
            s->bins.counts[bin_of(r, value)]++;
        else
            *(value < r->low ? &s->bins.below : &s->bins.above) += 1;
        s->sizes.counts[size_of(magnitude)]++;
        s->sizes.squares[size_of(magnitude)] += magnitude * magnitude;
    }
}

static void take_spread(void *context, const void *result)
{
    spread *sum = &((distribution *)context)->spread;
    const spread *more = result;

    sum->bins.below += more->bins.below;
    sum->bins.above += more->bins.above;
    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        sum->bins.counts[i] += more->bins.counts[i];
    for (size_t i = 0; i < MAGNITUDES; i++) {
        sum->sizes.counts[i] += more->sizes.counts[i];
        sum->sizes.squares[i] += more->sizes.squares[i];
    }
}

/* Of the bin that the last of `count` values is in, they have an equal share. */
static double share_of_largest(const magnitudes *sizes, uint64_t count)
{
    double all = 0, largest = 0;

    for (size_t i = 0; i < MAGNITUDES; i++) {
        uint64_t taken = sizes->counts[i] < count ? sizes->counts[i] : count;

        all += sizes->squares[i];
        if (taken > 0)
            largest += sizes->squares[i] * ((double)taken / (double)sizes->counts[i]);
        count -= taken;
    }
    return all > 0 ? fmin(largest / all, 1) : 0;
}

/* ---- the scan ------------------------------------------------------------------------------- */

static double largest_of(const gufo_stats *s)
{
    return fmax(fabs(s->minimum), fabs(s->maximum));
}

double gufo_stats_peak(const gufo_stats *s)
{
    return s->rms > 0 ? largest_of(s) / s->rms : 0;
}

static void fill_first(gufo_stats *out, const moments *m)
{
    *out = (gufo_stats){.elements = m->looked_at,
                        .finite = m->finite,
                        .zeros = m->zeros,
                        .minimum = m->minimum + 0.0, /* not -0 */
                        .maximum = m->maximum + 0.0,
                        .minimum_at = m->minimum_at,
                        .maximum_at = m->maximum_at,
                        .mean = ldexp(m->mean, m->exponent),
                        .nan = m->nan,
                        .positive_infinite = m->positive_infinite,
                        .negative_infinite = m->negative_infinite,
                        .bad_scales = m->bad_scales};
    if (m->finite == 0)
        return;
    out->mean = fmin(fmax(out->mean, out->minimum), out->maximum); /* it may have been rounded up */
    out->deviation = ldexp(sqrt(m->squares / (double)m->finite), m->exponent);
    out->rms = ldexp(sqrt(m->mean * m->mean + m->squares / (double)m->finite), m->exponent);
    out->rms = fmin(out->rms, largest_of(out)); /* likewise */
}

static void fill_second(gufo_stats *out, const distribution *d)
{
    out->low = d->range.low;
    out->high = d->range.high;
    out->outliers_below = d->spread.bins.below;
    out->outliers_above = d->spread.bins.above;
    memcpy(out->bins, d->spread.bins.counts, sizeof out->bins);
    out->top_energy = share_of_largest(&d->spread.sizes, (out->finite - 1) / GUFO_STATS_TOP + 1);
}

gufo_status gufo_tensor_scan(const gufo_model *model, const gufo_tensor *tensor, uint32_t flags,
                             const gufo_run *run, gufo_stats *out, gufo_error *error)
{
    bool both = (flags & GUFO_STATS_ONE_PASS) == 0;
    moments m = {0};
    distribution d = {0};
    stats_layout layout;
    stats_pass pass = {.model = model,
                       .tensor = tensor,
                       .layout = &layout,
                       .run = run_of(run),
                       .swapped = gufo_model_facts(model).byte_order == GUFO_BIG_ENDIAN};
    gufo_status status = run_check(pass.run, error);

    *out = (gufo_stats){0};
    if (status == GUFO_OK)
        status = flags_check(flags, GUFO_STATS_ONE_PASS, "gufo_tensor_scan", error);
    if (status == GUFO_OK)
        status = stats_lay_out(tensor, &layout, error);
    if (status != GUFO_OK)
        return status;
    uint64_t bytes = layout.groups * layout.group_bytes;

    pass.bytes_in_all = both ? 2 * bytes : bytes;
    pass.context = &m;
    pass.result_size = sizeof m;
    pass.visit = measure_piece;
    pass.take = take_moments;
    status = stats_run_pass(&pass, error);
    fill_first(out, &m);
    if (status != GUFO_OK || !both || m.finite == 0)
        return status;
    d.range = choose_range(out);
    d.factor = factor_for(largest_of(out));
    pass.bytes_before = bytes;
    pass.context = &d;
    pass.result_size = sizeof d.spread;
    pass.visit = count_piece;
    pass.take = take_spread;
    status = stats_run_pass(&pass, error);
    fill_second(out, &d);
    return status;
}

gufo_stats_place gufo_stats_place_of(const gufo_tensor *tensor, uint64_t index)
{
    uint64_t columns = tensor->dims[0] > 0 ? tensor->dims[0] : 1;
    uint64_t rows = tensor->dims[1] > 0 ? tensor->dims[1] : 1;
    uint64_t row = index / columns;

    return (gufo_stats_place){.matrix = row / rows, .row = row % rows, .column = index % columns};
}

place_text stats_place_text(const gufo_tensor *tensor, uint64_t index)
{
    gufo_stats_place place = gufo_stats_place_of(tensor, index);
    place_text t = {""};
    int len = 0;

    if (tensor->n_dims > 2)
        len = snprintf(t.text, sizeof t.text, "matrix %" PRIu64 ", ", place.matrix);
    (void)snprintf(t.text + len, sizeof t.text - (size_t)len, "row %" PRIu64 ", column %" PRIu64,
                   place.row, place.column);
    return t;
}
