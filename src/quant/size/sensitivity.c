/* What is known about tensors by their role: how much their errors harm a model, and the least type that
 * they usually get.
 *
 *     blk.3.attn_qkv.weight  ->  blk.{bid}.attn_qkv      ->  attn_q attn_k attn_v, by their rows
 *     blk.3.ffn_up.7.weight  ->  blk.{bid}.ffn_up.{xid}  ->  that of ffn_up, for one of all experts
 *
 * Coefficients are in hundredths. */
#include "quant/size/size.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "schema/registry/pattern.h"

enum { OTHERS = 50, NAME_SIZE = 64 };

typedef struct sensitivity_row {
    const char *name;
    const char *coefficient; /* a number, or the parts of a fused tensor */
    const char *least;       /* an element type, or "-" */
    const char *when;        /* "grouped", "expert", or "-" */
    const char *rows;        /* what their number is a multiple of: "heads", "groups", or "-" */
} sensitivity_row;

static const sensitivity_row rows[] = {
#define ROW(name, coefficient, least, when, rows) {name, coefficient, least, when, rows},
#include "registry/sensitivity.inc"
#undef ROW
};

/* The name without ".weight". */
static gufo_str base_name(gufo_str name)
{
    static const char suffix[] = ".weight";

    if (str_ends(name, suffix))
        name.len -= sizeof suffix - 1;
    return name;
}

static const sensitivity_row *find_row(const sensitivity_facts *facts, gufo_str name)
{
    static const char *const placeholders[2] = {"{bid}", "{xid}"};
    gufo_str base = base_name(name);
    number_segment number;
    name_parts parts;

    if (facts->is_tied && gufo_str_equal(base, gufo_str_of("token_embd")))
        base = gufo_str_of("output");
    parts = name_parts_read(base, placeholders, &number);
    return row_find_parts(ROWS(rows), &parts);
}

/* How many rows a part of a fused tensor has, beside the other parts. */
static double row_share(const sensitivity_facts *facts, const sensitivity_row *row)
{
    bool is_known = facts->model.heads > 0 && facts->model.key_value_heads > 0;

    if (is_known && strcmp(row->rows, "heads") == 0)
        return (double)facts->model.heads;
    if (is_known && strcmp(row->rows, "groups") == 0)
        return (double)facts->model.key_value_heads;
    return 1;
}

static double hundredths(const char *digits)
{
    uint64_t number = 0;

    (void)str_number(gufo_str_of(digits), &number);
    return (double)number / 100;
}

/* The mean of the parts. */
static double coefficient_of_fused(const sensitivity_facts *facts, const char *parts)
{
    double sum = 0, weights = 0;

    while (*parts != '\0') {
        gufo_str part = str_piece(&parts, ' ');
        char name[NAME_SIZE];
        const sensitivity_row *row;
        double weight;

        (void)snprintf(name, sizeof name, "blk.{bid}.%.*s", (int)part.len, part.data);
        row = row_find(ROWS(rows), gufo_str_of(name));
        weight = row_share(facts, row);
        sum += weight * hundredths(row->coefficient);
        weights += weight;
    }
    return sum / weights;
}

double sensitivity_of(const sensitivity_facts *facts, gufo_str name)
{
    const sensitivity_row *row = find_row(facts, name);

    if (row == NULL)
        return OTHERS / 100.0;
    if (!is_digit(row->coefficient[0]))
        return coefficient_of_fused(facts, row->coefficient);
    if (strcmp(row->when, "expert") == 0 && facts->model.experts > 0)
        return hundredths(row->coefficient) / (double)facts->model.experts;
    return hundredths(row->coefficient);
}

const gufo_element_type *sensitivity_least(const sensitivity_facts *facts, gufo_str name)
{
    const sensitivity_row *row = find_row(facts, name);
    bool is_grouped = facts->model.key_value_heads < facts->model.heads;

    if (row == NULL || (strcmp(row->when, "grouped") == 0 && !is_grouped))
        return NULL;
    return gufo_element_type_by_name(row->least);
}
