/* Memory over the context: weights, cache and buffers on each other, and lines for cards that people have. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"
#include "report/page/table.h"
#include "report/pictures/curve.h"
#include "report/sections/sections.h"

#include "gufo/estimate.h"

#include <math.h>
#include <stdio.h>

enum { HEIGHT = 300, LEFT = 62, RIGHT = 76, MOST_POINTS = GUFO_ESTIMATE_CONTEXTS, STEP = 256 };

static const double gib = 1073741824.0;
static const unsigned cards[] = {8, 12, 16, 24, 32, 48, 80};
enum { CARDS = sizeof cards / sizeof *cards };

/* ---- numbers -------------------------------------------------------------------------------- */

static double total_of(const gufo_report_memory_point *point)
{
    return (double)point->weights + (double)point->cache + (double)point->compute;
}

static const gufo_report_memory_point *last_of(const gufo_report_memory *m)
{
    return &m->points[m->count - 1];
}

/* The largest context that fits: between two points memory grows evenly.  0: none of them fits. */
static uint64_t context_within(const gufo_report_memory *m, double bytes)
{
    for (size_t i = m->count; i-- > 0;) {
        const gufo_report_memory_point *a = &m->points[i], *b = a + 1;
        double part;

        if (total_of(a) > bytes)
            continue;
        if (i + 1 == m->count)
            return a->context;
        part = (bytes - total_of(a)) / (total_of(b) - total_of(a));
        return a->context + whole_of((double)(b->context - a->context) * part) / STEP * STEP;
    }
    return 0;
}

/* The first card that holds something; CARDS: none does. */
static size_t first_card(const gufo_report_memory *m)
{
    size_t i = 0;

    while (i < CARDS && context_within(m, cards[i] * gib) == 0)
        i++;
    return i;
}

/* ---- the drawing ---------------------------------------------------------------------------- */

typedef struct memory_view {
    page *p;
    const gufo_report_memory *memory; /* the usual type of the cache, and others */
    size_t count;
    axis_ticks ticks; /* GiB */
} memory_view;

static double place_of_context(const memory_view *v, uint64_t context)
{
    double first = (double)v->memory->points[0].context;
    double last = (double)last_of(v->memory)->context;

    return last > first ? log((double)context / first) / log(last / first) : 0;
}

static double height_of(const memory_view *v, double bytes)
{
    return bytes / gib / v->ticks.end;
}

static double y_of(const memory_view *v, double bytes)
{
    return HEIGHT - HEIGHT * height_of(v, bytes);
}

static void draw_areas(const memory_view *v)
{
    static const char *const classes[] = {"a1", "a2", "a3"};
    curve_point lines[4][MOST_POINTS + 1];
    size_t count = v->memory->count;

    for (size_t i = 0; i < count; i++) {
        const gufo_report_memory_point *point = &v->memory->points[i];
        const double parts[] = {0, (double)point->weights, (double)point->cache,
                                (double)point->compute};
        double sum = 0;

        for (size_t k = 0; k < 4; k++) {
            sum += parts[k];
            lines[k][i] = (curve_point){place_of_context(v, point->context), height_of(v, sum)};
        }
    }
    if (count == 1) /* one context: a band of the whole width */
        for (size_t k = 0; k < 4; k++)
            lines[k][count] = (curve_point){1, lines[k][0].y};
    count += count == 1;
    for (size_t k = 0; k < 3; k++)
        curve_area(v->p, lines[k], lines[k + 1], count, classes[k]);
}

static void draw_total(const memory_view *v, const gufo_report_memory *m, const char *classes)
{
    curve_point line[MOST_POINTS];

    for (size_t i = 0; i < m->count; i++)
        line[i] = (curve_point){place_of_context(v, m->points[i].context),
                                height_of(v, total_of(&m->points[i]))};
    curve_line(v->p, line, m->count, classes);
}

static void draw_axes(const memory_view *v)
{
    const gufo_report_memory_point *first = v->memory->points, *last = last_of(v->memory);

    for (size_t i = 0; i < v->ticks.count; i++)
        svg_label(v->p, 0, y_of(v, v->ticks.values[i] * gib) + 4, -8, "ax e",
                  as_memory(whole_of(v->ticks.values[i] * gib)).text);
    for (uint64_t n = first->context; n < last->context; n *= 2) {
        double x = 100 * place_of_context(v, n);

        /* A label needs its place beside that of the end, and phones have room for every second. */
        if (x < 93)
            svg_label(v->p, x, HEIGHT + 16, 0, n == first->context ? "ax" : "ax c c540",
                      as_grouped(n).text);
        if (n > UINT64_MAX / 2)
            break;
    }
    svg_label(v->p, 100, HEIGHT + 16, 0, "ax e", as_grouped(last->context).text);
    svg_line(v->p, 0, HEIGHT, 100, HEIGHT, "axis");
}

/* Cards up to 1.6 times what is needed, with a mark where one is full. */
static void draw_cards(const memory_view *v)
{
    double most = total_of(last_of(v->memory));

    for (size_t i = 0; i < CARDS; i++) {
        double bytes = cards[i] * gib, y = y_of(v, bytes);
        uint64_t context = context_within(v->memory, bytes);
        char label[32];

        if (bytes > 1.6 * most || y < 0)
            continue;
        (void)snprintf(label, sizeof label, "%u GiB card", cards[i]);
        svg_line(v->p, 0, y, 100, y, "card");
        svg_label(v->p, 0, y - 5, 5, "ink b", label);
        if (context == 0 || context == last_of(v->memory)->context)
            continue;
        svg_circle_titled(v->p, 100 * place_of_context(v, context), y, 4, "hot");
        html(v->p, "%s full at %s tokens", label, as_grouped(context).text);
        svg_titled(v->p, "circle");
        if (place_of_context(v, context) > 0.3)
            svg_label(v->p, 100 * place_of_context(v, context), y - 8, -2, "ink b e c420",
                      as_grouped(context).text);
    }
}

/* Names of lines and areas, where they end. */
static void draw_labels(const memory_view *v)
{
    const gufo_report_memory_point *first = v->memory->points, *last = last_of(v->memory);
    double weights = y_of(v, (double)last->weights), taken = HEIGHT + 20;

    if (HEIGHT - weights > 18)
        svg_label(v->p, 0, fmin(weights + 16, HEIGHT - 6), 9, "w b", "weights");
    if (weights - y_of(v, (double)last->weights + (double)last->cache) > 18) {
        svg_text_begin(v->p, 100, weights - 6, -8, "k b e");
        html(v->p, "cache ");
        html_text(v->p, v->memory->cache_type, HTML_LABEL);
        svg_text_end(v->p);
    }
    if (y_of(v, (double)last->weights + (double)last->cache) - y_of(v, total_of(last)) > 36)
        svg_label(v->p, 0, y_of(v, (double)first->weights + (double)first->cache) - 6, 9, "k b",
                  "buffers");
    svg_label(v->p, 100, y_of(v, total_of(last)) + 4, 5, "ink b",
              as_memory(whole_of(total_of(last))).text);
    taken = y_of(v, total_of(last)) + 4;
    for (size_t i = 1; i < v->count; i++) {
        double y = fmax(y_of(v, total_of(last_of(&v->memory[i]))) + 4, taken + 13);

        svg_text_begin(v->p, 100, y, 5, "ink");
        html_text(v->p, v->memory[i].cache_type, HTML_LABEL);
        svg_text_end(v->p);
        taken = y;
    }
}

static void draw(const memory_view *v)
{
    static const char *const dashes[] = {"ln ld", "ln ld2"};
    const svg_frame frame = {.title = "Memory over the context",
                             .height = HEIGHT,
                             .left = LEFT,
                             .right = RIGHT,
                             .top = 12,
                             .bottom = 26};
    const gufo_report_memory_point *first = v->memory->points, *last = last_of(v->memory);

    html(v->p, "<div class=\"cq\">");
    svg_begin(v->p, &frame);
    html(v->p, "Weights %s. ", as_memory(last->weights).text);
    html(v->p, "Total %s at %s tokens, ", as_memory(whole_of(total_of(first))).text,
         as_grouped(first->context).text);
    html(v->p, "%s at %s.", as_memory(whole_of(total_of(last))).text,
         as_grouped(last->context).text);
    svg_described(v->p);
    svg_stretched_begin(v->p, (svg_box){0, 100, 0, HEIGHT});
    draw_areas(v);
    for (size_t i = 1; i < v->count; i++)
        draw_total(v, &v->memory[i], dashes[i % 2 == 0]);
    svg_stretched_end(v->p);
    draw_axes(v);
    draw_cards(v);
    draw_labels(v);
    svg_end(v->p);
    html(v->p, "</div>");
}

/* ---- words ---------------------------------------------------------------------------------- */

/* "An 8 GiB card holds 21,760 tokens with a cache of F16; 12 GiB hold all 40,960." */
static void write_finding(page *p, const gufo_report_memory *m)
{
    uint64_t all = last_of(m)->context, held;
    size_t card = first_card(m);

    if (card == CARDS) {
        html(p, "No card of up to %u GiB holds the model with %s tokens.", cards[CARDS - 1],
             as_grouped(m->points[0].context).text);
        return;
    }
    held = context_within(m, cards[card] * gib);
    html(p, "A card of %u GiB holds %s%s tokens of context with a cache of ", cards[card],
         held == all ? "all " : "", as_grouped(held).text);
    html_text(p, m->cache_type, HTML_LABEL);
    for (size_t i = card + 1; held != all && i < CARDS; i++)
        if (context_within(m, cards[i] * gib) == all) {
            html(p, "; %u GiB hold all %s", cards[i], as_grouped(all).text);
            held = all;
        }
    html(p, ".");
}

static void write_notes(page *p, const gufo_report_memory *m)
{
    double most = total_of(last_of(m));
    bool some = false;

    note_begin(p);
    if (m->formula.len > 0)
        html_text(p, m->formula, HTML_ALL);
    if (!m->compute_known)
        html(p, " Buffers for computing are not known for this architecture, and not counted.");
    for (size_t i = 0; i < CARDS; i++)
        if (cards[i] * gib > 1.6 * most) {
            html(p, some ? ", %u" : " Everything also fits on cards of %u", cards[i]);
            some = true;
        }
    html(p, some ? " GiB." : "");
    note_end(p);
}

static void write_table(page *p, const gufo_report_memory *memory, size_t count)
{
    static const html_column columns[] = {
        {"Cache", false},  {"Context", true}, {"Weights", true}, {"Cache and state", true},
        {"Buffers", true}, {"Total", true},   {NULL, false}};

    html_table(p, "Memory as a table", columns);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < memory[i].count; k++) {
            const gufo_report_memory_point *point = &memory[i].points[k];

            html_row(p);
            html_cell_name(p, memory[i].cache_type);
            html_cell_quantity(p, as_grouped(point->context).text, (double)point->context);
            html_cell_quantity(p, as_memory(point->weights).text, (double)point->weights);
            html_cell_quantity(p, as_memory(point->cache).text, (double)point->cache);
            html_cell_quantity(p, as_memory(point->compute).text, (double)point->compute);
            html_cell_quantity(p, as_memory(whole_of(total_of(point))).text, total_of(point));
            html_row_end(p);
        }
    html_table_end(p);
}

/* ---- the section ---------------------------------------------------------------------------- */

static bool is_drawn(const gufo_report_memory *m)
{
    return m->count > 0 && m->count <= MOST_POINTS && m->points[0].context > 0 &&
           m->points[0].weights > 0 && isfinite(total_of(last_of(m)));
}

void section_memory(const report *r)
{
    const gufo_report_model *m = r->model;
    memory_view v = {.p = r->page, .memory = m->memory};
    double most = 0;

    while (v.count < m->memory_count && is_drawn(&m->memory[v.count])) {
        most = fmax(most, total_of(last_of(&m->memory[v.count])));
        v.count++;
    }
    if (v.count == 0)
        return;
    v.ticks = axis_binary(most / gib * 1.04, 4);
    figure_begin(r->page, "memory-context");
    write_finding(r->page, m->memory);
    figure_reading(r->page);
    html(r->page, "Memory over tokens of context, which double from mark to mark. A dot is where a "
                  "card is full. ");
    if (v.count > 1)
        html(r->page, "Dashed lines: the total with other types of the cache.");
    figure_picture(r->page);
    draw(&v);
    write_notes(r->page, m->memory);
    figure_data(r->page, "Memory as a table");
    write_table(r->page, m->memory, v.count);
    figure_end(r->page, true);
}

bool section_memory_is_there(const report *r)
{
    return r->model->memory_count > 0 && is_drawn(r->model->memory);
}
