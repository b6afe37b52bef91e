/* Layers and roles as a grid of cells. */
#include "report/pictures/layer_grid.h"

#include "report/page/numbers.h"
#include "report/page/svg.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 64, GAP = 1, AXIS = 20, FEW = 16, SOME = 40 };

/* Some of the layers, beside each other. */
typedef struct panel {
    uint64_t first, count;
    uint64_t columns; /* of the first panel: the last one may have fewer layers */
    double column;    /* percent */
} panel_part;

/* ---- cells -------------------------------------------------------------------------------------- */

/* A layer without that role. */
static void put_nothing(page *p, double middle, double y, unsigned height)
{
    svg_label(p, middle, y + height / 2.0 + 4, 0, "cell", "·");
}

static bool is_plain(const layer_grid *g, const char *color)
{
    for (size_t i = 0; i < g->plain_count; i++)
        if (strcmp(g->plain[i], color) == 0)
            return true;
    return false;
}

static void put_cell(page *p, const layer_grid *g, uint32_t item, const gufo_tensor *tensor,
                     svg_box box)
{
    const cell_look look = g->look(g->context, item, tensor);
    const double middle = box.x + box.width / 2;
    char classes[32];

    if (look.color == NULL) {
        put_nothing(p, middle, box.y, g->cell_height);
        return;
    }
    if (!is_plain(g, look.color)) {
        svg_rect_titled(p, box, look.color);
        g->name(p, g->context, item, tensor);
        svg_titled(p, "rect");
    }
    if (look.text != NULL) {
        (void)snprintf(classes, sizeof classes, "cell %s", look.ink);
        svg_label(p, middle, box.y + box.height / 2 + 4, 0, classes, look.text);
    }
    if (look.has_ring)
        svg_rect(p, box, "ring");
}

static void put_row(page *p, const model_facts *f, const layer_grid *g, const panel_part *panel,
                    size_t role, double y)
{
    gufo_tensor tensor;
    uint32_t item;

    for (uint64_t i = 0; i < panel->count && !p->failed; i++) {
        const double x = panel->column * (double)i;

        if (gufo_layers_at(f->layers, panel->first + i, role, &item) &&
            gufo_model_tensor_at(f->model, item, &tensor))
            put_cell(p, g, item, &tensor,
                     (svg_box){x + 0.02 * panel->column, 0.96 * panel->column, y, g->cell_height});
        else
            put_nothing(p, x + panel->column / 2, y, g->cell_height);
    }
}

/* A cell in the drawing of plain ones, in which a column is 1 wide; opens the path of its colour. */
static void put_plain_cell(page *p, const char *color, uint64_t column, double y, unsigned height,
                           bool *is_open)
{
    if (!*is_open)
        html(p, "<path class=\"%s\" d=\"", color);
    html(p, "M%s %sh.96v%uh-.96z", as_place((double)column + 0.02).text, as_place(y).text, height);
    *is_open = true;
}

static void put_plain_color(page *p, const model_facts *f, const layer_rows *rows,
                            const layer_grid *g, const panel_part *panel, const char *color)
{
    bool is_open = false;
    gufo_tensor tensor;
    uint32_t item;

    for (size_t row = 0; row < rows->count && !p->failed; row++)
        for (uint64_t i = 0; i < panel->count; i++) {
            cell_look look;

            if (!gufo_layers_at(f->layers, panel->first + i, rows->roles[row], &item) ||
                !gufo_model_tensor_at(f->model, item, &tensor))
                continue;
            look = g->look(g->context, item, &tensor);
            if (look.color != NULL && strcmp(look.color, color) == 0)
                put_plain_cell(p, color, i, (double)row * (g->cell_height + GAP), g->cell_height,
                               &is_open);
        }
    html(p, is_open ? "\"/>" : "");
}

static void put_plain(page *p, const model_facts *f, const layer_rows *rows, const layer_grid *g,
                      const panel_part *panel)
{
    unsigned height = (unsigned)rows->count * (g->cell_height + GAP);

    html(p,
         "<svg class=\"cells\" width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u %u\" "
         "preserveAspectRatio=\"none\" data-first=\"%u\" data-row=\"%u\">",
         height, (unsigned)panel->columns, height, (unsigned)panel->first, g->cell_height + GAP);
    for (size_t i = 0; i < g->plain_count; i++)
        put_plain_color(p, f, rows, g, panel, g->plain[i]);
    html(p, "</svg>");
}

static void put_strip(page *p, const layer_grid *g, const panel_part *panel)
{
    for (uint64_t i = 0; i < panel->count; i++)
        svg_label(p, panel->column * ((double)i + 0.5), g->cell_height / 2.0 + 4, 0, "cell",
                  g->letter(g->context, panel->first + i));
}

/* ---- panels ------------------------------------------------------------------------------------- */

static void put_axis(page *p, const panel_part *panel, double y)
{
    const uint64_t step = panel->count <= FEW ? 1 : panel->count <= SOME ? 5 : 10;

    for (uint64_t i = 0; i < panel->count; i++)
        if ((panel->first + i) % step == 0)
            svg_label(p, panel->column * ((double)i + 0.5), y, 0, "ax c",
                      as_grouped(panel->first + i).text);
}

/* The slices of the first tensor of a role. */
static uint64_t experts_of(const model_facts *f, size_t role)
{
    gufo_tensor tensor;

    for (uint64_t layer = 0; layer < gufo_layers_count(f->layers); layer++)
        if (facts_cell(f, layer, role, &tensor))
            return tensor.n_dims > 2 ? tensor.dims[2] : 1;
    return 1;
}

static void put_labels(page *p, const model_facts *f, const layer_rows *rows, const layer_grid *g)
{
    html(p, "<div class=\"labels\" style=\"--h:%upx\" aria-hidden=\"true\">", g->cell_height + GAP);
    if (g->strip != NULL)
        html(p, "<span>%s</span>", g->strip);
    for (size_t i = 0; i < rows->count; i++) {
        html(p, "<span>");
        if (experts_of(f, rows->roles[i]) > 1)
            html(p, "%s × ", as_grouped(experts_of(f, rows->roles[i])).text);
        html_text(p, gufo_layers_role(f->layers, rows->roles[i]), HTML_LABEL);
        html(p, "</span>");
    }
    html(p, "</div>");
}

static void put_panel(page *p, const model_facts *f, const layer_rows *rows, const layer_grid *g,
                      const panel_part *panel)
{
    const unsigned above = g->strip != NULL ? g->cell_height + GAP : 0;
    const unsigned height = above + (unsigned)rows->count * (g->cell_height + GAP);

    html(p, "<div class=\"rows\">");
    put_labels(p, f, rows, g);
    svg_begin(p, &(svg_frame){.title = g->title,
                              .height = height,
                              .top = 4,
                              .bottom = AXIS,
                              .least_width = g->cell_width * (unsigned)panel->count});
    g->describe(p, g->context);
    svg_described(p);
    if (g->strip != NULL)
        put_strip(p, g, panel);
    if (g->plain_count > 0)
        put_plain(p, f, rows, g, panel);
    for (size_t i = 0; i < rows->count; i++)
        put_row(p, f, g, panel, rows->roles[i], above + (double)i * (g->cell_height + GAP));
    put_axis(p, panel, height + 14);
    svg_end(p);
    html(p, "</div>");
}

static bool has_tensors(const model_facts *f, const layer_rows *rows, const panel_part *panel)
{
    for (uint64_t i = 0; i < panel->count; i++)
        for (size_t role = 0; role < rows->count; role++)
            if (gufo_layers_at(f->layers, panel->first + i, rows->roles[role], NULL))
                return true;
    return false;
}

/* A stranger's file may have tensors of layer 1000 alone: panels without any are left out. */
void picture_layer_grid(page *p, const model_facts *facts, const layer_rows *rows,
                        const layer_grid *grid)
{
    const uint64_t layers = gufo_layers_count(facts->layers);
    const uint64_t panels = divide_up(layers, MOST_COLUMNS);
    const uint64_t columns = panels > 0 ? divide_up(layers, panels) : 0;

    for (uint64_t first = 0; first < layers; first += columns) {
        panel_part panel = {first, smaller(columns, layers - first), columns,
                            100.0 / (double)columns};

        if (has_tensors(facts, rows, &panel))
            put_panel(p, facts, rows, grid, &panel);
    }
}
