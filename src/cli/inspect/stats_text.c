/* gufo stats for people: a table with one line per tensor, and what is wrong with it or worth a
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
#include "cli/inspect/stats.h"

#include "cli/core/human.h"
#include "cli/core/line.h"
#include "cli/core/stdout.h"
#include "cli/core/records/table.h"
#include "cli/core/tensor_text.h"
#include "cli/core/text.h"

#include <inttypes.h>

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
    if (s->finite > 0 && verbose) {
        line_put("    min in %s", place_text(tensor, s->minimum_at).text);
        line_put("    max in %s", place_text(tensor, s->maximum_at).text);
    }
    r->apart = s->finite > 0 && (verbose || r->selected <= FEW_TENSORS);
    if (r->apart)
        put_histogram(s);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Columns of numbers have a usual width, because the numbers are not known yet. */
table stats_text_table(void)
{
    static const table_column columns[] = {{"name", -4, 0}, {"type", -4, 4}, {"shape", -5, 6},
                                           {"min", 10, 0},  {"max", 10, 0},  {"mean", 10, 1},
                                           {"std", 9, 2},   {"zeros", 8, 5}, {"outliers", 8, 3}};

    return table_of(columns, sizeof columns / sizeof *columns);
}

void stats_text_begin(stats_report *r)
{
    bool color = options_color(r->options->base.shared);

    table_name(color, r->in->path);
    fputs("\n\n", stdout);
    table_title(color, "Tensors", r->selected, gufo_tensor_count(r->in->model));
    if (r->selected > 0)
        table_heads(&r->table);
}

static void add_numbers(table_row *row, const gufo_stats *s)
{
    const double numbers[] = {s->minimum, s->maximum, s->mean, s->deviation};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        row_text(row, "%.4g", numbers[i]);
    row_text(row, "%s", percent_text(s->zeros, s->finite).text);
    row_text(row, "%s", human_grouped(s->outliers_below + s->outliers_above).text);
}

void stats_text_row(stats_report *r, const stats_row *row)
{
    table_row cells = {0};

    tensor_add_cells(&cells, &row->tensor);
    if (row->decoded && row->stats.finite > 0)
        add_numbers(&cells, &row->stats);
    while (row->decoded && cells.count < r->table.count)
        row_text(&cells, "-");
    table_put(&r->table, &cells);
    r->apart = false;
    if (row->decoded)
        put_details(r, row);
    else
        text_print("    %s\n", row->failure.message);
}

void stats_text_end(stats_report *r)
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
