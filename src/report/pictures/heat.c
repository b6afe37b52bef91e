/* Heat maps: what a cell of a layer grid looks like. */
#include "report/pictures/heat.h"

#include "report/page/numbers.h"
#include "report/pictures/layer_grid.h"

#include <math.h>

enum { CELL = 16, SMALL_CELL = 14, FAR = 10 };

/* ---- numbers ------------------------------------------------------------------------------------ */

static void choose_kind(heat_scale *scale)
{
    scale->is_log = scale->least > 0 && scale->most / scale->least > FAR;
}

bool heat_range(const heat_map *m, const model_facts *facts, const layer_rows *rows,
                heat_scale *scale)
{
    *scale = (heat_scale){INFINITY, -INFINITY, false};
    for (uint64_t layer = 0; layer < gufo_layers_count(facts->layers); layer++)
        for (size_t row = 0; row < rows->count; row++) {
            uint32_t item;
            double value;

            if (!gufo_layers_at(facts->layers, layer, rows->roles[row], &item))
                continue;
            value = m->value(m->context, item);
            if (!isfinite(value))
                continue;
            scale->least = fmin(scale->least, value);
            scale->most = fmax(scale->most, value);
        }
    choose_kind(scale);
    return scale->least <= scale->most;
}

void heat_range_join(heat_scale *all, const heat_scale *more)
{
    all->least = fmin(all->least, more->least);
    all->most = fmax(all->most, more->most);
    choose_kind(all);
}

/* ---- cells -------------------------------------------------------------------------------------- */

static bool has_ring(const heat_map *m, uint32_t item)
{
    for (size_t i = 0; i < m->ring_count; i++)
        if (m->rings[i] == item)
            return true;
    return false;
}

static const char *const classes[HEAT_STEPS] = {"m0", "m1", "m2", "m3", "m4",
                                                "m5", "m6", "m7", "m8", "m9"};

static cell_look look_of(const void *context, uint32_t item, const gufo_tensor *tensor)
{
    const heat_map *m = context;
    double value = m->value(m->context, item);

    (void)tensor;
    return (cell_look){.color = isfinite(value) ? classes[heat_step(&m->scale, value)] : "tu",
                       .has_ring = has_ring(m, item)};
}

static void name_cell(page *p, const void *context, uint32_t item, const gufo_tensor *tensor)
{
    (void)context;
    (void)item;
    html_text(p, tensor->name, HTML_NAME);
    html(p, " not known");
}

static void describe(page *p, const void *context)
{
    const heat_map *m = context;

    html(p, "%s by role and layer, from %s ", m->title, as_measured(m->scale.least).text);
    html(p, "to %s.", as_measured(m->scale.most).text);
}

void picture_heat(page *p, const heat_map *m, const model_facts *facts, const layer_rows *rows)
{
    picture_layer_grid(p, facts, rows,
                       &(layer_grid){.title = m->title,
                                     .cell_height = m->is_small ? SMALL_CELL : CELL,
                                     .context = m,
                                     .describe = describe,
                                     .plain = classes,
                                     .plain_count = HEAT_STEPS,
                                     .look = look_of,
                                     .name = name_cell});
}

void picture_heat_legend(page *p, const char *what, const heat_scale *scale)
{
    if (heat_is_even(scale)) {
        html(p, "<p class=\"legend\"><small>%s: %s everywhere, within 1 %%</small></p>", what,
             as_measured(scale->most).text);
        return;
    }
    html(p, "<p class=\"legend\"><small>%s, %s scale</small><span class=\"ramp\"><span>%s</span>",
         what, scale->is_log ? "logarithmic" : "linear", as_measured(scale->least).text);
    for (unsigned i = 0; i < HEAT_STEPS; i++)
        html(p, "<i class=\"m%u\"></i>", i);
    html(p, "<span>%s</span></span></p>", as_measured(scale->most).text);
}
