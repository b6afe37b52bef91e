/* Statistics of a tensor's data, in two passes:
 *
 *     first     mean, deviation, extremes, zeros, what is not finite, scales
 *     second    with them: outliers, histogram
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

/* ---- scales --------------------------------------------------------------------------------- */

/* Scales that are not numbers: infinite, NaN, or a code that no writer uses.
 *
 * They are looked for where they are in the block, not in what it decodes to: an exponent byte of
 * 255 decodes to finite numbers, and a scale that is infinite makes 256 values useless, but is one
 * fault. */

typedef bool scale_test(const uint8_t *at);

/* `count` scales of `width` bytes from `offset` on, in a group of blocks. */
typedef struct scales_rule {
    uint32_t type;
    uint8_t offset, count, width;
    scale_test *is_bad;
} scales_rule;

static bool half_is_bad(const uint8_t *at)
{
    return (load_u16(at, HOST_IS_BIG_ENDIAN) & 0x7c00u) == 0x7c00u;
}

static bool float_is_bad(const uint8_t *at)
{
    return (load_u32(at, HOST_IS_BIG_ENDIAN) & 0x7f800000u) == 0x7f800000u;
}

/* E8M0, where 255 means NaN. */
static bool exponent_is_bad(const uint8_t *at)
{
    return *at == 255;
}

/* A binary16 number in the top four bits of four words, the lowest bits first:
 *
 *     word      0         1         2         3
 *     bits    3 2 1 0   7 6 5 4   B A 9 8   F E D C      exponent: E D C B A */
static bool split_half_is_bad(const uint8_t *at)
{
    return (load_u16(at + 4, HOST_IS_BIG_ENDIAN) & 0xc000u) == 0xc000u &&
           (load_u16(at + 6, HOST_IS_BIG_ENDIAN) & 0x7000u) == 0x7000u;
}

/* Q8_1 has a sum behind its scale, which does not matter to values.  Every code of NVFP4's scales
 * is a number. */
static const scales_rule rules[] = {
    {GUFO_TYPE_Q4_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q4_1, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q5_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q5_1, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q8_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q8_1, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_Q2_K, 80, 2, 2, half_is_bad},    {GUFO_TYPE_Q3_K, 108, 1, 2, half_is_bad},
    {GUFO_TYPE_Q4_K, 0, 2, 2, half_is_bad},     {GUFO_TYPE_Q5_K, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q6_K, 208, 1, 2, half_is_bad},   {GUFO_TYPE_Q8_K, 0, 1, 4, float_is_bad},
    {GUFO_TYPE_IQ1_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ1_M, 48, 1, 8, split_half_is_bad},
    {GUFO_TYPE_IQ2_XXS, 0, 1, 2, half_is_bad},  {GUFO_TYPE_IQ2_XS, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ2_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ3_XXS, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ3_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ4_NL, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ4_XS, 0, 1, 2, half_is_bad},   {GUFO_TYPE_TQ1_0, 52, 1, 2, half_is_bad},
    {GUFO_TYPE_TQ2_0, 64, 1, 2, half_is_bad},   {GUFO_TYPE_Q1_0, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_Q2_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_MXFP4, 0, 1, 1, exponent_is_bad},
    {GUFO_TYPE_Q4_0_4_4, 0, 4, 2, half_is_bad}, {GUFO_TYPE_Q4_0_4_8, 0, 4, 2, half_is_bad},
    {GUFO_TYPE_Q4_0_8_8, 0, 8, 2, half_is_bad}, {GUFO_TYPE_IQ4_NL_4_4, 0, 4, 2, half_is_bad},
};

/* NULL for a type that has no scales that can be wrong. */
static const scales_rule *rule_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

/* A bad scale, number `scale` of group `group` of the piece.  Interleaved blocks have one each, of
 * their own row. */
static gufo_stats_find find_at(const stats_piece *piece, const scales_rule *s, uint64_t group,
                               uint32_t scale)
{
    const stats_layout *layout = piece->layout;
    uint64_t row = layout->rows > 1 ? scale : 0;
    uint64_t at = (row * piece->groups + group) * layout->type->block_elements;

    return (gufo_stats_find){.count = 1,
                             .first = stats_index(piece, at),
                             .offset =
                                 stats_offset(piece, at) + s->offset + (uint64_t)scale * s->width};
}

static void count_in_group(const stats_piece *piece, const scales_rule *s, uint64_t group,
                           gufo_stats_find *find)
{
    const stats_layout *layout = piece->layout;
    const uint8_t *at = piece->blocks + group * layout->group_bytes + s->offset;

    for (uint32_t i = 0; i < s->count; i++, at += s->width) {
        if (!s->is_bad(at))
            continue;
        gufo_stats_find one = find_at(piece, s, group, i);

        stats_find_add(find, &one);
        if (layout->rows == 1)
            return; /* one block, however many of its scales are bad */
    }
}

/* Adds the blocks of a piece whose scales are infinite, NaN, or not allowed. */
static void stats_scales_count(const stats_piece *piece, gufo_stats_find *find)
{
    const scales_rule *s = rule_of(piece->layout->type->id);

    for (uint64_t group = 0; s != NULL && group < piece->groups; group++)
        count_in_group(piece, s, group, find);
}

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

typedef struct distribution {
    range range;
    bins bins;
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

static size_t bin_of(const range *r, double value)
{
    double bin = (value * r->factor - r->low * r->factor) * r->bins;

    return bin < GUFO_STATS_BINS ? (size_t)bin : GUFO_STATS_BINS - 1;
}

static void count_piece(const void *context, const stats_piece *piece, void *result)
{
    const range *r = &((const distribution *)context)->range;
    bins *b = result;

    for (uint64_t i = 0; i < piece->count; i++) {
        double value = piece->values[i];

        if (value >= r->low && value <= r->high)
            b->counts[bin_of(r, value)]++;
        else if (isfinite(value))
            *(value < r->low ? &b->below : &b->above) += 1;
    }
}

static void take_bins(void *context, const void *result)
{
    bins *sum = &((distribution *)context)->bins;
    const bins *more = result;

    sum->below += more->below;
    sum->above += more->above;
    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        sum->counts[i] += more->counts[i];
}

/* ---- the scan ------------------------------------------------------------------------------- */

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
}

static void fill_second(gufo_stats *out, const distribution *d)
{
    out->low = d->range.low;
    out->high = d->range.high;
    out->outliers_below = d->bins.below;
    out->outliers_above = d->bins.above;
    memcpy(out->bins, d->bins.counts, sizeof out->bins);
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
    pass.bytes_before = bytes;
    pass.context = &d;
    pass.result_size = sizeof d.bins;
    pass.visit = count_piece;
    pass.take = take_bins;
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
