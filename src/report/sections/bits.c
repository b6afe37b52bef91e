/* Bits per weight, layer by layer. */
#include "report/sections/sections.h"

#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"
#include "report/page/table.h"

#include "base/checked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEIGHT = 150, ENDS = 2, TICKS = 4, KINDS = 3 };

/* ---- sums of layers ------------------------------------------------------------------------------ */

typedef struct bit_sum {
    uint64_t bytes, elements;
    bool unknown; /* a type has an unknown layout */
} bit_sum;

static void add_tensor(bit_sum *sum, const gufo_tensor *tensor)
{
    sum->bytes = capped_add(sum->bytes, tensor->size);
    sum->elements = capped_add(sum->elements, tensor->elements);
    sum->unknown = sum->unknown || !tensor->size_known;
}

/* 0: not known. */
static double bits_of(const bit_sum *sum)
{
    return sum->elements == 0 || sum->unknown || sum->bytes == UINT64_MAX
               ? 0
               : 8 * (double)sum->bytes / (double)sum->elements;
}

static bit_sum sum_of_layer(const model_facts *f, uint64_t layer)
{
    bit_sum sum = {0};
    gufo_tensor tensor;

    for (size_t role = 0; role < gufo_layers_role_count(f->layers); role++)
        if (facts_cell(f, layer, role, &tensor))
            add_tensor(&sum, &tensor);
    return sum;
}

/* Of the tensors outside of layers, those of one part of the model. */
static bit_sum sum_of_part(const model_facts *f, role_class kind)
{
    bit_sum sum = {0};
    gufo_tensor tensor;
    gufo_str role;

    for (size_t i = 0; facts_other(f, i, &role, &tensor); i++)
        if (role_class_of(role) == kind)
            add_tensor(&sum, &tensor);
    return sum;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

typedef struct bit_bars {
    double layers[GUFO_MOST_LAYERS];
    uint64_t count, known;
    double embedding, output, file; /* 0: not there */
    double least, most;             /* of layers */
    struct {
        char text[GUFO_NUMBER_SIZE];
        uint64_t count;
    } kinds[KINDS + 1]; /* of bits as they are written; one more says that there are more */
    size_t kind_count;
} bit_bars;

static void count_kind(bit_bars *b, double bits)
{
    const number_text text = as_fixed(bits, 2);
    size_t i = 0;

    while (i < b->kind_count && strcmp(b->kinds[i].text, text.text) != 0)
        i++;
    if (i > KINDS)
        return;
    if (i == b->kind_count) {
        (void)snprintf(b->kinds[i].text, sizeof b->kinds[i].text, "%.31s", text.text);
        b->kind_count++;
    }
    b->kinds[i].count++;
}

static void measure(bit_bars *b, const model_facts *f)
{
    bit_sum embedding = sum_of_part(f, ROLE_EMBEDDING), output = sum_of_part(f, ROLE_OUTPUT);

    *b = (bit_bars){.count = gufo_layers_count(f->layers),
                    .embedding = bits_of(&embedding),
                    .output = bits_of(&output),
                    .file = f->summary.bits_per_weight,
                    .least = INFINITY};
    for (uint64_t i = 0; i < b->count; i++) {
        const bit_sum sum = sum_of_layer(f, i);

        b->layers[i] = bits_of(&sum);
        if (b->layers[i] <= 0)
            continue;
        b->known++;
        b->least = fmin(b->least, b->layers[i]);
        b->most = fmax(b->most, b->layers[i]);
        count_kind(b, b->layers[i]);
    }
}

/* ---- what the picture shows ------------------------------------------------------------------------ */

/* "18 layers use 5.08 bits per weight, 18 use 4.50; the whole file 4.90." */
static void put_finding(page *p, const bit_bars *b)
{
    if (b->known == 0) {
        html(p, "The bits of no layer are known.");
        return;
    }
    if (b->kind_count > KINDS) {
        html(p, "Layers use %s to %s bits per weight", as_fixed(b->least, 2).text,
             as_fixed(b->most, 2).text);
    } else if (b->kind_count == 1) {
        html(p, "%s %s bits per weight", b->known > 1 ? "All layers use" : "The layer uses",
             b->kinds[0].text);
    } else {
        for (size_t i = 0; i < b->kind_count; i++)
            html(p, i == 0 ? "%s %s %s bits per weight" : ", %s%s %s",
                 i == 0 ? as_counted(b->kinds[i].count, "layer", "layers").text
                        : as_grouped(b->kinds[i].count).text,
                 b->kinds[i].count == 1 ? (i == 0 ? "uses" : " uses") : (i == 0 ? "use" : " use"),
                 b->kinds[i].text);
    }
    if (b->file > 0)
        html(p, "; the whole file %s", as_fixed(b->file, 2).text);
    html(p, ".");
}

static void put_reading(page *p, const bit_bars *b)
{
    html(p, "Bars begin at zero.");
    if (b->embedding > 0)
        html(p, " E is the embedding (%s).", as_fixed(b->embedding, 2).text);
    if (b->output > 0)
        html(p, " O is the output (%s).", as_fixed(b->output, 2).text);
    if (b->file > 0)
        html(p, " The dashed line is the whole file.");
}

/* ---- the picture ------------------------------------------------------------------------------------ */

static double height_at(const axis_ticks *axis, double bits)
{
    return HEIGHT - HEIGHT * bits / axis->end;
}

static void put_axis(page *p, const axis_ticks *axis)
{
    for (size_t i = 0; i < axis->count; i++) {
        const double y = height_at(axis, axis->values[i]);

        svg_line(p, 0, y, 100, y, i == 0 ? "axis" : "grid");
        svg_label(p, 0, y + 4, -8, "ax e", as_measured(axis->values[i]).text);
    }
}

/* A bar at a place of the row, from 0. */
static void put_bar(page *p, const axis_ticks *axis, double place, double width, double bits,
                    const char *classes, const char *name)
{
    const double y = height_at(axis, bits);

    if (bits <= 0)
        return;
    svg_rect_titled(p, (svg_box){place + 0.12 * width, 0.76 * width, y, HEIGHT - y}, classes);
    html(p, "%s: %s bits per weight", name, as_fixed(bits, 3).text);
    svg_titled(p, "rect");
}

static void put_bars(page *p, const bit_bars *b, const axis_ticks *axis)
{
    const uint64_t step = b->count <= 16 ? 1 : b->count <= 40 ? 5 : b->count <= 200 ? 10 : 100;
    const double width = 100.0 / (double)(b->count + 2 * ENDS);
    char name[40];

    put_bar(p, axis, 0, width, b->embedding, "bar2", "embedding");
    if (b->embedding > 0)
        svg_label(p, width / 2, HEIGHT + 15, 0, "ax c", "E");
    for (uint64_t i = 0; i < b->count; i++) {
        const double place = width * (double)(i + ENDS);

        (void)snprintf(name, sizeof name, "layer %u", (unsigned)i);
        put_bar(p, axis, place, width, b->layers[i], "bar", name);
        if (i % step == 0)
            svg_label(p, place + width / 2, HEIGHT + 15, 0, "ax c", as_grouped(i).text);
    }
    put_bar(p, axis, 100 - width, width, b->output, "bar2", "output");
    if (b->output > 0)
        svg_label(p, 100 - width / 2, HEIGHT + 15, 0, "ax c", "O");
}

static void put_picture(page *p, const bit_bars *b)
{
    const axis_ticks axis =
        axis_linear(fmax(fmax(b->most, b->file), fmax(b->embedding, b->output)), TICKS);
    char label[48];

    svg_begin(p, &(svg_frame){.title = "Bits per weight by layer",
                              .height = HEIGHT,
                              .left = 30,
                              .right = 62,
                              .top = 14,
                              .bottom = 22});
    put_finding(p, b);
    svg_described(p);
    put_axis(p, &axis);
    put_bars(p, b, &axis);
    if (b->file > 0) {
        (void)snprintf(label, sizeof label, "file %.31s", as_fixed(b->file, 2).text);
        svg_line(p, 0, height_at(&axis, b->file), 100, height_at(&axis, b->file), "ref");
        svg_label(p, 100, height_at(&axis, b->file) + 4, 6, "ink", label);
    }
    svg_end(p);
}

static void put_row(page *p, const char *name, double bits)
{
    if (bits <= 0)
        return;
    html_row(p);
    html(p, "<th scope=\"row\">%s</th>", name);
    html_cell_number(p, as_fixed(bits, 3).text);
    html_row_end(p);
}

static void put_data(page *p, const bit_bars *b)
{
    static const html_column columns[] = {
        {"Layer", false}, {"Bits per weight", true}, {NULL, false}};

    figure_data(p, "Data as a table");
    html_table(p, "Bits per weight by layer", columns);
    put_row(p, "embedding", b->embedding);
    for (uint64_t i = 0; i < b->count; i++)
        put_row(p, as_grouped(i).text, b->layers[i]);
    put_row(p, "output", b->output);
    put_row(p, "file", b->file);
    html_table_end(p);
}

void section_bits(const report *r)
{
    page *p = r->page;
    bit_bars bars;

    measure(&bars, r->facts);
    figure_begin(p, "bits-bars");
    put_finding(p, &bars);
    figure_reading(p);
    put_reading(p, &bars);
    figure_picture(p);
    put_picture(p, &bars);
    put_data(p, &bars);
    figure_end(p, true);
}
