/* The tables of the library, all in one shape. */
#include "cli/catalogue.h"

#include "gufo/check.h"
#include "gufo/codec.h"
#include "gufo/schema.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(catalogue_row *row, size_t cell, uint64_t number)
{
    snprintf(row->numbers[cell], sizeof row->numbers[cell], "%" PRIu64, number);
    row->cells[cell] = row->numbers[cell];
}

/* ---- keys ----------------------------------------------------------------------------------- */

static bool key_row(size_t index, catalogue_row *out)
{
    const gufo_key_info *info = gufo_key_at(index);

    if (info == NULL)
        return false;
    const gufo_key_info *today = gufo_key_replacement(info, NULL);

    *out = (catalogue_row){.cells = {info->key, info->type, info->unit, info->fallback,
                                     info->status, info->since, info->group,
                                     today != NULL ? today->key : "", info->summary}};
    return true;
}

/* Any architecture may replace {arch}, and {arch} itself is allowed. */
static bool key_find(const char *word, size_t *index)
{
    const gufo_key_info *info = gufo_key_find(gufo_str_of(word), (gufo_str){"", 0});
    const gufo_key_info *row;

    for (*index = 0; (row = gufo_key_at(*index)) != NULL; ++*index)
        if (row == info || strcmp(row->key, word) == 0)
            return true;
    return false;
}

static const char arch_place[] = "{arch}.";

static void key_users(size_t index, void (*use)(void *context, const char *arch), void *context)
{
    const char *key = gufo_key_at(index)->key;
    const gufo_arch_info *arch;
    size_t count;

    if (strncmp(key, arch_place, strlen(arch_place)) != 0)
        return;
    for (size_t i = 0; (arch = gufo_arch_at(i)) != NULL; i++) {
        const gufo_arch_key *keys = gufo_arch_keys(arch->id, &count);

        for (size_t k = 0; keys != NULL && k < count; k++)
            if (strcmp(keys[k].key, key + strlen(arch_place)) == 0)
                use(context, arch->id);
    }
}

/* ---- architectures -------------------------------------------------------------------------- */

static bool arch_row(size_t index, catalogue_row *out)
{
    const gufo_arch_info *info = gufo_arch_at(index);
    size_t keys, tensors;

    if (info == NULL)
        return false;
    *out = (catalogue_row){.cells = {info->id, info->status, "0", "0", info->name}};
    if (gufo_arch_keys(info->id, &keys) != NULL)
        put_number(out, 2, keys);
    else
        out->example = "gufo list archs";
    if (gufo_arch_tensors(info->id, &tensors) != NULL)
        put_number(out, 3, tensors);
    return true;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static bool tensor_row(size_t index, catalogue_row *out)
{
    const gufo_tensor_info *info = gufo_tensor_info_at(index);

    if (info == NULL)
        return false;
    *out = (catalogue_row){
        .cells = {info->name, info->status, info->shape, info->bias_shape, info->summary}};
    return true;
}

static bool tensor_find(const char *word, size_t *index)
{
    gufo_tensor_match match = {0};
    const gufo_tensor_info *info;
    bool matches = gufo_tensor_info_find(gufo_str_of(word), &match) &&
                   (match.suffix.len == 0 || match.suffix.data[0] == '.');

    for (*index = 0; (info = gufo_tensor_info_at(*index)) != NULL; ++*index)
        if ((matches && info == match.info) || strcmp(info->name, word) == 0)
            return true;
    return false;
}

static void tensor_users(size_t index, void (*use)(void *context, const char *arch), void *context)
{
    const char *name = gufo_tensor_info_at(index)->name;
    const gufo_arch_info *arch;
    size_t count;

    for (size_t i = 0; (arch = gufo_arch_at(i)) != NULL; i++) {
        const gufo_arch_tensor *tensors = gufo_arch_tensors(arch->id, &count);

        for (size_t t = 0; tensors != NULL && t < count; t++)
            if (strcmp(tensors[t].name, name) == 0)
                use(context, arch->id);
    }
}

/* ---- element types and file types ----------------------------------------------------------- */

static bool type_row(size_t index, catalogue_row *out)
{
    const gufo_element_type *type = gufo_element_type_at(index);

    if (type == NULL)
        return false;
    *out = (catalogue_row){.cells = {[0] = type->name}};
    put_number(out, 1, type->id);
    put_number(out, 2, type->block_elements);
    put_number(out, 3, type->block_bytes);
    out->cells[4] = (type->flags & GUFO_ELEMENT_REMOVED) != 0     ? "removed from the format"
                    : (type->flags & GUFO_ELEMENT_QUANTIZED) != 0 ? "quantized"
                                                                  : "plain numbers";
    return true;
}

static bool file_type_row(size_t index, catalogue_row *out)
{
    const gufo_file_type *type = gufo_file_type_at(index);

    if (type == NULL)
        return false;
    *out = (catalogue_row){.cells = {[0] = type->name}};
    put_number(out, 1, type->id);
    out->cells[2] = gufo_element_type_by_id(type->base_type)->name;
    out->cells[3] = (type->flags & GUFO_FILE_TYPE_REMOVED) == GUFO_FILE_TYPE_REMOVED
                        ? "removed from the format"
                    : (type->flags & GUFO_FILE_TYPE_NOT_MADE) != 0 ? "converted from a checkpoint"
                                                                   : "made by gufo quantize";
    if (type->flags != 0)
        out->example = "gufo get FILE general.file_type";
    return true;
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

static bool tokenizer_row(size_t index, catalogue_row *out)
{
    const gufo_tokenizer_model *model = gufo_tokenizer_model_at(index);

    if (model == NULL)
        return false;
    *out = (catalogue_row){.cells = {model->id, model->algorithm, model->arrays, model->bos,
                                     model->eos, model->unknown, model->separator, model->padding,
                                     model->mask}};
    return true;
}

static bool pretokenizer_row(size_t index, catalogue_row *out)
{
    const gufo_pretokenizer *pre = gufo_pretokenizer_at(index);

    if (pre == NULL)
        return false;
    *out = (catalogue_row){.cells = {pre->id, pre->family}};
    return true;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static size_t rule_count(void)
{
    size_t count = 0;

    while (gufo_rule_at(count) != NULL)
        count++;
    return count;
}

static bool rule_row(size_t index, catalogue_row *out)
{
    const gufo_rule *rule = gufo_rule_at(index);

    if (rule == NULL)
        return false;
    *out = (catalogue_row){.cells = {rule->id, gufo_severity_name(rule->severity), rule->name,
                                     rule->clause, rule->summary}};
    return true;
}

static bool rule_find(const char *word, size_t *index)
{
    const gufo_rule *rule;

    for (*index = 0; (rule = gufo_rule_at(*index)) != NULL; ++*index)
        if (strcmp(rule->id, word) == 0 || strcmp(rule->name, word) == 0)
            return true;
    return false;
}

/* ---- all of them ---------------------------------------------------------------------------- */

#define COLUMN(index) (1u << (index))

const catalogue catalogues[] = {
    {.name = "keys",
     .one = "key",
     .heading = "metadata key",
     .columns = {{"key", "type", "unit", "default", "status", "since", "group", "instead",
                  "summary"},
                 COLUMN(5)},
     .count = schema_key_count,
     .row = key_row,
     .find = key_find,
     .users = key_users,
     .example = "gufo get FILE WORD"},
    {.name = "archs",
     .one = "architecture",
     .heading = "architecture",
     .columns = {{"arch", "status", "keys", "tensors", "name"}, COLUMN(2) | COLUMN(3)},
     .count = schema_arch_count,
     .row = arch_row,
     .example = "gufo list keys --arch WORD"},
    {.name = "tensors",
     .one = "tensor",
     .heading = "tensor",
     .columns = {{"tensor", "status", "shape", "bias_shape", "summary"}, 0},
     .count = schema_tensor_info_count,
     .row = tensor_row,
     .find = tensor_find,
     .users = tensor_users,
     .example = "gufo show --tensors='WORD*' FILE"},
    {.name = "types",
     .one = "type",
     .heading = "element type",
     .columns = {{"type", "id", "block_elements", "block_bytes", "encoding"},
                 COLUMN(1) | COLUMN(2) | COLUMN(3)},
     .count = gufo_element_type_count,
     .row = type_row,
     .example = "gufo show --tensors FILE | grep -w WORD"},
    {.name = "filetypes",
     .one = "file type",
     .heading = "file type, general.file_type",
     .columns = {{"file_type", "id", "most_weights", "made"}, COLUMN(1)},
     .count = schema_file_type_count,
     .row = file_type_row,
     .example = "gufo quantize IN.gguf OUT.gguf WORD"},
    {.name = "tokenizers",
     .one = "tokenizer",
     .heading = "tokenizer, tokenizer.ggml.model",
     .columns = {{"tokenizer", "algorithm", "arrays", "bos", "eos", "unknown", "separator",
                  "padding", "mask"},
                 ~0u << 3},
     .count = schema_tokenizer_model_count,
     .row = tokenizer_row,
     .example = "gufo get FILE tokenizer.ggml.model"},
    {.name = "pretokenizers",
     .one = "pre-tokenizer",
     .heading = "pre-tokenizer, tokenizer.ggml.pre",
     .columns = {{"pretokenizer", "family"}, 0},
     .count = schema_pretokenizer_count,
     .row = pretokenizer_row,
     .example = "gufo get FILE tokenizer.ggml.pre"},
    {.name = "rules",
     .one = "rule",
     .heading = "rule of gufo validate",
     .columns = {{"rule", "severity", "name", "clause", "summary"}, 0},
     .count = rule_count,
     .row = rule_row,
     .find = rule_find,
     .example = "gufo validate -v FILE | grep -w WORD"},
};

const size_t catalogue_count = sizeof catalogues / sizeof *catalogues;

bool catalogue_lookup(const catalogue *c, const char *word, size_t *index)
{
    catalogue_row row;

    if (c->find != NULL)
        return c->find(word, index);
    for (*index = 0; c->row(*index, &row); ++*index)
        if (strcmp(row.cells[0], word) == 0)
            return true;
    return false;
}

const catalogue *catalogue_find(const char *name)
{
    for (size_t i = 0; i < catalogue_count; i++)
        if (strcmp(catalogues[i].name, name) == 0)
            return &catalogues[i];
    return NULL;
}

/* ---- of one architecture -------------------------------------------------------------------- */

static const char *const need_names[] = {
    [GUFO_OPTIONAL] = "optional", [GUFO_EXPECTED] = "expected", [GUFO_REQUIRED] = "required"};

static bool arch_key_row(const char *arch, size_t index, catalogue_row *out)
{
    size_t count, at;
    const gufo_arch_key *keys = gufo_arch_keys(arch, &count);

    if (keys == NULL || index >= count)
        return false;
    *out = (catalogue_row){.cells = {out->name, need_names[keys[index].need], "", "", ""}};
    snprintf(out->name, sizeof out->name, "%s.%s", arch, keys[index].key);
    if (key_find(out->name, &at)) {
        out->cells[2] = gufo_key_at(at)->type;
        out->cells[3] = gufo_key_at(at)->fallback;
        out->cells[4] = gufo_key_at(at)->summary;
    }
    return true;
}

static bool arch_tensor_row(const char *arch, size_t index, catalogue_row *out)
{
    size_t count, at;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(arch, &count);

    if (tensors == NULL || index >= count)
        return false;
    *out = (catalogue_row){.cells = {tensors[index].name, need_names[tensors[index].need],
                                     tensors[index].shape, tensors[index].bias_shape, ""}};
    if (!tensor_find(tensors[index].name, &at))
        return true;
    if (*out->cells[2] == '\0')
        out->cells[2] = gufo_tensor_info_at(at)->shape;
    if (*out->cells[3] == '\0')
        out->cells[3] = gufo_tensor_info_at(at)->bias_shape;
    out->cells[4] = gufo_tensor_info_at(at)->summary;
    return true;
}

static const struct {
    const char *name;
    catalogue_columns columns;
    bool (*row)(const char *arch, size_t index, catalogue_row *out);
} arch_catalogues[] = {
    {"keys", {{"key", "need", "type", "default", "summary"}, 0}, arch_key_row},
    {"tensors", {{"tensor", "need", "shape", "bias_shape", "summary"}, 0}, arch_tensor_row},
};

const catalogue_columns *catalogue_arch_columns(const catalogue *c)
{
    for (size_t i = 0; i < sizeof arch_catalogues / sizeof *arch_catalogues; i++)
        if (strcmp(arch_catalogues[i].name, c->name) == 0)
            return &arch_catalogues[i].columns;
    return NULL;
}

bool catalogue_arch_row(const catalogue *c, const char *arch, size_t index, catalogue_row *out)
{
    for (size_t i = 0; i < sizeof arch_catalogues / sizeof *arch_catalogues; i++)
        if (strcmp(arch_catalogues[i].name, c->name) == 0)
            return arch_catalogues[i].row(arch, index, out);
    return false;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void catalogue_write_cells(json_writer *j, const catalogue_columns *columns,
                           const catalogue_row *row)
{
    for (size_t i = 0; columns->names[i] != NULL; i++) {
        const char *cell = row->cells[i];

        if (catalogue_is_number(columns, i) && *cell != '\0')
            json_write_u64(j, columns->names[i], strtoull(cell, NULL, 10));
        else
            json_write_text(j, columns->names[i], *cell != '\0' ? cell : NULL);
    }
}
