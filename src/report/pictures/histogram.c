/* Histograms. */
#include "report/pictures/histogram.h"

#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"

#include <math.h>

enum { HEIGHT = 130, LEFT = 46 };

static uint64_t most_of(const histogram *h)
{
    uint64_t most = 1;

    for (size_t i = 0; i < h->count; i++)
        most = h->counts[i] > most ? h->counts[i] : most;
    return most;
}

/* The axis of a logarithmic one begins below 1, so that a single value has a bar. */
static double height_of(const histogram *h, double value, double end)
{
    if (value <= 0)
        return 0;
    return HEIGHT * (h->is_log ? (log10(value) + 0.3) / (log10(end) + 0.3) : value / end);
}

static void draw_axis(page *p, const histogram *h, const axis_ticks *ticks)
{
    for (size_t i = 0; i < ticks->count; i++) {
        double y = HEIGHT - height_of(h, ticks->values[i], ticks->end);

        if (ticks->values[i] > 0)
            svg_line(p, 0, y, 100, y, "grid");
        svg_label(p, 0, y + 4, -6, "ax e", as_short(whole_of(ticks->values[i])).text);
    }
    svg_line(p, 0, HEIGHT, 100, HEIGHT, "axis");
}

static void draw_bar(page *p, const histogram *h, size_t bar, double end)
{
    double width = 100.0 / (double)h->count, height = height_of(h, (double)h->counts[bar], end);
    char room[32];
    const char *label = h->label != NULL ? h->label(h->context, bar, room) : NULL;

    if (h->counts[bar] > 0) {
        height = fmax(height, 1);
        svg_rect_titled(
            p, (svg_box){(double)bar * width + width * 0.08, width * 0.84, HEIGHT - height, height},
            "bar");
        h->describe(p, h->context, bar);
        svg_titled(p, "rect");
    }
    if (label != NULL)
        svg_label(p, ((double)bar + 0.5) * width, HEIGHT + 15, 0, "ax c", label);
}

/* Labels go on the outer sides if they fit there, and never at the same height. */
static void draw_mark(page *p, const histogram_mark *mark, size_t index)
{
    double x = 100 * mark->at;
    bool left = index == 0 ? mark->at > 0.4 : mark->at > 0.6;

    svg_line(p, x, index == 0 ? -24 : -12, x, HEIGHT, "ref");
    svg_label(p, x, index == 0 ? -17 : -4, left ? -5 : 5, left ? "ink e" : "ink", mark->label);
}

void histogram_draw(page *p, const histogram *h)
{
    const svg_frame frame = {.title = h->title,
                             .height = HEIGHT,
                             .left = LEFT,
                             .right = 4,
                             .top = h->mark_count > 0 ? 30 : 10,
                             .bottom = 22};
    uint64_t most = most_of(h);
    axis_ticks ticks = h->is_log ? axis_log(1, (double)most) : axis_linear((double)most, 3);

    svg_begin(p, &frame);
    html(p, "%s", h->described);
    svg_described(p);
    draw_axis(p, h, &ticks);
    for (size_t i = 0; i < h->count; i++)
        draw_bar(p, h, i, ticks.end);
    for (size_t i = 0; i < h->mark_count; i++)
        draw_mark(p, &h->marks[i], i);
    if (h->low != NULL)
        svg_label(p, 0, HEIGHT + 15, 0, "ax", h->low);
    if (h->high != NULL)
        svg_label(p, 100, HEIGHT + 15, 0, "ax e", h->high);
    svg_end(p);
}
