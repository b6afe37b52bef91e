/* gufo show for people: a heading, the facts, a table of metadata and one of tensors.
 *
 *     model.gguf
 *       Name              ...
 *
 *     Metadata (2)
 *       general.name      string  "..."
 *       llama.block_count uint32  16
 *
 *     Tensors (33)
 *       output.weight           Q6_K  2048 x 128256               215 MB
 *       blk.0-31.attn_q.weight  Q4_K  2048 x 2048     32 tensors   75.5 MB
 *
 * A terminal gets what fits its lines.  Elsewhere long keys and names hang over rather than widen
 * every row, and each tensor has a line. */
#include "cli/core/options/names.h"
#include "cli/core/records/layer_map.h"
#include "cli/core/records/table.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"
#include "cli/inspect/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors as records, which JSON has, too ------------------------------------------------ */

enum { SHARDS = 1 }; /* a part: the model has several */

typedef struct tensor_row {
    gufo_tensor tensor;
    uint32_t shard; /* from 1 */
    char mark[16];  /* "#2" */
    char size[64];  /* with the bytes that are missing */
} tensor_row;

/* A damaged file, or a model that is not written yet, has no offset. */
static const record_field fields[] = {
    {"name", "", RECORD_STR, RECORD_AT(tensor_row, tensor.name), .width = -1},
    {"type", "", RECORD_TYPE, RECORD_AT(tensor_row, tensor.type), .width = -1},
    {"dims", "", RECORD_SHAPE, RECORD_AT(tensor_row, tensor), .width = -1, .drop = 1},
    {"elements", NULL, RECORD_COUNT, RECORD_AT(tensor_row, tensor.elements)},
    {NULL, "", RECORD_CHARS, RECORD_AT(tensor_row, mark), .part = SHARDS, .width = -2, .drop = 2},
    {"offset", "", RECORD_OFFSET, RECORD_AT(tensor_row, tensor.offset), .instead = "?", .width = 1,
     .drop = 3},
    {"size", NULL, RECORD_BYTES, RECORD_AT(tensor_row, tensor.size)},
    {NULL, "", RECORD_CHARS, RECORD_AT(tensor_row, size), .width = 1},
    {"shard", NULL, RECORD_PLAIN, RECORD_AT(tensor_row, shard), .part = SHARDS},
};

show_tensors show_tensors_of(const gufo_model *model, const char *glob)
{
    const record_type type =
        RECORD_OF(tensor_row, fields, gufo_model_shard_count(model) > 1 ? SHARDS : 0);

    return (show_tensors){model, glob, 0, snprintf(NULL, 0, "%zu", gufo_model_shard_count(model)),
                          type};
}

bool show_make_tensor(const void *context, uint64_t index, void *record)
{
    show_tensors *rows = *(show_tensors *const *)context;
    tensor_row *row = record;
    gufo_tensor *tensor = &row->tensor;

    rows->next = index > 0 ? rows->next : 0;
    if (!glob_next_tensor(rows->glob, rows->model, &rows->next, tensor))
        return false;
    row->shard = tensor->shard + 1;
    snprintf(row->mark, sizeof row->mark, "#%-*" PRIu32, rows->digits, row->shard);
    if (tensor->available < tensor->size)
        snprintf(row->size, sizeof row->size, "%.24s, %.24s missing",
                 human_file_size(tensor->size).text,
                 human_file_size(tensor->size - tensor->available).text);
    else
        snprintf(row->size, sizeof row->size, "%.24s", human_file_size(tensor->size).text);
    return true;
}

/* gufo show --layers: the types of layers and roles, from few bits to many. */

bool show_write_layers(const input *in, const show_options *options)
{
    bool color = options_color(options->base.shared), whole = true;
    layer_map m = {.is_log = false};
    gufo_tensor tensor;

    for (uint64_t i = 0; whole && glob_next_tensor(options->tensor_glob, in->model, &i, &tensor);)
        whole = layer_map_add(&m, tensor.name, tensor_bits(tensor.size, tensor.elements),
                              tensor_type_text(tensor.type).text);
    table_name(color, in->path);
    fputs("\n\n", stdout);
    if (whole)
        layer_map_put(&m, color, "bits per weight, from");
    else
        (void)report_memory(in->path);
    layer_map_free(&m);
    return true;
}

#define LABEL_COLUMNS 18
#define DEFAULT_ARRAY_LIMIT 8
#define LEAST_COLUMNS 16  /* of a value on a narrow terminal */
#define STRING_COLUMNS 24 /* of a string inside an array there */
#define ANY_COLUMNS (SIZE_MAX / 2)

/* ---- summary -------------------------------------------------------------------------------- */

/* Puts the label before the first line, and blanks before the others. */
static void print_fact(const char *label, char *text)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        printf("  %-*s", LABEL_COLUMNS, label);
        text_put_wrapped(stdout, gufo_str_of(line), LABEL_COLUMNS + 2, LABEL_COLUMNS + 2,
                         stdout_columns());
        putchar('\n');
        label = "";
    }
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void make_metadata_row(table_row *row, const gufo_entry *entry)
{
    row->count = row->used = 0;
    row_str(row, entry->key);
    row_text(row, "%s", value_type_name(&entry->value).text);
}

/* The room that is left on a terminal.  Elsewhere strings are whole and arrays as long as the limit
 * says. */
static value_style style_of_values(const show_options *options, const table *t)
{
    size_t room = options->full ? 0 : table_room(t, 2);
    value_style style = {DEFAULT_ARRAY_LIMIT, ANY_COLUMNS, ANY_COLUMNS, ANY_COLUMNS};

    if (options->limit_given || options->full)
        style.limit = options->limit_given ? options->array_limit : VALUE_ALL;
    if (room > 0) {
        style.columns = room;
        style.string_columns = STRING_COLUMNS;
    }
    if (room > 0 && !options->limit_given)
        style.array_columns = room;
    return style;
}

/* On a terminal a value has some columns even where other columns leave no room.  A value that is too long is cut;
 * with --full it continues on the next lines. */
static bool put_value(const gufo_value *value, const value_style *style, const table *t)
{
    bool is_cut = style->array_columns < ANY_COLUMNS;
    size_t used = stdout_columns() - table_room(t, 2);
    text_stream s = {.out = NULL};
    bool held = (is_cut || stdout_columns() > 0) && text_stream_open(&s);
    bool sound = value_put_line(held ? s.out : stdout, value, style);
    char *text = held ? text_stream_close(&s) : NULL;

    if (text != NULL && is_cut)
        text_put_cut(stdout, gufo_str_of(text), TEXT_PLAIN, style->columns);
    else if (text != NULL)
        text_put_wrapped(stdout, gufo_str_of(text), used, used, stdout_columns());
    free(text);
    return sound;
}

static bool make_key(const void *context, uint64_t index, table_row *row)
{
    gufo_entry entry;

    if (!gufo_model_entry_at(context, index, &entry))
        return false;
    row_str(row, entry.key);
    return true;
}

static bool write_metadata(const input *in, const show_options *options, bool color)
{
    static const table_column columns[] = {{"", -1, 0}, {"", -1, 1}, {"", LEAST_COLUMNS, 0}};
    table t = table_of(columns, 3); /* values have no cells: they may have any length */
    size_t terminal = stdout_columns();
    const gufo_model *file = in->model;
    uint64_t shown = 0;
    gufo_entry entry;
    table_row row;
    bool sound = true;

    if (terminal > 0) /* long keys leave room for values */
        t.most_name = terminal > 2 * LEAST_COLUMNS ? terminal / 2 : LEAST_COLUMNS;
    for (uint64_t i = 0; glob_next_entry(options->metadata_glob, file, &i, &entry); shown++) {
        make_metadata_row(&row, &entry);
        table_fit(&t, &row);
    }
    table_fit_names(&t, make_key, file);
    table_title(color, "Metadata", shown, gufo_model_facts(file).claimed_metadata);
    value_style style = style_of_values(options, &t);

    for (uint64_t i = 0;
         !stdout_broken() && glob_next_entry(options->metadata_glob, file, &i, &entry);) {
        make_metadata_row(&row, &entry);
        table_put_cells(&t, &row);
        text_pad(stdout, t.gap);
        sound = put_value(&entry.value, &style, &t) && sound;
        putc('\n', stdout);
    }
    return sound;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void write_tensors(const input *in, const show_options *options, bool color)
{
    show_tensors rows = show_tensors_of(in->model, options->tensor_glob), *context = &rows;
    table t = record_table(&rows.type, 2);
    const record_list list = {.make = show_make_tensor, .context = &context};
    uint64_t shown = record_fit(&t, &rows.type, &list);

    table_title(color, "Tensors", shown, gufo_model_facts(in->model).claimed_tensors);
    record_put_all(&t, &rows.type, &list);
}

static void write_folded(const input *in, bool color)
{
    table t = record_table(&fold_text, 2);
    fold folded, *f = &folded;
    const record_list list = {.make = fold_make, .context = &f};

    if (!fold_tensors(f, in->model, NULL))
        return;
    t.whole_names = true;
    (void)record_fit(&t, &fold_text, &list);
    table_title(color, "Tensors", gufo_model_tensor_count(in->model),
                gufo_model_facts(in->model).claimed_tensors);
    record_put_all(&t, &fold_text, &list);
    fold_free(f);
}

/* ---- the whole ------------------------------------------------------------------------------ */

bool show_write_text(const input *in, const show_options *options)
{
    bool color = options_color(options->base.shared), sound = true;

    table_name(color, in->path);
    putc('\n', stdout);
    if (show_wants(options, options->only_summary)) {
        gufo_summary o;

        gufo_model_summarize(in->model, &o);
        facts_put(&o, print_fact);
    }
    if (show_wants(options, options->only_metadata)) {
        putc('\n', stdout);
        sound = write_metadata(in, options, color);
    }
    if (show_wants(options, options->only_tensors)) {
        putc('\n', stdout);
        if (stdout_is_terminal() && !options->only_tensors && !options->full)
            write_folded(in, color);
        else
            write_tensors(in, options, color);
    }
    return sound;
}
