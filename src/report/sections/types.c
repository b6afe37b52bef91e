/* The element type of every matrix, by layer and role. */
#include "report/sections/sections.h"

#include "report/facts/rows.h"
#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/table.h"
#include "report/pictures/layer_grid.h"

#include <stdio.h>

enum { TYPES = GUFO_SUMMARY_TYPES, CELL_HEIGHT = 22, CELL_WIDTH = 17, NAMED = 4 };

/* ---- counts ------------------------------------------------------------------------------------- */

/* Cells by type; the last one counts all that are unknown. */
typedef struct type_counts {
    uint64_t cells[TYPES];
    uint64_t all;
} type_counts;

typedef struct type_map {
    const model_facts *facts;
    layer_rows rows;
    type_counts rows_counts[MOST_ROWS], all;
    uint32_t main;               /* the type of most cells */
    uint64_t kinds[LAYER_KINDS]; /* layers by what they do */
} type_map;

static size_t index_of(uint32_t type)
{
    return type < TYPES ? type : TYPES - 1;
}

static void count_cell(type_counts *counts, uint32_t type)
{
    counts->cells[index_of(type)]++;
    counts->all++;
}

static uint32_t most_of(const type_counts *counts)
{
    uint32_t most = 0;

    for (uint32_t type = 1; type < TYPES; type++)
        if (counts->cells[type] > counts->cells[most])
            most = type;
    return most;
}

static void count_row(type_map *m, size_t row)
{
    gufo_tensor tensor;

    for (uint64_t layer = 0; layer < gufo_layers_count(m->facts->layers); layer++) {
        if (!facts_cell(m->facts, layer, m->rows.roles[row], &tensor))
            continue;
        count_cell(&m->rows_counts[row], tensor.type);
        count_cell(&m->all, tensor.type);
    }
}

static void fill_map(type_map *m, const model_facts *facts)
{
    *m = (type_map){.facts = facts, .rows = rows_of(facts)};
    for (size_t row = 0; row < m->rows.count; row++)
        count_row(m, row);
    m->main = most_of(&m->all);
    for (uint64_t layer = 0; layer < gufo_layers_count(facts->layers); layer++)
        m->kinds[rows_layer_kind(facts, &m->rows, layer)]++;
}

/* ---- kinds of layers ----------------------------------------------------------------------------- */

static const struct {
    const char *letter, *word;
} kinds[LAYER_KINDS] = {
    [LAYER_EMPTY] = {"", ""},
    [LAYER_OTHER] = {"F", "feed-forward alone"},
    [LAYER_ATTENTION] = {"A", "attention"},
    [LAYER_RECURRENT] = {"R", "recurrent"},
};

static const char *letter_of(const void *context, uint64_t layer)
{
    const type_map *m = context;

    return kinds[rows_layer_kind(m->facts, &m->rows, layer)].letter;
}

static bool is_mixed(const type_map *m)
{
    size_t found = 0;

    for (size_t kind = LAYER_OTHER; kind < LAYER_KINDS; kind++)
        found += m->kinds[kind] > 0;
    return found > 1;
}

/* "Kinds of layers: R recurrent (28), A attention (4)." */
static void put_kinds(page *p, const type_map *m)
{
    const char *before = "Kinds of layers: ";

    for (size_t kind = LAYER_KINDS; kind-- > LAYER_OTHER;)
        if (m->kinds[kind] > 0) {
            html(p, "%s%s %s (%s)", before, kinds[kind].letter, kinds[kind].word,
                 as_grouped(m->kinds[kind]).text);
            before = ", ";
        }
    html(p, ". ");
}

/* ---- what the picture shows ---------------------------------------------------------------------- */

static void put_role(page *p, const type_map *m, size_t row)
{
    html_text(p, gufo_layers_role(m->facts->layers, m->rows.roles[row]), HTML_LABEL);
}

/* "attn_v is Q6_K in 18 of 36 layers" */
static void put_exception(page *p, const type_map *m, size_t row)
{
    const type_counts *counts = &m->rows_counts[row];
    const char *before = " is ";

    put_role(p, m, row);
    if (counts->cells[most_of(counts)] == counts->all) {
        html(p, " is %s", scale_type(most_of(counts)).name);
        return;
    }
    for (uint32_t type = 0; type < TYPES; type++) {
        if (counts->cells[type] == 0 || type == m->main)
            continue;
        html(p, "%s%s in %s of %s", before, scale_type(type).name,
             as_grouped(counts->cells[type]).text, as_counted(counts->all, "layer", "layers").text);
        before = ", ";
    }
}

static bool is_exception(const type_map *m, size_t row)
{
    return m->rows_counts[row].cells[m->main] < m->rows_counts[row].all;
}

/* "Most matrices are Q4_K; attn_v is Q6_K in 18 of 36 layers; ffn_down ..." */
static void put_finding(page *p, const type_map *m)
{
    size_t named = 0, more = 0;

    if (m->all.cells[m->main] == m->all.all) {
        html(p, "All matrices of all layers are %s.", scale_type(m->main).name);
        return;
    }
    html(p, "%s matrices are %s",
         2 * m->all.cells[m->main] > m->all.all ? "Most" : "The most frequent type of",
         scale_type(m->main).name);
    for (size_t row = 0; row < m->rows.count; row++) {
        if (!is_exception(m, row))
            continue;
        if (named++ < NAMED) {
            html(p, "; ");
            put_exception(p, m, row);
        } else {
            more++;
        }
    }
    if (more > 0)
        html(p, "; %s", as_counted(more, "other role differs", "other roles differ").text);
    html(p, ".");
}

/* ---- cells --------------------------------------------------------------------------------------- */

static void describe(page *p, const void *context)
{
    const type_map *m = context;

    html(p, "%s by %s. ", as_counted(m->rows.count, "role", "roles").text,
         as_counted(gufo_layers_count(m->facts->layers), "layer", "layers").text);
    put_finding(p, m);
}

/* A type table's row is static; its code is not. */
static cell_look look_of(const void *context, uint32_t item, const gufo_tensor *tensor)
{
    const type_map *m = context;
    const type_look look = scale_type(tensor->type);
    bool is_main = index_of(tensor->type) == m->main;

    (void)item;
    return (cell_look){.color = look.color,
                       .text = look.code,
                       .ink = is_main              ? look.ink
                              : look.ink[0] == 'w' ? "w b"
                              : look.ink[0] == 'k' ? "k b"
                                                   : "ink b"};
}

static void name_cell(page *p, const void *context, uint32_t item, const gufo_tensor *tensor)
{
    (void)context;
    (void)item;
    html_text(p, tensor->name, HTML_NAME);
    html(p, " %s", scale_type(tensor->type).name);
}

static void put_map(page *p, const type_map *m)
{
    picture_layer_grid(p, m->facts, &m->rows,
                       &(layer_grid){.title = "Element types per layer",
                                     .cell_height = CELL_HEIGHT,
                                     .cell_width = CELL_WIDTH,
                                     .context = m,
                                     .describe = describe,
                                     .strip = is_mixed(m) ? "kind of layer" : NULL,
                                     .letter = letter_of,
                                     .look = look_of,
                                     .name = name_cell});
}

/* ---- below the picture ---------------------------------------------------------------------------- */

static void put_chip(page *p, uint32_t type)
{
    const type_look look = scale_type(type);

    html(p, "<i class=\"chip %s\">%s</i>%s", look.color, look.code, look.name);
}

static void put_legend(page *p, const type_map *m)
{
    html(p, "<p class=\"legend\">");
    for (uint32_t type = 0; type < TYPES; type++) {
        const type_look look = scale_type(type);

        if (m->all.cells[type] == 0)
            continue;
        html(p, "<span>");
        put_chip(p, type);
        if (look.bits > 0)
            html(p, " <small>%s bits</small>", as_fixed(look.bits, 2).text);
        html(p, "</span>");
    }
    html(p, "</p>");
}

/* "Outside of the layers: token_embd Q4_K, output Q6_K." */
static void put_others(page *p, const type_map *m)
{
    gufo_tensor tensor;
    gufo_str role;
    size_t count = 0;

    for (size_t i = 0; facts_other(m->facts, i, &role, &tensor); i++) {
        if (!facts_is_matrix(&tensor))
            continue;
        if (count == 0)
            html(p, "Outside of the layers: ");
        if (count++ >= 2 * NAMED)
            continue;
        html(p, count > 1 ? ", " : "");
        html_text(p, role, HTML_LABEL);
        html(p, " ");
        put_chip(p, tensor.type);
    }
    if (count > 2 * NAMED)
        html(p, " and %s", as_counted(count - 2 * NAMED, "other", "others").text);
    html(p, count > 0 ? ". " : "");
}

static bool is_drawn(const type_map *m, size_t role)
{
    for (size_t row = 0; row < m->rows.count; row++)
        if (m->rows.roles[row] == role)
            return true;
    return false;
}

/* "Not drawn: attn_norm, ffn_norm and 2 others." */
static void put_skipped(page *p, const type_map *m)
{
    size_t named = 0;

    for (size_t role = 0; role < gufo_layers_role_count(m->facts->layers); role++) {
        if (is_drawn(m, role))
            continue;
        if (named++ < NAMED) {
            html(p, named == 1 ? "Not drawn: " : ", ");
            html_text(p, gufo_layers_role(m->facts->layers, role), HTML_LABEL);
        }
    }
    if (named > NAMED)
        html(p, " and %s", as_counted(named - NAMED, "other", "others").text);
    html(p, named > 0 ? "." : "");
}

static void put_notes(page *p, const type_map *m)
{
    uint64_t left_out = gufo_layers_left_out(m->facts->layers);

    html(p, "<p class=\"note\">");
    if (is_mixed(m))
        put_kinds(p, m);
    put_others(p, m);
    put_skipped(p, m);
    if (left_out > 0)
        html(p, " %s of further layers and roles %s left out.",
             as_counted(left_out, "tensor", "tensors").text, left_out == 1 ? "is" : "are");
    html(p, "</p>");
}

/* The layers of a row with a type: "0-3, 6, 9". */
static void put_ranges(page *p, const type_map *m, size_t row, uint32_t type)
{
    const uint64_t layers = gufo_layers_count(m->facts->layers);
    const char *before = "";
    gufo_tensor tensor;

    for (uint64_t layer = 0, end; layer < layers; layer = end) {
        for (end = layer; end < layers && facts_cell(m->facts, end, m->rows.roles[row], &tensor) &&
                          index_of(tensor.type) == type;
             end++)
            ;
        if (end > layer)
            html(p, end > layer + 1 ? "%s%u–%u" : "%s%u", before, (unsigned)layer,
                 (unsigned)end - 1);
        before = end > layer ? ", " : before;
        end += end == layer;
    }
}

static void put_data(page *p, const type_map *m)
{
    static const html_column columns[] = {
        {"Role", false}, {"Type", false}, {"Tensors", true}, {"Layers", false}, {NULL, false}};

    figure_data(p, "Data as a table");
    html_table(p, "Element types by role", columns);
    for (size_t row = 0; row < m->rows.count; row++)
        for (uint32_t type = 0; type < TYPES; type++) {
            if (m->rows_counts[row].cells[type] == 0)
                continue;
            html_row(p);
            html_cell_name(p, gufo_layers_role(m->facts->layers, m->rows.roles[row]));
            html_cell_word(p, scale_type(type).name);
            html_cell_number(p, as_grouped(m->rows_counts[row].cells[type]).text);
            html_cell(p, "");
            put_ranges(p, m, row, type);
            html_cell_end(p);
            html_row_end(p);
        }
    html_table_end(p);
}

void section_types(const report *r)
{
    page *p = r->page;
    type_map m;

    fill_map(&m, r->facts);
    figure_begin(p, "types-map");
    put_finding(p, &m);
    figure_reading(p);
    html(p,
         "Columns are layers, rows are roles. The letters name the type; bold ones differ from the "
         "main type.");
    figure_picture(p);
    put_map(p, &m);
    put_legend(p, &m);
    put_notes(p, &m);
    put_data(p, &m);
    figure_end(p, true);
}

bool section_types_is_there(const report *r)
{
    return r->facts->model != NULL && gufo_layers_count(r->facts->layers) > 0;
}
