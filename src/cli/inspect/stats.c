/* gufo stats FILE...: statistics of the numbers in tensors.
 *
 * The library scans the data; this file selects tensors and passes the results on, tensor by
 * tensor, to the report. */
#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/files/progress.h"
#include "cli/core/options/names.h"
#include "cli/core/records/model_json.h"
#include "cli/core/records/record.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "gufo/quant.h"

#include <inttypes.h>

typedef struct stats_options {
    command_input base;
    input_options input;
    option_texts globs; /* --tensors; none: all */
    gufo_cpu cpu;
} stats_options;

/* Sums over the tensors that are shown. */
typedef struct stats_totals {
    uint64_t tensors;
    uint64_t undecoded; /* of these, tensors without known values */
    uint64_t elements, finite, zeros, bad_scales, outliers;
} stats_totals;

/* The state of one FILE argument. */
typedef struct stats_report {
    const stats_options *options;
    const input *in;
    uint64_t selected; /* tensors */
    uint64_t bytes;    /* of the selected tensors, as far as they are there */
    stats_totals totals;
    record_type type; /* of a tensor */
    table table;
    bool apart; /* the line before is empty */
    json_writer j;
    progress bar;
    uint64_t bytes_before; /* a tensor is scanned twice: all bytes of those before it */
} stats_report;

/* One tensor. */
typedef struct stats_row {
    gufo_tensor tensor;
    bool decoded;
    gufo_stats stats;
    gufo_scales scales; /* counted for JSON, and with -v */
    gufo_error failure; /* if it is not decoded: why */
} stats_row;

/* What gufo stats reports.  In JSON one object per FILE; for people a table with one line per tensor, and what is wrong with it or worth a
 * drawing below.
 *
 *     model.gguf
 *
 *     Tensors (2 of 21)
 *       name                 type  shape      min    max      mean     std  zeros  outliers
 *       blk.0.attn_q.weight  F16   64 x 64  -0.08  0.079  1.21e-05  0.0202  0.1 %         3
 *         NaN: 2, the first in row 7, column 12
 *
 *           ....#.
 *          .#######
 *         ##########
 *         -0.08                0.079
 *
 *     2 tensors, 4,160 values: 2 infinite or NaN, 3 outliers, 0.1 % zeros */

#define FEW_TENSORS 4 /* get their histograms without -v */
#define HISTOGRAM_ROWS 4
#define BEFORE 4      /* columns */
#define MOST_MERGED 2 /* bins in a column: 36 columns are always there */

/* ---- numbers -------------------------------------------------------------------------------- */

/* "0 %", "0.01 %", "<0.01 %", "12.5 %": never 0 for something, nor 100 for less than all. */
static human_text percent_text(uint64_t part, uint64_t whole)
{
    double percent = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    human_text t;

    if (part == 0 || part == whole)
        snprintf(t.text, sizeof t.text, "%d %%", part == 0 ? 0 : 100);
    else if (percent < 0.01)
        snprintf(t.text, sizeof t.text, "<0.01 %%");
    else if (percent > 99.9)
        snprintf(t.text, sizeof t.text, ">99.9 %%");
    else
        snprintf(t.text, sizeof t.text, "%.3g %%", percent);
    return t;
}

/* ---- histograms ----------------------------------------------------------------------------- */

/* The looks of a cell of a column, from empty to full. */
typedef struct cell_ramp {
    size_t levels;
    const char *cells[9];
} cell_ramp;

static const cell_ramp block_ramp = {8, {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
static const cell_ramp ascii_ramp = {3, {" ", ".", ":", "#"}};

/* The height of a column in levels: at least 1 if it is not empty. */
static uint64_t height_of(uint64_t count, uint64_t most, uint64_t levels)
{
    uint64_t height = (uint64_t)((double)count / (double)most * (double)levels);

    return count > 0 && height == 0 ? 1 : height;
}

/* Neighbours share a column on a narrow terminal. */
static uint64_t bin_of(const gufo_stats *s, size_t column, size_t merged)
{
    uint64_t count = 0;

    for (size_t i = column * merged; i < (column + 1) * merged; i++)
        count += s->bins[i];
    return count;
}

static void put_histogram_row(const gufo_stats *s, const cell_ramp *ramp, uint64_t most, size_t row,
                              size_t merged)
{
    uint64_t below = (uint64_t)row * ramp->levels; /* levels under this row */
    size_t empty = BEFORE;                         /* columns that are not written yet */

    for (size_t i = 0; i < GUFO_STATS_BINS / merged; i++) {
        uint64_t height = height_of(bin_of(s, i, merged), most, HISTOGRAM_ROWS * ramp->levels);
        uint64_t level = height > below ? height - below : 0;

        if (level == 0) {
            empty++;
            continue;
        }
        text_pad(stdout, empty);
        fputs(ramp->cells[level < ramp->levels ? level : ramp->levels], stdout);
        empty = 0;
    }
    putc('\n', stdout);
}

static void put_histogram(const gufo_stats *s)
{
    const cell_ramp *ramp = text_locale_is_utf8() ? &block_ramp : &ascii_ramp;
    size_t merged = 1;
    uint64_t most = 1;
    int used;

    while (stdout_columns() > 0 && BEFORE + GUFO_STATS_BINS / merged > stdout_columns() &&
           merged < MOST_MERGED)
        merged *= 2;
    for (size_t i = 0; i < GUFO_STATS_BINS / merged; i++)
        if (bin_of(s, i, merged) > most)
            most = bin_of(s, i, merged);
    putc('\n', stdout);
    for (size_t row = HISTOGRAM_ROWS; row-- > 0;)
        put_histogram_row(s, ramp, most, row, merged);
    used = printf("    %.4g", s->low) - 4;
    printf("%*.4g\n\n", GUFO_STATS_BINS / (int)merged - used, s->high);
}

/* ---- below a line --------------------------------------------------------------------------- */

static tensor_text place_text(const gufo_tensor *tensor, uint64_t index)
{
    gufo_stats_place place = gufo_stats_place_of(tensor, index);
    tensor_text t = {""};
    int len = 0;

    if (tensor->n_dims > 2)
        len = snprintf(t.text, sizeof t.text, "matrix %" PRIu64 ", ", place.matrix);
    snprintf(t.text + len, sizeof t.text - (size_t)len, "row %" PRIu64 ", column %" PRIu64,
             place.row, place.column);
    return t;
}

static void put_find(const char *what, const gufo_tensor *tensor, const gufo_stats_find *find)
{
    if (find->count > 0)
        line_put("    %s: %s, %sin %s", what, human_grouped(find->count).text,
                 find->count > 1 ? "the first " : "", place_text(tensor, find->first).text);
}

/* "12.5 %" */
static human_text share_text(double share)
{
    human_text t;

    snprintf(t.text, sizeof t.text, "%.3g %%", 100 * share);
    return t;
}

/* What scales have that makes numbers coarse or lost. */
static void put_scales(const char *what, const gufo_scale_counts *counts)
{
    if (counts->zeros + counts->subnormal + counts->saturated > 0)
        line_put("    %s of %s: %s zero, %s subnormal, %s saturated", what,
                 human_counted(counts->count, "block", "blocks").text,
                 human_grouped(counts->zeros).text, human_grouped(counts->subnormal).text,
                 human_grouped(counts->saturated).text);
}

static void put_details(stats_report *r, const stats_row *row)
{
    const gufo_tensor *tensor = &row->tensor;
    const gufo_stats *s = &row->stats;
    bool verbose = r->options->base.shared->verbose;

    if (s->elements < tensor->elements)
        line_put("    only %s of %s values are there", human_grouped(s->elements).text,
                 human_grouped(tensor->elements).text);
    put_find("NaN", tensor, &s->nan);
    put_find("infinity", tensor, &s->positive_infinite);
    put_find("negative infinity", tensor, &s->negative_infinite);
    put_find("blocks with a bad scale", tensor, &s->bad_scales);
    put_scales("scales", &row->scales.scales);
    put_scales("minimums", &row->scales.minimums);
    if (s->finite > 0 && verbose) {
        line_put("    min in %s", place_text(tensor, s->minimum_at).text);
        line_put("    max in %s", place_text(tensor, s->maximum_at).text);
        line_put(
            "    largest magnitude %.4g times the root mean square; the largest 0.1 %% have %s of "
            "the energy",
            gufo_stats_peak(s), share_text(s->top_energy).text);
    }
    r->apart = s->finite > 0 && (verbose || r->selected <= FEW_TENSORS);
    if (r->apart)
        put_histogram(s);
}

/* ---- records -------------------------------------------------------------------------------- */

/* How often something occurs, and its first place if it does. */
typedef struct find_row {
    uint64_t count;
    bool occurs;
    gufo_stats_place first;
    uint64_t offset;
} find_row;

static const record_field find_fields[] = {
    {"count", NULL, RECORD_COUNT, RECORD_AT(find_row, count)},
    {"first", NULL, RECORD_RECORD, RECORD_AT(find_row, first), RECORD_GIVEN(find_row, occurs),
     .of = &model_json_place},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(find_row, offset), RECORD_GIVEN(find_row, occurs)},
};
static const record_type find_type = RECORD_OF(find_row, find_fields, 0);

typedef struct histogram_row {
    record_number low, high;
    record_list counts;
} histogram_row;

static const record_field count_fields[] = {{NULL, NULL, RECORD_COUNT, .bytes = sizeof(uint64_t)}};
static const record_type count_type = RECORD_BARE(uint64_t, count_fields);

static const record_field histogram_fields[] = {
    {"low", NULL, RECORD_NUMBER, RECORD_AT(histogram_row, low)},
    {"high", NULL, RECORD_NUMBER, RECORD_AT(histogram_row, high)},
    {"counts", NULL, RECORD_LIST, RECORD_AT(histogram_row, counts), .of = &count_type},
};
static const record_type histogram_type = RECORD_OF(histogram_row, histogram_fields, 0);

/* Scales of blocks. */
typedef struct scale_row {
    gufo_scale_counts counts;
    record_list exponents;
} scale_row;

static const record_field scale_fields[] = {
    {"count", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.count)},
    {"zeros", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.zeros)},
    {"negative", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.negative)},
    {"subnormal", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.subnormal)},
    {"saturated", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.saturated)},
    {"nonfinite", NULL, RECORD_COUNT, RECORD_AT(scale_row, counts.nonfinite)},
    {"exponents", NULL, RECORD_LIST, RECORD_AT(scale_row, exponents), .of = &count_type},
};
static const record_type scale_type = RECORD_OF(scale_row, scale_fields, 0);

enum { SHARDS = 1, TENSOR_CELLS = 3 };

typedef struct tensor_row {
    gufo_tensor tensor;
    uint32_t shard; /* from 1 */
    bool is_decoded, is_finite;
    gufo_stats stats;
    find_row nan, positive, negative, bad_scales;
    record_number minimum, maximum;
    gufo_stats_place minimum_at, maximum_at;
    char zeros[sizeof(human_text)]; /* "12.5 %" */
    uint64_t outliers;
    double peak;
    histogram_row histogram;
    bool has_scales, has_minimums;
    scale_row scales, minimums;
    const char *error; /* NULL if it is decoded */
} tensor_row;

#define OF_STATS(kind, member) kind, RECORD_AT(tensor_row, member)
#define IF_DECODED RECORD_GIVEN(tensor_row, is_decoded)
#define IF_FINITE RECORD_GIVEN(tensor_row, is_finite), .instead = "-"

/* Columns of numbers have a usual width, because the numbers are not known yet. */
static const record_field tensor_fields[] = {
    {"name", "name", OF_STATS(RECORD_STR, tensor.name), .width = -4},
    {"type", "type", OF_STATS(RECORD_TYPE, tensor.type), .width = -4, .drop = 6},
    {"dims", "shape", OF_STATS(RECORD_SHAPE, tensor), .width = -5, .drop = 8},
    {"elements", NULL, OF_STATS(RECORD_COUNT, tensor.elements)},
    {"shard", NULL, OF_STATS(RECORD_PLAIN, shard), .part = SHARDS},
    {"looked_at", NULL, OF_STATS(RECORD_COUNT, stats.elements), IF_DECODED},
    {"finite", NULL, OF_STATS(RECORD_COUNT, stats.finite), IF_DECODED},
    {"nan", NULL, OF_STATS(RECORD_RECORD, nan), IF_DECODED, .of = &find_type},
    {"positive_infinity", NULL, OF_STATS(RECORD_RECORD, positive), IF_DECODED, .of = &find_type},
    {"negative_infinity", NULL, OF_STATS(RECORD_RECORD, negative), IF_DECODED, .of = &find_type},
    {"bad_scales", NULL, OF_STATS(RECORD_RECORD, bad_scales), IF_DECODED, .of = &find_type},
    {"zeros", NULL, OF_STATS(RECORD_COUNT, stats.zeros), IF_FINITE},
    {"minimum", "min", OF_STATS(RECORD_NUMBER, minimum), IF_FINITE, .width = 10, .drop = 2,
     .format = "%.4g"},
    {"minimum_at", NULL, OF_STATS(RECORD_RECORD, minimum_at), IF_FINITE, .of = &model_json_place},
    {"maximum", "max", OF_STATS(RECORD_NUMBER, maximum), IF_FINITE, .width = 10, .drop = 1,
     .format = "%.4g"},
    {"maximum_at", NULL, OF_STATS(RECORD_RECORD, maximum_at), IF_FINITE, .of = &model_json_place},
    {"mean", "mean", OF_STATS(RECORD_REAL, stats.mean), IF_FINITE, .width = 10, .drop = 3,
     .format = "%.4g"},
    {"standard_deviation", "std", OF_STATS(RECORD_REAL, stats.deviation), IF_FINITE, .width = 9,
     .drop = 4, .format = "%.4g"},
    {"root_mean_square", NULL, OF_STATS(RECORD_REAL, stats.rms), IF_FINITE},
    {"peak", NULL, OF_STATS(RECORD_REAL, peak), IF_FINITE},
    {"top_energy", NULL, OF_STATS(RECORD_REAL, stats.top_energy), IF_FINITE},
    {NULL, "zeros", OF_STATS(RECORD_CHARS, zeros), IF_FINITE, .width = 8, .drop = 7},
    {NULL, "outliers", OF_STATS(RECORD_COUNT, outliers), IF_FINITE, .width = 8, .drop = 5},
    {"outliers_below", NULL, OF_STATS(RECORD_COUNT, stats.outliers_below), IF_FINITE},
    {"outliers_above", NULL, OF_STATS(RECORD_COUNT, stats.outliers_above), IF_FINITE},
    {"histogram", NULL, OF_STATS(RECORD_RECORD, histogram), IF_FINITE, .of = &histogram_type},
    {"scales", NULL, OF_STATS(RECORD_RECORD, scales), RECORD_GIVEN(tensor_row, has_scales),
     .of = &scale_type},
    {"minimums", NULL, OF_STATS(RECORD_RECORD, minimums), RECORD_GIVEN(tensor_row, has_minimums),
     .of = &scale_type},
    {"error", NULL, OF_STATS(RECORD_TEXT, error), .none = RECORD_OR_OUT},
};

static const record_field total_fields[] = {
    {"tensors", NULL, RECORD_COUNT, RECORD_AT(stats_totals, tensors)},
    {"undecoded", NULL, RECORD_COUNT, RECORD_AT(stats_totals, undecoded)},
    {"looked_at", NULL, RECORD_COUNT, RECORD_AT(stats_totals, elements)},
    {"finite", NULL, RECORD_COUNT, RECORD_AT(stats_totals, finite)},
    {"bad_scales", NULL, RECORD_COUNT, RECORD_AT(stats_totals, bad_scales)},
    {"zeros", NULL, RECORD_COUNT, RECORD_AT(stats_totals, zeros)},
    {"outliers", NULL, RECORD_COUNT, RECORD_AT(stats_totals, outliers)},
};
static const record_type total_type = RECORD_OF(stats_totals, total_fields, 0);

/* Numbers of most types are floats. */
static record_number number_of(uint32_t type, double value)
{
    return (record_number){value,
                           type != GUFO_TYPE_F64 && type != GUFO_TYPE_I64 && type != GUFO_TYPE_I32};
}

static find_row find_of(const gufo_tensor *tensor, const gufo_stats_find *find)
{
    return (find_row){find->count, find->count > 0, gufo_stats_place_of(tensor, find->first),
                      find->offset};
}

static scale_row scale_row_of(const gufo_scale_counts *counts)
{
    return (scale_row){*counts, {.items = counts->exponents, .count = GUFO_SCALE_EXPONENTS}};
}

/* Beside outliers the ends of a histogram are not values of the tensor. */
static tensor_row row_of(const stats_row *from)
{
    const gufo_tensor *tensor = &from->tensor;
    const gufo_stats *s = &from->stats;
    tensor_row row = {.tensor = *tensor, .shard = tensor->shard + 1};

    if (!from->decoded) {
        row.error = from->failure.message;
        return row;
    }
    row.is_decoded = true;
    row.is_finite = s->finite > 0;
    row.stats = *s;
    row.nan = find_of(tensor, &s->nan);
    row.positive = find_of(tensor, &s->positive_infinite);
    row.negative = find_of(tensor, &s->negative_infinite);
    row.bad_scales = find_of(tensor, &s->bad_scales);
    row.minimum = number_of(tensor->type, s->minimum);
    row.maximum = number_of(tensor->type, s->maximum);
    row.minimum_at = gufo_stats_place_of(tensor, s->minimum_at);
    row.maximum_at = gufo_stats_place_of(tensor, s->maximum_at);
    snprintf(row.zeros, sizeof row.zeros, "%s", percent_text(s->zeros, s->finite).text);
    row.outliers = s->outliers_below + s->outliers_above;
    row.peak = gufo_stats_peak(s);
    row.has_scales = from->scales.scales.count > 0;
    row.has_minimums = from->scales.minimums.count > 0;
    row.scales = scale_row_of(&from->scales.scales);
    row.minimums = scale_row_of(&from->scales.minimums);
    row.histogram =
        (histogram_row){number_of(s->outliers_below > 0 ? GUFO_TYPE_F64 : tensor->type, s->low),
                        number_of(s->outliers_above > 0 ? GUFO_TYPE_F64 : tensor->type, s->high),
                        {.items = from->stats.bins, .count = GUFO_STATS_BINS}};
    return row;
}

/* ---- the report ----------------------------------------------------------------------------- */

static bool make_name(const void *context, uint64_t index, table_row *row)
{
    const stats_report *r = context;
    gufo_tensor tensor;

    if (!gufo_model_tensor_at(r->in->model, index, &tensor))
        return false;
    row_str(row, tensor.name);
    return true;
}

static void fit_names(stats_report *r)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(r->in->model, i, &tensor); i++) {
        const tensor_row row = {.tensor = tensor};
        table_row cells = {0};

        if (!glob_selects(&r->options->globs, tensor.name))
            continue;
        record_cells(&r->type, &row, &cells);
        cells.count = TENSOR_CELLS;
        table_fit(&r->table, &cells);
    }
    table_fit_names(&r->table, make_name, r);
}

/* Write what comes before the first tensor, a tensor, and what comes after the last. */
static void stats_begin(stats_report *r)
{
    const record_type type =
        RECORD_OF(tensor_row, tensor_fields, gufo_model_shard_count(r->in->model) > 1 ? SHARDS : 0);

    r->type = type;
    if (r->options->base.shared->json) {
        r->j = json_begin_document(r->in->path);
        model_json_shards(&r->j, "shards", r->in->model);
        json_begin_array(&r->j, "tensors");
        return;
    }
    r->table = record_table(&r->type, 2);
    fit_names(r);
    table_name(options_color(r->options->base.shared), r->in->path);
    fputs("\n\n", stdout);
    table_title(options_color(r->options->base.shared), "Tensors", r->selected,
                gufo_model_tensor_count(r->in->model));
    if (r->selected > 0)
        table_heads(&r->table);
}

/* A tensor that is not decoded has the reason below in place of numbers. */
static void stats_put(stats_report *r, const stats_row *row)
{
    const tensor_row record = row_of(row);
    table_row cells = {0};

    if (r->options->base.shared->json) {
        record_write(&r->j, NULL, &r->type, &record);
        return;
    }
    record_cells(&r->type, &record, &cells);
    if (!row->decoded)
        cells.count = TENSOR_CELLS;
    table_put(&r->table, &cells);
    r->apart = false;
    if (row->decoded)
        put_details(r, row);
    else
        text_print("    %s\n", row->failure.message);
}

static void put_totals(const stats_report *r)
{
    const stats_totals *t = &r->totals;
    line l;

    if (!r->apart)
        putchar('\n');
    line_begin(&l);
    fprintf(l.out, "%s, %s: %s infinite or NaN, %s, %s zeros",
            human_counted(t->tensors, "tensor", "tensors").text,
            human_counted(t->elements, "value", "values").text,
            human_grouped(t->elements - t->finite).text,
            human_counted(t->outliers, "outlier", "outliers").text,
            percent_text(t->zeros, t->finite).text);
    line_end(&l);
    if (t->bad_scales > 0)
        line_put("%s a scale that is infinite or NaN",
                 human_counted(t->bad_scales, "block has", "blocks have").text);
    if (t->undecoded > 0)
        line_put("%s not decoded", human_counted(t->undecoded, "tensor was", "tensors were").text);
}

static void stats_end(stats_report *r)
{
    if (!r->options->base.shared->json) {
        put_totals(r);
        return;
    }
    json_end_array(&r->j);
    record_write(&r->j, "totals", &total_type, &r->totals);
    json_end_document(&r->j);
}

/* ---- command line --------------------------------------------------------------------------- */

static const command_option stats_table[] = {
    {"tensors", "GLOB", "Only tensors whose names match GLOB (repeatable)",
     OPTION_TEXTS(stats_options, globs)},
    {"lenient", NULL, "Use the readable part of a damaged file, and exit with status 1",
     OPTION_BITS(stats_options, input.open_flags, GUFO_OPEN_LENIENT)},
    OPTION_SINGLE(stats_options),
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    stats_report *r = context;

    (void)total;
    progress_update(&r->bar, r->bytes_before + done, 2 * r->bytes);
    return true;
}

/* Whether the data of a tensor is looked at.  Many tensors with the same data could make the work
 * grow with the square of the file: one that begins inside another is looked at alone. */
static bool is_scanned(const stats_report *r, const gufo_tensor *tensor)
{
    return !tensor->overlaps || r->selected == 1;
}

static void select_tensors(stats_report *r)
{
    uint64_t all = 0;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(r->in->model, i, &tensor); i++) {
        if (!glob_selects(&r->options->globs, tensor.name))
            continue;
        r->selected++;
        all += tensor.available;
        r->bytes += tensor.overlaps ? 0 : tensor.available;
    }
    r->bytes = r->selected == 1 ? all : r->bytes;
}

static void add_up(stats_totals *t, const gufo_stats *s)
{
    t->tensors++;
    t->elements += s->elements;
    t->finite += s->finite;
    t->zeros += s->zeros;
    t->bad_scales += s->bad_scales.count;
    t->outliers += s->outliers_below + s->outliers_above;
}

static gufo_status scan(stats_report *r, stats_row *row)
{
    const stats_options *options = r->options;
    const shared_options *shared = options->base.shared;
    gufo_run run = {.threads = (unsigned)options->base.shared->threads,
                    .cpu = options->cpu,
                    .progress = on_progress,
                    .progress_context = r};
    gufo_status status;

    if (!is_scanned(r, &row->tensor))
        return error_set(&row->failure, GUFO_E_ARGUMENT, 0,
                         "its data begins inside that of another tensor; --tensors can select it "
                         "alone");
    status = gufo_tensor_scan(r->in->model, &row->tensor, 0, &run, &row->stats, &row->failure);
    run.progress = NULL; /* blocks are in the cache of the system */
    row->scales = (gufo_scales){.scales = {.count = 0}};
    if (status == GUFO_OK && (shared->json || shared->verbose))
        status =
            gufo_tensor_scan_scales(r->in->model, &row->tensor, &run, &row->scales, &row->failure);
    progress_end(&r->bar);
    r->bytes_before += 2 * row->tensor.available;
    return status;
}

/* A tensor that cannot be decoded is reported, and is not a failure. */
static int look_at(stats_report *r, stats_row *row)
{
    gufo_status status = scan(r, row);

    row->decoded = status == GUFO_OK;
    if (row->decoded) {
        add_up(&r->totals, &row->stats);
    } else if (status == GUFO_E_TYPE || status == GUFO_E_ARGUMENT) {
        r->totals.tensors++;
        r->totals.undecoded++;
    } else {
        return report_error(r->in->path, &row->failure);
    }
    stats_put(r, row);
    return CODE_OK;
}

static int look_at_all(stats_report *r)
{
    int code = CODE_OK;
    stats_row row;

    for (uint64_t i = 0;
         code == CODE_OK && !stdout_broken() && gufo_model_tensor_at(r->in->model, i, &row.tensor);
         i++) {
        if (glob_selects(&r->options->globs, row.tensor.name))
            code = look_at(r, &row);
    }
    progress_end(&r->bar);
    return code;
}

static int report_all(const input *in, const stats_options *options)
{
    const shared_options *shared = options->base.shared;
    stats_report r = {.options = options, .in = in};
    int code;

    select_tensors(&r);
    if (r.selected == 0 && options->globs.count > 0)
        return report_as(CODE_NO, in->path, "no tensor matches '%s'%s", options->globs.items[0],
                         options->globs.count > 1 ? " or the other patterns" : "");
    progress_start_beside(&r.bar, shared);
    stats_begin(&r);
    code = look_at_all(&r);
    stats_end(&r);
    return code;
}

static int stats(void *context, const char *path)
{
    const stats_options *options = context;
    const shared_options *shared = options->base.shared;
    input in;
    int code;

    if (path != shared->args[0] && !shared->json)
        putc('\n', stdout);
    code = input_open_data(&in, path, &options->input, "scanned");
    if (code != CODE_OK)
        return code;
    code = worst_code(report_all(&in, options), input_damage(&in, true));
    input_close(&in);
    return code;
}

static int stats_of_all(void *context)
{
    stats_options *options = context;
    int code = options_cpu(&options->cpu);

    return code == CODE_OK ? command_line_each(options, stats) : code;
}

const command_line command_stats = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Show statistics of a model's tensors.\v"
           "gufo reads and decodes all data.  It draws histograms with -v, and for up to four "
           "tensors.  Exit status 1 means that no tensor matches.",
    .examples = {{"gufo stats model.gguf", "A line for each tensor."},
                 {"gufo stats -v --tensors='blk.0.*' model.gguf",
                  "Draws histograms of the first block."}},
    COMMAND_OPTIONS(stats_table, stats_options),
    .run = stats_of_all,
};
