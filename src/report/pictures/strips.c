/* Strips.  Stems are one path for each strip. */
#include "report/pictures/strips.h"

#include "report/page/numbers.h"
#include "report/page/svg.h"

#include <inttypes.h>
#include <math.h>

enum {
    STRIP = 34,
    TALL = 22, /* of these for dots */
    LETTER = 7,
    SHORTEST = 5, /* letters of names */
    LONGEST = 20,
    GAP = 8,
};

typedef struct strip {
    const strips *all;
    const gufo_layers *layers;
    page *p;
    size_t role;
    double base; /* y of the line that dots stand on */
    bool is_first;
} strip;

static double x_of(const gufo_layers *layers, uint64_t layer)
{
    return 100 * ((double)layer + 0.5) / (double)gufo_layers_count(layers);
}

static double height_of(const strips *s, double value)
{
    double part = s->most > s->least ? log(value / s->least) / log(s->most / s->least) : 0.5;

    return TALL * fmin(fmax(part, 0), 1);
}

static bool number_at(const strip *s, uint64_t layer, uint32_t *item, double *value)
{
    if (!gufo_layers_at(s->layers, layer, s->role, item))
        return false;
    *value = s->all->value(s->all->context, *item);
    return *value > 0 && isfinite(*value);
}

static bool is_hot(const strips *s, uint32_t item)
{
    for (size_t i = 0; i < s->hot_count; i++)
        if (s->hot[i] == item)
            return true;
    return false;
}

static void put_stems(const strip *s, uint64_t layers)
{
    uint32_t item;
    double value;

    svg_stretched_begin(s->p, (svg_box){0, 100, s->base - TALL, TALL});
    html(s->p, "<path class=\"ln stem\" d=\"");
    for (uint64_t layer = 0; layer < layers; layer++)
        if (number_at(s, layer, &item, &value))
            html(s->p, "M%s 100V%s", as_place(x_of(s->layers, layer)).text,
                 as_place(100 - 100 * height_of(s->all, value) / TALL).text);
    html(s->p, "\"/>");
    svg_stretched_end(s->p);
}

static void put_dot(const strip *s, uint64_t layer)
{
    uint32_t item;
    double value, x = x_of(s->layers, layer), y;
    bool hot;

    if (!number_at(s, layer, &item, &value))
        return;
    y = s->base - height_of(s->all, value);
    hot = is_hot(s->all, item);
    svg_circle_titled(s->p, x, y, hot ? 4 : 2.5, hot ? "hot" : "dot");
    html(s->p, "%" PRIu64 ": %s×", layer, as_measured(value).text);
    svg_titled(s->p, "circle");
    if (hot) {
        svg_text_begin(s->p, x, y - 3, x > 90 ? -7 : 7, x > 90 ? "ink b e" : "ink b");
        html(s->p, "%s×", as_measured(value).text);
        svg_text_end(s->p);
    }
}

static void put_strip(const strip *s)
{
    uint64_t layers = gufo_layers_count(s->layers);

    svg_text_begin(s->p, 0, s->base - 3, -GAP, "lab e");
    html_text(s->p, gufo_layers_role(s->layers, s->role), LONGEST - 1);
    svg_text_end(s->p);
    if (s->all->reference > 0) {
        double y = s->base - height_of(s->all, s->all->reference);

        svg_line(s->p, 0, y, 100, y, "grid");
        if (s->is_first) {
            svg_text_begin(s->p, 100, y + 4, 5, "ax");
            html(s->p, "%s×", as_measured(s->all->reference).text);
            svg_text_end(s->p);
        }
    }
    svg_line(s->p, 0, s->base, 100, s->base, "axis");
    put_stems(s, layers);
    for (uint64_t layer = 0; layer < layers; layer++)
        put_dot(s, layer);
}

static unsigned label_width(const gufo_layers *layers, const layer_rows *rows)
{
    size_t longest = SHORTEST;

    for (size_t row = 0; row < rows->count; row++) {
        size_t len = gufo_layers_role(layers, rows->roles[row]).len;

        longest = len > longest ? len : longest;
    }
    return (unsigned)(longest < LONGEST ? longest : LONGEST) * LETTER + GAP + 2;
}

void picture_strips(page *p, const strips *s, const model_facts *facts, const layer_rows *rows)
{
    uint64_t layers = gufo_layers_count(facts->layers), every = layers > 24 ? 10 : 5;
    const svg_frame frame = {.title = s->title,
                             .height = (unsigned)rows->count * STRIP,
                             .left = label_width(facts->layers, rows),
                             .right = 40,
                             .top = 4,
                             .bottom = 22,
                             .least_width = layers > 64 ? (unsigned)layers * 9 : 0};

    svg_begin(p, &frame);
    html(p, "%s", s->described);
    svg_described(p);
    for (size_t row = 0; row < rows->count; row++) {
        const strip one = {
            s, facts->layers, p, rows->roles[row], (double)(row + 1) * STRIP - 4, row == 0};

        put_strip(&one);
    }
    for (uint64_t layer = 0; layer < layers; layer += every)
        svg_label(p, x_of(facts->layers, layer), (double)rows->count * STRIP + 14, 0, "ax c",
                  as_grouped(layer).text);
    svg_end(p);
}
