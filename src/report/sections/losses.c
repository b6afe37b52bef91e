/* What candidates lose of an original: per tensor by layer and role side by side, the worst tensors, and the means
 * of roles and layers. */
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"
#include "report/page/table.h"
#include "report/pictures/heat.h"
#include "report/sections/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Further candidates are in the table alone. */
enum { DRAWN = 6, WORST = 10, ROW = 24, MOST_LABEL = 20 /* letters */ };

static const char *const marks[DRAWN] = {"●", "■", "▲", "◆", "✚", "★"};
static const char *const colors[DRAWN] = {"fA", "fB", "fC", "ink", "ink", "ink"};

typedef struct comparison {
    page *p;
    const report *r;
    const model_facts *facts; /* of the model whose tensors count */
    layer_rows rows;
    const gufo_report_candidate *candidates;
    size_t count, drawn;
} comparison;

/* ---- losses ------------------------------------------------------------------------------------- */

static double loss_of(const gufo_report_candidate *c, uint64_t item)
{
    return c->losses != NULL && c->losses->losses != NULL ? c->losses->losses[item] : NAN;
}

/* The sum over its tensors; NaN: not known. */
static double sum_of(const gufo_report_candidate *c)
{
    return c->losses != NULL ? c->losses->sums.loss : NAN;
}

/* NULL: not known. */
static const uint32_t *types_of(const gufo_report_candidate *c)
{
    return c->losses != NULL ? c->losses->types : NULL;
}

/* 0 has no place on a logarithmic scale, and no colour. */
static double drawn_loss(const void *context, uint32_t item)
{
    double loss = loss_of(context, item);

    return loss > 0 ? loss : NAN;
}

/* The largest of all candidates; -1: none is known. */
static double worst_of(const comparison *c, uint64_t item)
{
    double worst = -1;

    for (size_t i = 0; i < c->count; i++)
        worst = fmax(worst, loss_of(&c->candidates[i], item)); /* fmax skips NaN */
    return worst;
}

/* Tensors with the largest losses, in order. */
typedef struct loss_ranks {
    uint32_t items[WORST];
    double losses[WORST];
    size_t count;
} loss_ranks;

static void rank(loss_ranks *ranks, size_t most, uint32_t item, double loss)
{
    size_t at = ranks->count;

    if (!(loss > 0) || (at == most && loss <= ranks->losses[most - 1]))
        return;
    at -= at == most;
    for (; at > 0 && ranks->losses[at - 1] < loss; at--) {
        ranks->items[at] = ranks->items[at - 1];
        ranks->losses[at] = ranks->losses[at - 1];
    }
    ranks->items[at] = item;
    ranks->losses[at] = loss;
    ranks->count += ranks->count < most;
}

static uint64_t tensor_count(const comparison *c)
{
    return gufo_model_tensor_count(c->facts->model);
}

static loss_ranks rank_all(const comparison *c)
{
    loss_ranks ranks = {.count = 0};

    for (uint64_t i = 0; i < tensor_count(c); i++)
        rank(&ranks, WORST, (uint32_t)i, worst_of(c, i));
    return ranks;
}

static double mean_of(const comparison *c, const gufo_report_candidate *candidate)
{
    double sum = 0, count = 0;

    for (uint64_t i = 0; i < tensor_count(c); i++) {
        double loss = loss_of(candidate, i);

        sum += loss > 0 ? loss : 0;
        count += loss > 0;
    }
    return count > 0 ? sum / count : NAN;
}

/* ---- who is who --------------------------------------------------------------------------------- */

static void put_mark(const comparison *c, size_t i)
{
    if (i < DRAWN)
        html(c->p, "<span class=\"mark %s\" aria-hidden=\"true\">%s</span> ", colors[i], marks[i]);
}

static void put_facts(const comparison *c, size_t i)
{
    const gufo_candidate_losses *losses = c->candidates[i].losses;

    if (losses == NULL)
        return;
    if (losses->sums.bytes > 0)
        html(c->p, "%s", as_memory(losses->sums.bytes).text);
    if (losses->sums.bytes > 0 && losses->sums.elements > 0)
        html(c->p, " · %s bits per weight",
             as_fixed(8 * (double)losses->sums.bytes / (double)losses->sums.elements, 2).text);
    if (isfinite(losses->sums.loss))
        html(c->p, " · sum of losses %s", as_measured(losses->sums.loss).text);
}

static void put_lead(const comparison *c)
{
    html(c->p, "<p class=\"lead\">");
    for (size_t i = 0; i < c->count; i++) {
        html(c->p, "<span>");
        put_mark(c, i);
        html_text(c->p, c->candidates[i].name, HTML_NAME);
        html(c->p, " <small>");
        put_facts(c, i);
        html(c->p, "</small></span>");
    }
    if (c->r->content->original.len > 0) {
        html(c->p, "<span>against ");
        html_text(c->p, c->r->content->original, HTML_NAME);
        html(c->p, "</span>");
    }
    html(c->p, "</p>");
}

/* The candidate with the least sum; count: none is known. */
static size_t best_of(const comparison *c)
{
    size_t best = c->count;

    for (size_t i = 0; i < c->count; i++)
        if (isfinite(sum_of(&c->candidates[i])) &&
            (best == c->count || sum_of(&c->candidates[i]) < sum_of(&c->candidates[best])))
            best = i;
    return best;
}

static void write_finding(const comparison *c, const loss_ranks *ranks)
{
    size_t best = best_of(c), other = c->count;
    gufo_tensor tensor;

    for (size_t i = 0; best < c->count && i < c->count; i++)
        if (i != best && isfinite(sum_of(&c->candidates[i])) && sum_of(&c->candidates[i]) > 0 &&
            (other == c->count || sum_of(&c->candidates[i]) < sum_of(&c->candidates[other])))
            other = i;
    if (ranks->count == 0) {
        html(c->p, "No tensor loses anything.");
        return;
    }
    if (other < c->count) {
        html_text(c->p, c->candidates[best].name, HTML_LABEL);
        html(c->p, " loses %s less than ",
             as_share(sum_of(&c->candidates[other]) - sum_of(&c->candidates[best]),
                      sum_of(&c->candidates[other]))
                 .text);
        html_text(c->p, c->candidates[other].name, HTML_LABEL);
        html(c->p, "; the worst tensor is ");
    } else {
        html(c->p, "Most is lost in ");
    }
    (void)gufo_model_tensor_at(c->facts->model, ranks->items[0], &tensor);
    html(c->p, "<code>");
    html_text(c->p, tensor.name, HTML_NAME);
    html(c->p, "</code>, %s.", as_measured(ranks->losses[0]).text);
}

/* ---- maps --------------------------------------------------------------------------------------- */

static heat_map map_of(const comparison *c, size_t i)
{
    heat_map map = {.title = "Loss",
                    .is_small = c->drawn > 1,
                    .context = &c->candidates[i],
                    .value = drawn_loss};
    loss_ranks ranks = {.count = 0};

    for (uint64_t layer = 0; layer < gufo_layers_count(c->facts->layers); layer++)
        for (size_t row = 0; row < c->rows.count; row++) {
            uint32_t item;

            if (gufo_layers_at(c->facts->layers, layer, c->rows.roles[row], &item))
                rank(&ranks, HEAT_RINGS, item, loss_of(&c->candidates[i], item));
        }
    for (; map.ring_count < ranks.count; map.ring_count++)
        map.rings[map.ring_count] = ranks.items[map.ring_count];
    return map;
}

/* One scale for all of them: else a good candidate would look as bad as the others. */
static bool common_scale(const comparison *c, heat_scale *scale)
{
    bool found = false;

    for (size_t i = 0; i < c->drawn; i++) {
        heat_map map = map_of(c, i);
        heat_scale one;

        if (!heat_range(&map, c->facts, &c->rows, &one))
            continue;
        if (found)
            heat_range_join(scale, &one);
        else
            *scale = one;
        found = true;
    }
    return found;
}

static void put_name(const comparison *c, size_t i)
{
    html(c->p, "<h%u>", c->p->heading + 1);
    put_mark(c, i);
    html_text(c->p, c->candidates[i].name, HTML_NAME);
    html(c->p, "</h%u>", c->p->heading + 1);
}

static void put_maps(const comparison *c)
{
    heat_scale scale;

    if (!common_scale(c, &scale))
        return;
    html(c->p, "<div class=\"%s\">", c->drawn > 2 ? "three" : c->drawn == 2 ? "two even" : "one");
    for (size_t i = 0; i < c->drawn; i++) {
        heat_map map = map_of(c, i);

        map.scale = scale;
        html(c->p, "<div>");
        if (c->drawn > 1)
            put_name(c, i);
        picture_heat(c->p, &map, c->facts, &c->rows);
        html(c->p, "</div>");
    }
    html(c->p, "</div>");
    picture_heat_legend(c->p,
                        c->drawn > 1 ? "loss, rings: the three largest of each; one scale for all"
                                     : "loss, rings: the three largest",
                        &scale);
}

/* ---- the worst ---------------------------------------------------------------------------------- */

/* Without what all names end with, for phones. */
static gufo_str short_name(gufo_str name)
{
    static const char end[] = ".weight";
    const size_t len = sizeof end - 1;

    if (name.len > len && memcmp(name.data + name.len - len, end, len) == 0)
        name.len -= len;
    return name;
}

static void put_worst_row(const comparison *c, const loss_ranks *ranks, size_t row, double end)
{
    double y = ROW * (double)row + ROW / 2.0, least = INFINITY;
    gufo_tensor tensor;

    (void)gufo_model_tensor_at(c->facts->model, ranks->items[row], &tensor);
    svg_text_begin(c->p, 0, y + 4, -8, "lab e");
    html_text(c->p, short_name(tensor.name), MOST_LABEL);
    svg_text_end(c->p);
    for (size_t i = 0; i < c->drawn; i++)
        least = fmin(least, loss_of(&c->candidates[i], ranks->items[row]));
    if (isfinite(least) && least < ranks->losses[row])
        svg_line(c->p, 100 * least / end, y, 100 * ranks->losses[row] / end, y, "axis");
    for (size_t i = c->drawn; i-- > 0;) {
        double loss = loss_of(&c->candidates[i], ranks->items[row]);
        char classes[16];

        if (!isfinite(loss))
            continue;
        (void)snprintf(classes, sizeof classes, "c mk %s", colors[i]);
        svg_text_begin(c->p, 100 * loss / end, y + 5, 0, classes);
        html(c->p, "<title>%s</title>%s", as_measured(loss).text, marks[i]);
        svg_text_end(c->p);
    }
}

static void put_worst(const comparison *c, const loss_ranks *ranks)
{
    axis_ticks ticks = axis_linear(ranks->losses[0], 4);
    const unsigned height = (unsigned)ranks->count * ROW;

    html(c->p, "<div class=\"cq\">");
    svg_begin(c->p, &(svg_frame){.title = "The worst tensors",
                                 .height = height,
                                 .left = 7 * MOST_LABEL + 8,
                                 .right = 16,
                                 .top = 4,
                                 .bottom = 24});
    html(c->p, "Losses of %s, from %s ", as_counted(ranks->count, "tensor", "tensors").text,
         as_measured(ranks->losses[ranks->count - 1]).text);
    html(c->p, "to %s.", as_measured(ranks->losses[0]).text);
    svg_described(c->p);
    for (size_t i = 0; i < ticks.count; i++) {
        double x = 100 * ticks.values[i] / ticks.end;

        svg_line(c->p, x, 0, x, height, i == 0 ? "axis" : "grid");
        svg_label(c->p, x, height + 15, 0, i % 2 == 0 ? "ax c" : "ax c c420",
                  as_measured(ticks.values[i]).text);
    }
    for (size_t row = 0; row < ranks->count; row++)
        put_worst_row(c, ranks, row, ticks.end);
    svg_end(c->p);
    html(c->p, "</div>");
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void put_number(page *p, double value)
{
    if (isfinite(value))
        html_cell_quantity(p, as_measured(value).text, value);
    else
        html_cell_number(p, "");
}

/* A column for each candidate, which has a name from its file. */
static void begin_table(const comparison *c, const char *label, const char *head)
{
    html(c->p,
         "<div class=\"tw\" role=\"group\" tabindex=\"0\" aria-label=\"%s\"><table><thead><tr>"
         "<th scope=\"col\">%s</th>",
         label, head);
    for (size_t i = 0; i < c->count; i++) {
        html(c->p, "<th scope=\"col\" class=\"n\">");
        html_text(c->p, c->candidates[i].name, HTML_LABEL);
        html(c->p, "</th>");
    }
    html(c->p, "</tr></thead><tbody>\n");
}

static void write_tensors(const comparison *c)
{
    gufo_tensor tensor;
    uint64_t listed = 0;

    begin_table(c, "Losses of tensors", "Tensor");
    for (uint64_t i = 0; gufo_model_tensor_at(c->facts->model, i, &tensor); i++) {
        if (worst_of(c, i) <= 0 || listed++ >= MOST_LISTED)
            continue;
        html_row(c->p);
        html_cell_name(c->p, tensor.name);
        for (size_t k = 0; k < c->count; k++) {
            const uint32_t *types = types_of(&c->candidates[k]);
            double loss = loss_of(&c->candidates[k], i);
            char text[96];

            (void)snprintf(text, sizeof text, "%s%s%s",
                           types != NULL ? scale_type(types[i]).name : "", types != NULL ? " " : "",
                           isfinite(loss) ? as_measured(loss).text : "");
            html_cell_measured(c->p, text, isfinite(loss) ? loss : -1);
        }
        html_row_end(c->p);
    }
    html_table_end(c->p);
    section_rest(c->p, listed);
}

/* The mean loss of the tensors of a role (`row`), or of a layer, that lose something. */
static double mean_over(const comparison *c, size_t k, bool by_layer, uint64_t at)
{
    uint64_t end = by_layer ? c->rows.count : gufo_layers_count(c->facts->layers);
    double sum = 0, count = 0;

    for (uint64_t i = 0; i < end; i++) {
        uint64_t layer = by_layer ? at : i;
        size_t row = (size_t)(by_layer ? i : at);
        uint32_t item;
        double loss;

        if (!gufo_layers_at(c->facts->layers, layer, c->rows.roles[row], &item))
            continue;
        loss = loss_of(&c->candidates[k], item);
        sum += loss > 0 ? loss : 0;
        count += loss > 0;
    }
    return count > 0 ? sum / count : NAN;
}

static void write_means(const comparison *c, bool by_layer)
{
    uint64_t end = by_layer ? gufo_layers_count(c->facts->layers) : c->rows.count;

    begin_table(c, by_layer ? "Mean losses by layer" : "Mean losses by role",
                by_layer ? "Layer" : "Role");
    for (uint64_t at = 0; at < end; at++) {
        html_row(c->p);
        if (by_layer)
            html(c->p, "<th scope=\"row\">%s</th>", as_grouped(at).text);
        else
            html_cell_name(c->p, gufo_layers_role(c->facts->layers, c->rows.roles[at]));
        for (size_t k = 0; k < c->count; k++)
            put_number(c->p, mean_over(c, k, by_layer, at));
        html_row_end(c->p);
    }
    html_table_end(c->p);
}

static void write_folded(const comparison *c, const char *title, bool by_layer)
{
    if (c->rows.count == 0)
        return;
    html(c->p, "<details><summary>%s</summary>", title);
    write_means(c, by_layer);
    html(c->p, "</details>");
}

/* ---- the section -------------------------------------------------------------------------------- */

/* A page of one model has it among the sections of that model. */
bool section_losses_is_there(const report *r)
{
    return r->content->candidate_count > 0 && r->facts != NULL && r->facts->model != NULL &&
           (r->model != NULL) == (r->content->model_count == 1);
}

void section_losses(const report *r)
{
    comparison c = {.p = r->page,
                    .r = r,
                    .facts = r->facts,
                    .rows = rows_of(r->facts),
                    .candidates = r->content->candidates,
                    .count = r->content->candidate_count};
    loss_ranks ranks = rank_all(&c);
    page *p = r->page;

    c.drawn = c.count < DRAWN ? c.count : DRAWN;
    put_lead(&c);
    figure_begin(p, "losses-map");
    write_finding(&c, &ranks);
    figure_reading(p);
    html(p, "The squared error of each tensor, divided by the sum of its squares: 0 if nothing is "
            "lost, 1 if nothing is left.");
    for (size_t i = 0; i < c.drawn && c.count == 1 && ranks.count > 0; i++)
        html(p, " The mean of the tensors that lose something is %s.",
             as_measured(mean_of(&c, &c.candidates[i])).text);
    figure_picture(p);
    put_maps(&c);
    write_folded(&c, "Mean losses by role", false);
    write_folded(&c, "Mean losses by layer", true);
    figure_data(p, "Losses of all tensors as a table");
    write_tensors(&c);
    figure_end(p, true);
    if (ranks.count == 0)
        return;
    figure_begin(p, "losses-worst");
    html(p, ranks.count == 1 ? "One tensor loses something." : "The %zu worst tensors lose from %s",
         ranks.count, as_measured(ranks.losses[ranks.count - 1]).text);
    if (ranks.count > 1)
        html(p, " to %s.", as_measured(ranks.losses[0]).text);
    figure_reading(p);
    html(p, "Loss of each tensor, the worst first%s.",
         c.drawn > 1
             ? "; a line joins the candidates. Where marks coincide, the first covers the others"
             : "");
    figure_picture(p);
    put_worst(&c, &ranks);
    figure_end(p, false);
}
