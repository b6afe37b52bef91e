/* Outliers: the largest magnitude of a tensor over its root mean square. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/table.h"
#include "report/pictures/strips.h"
#include "report/sections/weights.h"

#include <math.h>
#include <stdio.h>

enum { WORST = 20 };

static double peak_of(const void *context, uint32_t item)
{
    const gufo_stats *stats = context;
    double peak = stats[item].finite > 0 ? gufo_stats_peak(&stats[item]) : 0;

    return peak > 0 ? peak : NAN;
}

/* The tensors with the largest peaks, in order. */
typedef struct outlier_ranks {
    uint32_t items[WORST];
    double peaks[WORST];
    size_t count;
} outlier_ranks;

static void rank(outlier_ranks *ranks, uint32_t item, double peak)
{
    size_t at = ranks->count;

    if (at == WORST && peak <= ranks->peaks[WORST - 1])
        return;
    at -= at == WORST;
    for (; at > 0 && ranks->peaks[at - 1] < peak; at--) {
        ranks->items[at] = ranks->items[at - 1];
        ranks->peaks[at] = ranks->peaks[at - 1];
    }
    ranks->items[at] = item;
    ranks->peaks[at] = peak;
    ranks->count += ranks->count < WORST;
}

/* Of tensors in layers with a peak. */
typedef struct outlier_facts {
    outlier_ranks ranks;
    double least, most;
    uint64_t tensors, above; /* all, and those above the reference */
} outlier_facts;

static const double reference = 32;

static outlier_facts look(const report *r, const layer_rows *rows)
{
    outlier_facts f = {.least = INFINITY};
    const gufo_layers *layers = r->facts->layers;

    for (uint64_t layer = 0; layer < gufo_layers_count(layers); layer++)
        for (size_t row = 0; row < rows->count; row++) {
            uint32_t item;
            double peak;

            if (!gufo_layers_at(layers, layer, rows->roles[row], &item))
                continue;
            peak = peak_of(stats_of(r), item);
            if (!isfinite(peak))
                continue;
            f.least = fmin(f.least, peak);
            f.most = fmax(f.most, peak);
            f.tensors++;
            f.above += peak >= reference;
            rank(&f.ranks, item, peak);
        }
    return f;
}

static void write_finding(page *p, const outlier_facts *f)
{
    if (f->above == 0)
        html(p, "No tensor reaches %s times its root mean square; the most is ",
             as_measured(reference).text);
    else
        html(p, "%s %s times %s root mean square or more; the most is ",
             as_counted(f->above, "tensor reaches", "tensors reach").text,
             as_measured(reference).text, f->above == 1 ? "its" : "their");
    html(p, "%s.", as_measured(f->most).text);
}

static void write_table(const report *r, const outlier_facts *f)
{
    static const html_column columns[] = {{"Tensor", false},
                                          {"Largest / rms", true},
                                          {"Top 0.1 % energy, %", true},
                                          {"Beyond 6 deviations", true},
                                          {NULL, false}};

    html_table(r->page, "Outliers", columns);
    for (size_t i = 0; i < f->ranks.count; i++) {
        const gufo_stats *s = &stats_of(r)[f->ranks.items[i]];
        gufo_tensor tensor;

        if (!gufo_model_tensor_at(r->model->model, f->ranks.items[i], &tensor))
            continue;
        html_row(r->page);
        html_cell_name(r->page, tensor.name);
        html_cell_number(r->page, as_measured(f->ranks.peaks[i]).text);
        html_cell_number(r->page, as_measured(100 * s->top_energy).text);
        html_cell_number(r->page, as_grouped(s->outliers_below + s->outliers_above).text);
        html_row_end(r->page);
    }
    html_table_end(r->page);
}

void section_outliers(const report *r)
{
    const layer_rows rows = rows_of(r->facts);
    outlier_facts f = look(r, &rows);
    page *p = r->page;
    char described[256];
    strips s = {.title = "Outliers",
                .described = described,
                .context = stats_of(r),
                .value = peak_of,
                .least = f.least * 0.9,
                .most = fmax(f.most, reference),
                .reference = reference};

    if (f.tensors == 0)
        return;
    while (s.hot_count < STRIPS_HOT && s.hot_count < f.ranks.count &&
           f.ranks.peaks[s.hot_count] >= reference) {
        s.hot[s.hot_count] = f.ranks.items[s.hot_count];
        s.hot_count++;
    }
    (void)snprintf(described, sizeof described,
                   "Largest magnitude over root mean square by role and layer, up to %s.",
                   as_measured(f.most).text);
    figure_begin(p, "outliers");
    write_finding(p, &f);
    figure_reading(p);
    html(p,
         "Largest magnitude of each tensor, divided by its root mean square: a strip for each "
         "role, the "
         "same logarithmic scale in all of them. The line is %s times. A few weights that rise far "
         "above the rest cost the block they are in its precision.",
         as_measured(reference).text);
    figure_picture(p);
    picture_strips(p, &s, r->facts, &rows);
    figure_data(p, f.ranks.count < WORST ? "Outliers as a table" : "The 20 largest as a table");
    write_table(r, &f);
    figure_end(p, true);
}
