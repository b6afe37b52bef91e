/* gufo estimate --plot: memory of each device over the context, as a drawing.
 *
 *      7.5 GiB |-----------------------   the limit of the device
 *              |                  .....   buffers for computing
 *              |         .....+++++++++   cache and state
 *              |....++++++++++#########
 *            0 +#######################   weights
 *               256             131,072 */
#include "cli/estimate/estimate.h"

#include "cli/core/values/number.h"
#include "cli/core/values/sums.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 12, LABEL = 12, USUAL_WIDTH = 76, LEAST_WIDTH = 40, MOST_WIDTH = 132, PARTS = 3 };

/* What cells and lines are drawn with. */
typedef struct pen {
    const char *parts[PARTS]; /* weights, cache and state, buffers */
    const char *limit, *axis, *corner;
} pen;

static const pen block_pen = {{"█", "▒", "░"}, "─", "│", "└"};
static const pen ascii_pen = {{"#", "+", "."}, "-", "|", "+"};

typedef struct drawing {
    const estimate_work *w;
    const pen *pen;
    size_t columns;
    uint64_t whole; /* the context of the last column */
    uint32_t device;
    uint64_t height; /* bytes of all rows */
    gufo_estimate_point points[MOST_WIDTH];
    bool is_known; /* buffers for computing */
} drawing;

/* ---- numbers -------------------------------------------------------------------------------- */

static gufo_status run_context(const drawing *d, uint64_t n_ctx, gufo_estimate *out,
                               gufo_error *error)
{
    gufo_estimate_options options = d->w->values->run;

    options.n_ctx = n_ctx;
    return gufo_estimator_run(d->w->estimator, &options, out, error);
}

static uint64_t context_of(const drawing *d, size_t column)
{
    uint64_t n = d->whole * (column + 1) / d->columns / 256 * 256;

    return n > 256 ? n : 256;
}

static gufo_status find_points(drawing *d, gufo_error *error)
{
    gufo_status status;

    for (size_t i = 0; i < d->columns; i++)
        d->points[i] = (gufo_estimate_point){.n_ctx = context_of(d, i)};
    status = gufo_estimator_curve(d->w->estimator, &d->w->values->run, d->device, d->points,
                                  d->columns, error);
    d->height = 0;
    for (size_t i = 0; status == GUFO_OK && i < d->columns; i++)
        d->height = larger(d->height, d->points[i].total_bytes);
    d->is_known = d->columns > 0 && d->points[d->columns - 1].is_known;
    return status;
}

/* Bytes up to the end of a part. */
static uint64_t end_of(const gufo_estimate_point *point, size_t part)
{
    const uint64_t ends[PARTS] = {point->model_bytes,
                                  capped_add(point->model_bytes, point->context_bytes),
                                  point->total_bytes};

    return ends[part];
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* The row, from the bottom, where a number of bytes ends. */
static size_t row_of(const drawing *d, uint64_t bytes)
{
    return (size_t)((double)bytes / (double)d->height * ROWS);
}

/* A limit of more than twice what is used is not drawn: the rest would be too flat. */
static uint64_t drawn_limit(const drawing *d)
{
    uint64_t limit = estimate_limit(d->w->values, d->device);

    return limit / 2 <= d->height ? limit : 0;
}

static void put_cell(const drawing *d, size_t column, size_t row)
{
    double middle = ((double)row + 0.5) * (double)d->height / ROWS;
    size_t part = 0;

    while (part < PARTS && (double)end_of(&d->points[column], part) <= middle)
        part++;
    fputs(part < PARTS ? d->pen->parts[part] : " ", stdout);
}

static void put_row(const drawing *d, size_t row, uint64_t limit)
{
    bool is_limit = limit > 0 && row == row_of(d, limit - 1);
    const char *label = "";
    human_text top = human_memory(is_limit ? limit : d->height);

    if (is_limit || row == ROWS - 1)
        label = top.text;
    printf("%*s %s", LABEL - 2, label, d->pen->axis);
    for (size_t i = 0; i < d->columns; i++)
        if (is_limit)
            fputs(d->pen->limit, stdout);
        else
            put_cell(d, i, row);
    putchar('\n');
}

static void put_axis(const drawing *d)
{
    human_text last = human_grouped(d->whole);

    printf("%*s %s", LABEL - 2, "0", d->pen->corner);
    for (size_t i = 0; i < d->columns; i++)
        fputs(d->pen->limit, stdout);
    printf("\n%*s%-*s%s\n", LABEL, "", (int)(d->columns - strlen(last.text)), "256", last.text);
}

static void put_legend(const drawing *d)
{
    uint64_t limit = estimate_limit(d->w->values, d->device);

    line l;

    line_begin(&l);
    text_put(l.out, gufo_str_of(d->w->in->path), TEXT_PLAIN);
    fprintf(l.out, ": memory of %s over the context", estimate_name_of(d->device).text);
    fprintf(l.out, ": %s weights, %s cache and state", d->pen->parts[0], d->pen->parts[1]);
    fprintf(l.out,
            d->is_known ? ", %s computing and output" : ", %s output; computing is not known",
            d->pen->parts[2]);
    line_end(&l);
    if (limit > 0)
        line_put("  limit: %s%s", human_memory(limit).text,
                 drawn_limit(d) == 0 ? ", far above" : "");
}

static void put_drawing(drawing *d)
{
    uint64_t limit = drawn_limit(d);

    put_legend(d);
    if (limit > d->height)
        d->height = limit;
    for (size_t row = ROWS; row-- > 0;)
        put_row(d, row, limit);
    put_axis(d);
}

/* ---- all ------------------------------------------------------------------------------------ */

static size_t find_width(void)
{
    size_t width = stdout_columns();

    if (width == 0)
        width = USUAL_WIDTH;
    if (width < LEAST_WIDTH)
        width = LEAST_WIDTH;
    return (width < MOST_WIDTH ? width : MOST_WIDTH) - LABEL;
}

/* The last column: the model's context, or the one that is asked for if it is larger. */
static gufo_status find_whole(drawing *d, uint32_t *count, gufo_error *error)
{
    gufo_estimate asked, whole;
    gufo_status status = run_context(d, d->w->values->run.n_ctx, &asked, error);

    if (status == GUFO_OK)
        status = run_context(d, 0, &whole, error);
    if (status != GUFO_OK)
        return status;
    d->whole = whole.n_ctx > asked.n_ctx ? whole.n_ctx : asked.n_ctx;
    *count = whole.device_count;
    return GUFO_OK;
}

int estimate_plot(const estimate_work *w)
{
    drawing d = {
        .w = w, .pen = text_locale_is_utf8() ? &block_pen : &ascii_pen, .columns = find_width()};
    gufo_error error;
    uint32_t count = 0;
    gufo_status status = find_whole(&d, &count, &error);

    for (; status == GUFO_OK && d.device < count; d.device++) {
        status = find_points(&d, &error);
        if (status == GUFO_OK && d.height > 0)
            put_drawing(&d);
    }
    return status == GUFO_OK ? CODE_OK : estimate_report_failure(w, &error);
}
