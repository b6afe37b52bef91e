/* The tables of the library, all in one shape, and gufo list keys|archs|tensors|..., which prints them. */
#include "cli/commands.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/report.h"
#include "cli/core/values/array.h"
#include "cli/inspect/catalogue.h"
#include "gufo/codec.h"
#include "gufo/format.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number as a cell. */
static void put_number(catalogue_row *row, size_t cell, uint64_t number)
{
    snprintf(row->numbers[cell], sizeof row->numbers[cell], "%" PRIu64, number);
    row->cells[cell] = row->numbers[cell];
}

/* ---- advice --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} advice[] = {
#define ADVICE(name, text) {#name, text},
#include "cli/inspect/type_advice.def"
#undef ADVICE
};

/* A line of advice about an element type or file type; "" for others. */
static const char *advice_about(const char *type)
{
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (strcmp(advice[i].name, type) == 0)
            return advice[i].text;
    return "";
}

/* ---- types of values ------------------------------------------------------------------------ */

static const char *const value_texts[GUFO_VALUE_TYPE_COUNT] = {
    [GUFO_VALUE_UINT8] = "0 to 255",
    [GUFO_VALUE_INT8] = "-128 to 127",
    [GUFO_VALUE_UINT16] = "0 to 65535",
    [GUFO_VALUE_INT16] = "-32768 to 32767",
    [GUFO_VALUE_UINT32] = "0 to 4294967295",
    [GUFO_VALUE_INT32] = "-2147483648 to 2147483647",
    [GUFO_VALUE_FLOAT32] = "IEEE 754, about 7 digits",
    [GUFO_VALUE_BOOL] = "a byte that is 0 or 1",
    [GUFO_VALUE_STRING] = "a length in 64 bits (32 in version 1), and so many bytes of UTF-8",
    [GUFO_VALUE_ARRAY] = "the type of its elements, their number, and the elements",
    [GUFO_VALUE_UINT64] = "0 to 18446744073709551615",
    [GUFO_VALUE_INT64] = "-9223372036854775808 to 9223372036854775807",
    [GUFO_VALUE_FLOAT64] = "IEEE 754, about 16 digits",
};

static bool value_type_row(size_t index, catalogue_row *out)
{
    size_t bytes;

    if (index >= GUFO_VALUE_TYPE_COUNT)
        return false;
    bytes = gufo_value_type_size((gufo_value_type)index);
    *out = (catalogue_row){
        .cells = {gufo_value_type_name((gufo_value_type)index), "", "", value_texts[index]}};
    put_number(out, 1, index);
    if (bytes > 0)
        put_number(out, 2, bytes);
    if (index == GUFO_VALUE_ARRAY)
        out->example = "gufo edit --set-json=KEY=uint32:[1,2] FILE";
    return true;
}

#ifdef GUFO_HAS_IMPORT
#include "gufo/import.h"
#endif

static const char *const need_names[] = {
    [GUFO_OPTIONAL] = "optional", [GUFO_EXPECTED] = "expected", [GUFO_REQUIRED] = "required"};

const char *const catalogue_needs[] = {"required", "expected", "optional", NULL};

/* ---- keys ----------------------------------------------------------------------------------- */

static bool key_row(size_t index, catalogue_row *out)
{
    const gufo_key_info *info = gufo_key_at(index);

    if (info == NULL)
        return false;
    const gufo_key_info *today = gufo_key_replacement(info, NULL);

    *out = (catalogue_row){.cells = {info->key, info->type, info->specified, info->unit,
                                     info->fallback, info->status, info->since, info->group,
                                     today != NULL ? today->key : "", info->summary}};
    return true;
}

/* Any architecture may replace {arch}. */
static const char *key_meant(const char *word)
{
    const gufo_key_info *info = gufo_key_find(word, "");

    return info != NULL ? info->key : NULL;
}

static bool arch_has_key(const char *arch, const char *name)
{
    size_t count, place = strlen(CATALOGUE_ARCH_PLACE);
    const gufo_arch_key *keys = gufo_arch_keys(arch, &count);

    if (keys == NULL || strncmp(name, CATALOGUE_ARCH_PLACE, place) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].key, name + place) == 0)
            return true;
    return false;
}

static bool arch_key_row(const char *arch, size_t index, catalogue_row *out)
{
    size_t count;
    const gufo_arch_key *keys = gufo_arch_keys(arch, &count);
    const gufo_key_info *info;

    if (keys == NULL || index >= count)
        return false;
    *out = (catalogue_row){.cells = {out->name, need_names[keys[index].need], "", "", ""}};
    snprintf(out->name, sizeof out->name, "%s.%s", arch, keys[index].key);
    info = gufo_key_find(out->name, "");
    if (info != NULL) {
        out->cells[2] = info->type;
        out->cells[3] = info->fallback;
        out->cells[4] = info->summary;
    }
    return true;
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

#ifdef GUFO_HAS_IMPORT
/* The lines of the architecture that was asked for last: they are asked for by number, and come from front to back. */
static struct {
    const char *arch; /* of a table */
    catalogue_page_line *lines;
    size_t count;
} page;

static bool keep_line(void *context, const gufo_import_line *line)
{
    catalogue_page_line *added = array_add(&page.lines, &page.count, sizeof *added);

    (void)context;
    if (added == NULL)
        exit(CODE_FAILED);
    *added = (catalogue_page_line){
        {line->kind, line->name, line->value, line->condition, line->targets, line->note}};
    return true;
}
#endif

bool catalogue_line(const char *arch, size_t index, catalogue_page_line *out)
{
#ifdef GUFO_HAS_IMPORT
    if (page.arch != arch) {
        page.arch = arch;
        page.count = 0;
        gufo_import_lines(arch, keep_line, NULL);
    }
    if (index < page.count)
        *out = page.lines[index];
    return index < page.count;
#else
    (void)arch;
    (void)index;
    (void)out;
    return false;
#endif
}

const char *catalogue_class(const char *arch, size_t *next)
{
#ifdef GUFO_HAS_IMPORT
    for (gufo_import_class row, before = {.name = "", .architecture = ""};
         gufo_import_class_at(*next, &row); before = row) {
        (*next)++;
        if (strcmp(row.architecture, arch) == 0 &&
            (strcmp(row.name, before.name) != 0 || strcmp(before.architecture, arch) != 0))
            return row.name;
    }
#else
    (void)arch;
    (void)next;
#endif
    return NULL;
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

static const char *tensor_meant(const char *word)
{
    gufo_tensor_match match = {0};
    bool matches = gufo_tensor_info_find(word, &match) &&
                   (match.suffix.len == 0 || match.suffix.data[0] == '.');

    return matches ? match.info->name : NULL;
}

static bool arch_has_tensor(const char *arch, const char *name)
{
    size_t count;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(arch, &count);

    for (size_t i = 0; tensors != NULL && i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return true;
    return false;
}

static const char *either(const char *cell, const char *other)
{
    return *cell != '\0' ? cell : other;
}

static bool arch_tensor_row(const char *arch, size_t index, catalogue_row *out)
{
    size_t count;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(arch, &count);
    const catalogue_row none = {.cells = {"", "", "", "", ""}};
    catalogue_row all;
    size_t i = 0;

    if (tensors == NULL || index >= count)
        return false;
    while (tensor_row(i, &all) && strcmp(all.cells[0], tensors[index].name) != 0)
        i++;
    if (!tensor_row(i, &all))
        all = none;
    *out =
        (catalogue_row){.cells = {tensors[index].name, need_names[tensors[index].need],
                                  either(tensors[index].shape, all.cells[2]),
                                  either(tensors[index].bias_shape, all.cells[3]), all.cells[4]}};
    return true;
}

/* ---- element types and file types ----------------------------------------------------------- */

/* Bits of a weight, where blocks have a known size. */
static void put_bits(catalogue_row *row, size_t cell, const gufo_element_type *type)
{
    row->cells[cell] = "";
    if (type->block_elements == 0)
        return;
    snprintf(row->numbers[cell], sizeof row->numbers[cell], "%.4g",
             8.0 * type->block_bytes / type->block_elements);
    row->cells[cell] = row->numbers[cell];
}

static bool type_row(size_t index, catalogue_row *out)
{
    const gufo_element_type *type = gufo_element_type_at(index);

    if (type == NULL)
        return false;
    *out = (catalogue_row){.cells = {[0] = type->name}};
    put_number(out, 1, type->id);
    put_number(out, 2, type->block_elements);
    put_number(out, 3, type->block_bytes);
    put_bits(out, 4, type);
    out->cells[6] = advice_about(type->name);
    out->cells[5] = (type->flags & GUFO_ELEMENT_REMOVED) != 0     ? "removed"
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
    put_bits(out, 3, gufo_element_type_by_id(type->base_type));
    out->cells[5] = advice_about(type->name);
    out->cells[4] = (type->flags & GUFO_FILE_TYPE_REMOVED) == GUFO_FILE_TYPE_REMOVED ? "removed"
                    : (type->flags & GUFO_FILE_TYPE_NOT_MADE) != 0 ? "from a checkpoint"
                                                                   : "made by gufo quantize";
    if (type->flags != 0)
        out->example = "gufo get FILE general.file_type";
    return true;
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

static bool tokenizer_row(size_t index, catalogue_row *out)
{
    const gufo_tokenizer_info *model = gufo_tokenizer_info_at(index);

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

static bool rule_row(size_t index, catalogue_row *out)
{
    const gufo_rule *rule = gufo_rule_at(index);

    if (rule == NULL)
        return false;
    *out = (catalogue_row){.cells = {rule->id, gufo_severity_name(rule->severity), rule->name,
                                     rule->clause, rule->summary}};
    return true;
}

static const char *rule_meant(const char *word)
{
    const gufo_rule *rule = gufo_rule_by_id(word);

    return rule != NULL ? rule->id : NULL;
}

/* ---- all tables ----------------------------------------------------------------------------- */

#define COLUMN(index) (1u << (index))

const catalogue catalogues[] = {
    {"keys", "key", "metadata key", key_row, "gufo get FILE WORD",
     .columns = {{"key", "type", "specification", "unit", "default", "status", "since", "group",
                  "instead", "summary"},
                 COLUMN(6),
                 0},
     .meant = key_meant, .arch_has = arch_has_key, .arch_row = arch_key_row,
     .arch_columns = {{"key", "need", "type", "default", "summary"}, 0, 0}},
    {"archs", "architecture", "architecture", arch_row, "gufo list keys --arch WORD",
     .columns = {{"arch", "status", "keys", "tensors", "name"}, COLUMN(2) | COLUMN(3), 0},
     .is_architecture = true},
    {"tensors", "tensor", "tensor", tensor_row, "gufo show --tensors='WORD*' FILE",
     .columns = {{"tensor", "status", "shape", "bias_shape", "summary"}, 0, 0},
     .meant = tensor_meant, .arch_has = arch_has_tensor, .arch_row = arch_tensor_row,
     .arch_columns = {{"tensor", "need", "shape", "bias_shape", "summary"}, 0, 0}},
    {"types", "type", "element type", type_row, "gufo show --tensors FILE | grep -w WORD",
     .columns = {{"type", "id", "block_elements", "block_bytes", "bits_per_weight", "encoding",
                  "advice"},
                 COLUMN(1) | COLUMN(2) | COLUMN(3) | COLUMN(4),
                 COLUMN(4)},
     .headed = true, .own = GUFO_SPELLING_ELEMENT_TYPE},
    {"filetypes", "file type", "file type, general.file_type", file_type_row,
     "gufo quantize IN.gguf OUT.gguf WORD",
     .columns = {{"file_type", "id", "most_weights", "bits_per_weight", "made", "advice"},
                 COLUMN(1) | COLUMN(3),
                 COLUMN(3)},
     .headed = true, .own = GUFO_SPELLING_FILE_TYPE},
    {"valuetypes", "value type", "type of a metadata value", value_type_row,
     "gufo edit --set=KEY=WORD:VALUE FILE",
     .columns = {{"value_type", "id", "bytes", "values"}, COLUMN(1) | COLUMN(2), 0}, .headed = true,
     .own = GUFO_SPELLING_VALUE_TYPE},
    {"tokenizers", "tokenizer", "tokenizer, tokenizer.ggml.model", tokenizer_row,
     "gufo get FILE tokenizer.ggml.model",
     .columns = {{"tokenizer", "algorithm", "arrays", "bos", "eos", "unknown", "separator",
                  "padding", "mask"},
                 ~0u << 3,
                 0}},
    {"pretokenizers", "pre-tokenizer", "pre-tokenizer, tokenizer.ggml.pre", pretokenizer_row,
     "gufo get FILE tokenizer.ggml.pre", .columns = {{"pretokenizer", "family"}, 0, 0}},
    {"rules", "rule", "rule of gufo validate", rule_row, "gufo validate -v FILE | grep -w WORD",
     .columns = {{"rule", "severity", "name", "clause", "summary"}, 0, 0}, .meant = rule_meant},
};

const size_t catalogue_count = sizeof catalogues / sizeof *catalogues;

size_t catalogue_rows(const catalogue *c)
{
    catalogue_row row;
    size_t count = 0;

    while (c->row(count, &row))
        count++;
    return count;
}

const catalogue *catalogue_find(const char *name)
{
    for (size_t i = 0; i < catalogue_count; i++)
        if (strcmp(catalogues[i].name, name) == 0)
            return &catalogues[i];
    return NULL;
}

bool catalogue_lookup(const catalogue *c, const char *word, catalogue_row *out)
{
    const char *meant = c->meant != NULL ? c->meant(word) : NULL;
    gufo_str given = gufo_str_of(word);

    for (size_t i = 0; c->row(i, out); i++)
        if (strcmp(out->cells[0], word) == 0 ||
            (meant != NULL && strcmp(out->cells[0], meant) == 0) ||
            (c->own != GUFO_SPELLING_PLAIN && gufo_spelling_means(c->own, given, out->cells[0])))
            return true;
    return false;
}

const char *catalogue_user(const catalogue *c, const char *name, size_t *next)
{
    const gufo_arch_info *arch;

    while (c->arch_has != NULL && (arch = gufo_arch_at((*next)++)) != NULL)
        if (c->arch_has(arch->id, name))
            return arch->id;
    return NULL;
}

/* ---- as records ----------------------------------------------------------------------------- */

/* Narrow terminals leave out the last columns first, but never text that can go below. */
record_type catalogue_record(const catalogue_columns *columns, bool headed,
                             record_field fields[CATALOGUE_CELLS])
{
    record_type type = {.fields = fields, .size = sizeof(catalogue_row)};

    for (const char *name; (name = columns->names[type.count]) != NULL; type.count++) {
        unsigned i = (unsigned)type.count;
        bool is_number = (columns->numbers >> i & 1) != 0;
        bool is_kept =
            (columns->kept >> i & 1) != 0 || (columns->names[i + 1] == NULL && !is_number);
        int width = headed ? (int)strlen(name) : 1;

        fields[i] =
            (record_field){.name = name,
                           .title = name,
                           .kind = is_number ? RECORD_DIGITS : RECORD_TEXT,
                           .at = (uint32_t)(offsetof(catalogue_row, cells) + i * sizeof name),
                           .none = RECORD_OR_NULL,
                           .width = is_number ? width : -width,
                           .drop = is_kept ? 0 : i};
    }
    return type;
}

/* ---- gufo list ------------------------------------------------------------------------------- */

enum { LEAST_NAME = 24 };

typedef struct list_options {
    command_input base;
    const char *arch;
} list_options;

/* ---- gufo list: command line ----------------------------------------------------------------- */

static const command_option list_table[] = {
    {"arch", "ARCH", "Only the keys or tensors of this architecture",
     OPTION_TEXT(list_options, arch)},
    {0},
};

_Static_assert((int)CATALOGUE_CELLS <= TABLE_CELLS, "a table has room for every column");

/* ---- gufo list: rows ------------------------------------------------------------------------- */

typedef struct listing {
    const catalogue *list;
    const char *arch; /* NULL: all rows */
} listing;

static bool make_row(const void *context, uint64_t index, void *row)
{
    const listing *l = context;

    return l->arch != NULL ? l->list->arch_row(l->arch, (size_t)index, row)
                           : l->list->row((size_t)index, row);
}

void catalogue_list(const catalogue *c, const char *arch, bool json)
{
    const listing l = {c, arch};
    const record_list rows = {.make = make_row, .context = &l};
    record_field fields[CATALOGUE_CELLS];
    const record_type type =
        catalogue_record(arch != NULL ? &c->arch_columns : &c->columns, c->headed, fields);
    const record_field list = {c->name, NULL, RECORD_LIST, 0, sizeof rows, .of = &type};
    table t = {.gap = 2, .most_name = SIZE_MAX, .least_name = LEAST_NAME, .headless = !c->headed};

    if (json) {
        record_write_document(NULL, &(record_type){.fields = &list, .count = 1}, &rows);
        return;
    }
    t.count = record_columns(&type, t.columns);
    record_print(&t, &type, &rows);
}

/* ---- gufo list: the command ------------------------------------------------------------------ */

static int report_no_list(const char *name)
{
    suggestion near = suggest_start(gufo_str_of(name));

    for (size_t i = 0; i < catalogue_count; i++)
        suggest_offer(&near, gufo_str_of(catalogues[i].name));
    return report_usage("unknown list '%s'%s", name, suggest_text(&near, ""));
}

static int report_no_arch(const char *name)
{
    suggestion near = suggest_start(gufo_str_of(name));

    for (size_t i = 0; gufo_arch_at(i) != NULL; i++)
        suggest_offer(&near, gufo_str_of(gufo_arch_at(i)->id));
    return report_as(CODE_NO, NULL, "unknown architecture '%s'%s", name,
                     near.name.len > 0 ? suggest_text(&near, "")
                                       : "; 'gufo list archs' lists them");
}

static int list_named(void *context)
{
    const list_options *o = context;
    const shared_options *shared = o->base.shared;
    const catalogue *c = catalogue_find(shared->args[0]);

    if (c == NULL)
        return report_no_list(shared->args[0]);
    if (o->arch != NULL && c->arch_row == NULL)
        return report_usage("--arch is for keys and tensors, not for %s", c->name);
    if (o->arch != NULL && gufo_arch_find(o->arch) == NULL)
        return report_no_arch(o->arch);
    catalogue_list(c, o->arch, shared->json);
    return CODE_OK;
}

const command_line command_list = {
    .operands = {"keys|archs|tensors|types|filetypes|valuetypes|tokenizers|pretokenizers|rules", 1,
                 1,
                 "one of keys, archs, tensors, types, filetypes, valuetypes, tokenizers, "
                 "pretokenizers, rules is needed"},
    .doc = "List the keys, tensors, types and other words that gufo knows.\v"
           "In names of keys and tensors {arch} is a placeholder for the architecture, {id}, {bid} "
           "and {xid} for numbers, {name} for any word.  'gufo explain' describes each row.",
    .examples = {{"gufo list filetypes", "The types that quantize takes."},
                 {"gufo list keys --arch=llama",
                  "The keys of an architecture, and which it needs."}},
    COMMAND_OPTIONS(list_table, list_options),
    .run = list_named,
};
