/* Tensors of a model: names, types, and for each of them its shape and its block.
 *
 * One walk over the tensors looks at each of them and notes which block has which; what is missing
 * is reported from these notes (check_blocks.c). */
#include "schema/check_tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "schema/form_parts.h"
#include "base/memory.h"
#include "schema/arch_values.h"
#include "schema/nearest.h"
#include "schema/tables.h"
#include "schema/template.h"

const gufo_tensor_info *tensor_info_named(gufo_str template)
{
    return template_find_text(gufo_tensor_info_at(0), schema_tensor_info_count(),
                              sizeof(gufo_tensor_info), template);
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char block_mark[] = "{bid}.";

/* What a template says behind the number of its block, if it has one of `series`. */
static gufo_str part_in_block(const char *template, const block_series *series)
{
    const char *mark = strstr(template, block_mark);

    if (template_series(template) != series)
        return (gufo_str){"", 0};
    return gufo_str_of(mark != NULL ? mark + strlen(block_mark) : template);
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

/* What is compared with the templates: the name without the number of the block and the suffix. */
static gufo_str part_of_name(const checked_tensor *v)
{
    static const char *const suffixes[] = {".weight", ".bias"};
    gufo_str part = v->tensor.name;

    if (v->name.series != NULL) {
        size_t skip = strlen(v->name.series->prefix);

        while (skip < part.len && part.data[skip] != '.')
            skip++;
        skip += skip < part.len;
        part = (gufo_str){part.data + skip, part.len - skip};
    }
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(suffixes[i]);

        if (part.len > len && memcmp(part.data + part.len - len, suffixes[i], len) == 0)
            part.len -= len;
    }
    return part;
}

/* The name with another part in place of `part`, which is a part of it. */
static void replace_part(gufo_str name, gufo_str part, gufo_str other, char *out, size_t size)
{
    size_t before = (size_t)(part.data - name.data), after = before + part.len;

    (void)snprintf(out, size, "%.*s%.*s%.*s", (int)before, name.data, (int)other.len, other.data,
                   (int)(name.len - after), name.data + after);
}

static void report_unknown(tensor_checker *t, const checked_tensor *v)
{
    char quoted[GUFO_QUOTE_SIZE], wanted[2 * GUFO_MAX_NAME], hint[sizeof wanted + 32];
    gufo_str name = v->tensor.name, part = part_of_name(v);
    name_choice choice = {t->rows, v->name.series};
    finding_place place = schema_place_tensor(&v->tensor, v->shard);
    size_t index;

    if (nearest_find(part, choice_at, &choice, t->row_count, &index)) {
        replace_part(name, part, choice_at(&choice, index), wanted, sizeof wanted);
        (void)snprintf(hint, sizeof hint, "did you mean '%s'?", wanted);
        place.hint = hint;
    }
    schema_report(t->c, SCHEMA_TENSOR_UNKNOWN, place,
                  "tensor %s has a name that is not known for architecture %s",
                  quote_name(quoted, name), t->arch->id);
}

static void check_name(tensor_checker *t, const checked_tensor *v)
{
    char quoted[GUFO_QUOTE_SIZE];

    if (t->row_count == 0)
        return;
    if (!v->name.known || !tensor_suffix_known(&v->name)) {
        if (limit_allows(&t->limit, SCHEMA_TENSOR_UNKNOWN))
            report_unknown(t, v);
    } else if (arch_row(t, v->name.match.info) == NULL &&
               limit_allows(&t->limit, SCHEMA_TENSOR_FOREIGN)) {
        schema_report(t->c, SCHEMA_TENSOR_FOREIGN, schema_place_tensor(&v->tensor, v->shard),
                      "tensor %s is known (%s), but not for architecture %s",
                      quote_name(quoted, v->tensor.name), v->name.match.info->summary, t->arch->id);
    }
}

static void check_number(tensor_checker *t, const checked_tensor *v)
{
    char quoted[GUFO_QUOTE_SIZE], wanted[GUFO_QUOTE_SIZE];
    finding_place place = schema_place_tensor(&v->tensor, v->shard);
    gufo_tensor other;
    size_t shard;

    if (!v->name.odd_number || !limit_allows(&t->limit, SCHEMA_BLOCK_NUMBER))
        return;
    (void)quote_name(quoted, v->tensor.name);
    (void)quote_name(wanted, gufo_str_of(v->name.text));
    if (schema_tensor_find(t->c, v->name.text, &other, &shard)) {
        schema_report(t->c, SCHEMA_BLOCK_NUMBER, place, "tensor %s is %s a second time", quoted,
                      wanted);
        return;
    }
    place.hint = "use 'gufo edit FILE --rename-tensor=OLD=NEW'";
    schema_report(t->c, SCHEMA_BLOCK_NUMBER, place,
                  "tensor %s has zeros before the number of its block; readers look for %s", quoted,
                  wanted);
}

/* ---- types ---------------------------------------------------------------------------------- */

/* Readers add and multiply with these directly. */
static bool is_vector(const checked_tensor *v)
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
    static const char *const names[] = {"blk.{bid}.ffn_gate_tid2eid", "masked_embd_ordering", "d2t",
                                        "t2d"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(info->name, names[i]) == 0)
            return true;
    return false;
}

static void check_type(tensor_checker *t, const checked_tensor *v)
{
    const gufo_element_type *type = gufo_element_type_by_id(v->tensor.type);
    char quoted[GUFO_QUOTE_SIZE];

    if (type == NULL)
        return;
    if ((type->flags & GUFO_ELEMENT_QUANTIZED) != 0 && is_vector(v) &&
        limit_allows(&t->limit, SCHEMA_VECTOR_QUANTIZED))
        schema_report(t->c, SCHEMA_VECTOR_QUANTIZED, schema_place_tensor(&v->tensor, v->shard),
                      "tensor %s is a vector or a norm, but of quantized type %s; readers "
                      "expect floats",
                      quote_name(quoted, v->tensor.name), type->name);
    if (is_integer(v->tensor.type) && t->arch != NULL && v->name.known &&
        !holds_integers(v->name.match.info) && limit_allows(&t->limit, SCHEMA_TENSOR_TYPE))
        schema_report(t->c, SCHEMA_TENSOR_TYPE, schema_place_tensor(&v->tensor, v->shard),
                      "tensor %s has type %s; weights are floats or quantized",
                      quote_name(quoted, v->tensor.name), type->name);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void note(tensor_checker *t, const checked_tensor *v)
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

static void check_all(tensor_checker *t)
{
    checked_tensor v;

    for (uint64_t i = 0; schema_tensor_at(t->c, i, &v.tensor, &v.shard); i++) {
        tensor_name_read(v.tensor.name, &v.name);
        check_number(t, &v);
        check_name(t, &v);
        check_type(t, &v);
        schema_tensor_shape(t, &v);
        note(t, &v);
    }
    schema_check_blocks(t);
    limit_end(t->c, &t->limit);
}

static void find_rows(tensor_checker *t)
{
    for (size_t i = 0; i < t->row_count; i++) {
        const gufo_tensor_info *info = tensor_info_named(gufo_str_of(t->rows[i].name));

        if (info != NULL)
            t->row_of[info_index(info)] = (uint32_t)i + 1;
    }
}

void schema_check_tensors(checker *c)
{
    const gufo_allocator *memory = c->allocator;
    uint64_t count = schema_tensor_count(c);
    tensor_checker t = {.c = c, .arch = gufo_arch_find(c->architecture)};

    t.rows = arch_tensors_of(c, &t.row_count);
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
