/* Tensors of a model: names, types, and for each of them its shape and its block.
 *
 * One walk over the tensors looks at each of them and notes which block has which; what is missing
 * is reported from these notes (blocks.c). */
#include "schema/check/check.h"
#include "schema/check/tensors.h"

#include <string.h>

#include "base/text.h"
#include "base/memory.h"
#include "schema/registry/tables.h"

/* ---- names ---------------------------------------------------------------------------------- */

static const char block_mark[] = "{bid}.";

/* The part of a pattern after the number of its block, if it has one of `series`. */
static gufo_str part_in_block(const char *pattern, const block_series *series)
{
    const char *mark = strstr(pattern, block_mark);

    if (pattern_series(pattern) != series)
        return (gufo_str){"", 0};
    return gufo_str_of(mark != NULL ? mark + strlen(block_mark) : pattern);
}

typedef struct name_choice {
    const gufo_arch_tensor *rows;
    const block_series *series;
} name_choice;

static gufo_str choice_at(const void *table, size_t index)
{
    const name_choice *choice = table;

    return part_in_block(choice->rows[index].name, choice->series);
}

/* What is compared with the patterns: the name without the number of the block and the suffix. */
static gufo_str part_of_name(const named_tensor *v)
{
    static const char *const suffixes[] = {".weight", ".bias"};
    gufo_str part = v->tensor.name;

    if (v->name.series != NULL) {
        part = str_from(part, strlen(v->name.series->prefix));
        part = str_from(part, str_digits(part, 0));
        part = str_from(part, part.len > 0);
    }
    for (size_t i = 0; i < 2; i++)
        if (part.len > strlen(suffixes[i]) && str_ends(part, suffixes[i]))
            part.len -= strlen(suffixes[i]);
    return part;
}

static void report_unknown(tensor_context *t, const named_tensor *v)
{
    gufo_str name = v->tensor.name, part = part_of_name(v), other;
    size_t before = (size_t)(part.data - name.data), after = before + part.len, index;
    name_choice choice = {t->c->tensors, v->name.series};
    gufo_finding finding = at_tensor(&v->tensor);

    /* Looking for the nearest one takes time. */
    if (t->c->listed[RULE_TENSOR_UNKNOWN] < GUFO_FINDINGS_OF_A_RULE &&
        gufo_text_nearest(part, choice_at, &choice, t->c->tensor_count, &index)) {
        other = choice_at(&choice, index);
        const char *right =
            schema_text(t->c, "%.*s%.*s%.*s", (int)before, name.data, (int)other.len, other.data,
                        (int)(name.len - after), name.data + after);

        if (!gufo_model_tensor_find(t->c->model, right, NULL))
            finding.fix = fix_text(GUFO_FIX_RENAME_TENSOR, name, gufo_str_of(right));
    }
    schema_report(t->c, RULE_TENSOR_UNKNOWN, finding,
                  "tensor %s has a name that is not known for architecture %s", QUOTED(name),
                  t->c->arch->id);
}

static void check_name(tensor_context *t, const named_tensor *v)
{
    if (t->c->tensor_count == 0)
        return;
    if (!v->name.known || !tensor_suffix_known(&v->name))
        report_unknown(t, v);
    else if (arch_row(t, v->name.match.info) == NULL)
        schema_report(t->c, RULE_TENSOR_FOREIGN, at_tensor(&v->tensor),
                      "tensor %s is known (%s), but not for architecture %s",
                      QUOTED(v->tensor.name), v->name.match.info->summary, t->c->arch->id);
}

static void check_number(tensor_context *t, const named_tensor *v)
{
    gufo_str right = gufo_str_of(v->name.text);

    if (!v->name.odd_number)
        return;
    if (gufo_model_tensor_find(t->c->model, v->name.text, NULL))
        schema_report(t->c, RULE_BLOCK_NUMBER, at_tensor(&v->tensor),
                      "tensor %s is %s a second time", QUOTED(v->tensor.name), QUOTED(right));
    else
        schema_report(t->c, RULE_BLOCK_NUMBER,
                      with_fix(at_tensor(&v->tensor),
                               fix_text(GUFO_FIX_RENAME_TENSOR, v->tensor.name, right)),
                      "tensor %s has zeros before the number of its block; readers look for %s",
                      QUOTED(v->tensor.name), QUOTED(right));
}

/* ---- types ---------------------------------------------------------------------------------- */

/* Readers add and multiply with these directly. */
static bool is_vector(const named_tensor *v)
{
    gufo_str name = v->tensor.name;

    return v->tensor.n_dims <= 1 || str_ends(name, ".bias") || str_ends(name, "_norm.weight");
}

static bool is_integer(uint32_t type)
{
    return type == GUFO_TYPE_I8 || type == GUFO_TYPE_I16 || type == GUFO_TYPE_I32 ||
           type == GUFO_TYPE_I64;
}

/* Lists of numbers of tokens and experts. */
static bool holds_integers(const gufo_tensor_info *info)
{
    return str_is_word(gufo_str_of(info->name),
                       "blk.{bid}.ffn_gate_tid2eid masked_embd_ordering d2t t2d");
}

static void check_type(tensor_context *t, const named_tensor *v)
{
    const gufo_element_type *type = gufo_element_type_by_id(v->tensor.type);

    if (type == NULL)
        return;
    if ((type->flags & GUFO_ELEMENT_QUANTIZED) != 0 && is_vector(v))
        schema_report(t->c, RULE_VECTOR_QUANTIZED, at_tensor(&v->tensor),
                      "tensor %s is a vector or a norm, but of quantized type %s; readers "
                      "expect floats",
                      QUOTED(v->tensor.name), type->name);
    if (is_integer(v->tensor.type) && t->c->arch != NULL && v->name.known &&
        !holds_integers(v->name.match.info))
        schema_report(t->c, RULE_TENSOR_TYPE, at_tensor(&v->tensor),
                      "tensor %s has type %s; weights are floats or quantized",
                      QUOTED(v->tensor.name), type->name);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void note(tensor_context *t, const named_tensor *v)
{
    const block_series *series = v->name.series;
    bool counts = v->name.known && tensor_is_weight(&v->name);

    if (!counts && series == NULL)
        return;
    t->seen[t->seen_count++] = (seen_tensor){
        .block = series != NULL ? v->name.block : 0,
        .series = series != NULL ? (uint32_t)(series - schema_block_series) + 1 : 0,
        .info = counts ? (uint32_t)info_index(v->name.match.info) : UINT32_MAX,
    };
}

static void check_all(tensor_context *t)
{
    named_tensor v;

    for (uint64_t i = 0; gufo_model_tensor_at(t->c->model, i, &v.tensor); i++) {
        tensor_name_parse(v.tensor.name, &v.name);
        check_number(t, &v);
        check_name(t, &v);
        check_type(t, &v);
        schema_tensor_shape(t, &v);
        note(t, &v);
    }
    schema_check_blocks(t);
    schema_check_block_kinds(t);
}

static void find_rows(tensor_context *t)
{
    for (size_t i = 0; i < t->c->tensor_count; i++) {
        const gufo_tensor_info *info = tensor_info_named(gufo_str_of(t->c->tensors[i].name));

        if (info != NULL)
            t->row_of[info_index(info)] = (uint32_t)i + 1;
    }
}

void schema_check_tensors(check_context *c)
{
    const gufo_allocator *memory = c->allocator;
    uint64_t count = gufo_model_tensor_count(c->model);
    tensor_context t = {.c = c};

    t.vocabulary_known = vocabulary_size(c, &t.vocabulary);
    t.row_of = mem_zero(memory, schema_tensor_info_count() * sizeof *t.row_of);
    /* Blocks are sorted by numbers of 32 bits. */
    t.seen = count < UINT32_MAX && count < SIZE_MAX / sizeof *t.seen
                 ? mem_alloc(memory, (size_t)(count + 1) * sizeof *t.seen)
                 : NULL;
    if (t.row_of == NULL || t.seen == NULL) {
        c->status = fail_memory(c->error);
    } else {
        find_rows(&t);
        check_all(&t);
    }
    mem_free(memory, t.seen);
    mem_free(memory, t.row_of);
}
