/* Where the bytes are: roles within their parts of the model, as areas in the colours of their types. */
#include "report/pictures/pictures.h"

#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/pictures/squares.h"

#include "base/sort.h"

#include <math.h>
#include <stdio.h>

enum { HEIGHT = 400, USUAL_WIDTH = 800 };
#define PERCENT (USUAL_WIDTH / 100.0)

/* One part of the model, and its place among the others. */
typedef struct part_area {
    role_class kind;
    double bytes;
    svg_box box;
} part_area;

static bool is_larger(const void *a, const void *b)
{
    const part_area *left = a, *right = b;

    return left->bytes > right->bytes || (left->bytes == right->bytes && left->kind < right->kind);
}

/* Places the parts; returns how many have bytes. */
static size_t place_parts(const model_facts *f, part_area parts[ROLE_CLASSES])
{
    square_item items[ROLE_CLASSES] = {{0}};
    size_t count = 0;

    for (unsigned kind = 0; kind < ROLE_CLASSES; kind++)
        parts[kind] = (part_area){.kind = (role_class)kind};
    for (size_t i = 0; i < f->sum_count; i++)
        parts[f->sums[i].kind].bytes += (double)f->sums[i].bytes;
    sort_items(parts, ROLE_CLASSES, sizeof *parts, is_larger);
    for (; count < ROLE_CLASSES && parts[count].bytes > 0; count++)
        items[count].size = parts[count].bytes;
    squares_place(items, count, (svg_box){0, 100, 0, HEIGHT}, PERCENT);
    for (size_t i = 0; i < count; i++)
        parts[i].box = items[i].box;
    return count;
}

/* ---- tiles -------------------------------------------------------------------------------------- */

/* Lines of a label: each where the tile has room for it. */
static void put_line(page *p, svg_box box, unsigned line, const char *classes, const char *ink,
                     gufo_str text)
{
    double y = box.y + 17 + 15.5 * line;
    const char *room = svg_room(8.0 + 7.2 * (double)text.len, box.width);
    char all[32];

    if (room == NULL || y + 4 > box.y + box.height)
        return;
    (void)snprintf(all, sizeof all, "%s%s%s", ink, classes, room);
    svg_text_begin(p, box.x, y, 8, all);
    html_text(p, text, HTML_LABEL);
    svg_text_end(p);
}

static void put_tile(page *p, const model_facts *f, const tensor_sum *sum, svg_box box)
{
    const type_look look = scale_type(sum->type);
    number_text share = as_share((double)sum->bytes, (double)f->bytes);
    char classes[16], text[160];

    (void)snprintf(classes, sizeof classes, "%s tile", look.color);
    box.width = fmax(box.width, 1 / PERCENT);
    box.height = fmax(box.height, 1);
    svg_rect_titled(p, box, classes);
    html_text(p, tensor_sum_name(sum), HTML_NAME);
    html(p, " %s: %s, %s, %s", look.name, as_counted(sum->tensors, "tensor", "tensors").text,
         as_bytes(sum->bytes).text, share.text);
    svg_titled(p, "rect");
    put_line(p, box, 0, " b", look.ink, tensor_sum_name(sum));
    (void)snprintf(text, sizeof text, "%s · %s", look.name, as_memory(sum->bytes).text);
    put_line(p, box, 1, "", look.ink, gufo_str_of(text));
    (void)snprintf(text, sizeof text, "%s · %s", share.text,
                   as_counted(sum->tensors, "tensor", "tensors").text);
    put_line(p, box, 2, "", look.ink, gufo_str_of(text));
}

/* Sums of one part descend, as all of them do. */
static void put_part(page *p, const model_facts *f, const part_area *part)
{
    square_item items[MOST_SUMS] = {{0}};
    const tensor_sum *sums[MOST_SUMS];
    size_t count = 0;

    for (size_t i = 0; i < f->sum_count; i++) {
        if (f->sums[i].kind != part->kind || f->sums[i].bytes == 0)
            continue;
        items[count].size = (double)f->sums[i].bytes;
        sums[count++] = &f->sums[i];
    }
    squares_place(items, count, part->box, PERCENT);
    for (size_t i = 0; i < count; i++)
        put_tile(p, f, sums[i], items[i].box);
}

/* ---- the picture -------------------------------------------------------------------------------- */

static void put_description(page *p, const model_facts *f)
{
    html(p, "Treemap of %s of tensors.", as_counted(f->sum_count, "group", "groups").text);
    for (size_t i = 0; i < f->sum_count && i < 5; i++) {
        html(p, i == 0 ? " Largest: " : ", ");
        html_text(p, tensor_sum_name(&f->sums[i]), HTML_LABEL);
        html(p, " %s %s", scale_type(f->sums[i].type).name,
             as_share((double)f->sums[i].bytes, (double)f->bytes).text);
    }
    html(p, ".");
}

void picture_treemap(page *p, const model_facts *facts)
{
    part_area parts[ROLE_CLASSES];
    size_t count = place_parts(facts, parts);

    svg_begin(
        p, &(svg_frame){.title = "Where the bytes are", .height = HEIGHT, .top = 4, .bottom = 4});
    put_description(p, facts);
    svg_described(p);
    for (size_t i = 0; i < count; i++)
        put_part(p, facts, &parts[i]);
    for (size_t i = 0; i < count; i++)
        svg_rect(p, parts[i].box, "group");
    svg_end(p);
}
