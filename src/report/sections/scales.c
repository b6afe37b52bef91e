/* Scales of blocks: how large they are, by element type, and which are lost or cut off. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/table.h"
#include "report/pictures/histogram.h"
#include "report/sections/sections.h"

#include <stdio.h>

/* The exponents that occur. */
typedef struct scale_range {
    const gufo_scale_counts *counts;
    size_t first, count; /* bins */
} scale_range;

static scale_range range_of(const gufo_scale_counts *counts)
{
    scale_range range = {counts, 0, GUFO_SCALE_EXPONENTS};

    while (range.count > 1 && counts->exponents[range.first] == 0) {
        range.first++;
        range.count--;
    }
    while (range.count > 1 && counts->exponents[range.first + range.count - 1] == 0)
        range.count--;
    return range;
}

static int exponent_of(const scale_range *range, size_t bar)
{
    return GUFO_SCALE_LEAST_EXPONENT + (int)(range->first + bar);
}

static void describe(page *p, const void *context, size_t bar)
{
    const scale_range *range = context;

    html(p, "from 2^%d: %s", exponent_of(range, bar),
         as_counted(range->counts->exponents[range->first + bar], "scale", "scales").text);
}

/* Labels of two or three digits: at most about ten of them. */
static const char *label(const void *context, size_t bar, char room[32])
{
    const scale_range *range = context;
    size_t every = range->count / 10 + 1;

    if (bar % every != 0)
        return NULL;
    (void)snprintf(room, 32, "2^%d", exponent_of(range, bar));
    return room;
}

static uint64_t lost_of(const gufo_scale_counts *c)
{
    return c->zeros + c->subnormal + c->saturated + c->nonfinite;
}

/* ---- a type --------------------------------------------------------------------------------- */

static void write_finding(page *p, const char *name, const gufo_scale_counts *c)
{
    static const struct {
        size_t at;
        const char *word;
    } kinds[] = {{offsetof(gufo_scale_counts, zeros), "are 0"},
                 {offsetof(gufo_scale_counts, subnormal), "are subnormal"},
                 {offsetof(gufo_scale_counts, saturated), "are the greatest number"},
                 {offsetof(gufo_scale_counts, nonfinite), "are infinite or NaN"}};
    bool some = false;

    html(p, "%s: %s", name, lost_of(c) == 0 ? "no scale is lost or cut off." : "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t count = *(const uint64_t *)((const char *)c + kinds[i].at);

        if (count == 0)
            continue;
        html(p, "%s%s %s", some ? ", " : "", as_share((double)count, (double)c->count).text,
             kinds[i].word);
        some = true;
    }
    html(p, some ? "." : "");
}

static void draw_counts(page *p, const char *title, const gufo_scale_counts *c)
{
    scale_range range = range_of(c);
    char described[160];
    const histogram h = {.title = title,
                         .described = described,
                         .counts = c->exponents + range.first,
                         .count = range.count,
                         .is_log = true,
                         .context = &range,
                         .describe = describe,
                         .label = label};

    (void)snprintf(described, sizeof described, "%s from 2^%d to 2^%d.",
                   as_counted(c->count, "scale", "scales").text, exponent_of(&range, 0),
                   exponent_of(&range, range.count - 1) + 1);
    histogram_draw(p, &h);
}

static void draw_type(page *p, const gufo_type_scales *s)
{
    const char *name = scale_type(s->type).name;
    char id[32], title[64];

    (void)snprintf(id, sizeof id, "scales-%u", (unsigned)s->type);
    figure_begin(p, id);
    write_finding(p, name, &s->scales);
    figure_reading(p);
    html(p, "Number of blocks by the magnitude of their scale; both axes are logarithmic.");
    figure_picture(p);
    (void)snprintf(title, sizeof title, "Scales of blocks in %s", name);
    draw_counts(p, title, &s->scales);
    if (s->minimums.count > 0) {
        html(p, "<p class=\"note\">Their minimums, of which %s are 0:</p>",
             as_share((double)s->minimums.zeros, (double)s->minimums.count).text);
        (void)snprintf(title, sizeof title, "Minimums of blocks in %s", name);
        draw_counts(p, title, &s->minimums);
    }
    figure_end(p, false);
}

/* ---- the section ---------------------------------------------------------------------------- */

static void put_row(page *p, uint32_t type, const char *what, const gufo_scale_counts *c)
{
    const uint64_t numbers[] = {c->count,     c->zeros,     c->negative,
                                c->subnormal, c->saturated, c->nonfinite};

    html_row(p);
    html_cell_name(p, gufo_str_of(scale_type(type).name));
    html_cell_word(p, what);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        html_cell_quantity(p, as_grouped(numbers[i]).text, (double)numbers[i]);
    html_row_end(p);
}

static void write_table(page *p, const gufo_model_numbers *m)
{
    static const html_column columns[] = {
        {"Type", false},     {"Number", false},    {"Blocks", true},
        {"0", true},         {"Negative", true},   {"Subnormal", true},
        {"Saturated", true}, {"Not finite", true}, {NULL, false}};

    html_table(p, "Scales by element type", columns);
    for (size_t i = 0; i < m->scales_count; i++) {
        put_row(p, m->scales[i].type, "scale", &m->scales[i].scales);
        if (m->scales[i].minimums.count > 0)
            put_row(p, m->scales[i].type, "minimum", &m->scales[i].minimums);
    }
    html_table_end(p);
}

void section_scales(const report *r)
{
    const gufo_model_numbers *m = r->model->numbers;

    html(r->page, "<div class=\"three\">");
    for (size_t i = 0; i < m->scales_count; i++)
        if (m->scales[i].scales.count > 0)
            draw_type(r->page, &m->scales[i]);
    html(r->page, "</div><details><summary>Scales as a table</summary>");
    write_table(r->page, m);
    html(r->page, "</details>");
}

bool section_scales_is_there(const report *r)
{
    return r->model->numbers != NULL && r->model->numbers->scales_count > 0;
}
