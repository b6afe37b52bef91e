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
#include "cli/stats.h"

#include "cli/glob.h"
#include "cli/human.h"
#include "cli/tensor_text.h"
#include "cli/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>

#define NAME_COLUMNS 44 /* the widest column that names get */
#define NAME_SHOWN 200  /* no more of a name is shown */
#define FEW_TENSORS 4   /* get their histograms without being asked */
#define HISTOGRAM_ROWS 4

/* ---- numbers -------------------------------------------------------------------------------- */

typedef struct small_text {
    char text[48];
} small_text;

static small_text number_text(double value)
{
    small_text t;

    snprintf(t.text, sizeof t.text, "%.4g", value);
    return t;
}

/* "0 %", "0.01 %", "<0.01 %", "12.5 %": never 0 for something, nor 100 for less than all. */
static small_text percent_text(uint64_t part, uint64_t whole)
{
    double percent = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    small_text t;

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

/* What a cell of a column looks like, from empty to full. */
typedef struct cell_ramp {
    size_t levels;
    const char *cells[9];
} cell_ramp;

static const cell_ramp block_ramp = {8, {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
static const cell_ramp ascii_ramp = {3, {" ", ".", ":", "#"}};

static bool locale_has_blocks(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8;

    if (locale == (locale_t)0)
        return false;
    utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* The height of a column in levels: what is not empty is seen. */
static uint64_t height_of(uint64_t count, uint64_t most, uint64_t levels)
{
    uint64_t height = (uint64_t)((double)count / (double)most * (double)levels);

    return count > 0 && height == 0 ? 1 : height;
}

static void put_histogram_row(const gufo_stats *s, const cell_ramp *ramp, uint64_t most, size_t row)
{
    uint64_t below = (uint64_t)row * ramp->levels; /* levels under this row */
    size_t empty = 4;                              /* columns that are not written yet */

    for (size_t i = 0; i < GUFO_STATS_BINS; i++) {
        uint64_t height = height_of(s->bins[i], most, HISTOGRAM_ROWS * ramp->levels);
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
    const cell_ramp *ramp = locale_has_blocks() ? &block_ramp : &ascii_ramp;
    small_text low = number_text(s->low), high = number_text(s->high);
    uint64_t most = 1;

    for (size_t i = 0; i < GUFO_STATS_BINS; i++)
        most = s->bins[i] > most ? s->bins[i] : most;
    putc('\n', stdout);
    for (size_t row = HISTOGRAM_ROWS; row-- > 0;)
        put_histogram_row(s, ramp, most, row);
    printf("    %s%*s\n\n", low.text, (int)(GUFO_STATS_BINS - strlen(low.text)), high.text);
}

/* ---- what is below a line ------------------------------------------------------------------- */

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
        printf("    %s: %s, %sin %s\n", what, human_grouped(find->count).text,
               find->count > 1 ? "the first " : "", place_text(tensor, find->first).text);
}

static void put_extremes(const gufo_tensor *tensor, const gufo_stats *s)
{
    printf("    min in %s\n", place_text(tensor, s->minimum_at).text);
    printf("    max in %s\n", place_text(tensor, s->maximum_at).text);
}

static void put_details(stats_report *r, const stats_row *row)
{
    const gufo_tensor *tensor = &row->tensor;
    const gufo_stats *s = &row->stats;
    bool verbose = r->options->base.shared->verbose > 0;

    if (s->elements < tensor->elements)
        printf("    only %s of %s values are there\n", human_grouped(s->elements).text,
               human_grouped(tensor->elements).text);
    put_find("NaN", tensor, &s->nan);
    put_find("infinity", tensor, &s->positive_infinite);
    put_find("negative infinity", tensor, &s->negative_infinite);
    put_find("blocks with a bad scale", tensor, &s->bad_scales);
    if (s->finite > 0 && verbose)
        put_extremes(tensor, s);
    r->apart = s->finite > 0 && (verbose || r->selected <= FEW_TENSORS);
    if (r->apart)
        put_histogram(s);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void measure(stats_report *r)
{
    gufo_tensor tensor;

    r->name = strlen("name");
    r->type = strlen("type");
    r->shape = strlen("shape");
    for (uint64_t i = 0; gufo_tensor_at(r->in->model, i, &tensor); i++) {
        if (!glob_selects(&r->options->globs, tensor.name))
            continue;
        text_widen(&r->name, text_needs(tensor.name, NAME_COLUMNS));
        text_widen(&r->type, strlen(tensor_type_text(tensor.type).text));
        text_widen(&r->shape, strlen(tensor_shape_text(&tensor, " x ").text));
    }
}

static void put_first_cells(const stats_report *r, gufo_str name, const char *type,
                            const char *shape)
{
    fputs("  ", stdout);
    text_put_cell(stdout, name, r->name, NAME_SHOWN);
    printf("  %-*s  %-*s", (int)r->type, type, (int)r->shape, shape);
}

static void put_numbers(const char *minimum, const char *maximum, const char *mean,
                        const char *deviation, const char *zeros, const char *outliers)
{
    printf("  %10s  %10s  %10s  %9s  %8s  %8s\n", minimum, maximum, mean, deviation, zeros,
           outliers);
}

void stats_text_begin(stats_report *r)
{
    bool color = options_color(r->options->base.shared);
    uint64_t all = gufo_tensor_count(r->in->model);

    measure(r);
    fputs(color ? "\033[1m" : "", stdout);
    text_put(stdout, gufo_str_of(r->in->path), TEXT_PLAIN);
    printf("%s\n\n%sTensors%s (%s", color ? "\033[0m" : "", color ? "\033[1m" : "",
           color ? "\033[0m" : "", human_grouped(r->selected).text);
    if (r->selected < all)
        printf(" of %s", human_grouped(all).text);
    fputs(")\n", stdout);
    if (r->selected == 0)
        return;
    put_first_cells(r, gufo_str_of("name"), "type", "shape");
    put_numbers("min", "max", "mean", "std", "zeros", "outliers");
}

void stats_text_row(stats_report *r, const stats_row *row)
{
    const gufo_tensor *tensor = &row->tensor;
    const gufo_stats *s = &row->stats;

    put_first_cells(r, tensor->name, tensor_type_text(tensor->type).text,
                    tensor_shape_text(tensor, " x ").text);
    r->apart = false;
    if (!row->decoded) {
        fputs("\n    ", stdout);
        text_put(stdout, gufo_str_of(row->failure.message), TEXT_PLAIN);
        putc('\n', stdout);
        return;
    }
    if (s->finite > 0)
        put_numbers(number_text(s->minimum).text, number_text(s->maximum).text,
                    number_text(s->mean).text, number_text(s->deviation).text,
                    percent_text(s->zeros, s->finite).text,
                    human_grouped(s->outliers_below + s->outliers_above).text);
    else
        put_numbers("-", "-", "-", "-", "-", "-");
    put_details(r, row);
}

void stats_text_end(const stats_report *r)
{
    const stats_totals *t = &r->totals;

    printf("%s%s %s, %s %s: %s infinite or NaN, %s %s, %s zeros\n", r->apart ? "" : "\n",
           human_grouped(t->tensors).text, t->tensors == 1 ? "tensor" : "tensors",
           human_grouped(t->elements).text, t->elements == 1 ? "value" : "values",
           human_grouped(t->elements - t->finite).text, human_grouped(t->outliers).text,
           t->outliers == 1 ? "outlier" : "outliers", percent_text(t->zeros, t->finite).text);
    if (t->bad_scales > 0)
        printf("%s %s a scale that is infinite or NaN\n", human_grouped(t->bad_scales).text,
               t->bad_scales == 1 ? "block has" : "blocks have");
    if (t->undecoded > 0)
        printf("%s %s not decoded\n", human_grouped(t->undecoded).text,
               t->undecoded == 1 ? "tensor was" : "tensors were");
}
