/* All tensors: those outside of layers, then layers in groups whose tensors have the same types and
 * shapes. */
#include "report/sections/sections.h"

#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/table.h"

#include "base/checked.h"

#include <string.h>

enum { NONE = UINT16_MAX };

static const html_column columns[] = {{"Tensor", false}, {"Type", false}, {"Shape", false},
                                      {"Weights", true}, {"Bytes", true}, {"From byte", true},
                                      {NULL, false}};

/* ---- a tensor ------------------------------------------------------------------------------------- */

static void put_shape(page *p, const gufo_tensor *tensor)
{
    html_cell(p, "nw");
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        html(p, "%s%s", i > 0 ? " × " : "", as_grouped(tensor->dims[i]).text);
    if (tensor->n_dims == 0)
        html(p, "scalar");
    html_cell_end(p);
}

static void put_type(page *p, uint32_t type)
{
    const type_look look = scale_type(type);

    html_cell(p, "nw");
    html(p, "<i class=\"chip %s\">%s</i>%s", look.color, look.code, look.name);
    if (look.color[1] == 'u')
        html(p, " (type %u)", (unsigned)type);
    html_cell_end(p);
}

static void put_numbers(page *p, const gufo_tensor *tensor)
{
    html_cell_quantity(p, as_grouped(tensor->elements).text, (double)tensor->elements);
    html_cell_quantity(p, as_grouped(tensor->size).text, (double)tensor->size);
}

static void put_tensor(page *p, const gufo_tensor *tensor)
{
    html_row(p);
    html_cell_name(p, tensor->name);
    put_type(p, tensor->type);
    put_shape(p, tensor);
    put_numbers(p, tensor);
    if (tensor->offset == GUFO_NO_OFFSET)
        html_cell_number(p, "");
    else
        html_cell_quantity(p, as_grouped(tensor->offset).text, (double)tensor->offset);
    html_row_end(p);
}

/* ---- outside of layers ------------------------------------------------------------------------------ */

static void put_others(const report *r)
{
    uint64_t count = 0, bytes = 0;
    page *p = r->page;
    gufo_tensor tensor;

    for (size_t i = 0; facts_other(r->facts, i, NULL, &tensor); i++, count++)
        bytes = capped_add(bytes, tensor.size);
    if (count == 0)
        return;
    html(p, "<details open><summary>Outside of the layers <small>%s, %s</small></summary>",
         as_counted(count, "tensor", "tensors").text, as_memory(bytes).text);
    html_table(p, "Tensors outside of the layers", columns);
    for (size_t i = 0; facts_other(r->facts, i, NULL, &tensor); i++)
        put_tensor(p, &tensor);
    html_table_end(p);
    html(p, "</details>\n");
}

/* ---- layers ------------------------------------------------------------------------------------------ */

/* To which group each layer belongs: the first layer that is like it. */
typedef struct layer_groups {
    uint16_t first[GUFO_MOST_LAYERS];
    uint64_t marks[GUFO_MOST_LAYERS]; /* of layers that are alike they are the same */
    uint64_t count;                   /* layers */
} layer_groups;

/* Whether two layers have the same roles, with the same types and shapes. */
static bool are_alike(const model_facts *f, uint64_t a, uint64_t b)
{
    gufo_tensor left, right;

    for (size_t role = 0; role < gufo_layers_role_count(f->layers); role++) {
        const bool there = facts_cell(f, a, role, &left);

        if (there != facts_cell(f, b, role, &right))
            return false;
        if (there && (left.type != right.type || left.n_dims != right.n_dims ||
                      memcmp(left.dims, right.dims, sizeof left.dims) != 0))
            return false;
    }
    return true;
}

static bool is_empty(const model_facts *f, uint64_t layer)
{
    for (size_t role = 0; role < gufo_layers_role_count(f->layers); role++)
        if (gufo_layers_at(f->layers, layer, role, NULL))
            return false;
    return true;
}

/* (The hash of Fowler, Noll and Vo.) */
static uint64_t mark_number(uint64_t mark, uint64_t number)
{
    return (mark ^ number) * UINT64_C(0x100000001b3);
}

/* Who makes another layer with the same mark gains nothing: it saves comparing, and decides nothing. */
static uint64_t mark_of(const model_facts *f, uint64_t layer)
{
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    gufo_tensor tensor;

    for (size_t role = 0; role < gufo_layers_role_count(f->layers); role++) {
        if (!facts_cell(f, layer, role, &tensor))
            continue;
        mark = mark_number(mark_number(mark, role), tensor.type);
        for (size_t i = 0; i < GUFO_MAX_DIMS; i++)
            mark = mark_number(mark, tensor.dims[i]);
    }
    return mark;
}

static void group_layers(layer_groups *g, const model_facts *f)
{
    g->count = gufo_layers_count(f->layers);
    for (uint64_t layer = 0; layer < g->count; layer++) {
        uint64_t first = 0;

        g->marks[layer] = mark_of(f, layer);
        while (first < layer && (g->first[first] != first || g->marks[first] != g->marks[layer] ||
                                 !are_alike(f, first, layer)))
            first++;
        g->first[layer] = is_empty(f, layer) ? NONE : (uint16_t)first;
    }
}

/* "Layers 0–3, 6, 9" */
static void put_layers(page *p, const layer_groups *g, uint64_t group, uint64_t members)
{
    const char *before = members == 1 ? "Layer " : "Layers ";

    for (uint64_t layer = group, end; layer < g->count; layer = end) {
        for (end = layer; end < g->count && g->first[end] == group; end++)
            ;
        if (end > layer) {
            html(p, end > layer + 1 ? "%s%u–%u" : "%s%u", before, (unsigned)layer,
                 (unsigned)end - 1);
            before = ", ";
        }
        end += end == layer;
    }
}

static void put_heading(const report *r, const layer_groups *g, uint64_t group)
{
    uint64_t members = 0, tensors = 0, bytes = 0;
    page *p = r->page;
    gufo_tensor tensor;

    for (uint64_t layer = 0; layer < g->count; layer++)
        members += g->first[layer] == group;
    for (size_t role = 0; role < gufo_layers_role_count(r->facts->layers); role++)
        if (facts_cell(r->facts, group, role, &tensor)) {
            tensors++;
            bytes = capped_add(bytes, tensor.size);
        }
    html(p, "<details><summary>");
    put_layers(p, g, group, members);
    if (members > 1)
        html(p, " <small>%s × %s, %s each</small></summary>", as_grouped(members).text,
             as_counted(tensors, "tensor", "tensors").text, as_memory(bytes).text);
    else
        html(p, " <small>%s, %s</small></summary>", as_counted(tensors, "tensor", "tensors").text,
             as_memory(bytes).text);
}

/* Lists the tensors of the first layer; those of the others are alike. */
static void put_group(const report *r, const layer_groups *g, uint64_t group)
{
    page *p = r->page;
    gufo_tensor tensor;

    put_heading(r, g, group);
    html_table(p, "Tensors of layers", columns);
    for (size_t role = 0; role < gufo_layers_role_count(r->facts->layers); role++)
        if (facts_cell(r->facts, group, role, &tensor))
            put_tensor(p, &tensor);
    html_table_end(p);
    html(p, "</details>\n");
}

void section_tensors(const report *r)
{
    uint64_t left_out = gufo_layers_left_out(r->facts->layers), listed = 0;
    layer_groups groups;

    group_layers(&groups, r->facts);
    html(r->page, "<div data-filter=\"tensors\">");
    put_others(r);
    for (uint64_t layer = 0; layer < groups.count && !r->page->failed; layer++) {
        if (groups.first[layer] != layer)
            continue;
        if (listed < MOST_LISTED) {
            put_group(r, &groups, layer);
            listed += gufo_layers_role_count(r->facts->layers);
        } else {
            left_out += gufo_layers_role_count(r->facts->layers);
        }
    }
    html(r->page, "</div>");
    if (left_out > 0)
        html(r->page, "<p class=\"note\">Up to %s more are not listed.</p>",
             as_counted(left_out, "tensor", "tensors").text);
}

void section_tensors_count(const report *r)
{
    html(r->page,
         " <small>%s; layers that are alike share a group, with the numbers of the "
         "first</small>",
         as_grouped(gufo_model_tensor_count(r->facts->model)).text);
}

bool section_tensors_is_there(const report *r)
{
    return r->facts->model != NULL && gufo_model_tensor_count(r->facts->model) > 0;
}
