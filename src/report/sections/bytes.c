/* Where the bytes are. */
#include "report/sections/sections.h"

#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/page/svg.h"
#include "report/page/table.h"
#include "report/pictures/pictures.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdio.h>

/* ---- sums of types and of parts ------------------------------------------------------------------ */

typedef struct share_row {
    uint32_t type;
    role_class kind;
    uint64_t tensors, bytes;
} share_row;

typedef struct share_list {
    share_row rows[MOST_SUMS];
    size_t count;
} share_list;

static void add_share(share_list *l, share_row row)
{
    size_t i = 0;

    while (i < l->count && (l->rows[i].type != row.type || l->rows[i].kind != row.kind))
        i++;
    if (i == l->count)
        l->rows[l->count++] = (share_row){.type = row.type, .kind = row.kind};
    l->rows[i].tensors += row.tensors;
    l->rows[i].bytes = capped_add(l->rows[i].bytes, row.bytes);
}

static bool has_fewer_bits(const void *a, const void *b)
{
    const share_row *left = a, *right = b;
    double bits = scale_type(left->type).bits, other = scale_type(right->type).bits;

    return bits < other || (bits == other && left->type < right->type);
}

static bool has_more_bytes(const void *a, const void *b)
{
    const share_row *left = a, *right = b;

    return left->bytes > right->bytes || (left->bytes == right->bytes && left->kind < right->kind);
}

static void sum_types(share_list *l, const model_facts *f)
{
    l->count = 0;
    for (size_t i = 0; i < f->sum_count; i++)
        add_share(l,
                  (share_row){f->sums[i].type, ROLE_OTHER, f->sums[i].tensors, f->sums[i].bytes});
    sort_items(l->rows, l->count, sizeof *l->rows, has_fewer_bits);
}

static void sum_parts(share_list *l, const model_facts *f)
{
    l->count = 0;
    for (size_t i = 0; i < f->sum_count; i++)
        add_share(l, (share_row){0, f->sums[i].kind, f->sums[i].tensors, f->sums[i].bytes});
    sort_items(l->rows, l->count, sizeof *l->rows, has_more_bytes);
}

/* ---- bars ---------------------------------------------------------------------------------------- */

static const char *part_color(role_class kind)
{
    static const char *const colors[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6"};

    return colors[kind];
}

static void put_bar(page *p, const char *title, const share_list *l, bool by_type)
{
    bar_part parts[MOST_SUMS];

    for (size_t i = 0; i < l->count; i++) {
        const share_row *row = &l->rows[i];

        parts[i] = (bar_part){
            by_type ? scale_type(row->type).color : part_color(row->kind),
            gufo_str_of(by_type ? scale_type(row->type).name : role_class_name(row->kind)),
            (double)row->bytes};
    }
    picture_shares(p, title, parts, l->count);
}

/* The table below a bar is its legend. */
static void put_legend(page *p, const char *title, const share_list *l, bool by_type,
                       uint64_t bytes)
{
    const html_column columns[] = {{by_type ? "Type" : "Part", false},
                                   {"Tensors", true},
                                   {"Size", true},
                                   {"Share", true},
                                   {NULL, false}};

    html_table(p, title, columns);
    for (size_t i = 0; i < l->count; i++) {
        const share_row *row = &l->rows[i];
        const type_look look = scale_type(row->type);

        html_row(p);
        if (by_type)
            html(p, "<th scope=\"row\"><i class=\"chip %s\">%s</i>%s</th>", look.color, look.code,
                 look.name);
        else
            html(p, "<th scope=\"row\"><i class=\"chip %s\">&nbsp;</i>%s</th>",
                 part_color(row->kind), role_class_name(row->kind));
        html_cell_quantity(p, as_grouped(row->tensors).text, (double)row->tensors);
        html_cell_quantity(p, as_memory(row->bytes).text, (double)row->bytes);
        html_cell_number(p, as_share((double)row->bytes, (double)bytes).text);
        html_row_end(p);
    }
    html_table_end(p);
}

static void put_shares(const report *r, share_list *l, bool by_type)
{
    const char *title = by_type ? "Bytes by element type" : "Bytes by part of the model";

    (by_type ? sum_types : sum_parts)(l, r->facts);
    html(r->page, "<p class=\"sub\">%s</p>", by_type ? "By element type" : "By part");
    put_bar(r->page, title, l, by_type);
    put_legend(r->page, title, l, by_type, r->facts->bytes);
}

/* ---- the figure ----------------------------------------------------------------------------------- */

/* "66 % of the bytes are feed-forward, 17 % attention." */
static void put_finding(const report *r, share_list *l)
{
    const double whole = (double)r->facts->bytes;
    page *p = r->page;

    sum_parts(l, r->facts);
    html(p, "%s of the bytes are %s", as_share((double)l->rows[0].bytes, whole).text,
         role_class_name(l->rows[0].kind));
    for (size_t i = 1; i < l->count && i < 3 && l->rows[i].bytes > 0; i++)
        html(p, ", %s %s", as_share((double)l->rows[i].bytes, whole).text,
             role_class_name(l->rows[i].kind));
    html(p, ".");
}

/* What is too small to be seen. */
static void put_small(const report *r)
{
    uint64_t tensors = 0, bytes = 0;

    for (size_t i = 0; i < r->facts->sum_count; i++)
        if ((double)r->facts->sums[i].bytes < (double)r->facts->bytes / 1000) {
            tensors += r->facts->sums[i].tensors;
            bytes = capped_add(bytes, r->facts->sums[i].bytes);
        }
    if (tensors == 0)
        return;
    note_begin(r->page);
    html(r->page, "%s in groups below 0.1 %% of the data take %s together.",
         as_counted(tensors, "tensor", "tensors").text, as_memory(bytes).text);
    note_end(r->page);
}

static void put_data(const report *r)
{
    static const html_column columns[] = {{"Role", false},   {"Type", false}, {"Tensors", true},
                                          {"Weights", true}, {"Bytes", true}, {"Share", true},
                                          {NULL, false}};
    page *p = r->page;

    figure_data(p, "Data as a table");
    html_table(p, "Bytes by role and type", columns);
    for (size_t i = 0; i < r->facts->sum_count; i++) {
        const tensor_sum *sum = &r->facts->sums[i];

        html_row(p);
        html_cell_name(p, tensor_sum_name(sum));
        html_cell_word(p, scale_type(sum->type).name);
        html_cell_quantity(p, as_grouped(sum->tensors).text, (double)sum->tensors);
        html_cell_quantity(p, as_grouped(sum->elements).text, (double)sum->elements);
        html_cell_quantity(p, as_grouped(sum->bytes).text, (double)sum->bytes);
        html_cell_number(p, as_share((double)sum->bytes, (double)r->facts->bytes).text);
        html_row_end(p);
    }
    html_table_end(p);
}

void section_bytes(const report *r)
{
    share_list list;
    page *p = r->page;

    figure_begin(p, "bytes-map");
    put_finding(r, &list);
    figure_reading(p);
    html(p,
         "Area is bytes, colour is the element type, thick lines divide the parts of the model.");
    figure_picture(p);
    html(p, "<div class=\"two\"><div class=\"cq\">");
    picture_treemap(p, r->facts);
    html(p, "</div><div class=\"side\">");
    put_shares(r, &list, true);
    put_shares(r, &list, false);
    put_small(r);
    html(p, "</div></div>");
    put_data(r);
    figure_end(p, true);
}

bool section_bytes_is_there(const report *r)
{
    return r->facts->bytes > 0;
}
