/* A picture of a model. */
#include "cli/core/records/layer_map.h"

#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_COLUMNS = 80, LABEL = 9, GAP = 1, SAMPLE = 10, BELOW = 3, FOLDED = 4 };

/* ---- cells ---------------------------------------------------------------------------------- */

/* NULL where a layer has no tensor of a role. */
static const layer_cell *cell_at(const layer_map *m, uint64_t layer, size_t role)
{
    uint32_t item;

    return gufo_layers_at(m->layers, layer, role, &item) ? &m->cells[item] : NULL;
}

static const layer_cell *other_at(const layer_map *m, size_t index, gufo_str *name)
{
    uint32_t item;

    return index < LAYER_MAP_ROLES && gufo_layers_other(m->layers, index, name, &item)
               ? &m->cells[item]
               : NULL;
}

static size_t role_count(const layer_map *m)
{
    return (size_t)smaller(gufo_layers_role_count(m->layers), LAYER_MAP_ROLES);
}

/* Tensors for which the picture has no room. */
static uint64_t left_out(const layer_map *m)
{
    uint64_t count = gufo_layers_left_out(m->layers);

    for (uint64_t layer = 0; layer < gufo_layers_count(m->layers); layer++)
        for (size_t i = LAYER_MAP_ROLES; i < gufo_layers_role_count(m->layers); i++)
            count += gufo_layers_at(m->layers, layer, i, NULL);
    for (size_t i = LAYER_MAP_ROLES; gufo_layers_other(m->layers, i, NULL, NULL); i++)
        count++;
    return count;
}

static void fill(layer_cell *cell, double value, const char *text)
{
    cell->value = value;
    snprintf(cell->text, sizeof cell->text, "%s", text);
}

static bool make_room(layer_map *m)
{
    size_t wanted = 2 * m->room + 64;
    layer_cell *cells;

    if (m->layers == NULL)
        m->layers = gufo_layers_new(NULL, NULL);
    if (m->layers == NULL || m->count < m->room)
        return m->layers != NULL;
    cells = wanted < UINT32_MAX ? realloc(m->cells, wanted * sizeof *cells) : NULL;
    if (cells == NULL)
        return false;
    m->cells = cells;
    m->room = wanted;
    return true;
}

bool layer_map_add(layer_map *m, gufo_str name, double value, const char *text)
{
    uint32_t item = (uint32_t)m->count;

    if (!make_room(m) || gufo_layers_add(m->layers, name, &item, NULL) != GUFO_OK)
        return false;
    if (item == m->count)
        fill(&m->cells[m->count++], value, text);
    else if (value > m->cells[item].value)
        fill(&m->cells[item], value, text);
    return true;
}

void layer_map_free(layer_map *m)
{
    gufo_layers_free(m->layers);
    free(m->cells);
    *m = (layer_map){0};
}

/* ---- heat ----------------------------------------------------------------------------------- */

typedef struct heat {
    double least, most; /* of values above 0 */
    bool is_log, color, utf8;
} heat;

static void add_value(heat *h, const layer_cell *cell)
{
    if (cell == NULL || !isfinite(cell->value) || cell->value <= 0)
        return;
    h->least = fmin(h->least, cell->value);
    h->most = fmax(h->most, cell->value);
}

static heat heat_of(const layer_map *m, bool color)
{
    heat h = {
        .least = INFINITY, .is_log = m->is_log, .color = color, .utf8 = text_locale_is_utf8()};

    for (uint64_t layer = 0; layer < gufo_layers_count(m->layers); layer++)
        for (size_t i = 0; i < role_count(m); i++)
            add_value(&h, cell_at(m, layer, i));
    for (size_t i = 0; i < LAYER_MAP_ROLES; i++)
        add_value(&h, other_at(m, i, NULL));
    return h;
}

/* The least value of a level, from 1 on. */
static double level_begins(const heat *h, int level)
{
    double part = (double)(level - 1) / LAYER_MAP_LEVELS;

    return h->is_log ? h->least * pow(h->most / h->least, part)
                     : h->least + (h->most - h->least) * part;
}

/* 0 for nothing, up to LAYER_MAP_LEVELS. */
static int level_of(const heat *h, double value)
{
    int level = 1;

    if (!(value > 0))
        return 0;
    while (level < LAYER_MAP_LEVELS && value >= level_begins(h, level + 1))
        level++;
    return level;
}

/* From blue to red in the 256 colours of terminals, with text that can be read on it. */
static void start_color(const heat *h, int level)
{
    static const struct {
        int back, text;
    } colors[LAYER_MAP_LEVELS + 1] = {{236, 250}, {24, 231}, {30, 231},
                                      {142, 16},  {208, 16}, {196, 231}};

    if (h->color)
        printf("\033[48;5;%d;38;5;%dm", colors[level].back, colors[level].text);
}

static void end_color(const heat *h)
{
    fputs(h->color ? "\033[0m" : "", stdout);
}

static const char *shade_of(const heat *h, int level)
{
    static const char *const blocks[] = {"·", "░", "▒", "▓", "█", "█"}, *const ascii[] = {".", "-",
                                                                                          "+", "*",
                                                                                          "#", "@"};

    return h->color ? " " : h->utf8 ? blocks[level] : ascii[level];
}

static void put_cell(const heat *h, const layer_cell *cell, size_t width, bool has_text)
{
    if (cell == NULL) {
        text_pad(stdout, width);
        return;
    }
    int level = level_of(h, cell->value);
    size_t len = strlen(cell->text);

    start_color(h, level);
    if (has_text) {
        fputs(cell->text, stdout);
        text_pad(stdout, width - (size_t)smaller(len, width));
    } else {
        for (size_t i = 0; i < width; i++)
            fputs(shade_of(h, level), stdout);
    }
    end_color(h);
}

/* ---- the picture ---------------------------------------------------------------------------- */

typedef struct layout {
    size_t width; /* of a column, without the gap */
    bool has_names, has_texts;
} layout;

static layout layout_of(const layer_map *m)
{
    size_t columns = stdout_columns() > 0 ? stdout_columns() : USUAL_COLUMNS;
    size_t room = columns > LABEL ? columns - LABEL : 1, names = 1, texts = 1;
    size_t roles = role_count(m), each = roles > 0 ? room / roles : room;
    layout l = {.width = each > GAP + 1 ? each - GAP : 1};

    for (size_t i = 0; i < roles; i++)
        names = (size_t)larger(names, text_columns(gufo_layers_role(m->layers, i), TEXT_PLAIN));
    for (uint64_t layer = 0; layer < gufo_layers_count(m->layers); layer++)
        for (size_t i = 0; i < roles; i++)
            if (cell_at(m, layer, i) != NULL)
                texts = (size_t)larger(texts, strlen(cell_at(m, layer, i)->text));
    l.has_names = names <= l.width;
    l.has_texts = texts <= l.width;
    l.width = (size_t)smaller(l.width, l.has_names   ? larger(names, l.has_texts ? texts : 0)
                                       : l.has_texts ? texts
                                                     : 2);
    return l;
}

/* "a" to "z", then "A" to "Z". */
static char letter_of(size_t role)
{
    return (char)(role < 26 ? 'a' + (int)role : 'A' + (int)role - 26);
}

static void put_heads(const layer_map *m, const layout *l)
{
    const size_t roles = role_count(m);

    text_pad(stdout, LABEL);
    for (size_t i = 0; i < roles; i++) {
        size_t used = 1;

        if (l->has_names)
            used = text_put_cut(stdout, gufo_layers_role(m->layers, i), TEXT_PLAIN, l->width);
        else
            putchar(letter_of(i));
        text_pad(stdout, i + 1 < roles ? l->width - used + GAP : 0);
    }
    putchar('\n');
}

static void put_letters(const layer_map *m)
{
    line l;

    line_begin(&l);
    for (size_t i = 0; i < role_count(m); i++) {
        fprintf(l.out, "%s%c=", i > 0 ? ", " : "  ", letter_of(i));
        text_put(l.out, gufo_layers_role(m->layers, i), TEXT_PLAIN);
    }
    line_end(&l);
}

static void put_others(const layer_map *m)
{
    const layer_cell *cell;
    gufo_str name;
    line l;

    if (other_at(m, 0, NULL) == NULL)
        return;
    line_begin(&l);
    for (size_t i = 0; (cell = other_at(m, i, &name)) != NULL; i++) {
        fputs(i > 0 ? ", " : "  ", l.out);
        text_put(l.out, name, TEXT_PLAIN);
        fprintf(l.out, " %s", cell->text);
    }
    line_end(&l);
}

/* A sample of each shade, and where it begins. */
static void put_legend(const heat *h, const char *what)
{
    int last = h->most > 1.1 * h->least ? LAYER_MAP_LEVELS : 1;
    size_t used = strlen(what) + 3;

    if (!(h->most > 0))
        return;
    printf("  %s:", what);
    for (int level = 1; level <= last; level++) {
        if (stdout_columns() > 0 && used + SAMPLE > stdout_columns()) {
            printf("\n%*s", BELOW, "");
            used = BELOW;
        }
        used += SAMPLE;
        putchar(' ');
        start_color(h, level);
        fputs(shade_of(h, level), stdout);
        end_color(h);
        printf(" %.2g", level_begins(h, level));
    }
    putchar('\n');
}

static void put_layer(const layer_map *m, const heat *h, const layout *l, uint64_t layer)
{
    printf("%s%*" PRIu64 " ", layer == 0 ? "layer" : "     ", LABEL - 6, layer);
    for (size_t i = 0; i < role_count(m); i++) {
        text_pad(stdout, i > 0 ? GAP : 0);
        put_cell(h, cell_at(m, layer, i), l->width, l->has_texts);
    }
    putchar('\n');
}

/* The first layer from `layer` on that has a tensor in the picture; the number of layers if none has. */
static uint64_t next_used(const layer_map *m, uint64_t layer)
{
    for (; layer < gufo_layers_count(m->layers); layer++)
        for (size_t i = 0; i < role_count(m); i++)
            if (cell_at(m, layer, i) != NULL)
                return layer;
    return layer;
}

/* A stranger's file may have tensors of layer 1023 alone: many empty layers share a line. */
static void put_layers(const layer_map *m, const heat *h, const layout *l)
{
    const uint64_t count = gufo_layers_count(m->layers);

    for (uint64_t layer = 0; layer < count && !stdout_broken();) {
        uint64_t used = next_used(m, layer);

        if (used - layer >= FOLDED) {
            line_put("  layers %" PRIu64 " to %" PRIu64 ": nothing", layer, used - 1);
            layer = used;
        }
        if (layer < count)
            put_layer(m, h, l, layer++);
    }
}

void layer_map_put(const layer_map *m, bool color, const char *what)
{
    if (m->layers == NULL)
        return;
    const layout l = layout_of(m);
    const heat h = heat_of(m, color);
    const uint64_t more = left_out(m);

    if (gufo_layers_count(m->layers) > 0)
        put_heads(m, &l);
    put_layers(m, &h, &l);
    if (!l.has_names && role_count(m) > 0)
        put_letters(m);
    put_others(m);
    if (h.color || !l.has_texts) /* cells with text and no color have no shades to explain */
        put_legend(&h, what);
    if (more > 0)
        line_put("  %s more not shown", human_counted(more, "tensor", "tensors").text);
}
