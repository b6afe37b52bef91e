/* Loss over size: the curve of plans, and the fixed mixtures as hollow points beside it. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"
#include "report/page/table.h"
#include "report/pictures/curve.h"
#include "report/sections/sections.h"

#include <math.h>
#include <string.h>

enum { HEIGHT = 300, MOST_POINTS = 256 };

typedef struct size_view {
    page *p;
    const gufo_report_size_point *points;
    size_t count;
    double unit; /* the loss that counts as 100 */
    bool has_unit;
    double low, high;   /* losses */
    double left, right; /* bytes */
} size_view;

/* A loss of 0 has no place on a logarithmic axis. */
static bool is_placed(const gufo_report_size_point *point)
{
    return point->loss > 0 && isfinite(point->loss) && point->size > 0;
}

static bool is_mixture(const gufo_report_size_point *point)
{
    return point->name.len > 0 && !point->is_chosen;
}

static const gufo_report_size_point *find(const size_view *v, const char *name)
{
    for (size_t i = 0; i < v->count; i++)
        if (gufo_str_equal(v->points[i].name, gufo_str_of(name)) && is_placed(&v->points[i]))
            return &v->points[i];
    return NULL;
}

/* The loss of plans of that size, from the two beside it; 0: no plan is as small. */
static double curve_at(const size_view *v, double size)
{
    const gufo_report_size_point *before = NULL;

    for (size_t i = 0; i < v->count; i++) {
        const gufo_report_size_point *point = &v->points[i];
        double part;

        if (is_mixture(point) || !is_placed(point))
            continue;
        if ((double)point->size >= size && before == NULL)
            return (double)point->size > size ? 0 : point->loss;
        if ((double)point->size >= size) {
            part = (size - (double)before->size) / ((double)point->size - (double)before->size);
            return before->loss * pow(point->loss / before->loss, part);
        }
        before = point;
    }
    return before != NULL ? before->loss : 0;
}

/* The size at which plans lose as much; 0: none does. */
static double size_at(const size_view *v, double loss)
{
    const gufo_report_size_point *before = NULL;

    for (size_t i = 0; i < v->count; i++) {
        const gufo_report_size_point *point = &v->points[i];

        if (is_mixture(point) || !is_placed(point))
            continue;
        if (point->loss <= loss && before != NULL && before->loss > point->loss)
            return (double)before->size +
                   ((double)point->size - (double)before->size) *
                       (log(before->loss / loss) / log(before->loss / point->loss));
        if (point->loss <= loss)
            return (double)point->size;
        before = point;
    }
    return 0;
}

/* ---- the drawing ---------------------------------------------------------------------------- */

static double x_of(const size_view *v, double size)
{
    return v->right > v->left ? (size - v->left) / (v->right - v->left) : 0.5;
}

static double height_of(const size_view *v, double loss)
{
    return v->high > v->low ? log(loss / v->low) / log(v->high / v->low) : 0.5;
}

static void find_ranges(size_view *v)
{
    const gufo_report_size_point *usual = find(v, "Q4_K_M");

    v->low = v->left = INFINITY;
    for (size_t i = 0; i < v->count; i++) {
        if (!is_placed(&v->points[i]))
            continue;
        v->low = fmin(v->low, v->points[i].loss);
        v->high = fmax(v->high, v->points[i].loss);
        v->left = fmin(v->left, (double)v->points[i].size);
        v->right = fmax(v->right, (double)v->points[i].size);
    }
    v->has_unit = usual != NULL;
    v->unit = usual != NULL ? usual->loss / 100 : 1;
    v->low *= 0.8;
    v->high *= 1.25;
    v->left -= (v->right - v->left) * 0.03;
    v->right += (v->right - v->left) * 0.06;
}

static void draw_axes(const size_view *v)
{
    axis_ticks losses = axis_log(v->low / v->unit, v->high / v->unit);
    axis_ticks sizes = axis_binary(v->right - v->left, 5);

    for (size_t i = 0; i < losses.count; i++) {
        double y = HEIGHT - HEIGHT * height_of(v, losses.values[i] * v->unit);

        svg_line(v->p, 0, y, 100, y, "grid");
        svg_label(v->p, 0, y + 4, -8, "ax e", as_measured(losses.values[i]).text);
    }
    for (size_t i = 0; i < sizes.count; i++) {
        double step = sizes.count > 1 ? sizes.values[1] : 1;
        double size = (ceil(v->left / step) + (double)i) * step;

        if (size > v->right)
            break;
        svg_label(v->p, 100 * x_of(v, size), HEIGHT + 16, 0, i % 2 == 0 ? "ax c" : "ax c c420",
                  as_memory(whole_of(size)).text);
    }
    svg_line(v->p, 0, HEIGHT, 100, HEIGHT, "axis");
}

static void draw_curve(const size_view *v)
{
    curve_point line[MOST_POINTS];
    size_t count = 0;

    for (size_t i = 0; i < v->count && count < MOST_POINTS; i++)
        if (!is_mixture(&v->points[i]) && is_placed(&v->points[i]))
            line[count++] =
                (curve_point){x_of(v, (double)v->points[i].size), height_of(v, v->points[i].loss)};
    if (count < 2)
        return;
    svg_stretched_begin(v->p, (svg_box){0, 100, 0, HEIGHT});
    curve_line(v->p, line, count, "ln lB");
    svg_stretched_end(v->p);
}

/* Labels are on alternate sides, so that neighbours do not cover each other. */
static void draw_point(const size_view *v, const gufo_report_size_point *point, bool left)
{
    double x = 100 * x_of(v, (double)point->size), y = HEIGHT - HEIGHT * height_of(v, point->loss);

    left = (left && x > 15) || x > 88;
    svg_circle_titled(v->p, x, y, point->is_chosen ? 6 : 5, point->is_chosen ? "fB" : "fxp");
    html_text(v->p, point->name, HTML_NAME);
    html(v->p, ": %s, loss %s", as_memory(point->size).text,
         as_measured(point->loss / v->unit).text);
    svg_titled(v->p, "circle");
    svg_text_begin(v->p, x, y + (left ? 16 : -7), left ? -6 : 6,
                   point->is_chosen ? left ? "b tB e" : "b tB"
                   : left           ? "ink e c420"
                                    : "ink c420");
    html_text(v->p, point->name, HTML_LABEL);
    svg_text_end(v->p);
}

static void draw(const size_view *v)
{
    const svg_frame frame = {.title = "Loss over size",
                             .height = HEIGHT,
                             .left = 48,
                             .right = 10,
                             .top = 14,
                             .bottom = 28};
    size_t named = 0;

    html(v->p, "<div class=\"cq\">");
    svg_begin(v->p, &frame);
    html(v->p, "Losses from %s to %s over sizes from ", as_measured(v->low / v->unit).text,
         as_measured(v->high / v->unit).text);
    html(v->p, "%s to ", as_memory(whole_of(fmax(v->left, 0))).text);
    html(v->p, "%s.", as_memory(whole_of(v->right)).text);
    svg_described(v->p);
    draw_axes(v);
    draw_curve(v);
    for (size_t i = 0; i < v->count; i++)
        if (v->points[i].name.len > 0 && is_placed(&v->points[i]))
            draw_point(v, &v->points[i], named++ % 2 == 1);
    svg_end(v->p);
    html(v->p, "</div>");
}

/* ---- words ---------------------------------------------------------------------------------- */

static void write_finding(const size_view *v)
{
    const gufo_report_size_point *usual = find(v, "Q4_K_M");
    size_t mixtures = 0, above = 0;
    double size = usual != NULL ? size_at(v, usual->loss) : 0;

    for (size_t i = 0; i < v->count; i++) {
        const gufo_report_size_point *point = &v->points[i];

        double plan = curve_at(v, (double)point->size);

        if (!is_mixture(point) || !is_placed(point) || plan == 0)
            continue;
        mixtures++;
        above += point->loss >= plan * (1 - 1e-9);
    }
    if (size > 0 && size < (double)usual->size)
        html(v->p, "The loss of Q4_K_M needs %s, %s less", as_memory(whole_of(size)).text,
             as_memory(usual->size - whole_of(size)).text);
    if (mixtures == 0)
        html(v->p, "What plans of each size lose.");
    else if (above == mixtures)
        html(v->p, "%s fixed mixture lies above the curve of plans.",
             size > 0 && size < (double)usual->size ? "; every" : "Every");
    else
        html(v->p, "%s%zu of %zu fixed mixtures lie above the curve of plans.",
             size > 0 && size < (double)usual->size ? "; " : "", above, mixtures);
}

static void write_table(const size_view *v)
{
    static const html_column columns[] = {{"Choice", false},
                                          {"Size", true},
                                          {"Loss", true},
                                          {"Plan of this size", true},
                                          {NULL, false}};

    html_table(v->p, "Loss over size", columns);
    for (size_t i = 0; i < v->count; i++) {
        const gufo_report_size_point *point = &v->points[i];
        double plan = is_mixture(point) ? curve_at(v, (double)point->size) : 0;

        html_row(v->p);
        html_cell_name(v->p, point->name.len > 0 ? point->name : gufo_str_of("plan"));
        html_cell_quantity(v->p, as_bytes(point->size).text, (double)point->size);
        html_cell_quantity(v->p, as_measured(point->loss / v->unit).text, point->loss);
        if (plan > 0)
            html_cell_quantity(v->p, as_measured(plan / v->unit).text, plan);
        else
            html_cell_number(v->p, "");
        html_row_end(v->p);
    }
    html_table_end(v->p);
}

/* ---- the section ---------------------------------------------------------------------------- */

void section_sizes(const report *r)
{
    size_view v = {.p = r->page, .points = r->content->sizes, .count = r->content->size_count};

    find_ranges(&v);
    figure_begin(r->page, "loss-size");
    write_finding(&v);
    figure_reading(r->page);
    html(r->page,
         "Loss of the whole file over its size, on a logarithmic scale%s. Lower and further "
         "left is better. The line: plans; hollow points: fixed mixtures.",
         v.has_unit ? " on which Q4_K_M is 100" : "");
    figure_picture(r->page);
    draw(&v);
    figure_data(r->page, "Loss over size as a table");
    write_table(&v);
    figure_end(r->page, true);
}

bool section_sizes_is_there(const report *r)
{
    size_t placed = 0;

    for (size_t i = 0; i < r->content->size_count; i++)
        placed += is_placed(&r->content->sizes[i]);
    return placed > 1 && (r->model != NULL) == (r->content->model_count == 1);
}
