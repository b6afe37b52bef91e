/* The numbers in tensors: a heat map of one of several figures, the histogram of the widest tensor, and all
 * figures as a table. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/table.h"
#include "report/pictures/heat.h"
#include "report/pictures/histogram.h"
#include "report/sections/sections.h"
#include "report/sections/weights.h"

#include <math.h>
#include <stdio.h>

/* ---- figures -------------------------------------------------------------------------------- */

static double largest_of(const gufo_stats *s)
{
    return fmax(fabs(s->minimum), fabs(s->maximum));
}

static double get_deviation(const gufo_stats *s)
{
    return s->deviation;
}

static double get_mean(const gufo_stats *s)
{
    return fabs(s->mean);
}

static double get_zeros(const gufo_stats *s)
{
    return 100 * (double)s->zeros / (double)s->finite;
}

/* What the reader chooses from. */
typedef struct weight_figure {
    const char *label, *legend;
    double (*get)(const gufo_stats *s); /* of one with finite values */
} weight_figure;

static const weight_figure figures[] = {
    {"Standard deviation", "standard deviation", get_deviation},
    {"Largest magnitude", "largest magnitude", largest_of},
    {"Mean", "magnitude of the mean", get_mean},
    {"Zeros", "percent of zeros", get_zeros},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* A figure of a model. */
typedef struct figure_source {
    const gufo_stats *stats;
    const weight_figure *figure;
} figure_source;

static double value_of(const void *context, uint32_t item)
{
    const figure_source *f = context;
    const gufo_stats *s = &f->stats[item];

    return s->finite > 0 ? f->figure->get(s) : NAN;
}

/* ---- heat maps ------------------------------------------------------------------------------ */

static void draw_pane(const report *r, const layer_rows *rows, size_t i)
{
    const figure_source source = {stats_of(r), &figures[i]};
    heat_map map = {.title = figures[i].label, .context = &source, .value = value_of};

    html(r->page, "<div class=\"pane p%zu\">", i);
    if (heat_range(&map, r->facts, rows, &map.scale)) {
        picture_heat(r->page, &map, r->facts, rows);
        picture_heat_legend(r->page, figures[i].legend, &map.scale);
    } else {
        html(r->page, "<p class=\"note\">No tensor of a layer has finite values.</p>");
    }
    html(r->page, "</div>");
}

static void draw_choice(const report *r, const layer_rows *rows)
{
    page *p = r->page;

    html(p, "<fieldset class=\"pick\"><legend>Number that is shown</legend>");
    for (size_t i = 0; i < FIGURES; i++)
        html(p,
             "<input type=\"radio\" name=\"%snumber\" id=\"%sn%zu\" class=\"i%zu\"%s><label "
             "for=\"%sn%zu\">%s</label>",
             p->prefix, p->prefix, i, i, i == 0 ? " checked" : "", p->prefix, i, figures[i].label);
    for (size_t i = 0; i < FIGURES; i++)
        draw_pane(r, rows, i);
    html(p, "</fieldset>");
}

/* ---- the widest tensor ---------------------------------------------------------------------- */

/* Considers matrices, or all tensors of a model without matrices; false: none has finite values. */
static bool find_widest(const report *r, uint64_t *found)
{
    double most[2] = {-1, -1};
    uint64_t at[2] = {0};
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(r->model->model, i, &tensor); i++) {
        const gufo_stats *s = &stats_of(r)[i];
        size_t kind = tensor.n_dims > 1;

        if (s->finite > 0 && largest_of(s) > most[kind]) {
            most[kind] = largest_of(s);
            at[kind] = i;
        }
    }
    *found = most[1] >= 0 ? at[1] : at[0];
    return most[0] >= 0 || most[1] >= 0;
}

/* The place, from 0 to 1, below which a share of the values is. */
static double quantile(const gufo_stats *s, double share)
{
    double wanted = share * (double)s->finite, sum = (double)s->outliers_below;

    if (sum >= wanted)
        return 0;
    for (size_t i = 0; i < GUFO_STATS_BINS; i++) {
        double count = (double)s->bins[i];

        if (sum + count >= wanted)
            return ((double)i + (wanted - sum) / count) / GUFO_STATS_BINS;
        sum += count;
    }
    return 1;
}

static double value_at(const gufo_stats *s, double part)
{
    return s->low + (s->high - s->low) * part;
}

static void describe_bin(page *p, const void *context, size_t bar)
{
    const gufo_stats *s = context;

    html(p, "from %s", as_measured(value_at(s, (double)bar / GUFO_STATS_BINS)).text);
    html(p, " to %s: ", as_measured(value_at(s, (double)(bar + 1) / GUFO_STATS_BINS)).text);
    html(p, "%s", as_counted(s->bins[bar], "value", "values").text);
}

static void draw_bins(page *p, const gufo_stats *s)
{
    char low[64], high[64], labels[2][96], described[256];
    const double marks[] = {quantile(s, 0.001), quantile(s, 0.999)};
    histogram h = {.title = "Histogram of the widest tensor",
                   .described = described,
                   .counts = s->bins,
                   .count = GUFO_STATS_BINS,
                   .is_log = true,
                   .context = s,
                   .describe = describe_bin,
                   .low = low,
                   .high = high};

    (void)snprintf(low, sizeof low, "%s", as_measured(s->low).text);
    (void)snprintf(high, sizeof high, "%s", as_measured(s->high).text);
    (void)snprintf(described, sizeof described, "64 bins from %s to %s, logarithmic counts.", low,
                   high);
    for (size_t i = 0; s->high > s->low && i < 2; i++) {
        (void)snprintf(labels[i], sizeof labels[i], "%s %% %s", i == 0 ? "0.1" : "99.9",
                       as_measured(value_at(s, marks[i])).text);
        h.marks[h.mark_count++] = (histogram_mark){marks[i], labels[i]};
    }
    histogram_draw(p, &h);
}

static void write_bins(page *p, const gufo_stats *s)
{
    static const html_column columns[] = {{"From", true}, {"Values", true}, {NULL, false}};

    html_table(p, "Histogram", columns);
    for (size_t i = 0; i < GUFO_STATS_BINS; i++) {
        html_row(p);
        html(p, "<th scope=\"row\" class=\"n\">%s</th>",
             as_measured(value_at(s, (double)i / GUFO_STATS_BINS)).text);
        html_cell_quantity(p, as_grouped(s->bins[i]).text, (double)s->bins[i]);
        html_row_end(p);
    }
    html_table_end(p);
}

static void draw_widest(const report *r, uint64_t index)
{
    const gufo_stats *s = &stats_of(r)[index];
    gufo_tensor tensor;
    page *p = r->page;

    (void)gufo_model_tensor_at(r->model->model, index, &tensor);
    html(p, "<h%u><code>", p->heading + 1);
    html_text(p, tensor.name, HTML_NAME);
    html(p, "</code></h%u>", p->heading + 1);
    draw_bins(p, s);
    note_begin(p);
    html(p, "mean %s, ", as_measured(s->mean).text);
    html(p, "deviation %s, ", as_measured(s->deviation).text);
    html(p, "from %s ", as_measured(s->minimum).text);
    html(p, "to %s, ", as_measured(s->maximum).text);
    html(p, "%s zeros, ", as_share((double)s->zeros, (double)s->finite).text);
    html(p, "%s not finite", as_grouped(s->elements - s->finite).text);
    if (s->outliers_below + s->outliers_above > 0)
        html(p, "; %s outside of the picture, beyond six deviations",
             as_counted(s->outliers_below + s->outliers_above, "value is", "values are").text);
    note_end(p);
    html(p, "<details><summary>Histogram as a table</summary>");
    write_bins(p, s);
    html(p, "</details>");
}

/* ---- all as a table ------------------------------------------------------------------------- */

static void put_cell(page *p, bool known, double value)
{
    html_cell_word(p, known ? as_measured(value).text : "");
}

static void write_row(page *p, const gufo_tensor *tensor, const gufo_stats *s)
{
    bool known = s->finite > 0;

    html_row(p);
    html_cell_name(p, tensor->name);
    put_cell(p, known, s->mean);
    put_cell(p, known, s->deviation);
    put_cell(p, known, s->minimum);
    put_cell(p, known, s->maximum);
    put_cell(p, known, known ? get_zeros(s) : 0);
    html_cell_word(p, as_grouped(s->elements - s->finite).text);
    html_cell_word(p, as_grouped(s->bad_scales.count).text);
    put_cell(p, known, gufo_stats_peak(s));
    put_cell(p, known, 100 * s->top_energy);
    html_row_end(p);
}

static void write_table(const report *r)
{
    static const html_column columns[] = {{"Tensor", false},
                                          {"Mean", true},
                                          {"Deviation", true},
                                          {"Least", true},
                                          {"Most", true},
                                          {"Zeros, %", true},
                                          {"Not finite", true},
                                          {"Bad scales", true},
                                          {"Largest / rms", true},
                                          {"Top 0.1 % energy, %", true},
                                          {NULL, false}};
    gufo_tensor tensor;
    uint64_t listed = 0;

    html_table_numbers(r->page, "Numbers of tensors", columns);
    for (uint64_t i = 0; gufo_model_tensor_at(r->model->model, i, &tensor); i++)
        if (stats_of(r)[i].elements > 0 && listed++ < MOST_LISTED)
            write_row(r->page, &tensor, &stats_of(r)[i]);
    html_table_end(r->page);
    section_rest(r->page, listed);
}

/* ---- the section ---------------------------------------------------------------------------- */

static void write_finding(const report *r, uint64_t widest)
{
    uint64_t bad = 0, tensors = 0, read = 0;
    gufo_tensor tensor;
    page *p = r->page;

    for (uint64_t i = 0; gufo_model_tensor_at(r->model->model, i, &tensor); i++) {
        const gufo_stats *s = &stats_of(r)[i];

        read += s->elements;
        bad += s->elements - s->finite;
        tensors += s->elements > s->finite;
    }
    (void)gufo_model_tensor_at(r->model->model, widest, &tensor);
    if (bad > 0)
        html(p, "%s not finite, in ", as_counted(bad, "value is", "values are").text);
    if (bad > 0)
        html(p, "%s.", as_counted(tensors, "tensor", "tensors").text);
    else
        html(p, "All %s are finite", as_counted(read, "value", "values").text);
    html(p,
         bad > 0 ? " The largest value of a matrix, %s, is in <code>"
                 : "; the largest, %s, is in <code>",
         as_measured(largest_of(&stats_of(r)[widest])).text);
    html_text(p, tensor.name, HTML_NAME);
    html(p, "</code>.");
}

void section_weights(const report *r)
{
    const layer_rows rows = rows_of(r->facts);
    bool has_map = rows.count > 0;
    page *p = r->page;
    uint64_t widest;

    if (stats_of(r) == NULL) {
        section_hint(r, GUFO_REPORT_STATS, "The numbers in tensors were not read; this reads them");
        return;
    }
    if (!find_widest(r, &widest)) {
        html(p, "<p class=\"note\">No tensor has a finite value.</p>");
        return;
    }
    figure_begin(p, "numbers");
    write_finding(r, widest);
    figure_reading(p);
    html(p, "Of all values as readers decode them. The histogram is that of the matrix with the "
            "largest "
            "value: 99.8 %% of its values are between the two marks.");
    figure_picture(p);
    html(p, has_map ? "<div class=\"two\"><div>" : "<div>");
    if (has_map)
        draw_choice(r, &rows);
    html(p, has_map ? "</div><div class=\"side\">" : "");
    draw_widest(r, widest);
    html(p, has_map ? "</div></div>" : "</div>");
    figure_data(p, "Numbers of all tensors as a table");
    write_table(r);
    figure_end(p, true);
    section_outliers(r);
}

bool section_weights_is_there(const report *r)
{
    return r->facts->model != NULL && gufo_model_tensor_count(r->facts->model) > 0 &&
           (stats_of(r) != NULL || r->model->hints[GUFO_REPORT_STATS] != NULL);
}
