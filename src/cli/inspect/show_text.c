/* gufo show for people: a heading, the facts, a table of metadata and one of tensors.
 *
 *     model.gguf
 *       Name              ...
 *
 *     Metadata (2)
 *       general.name      string  "..."
 *       llama.block_count uint32  16
 *
 *     Tensors (1)
 *       output.weight  Q6_K  2048 x 128256     7831552  205.5 MiB
 *
 * Long keys and names hang over rather than widen every row. */
#include "cli/inspect/show.h"

#include "cli/core/glob.h"
#include "cli/core/human.h"
#include "cli/core/stdout.h"
#include "cli/core/table.h"
#include "cli/core/tensor_text.h"
#include "cli/core/text.h"
#include "cli/core/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_ARRAY_LIMIT 8
#define VALUE_COLUMNS 64  /* of a value, if no terminal says how wide it is */
#define LEAST_COLUMNS 24  /* of a value on a narrow terminal */
#define STRING_COLUMNS 24 /* of a string inside an array */

/* The columns of the terminal; 0 if standard output is none. */
static size_t terminal_columns(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* The key, and "uint32" or "string[]". */
static void make_metadata_row(table_row *row, const gufo_entry *entry)
{
    const gufo_value *value = &entry->value;
    bool array = value->type == GUFO_VALUE_ARRAY;

    row->count = row->used = 0;
    row_str(row, entry->key);
    row_text(row, "%s%s", gufo_value_type_name(array ? value->as.array.type : value->type),
             array ? "[]" : "");
}

/* The room that is left on a terminal.  Elsewhere strings are short and arrays as long as the limit
 * says. */
static value_style style_of_values(const show_options *options, const table *t)
{
    size_t terminal = terminal_columns();
    size_t before = (size_t)abs(t->columns[0].width) + (size_t)abs(t->columns[1].width) + 6;
    value_style style = {DEFAULT_ARRAY_LIMIT, VALUE_COLUMNS, SIZE_MAX / 2, STRING_COLUMNS};

    if (options->limit_given)
        style.limit = options->array_limit;
    if (terminal > 0)
        style.columns = terminal > before + LEAST_COLUMNS ? terminal - before : LEAST_COLUMNS;
    if (terminal > 0 && !options->limit_given)
        style.array_columns = style.columns;
    return style;
}

static bool write_metadata(const input *in, const show_options *options, bool color)
{
    static const table_column columns[] = {{"", -1}, {"", -1}, {"", -1}};
    table t = table_of(columns, 3); /* values have no cells: they may have any length */
    const gufo_model *file = in->model;
    uint64_t shown = 0;
    gufo_entry entry;
    table_row row;
    bool sound = true;

    for (uint64_t i = 0; gufo_metadata_at(file, i, &entry); i++) {
        if (!glob_matches(options->metadata_glob, entry.key))
            continue;
        make_metadata_row(&row, &entry);
        table_fit(&t, &row);
        shown++;
    }
    table_title(color, "Metadata", shown, gufo_model_facts(file).claimed_metadata);
    value_style style = style_of_values(options, &t);

    for (uint64_t i = 0; !stdout_broken() && gufo_metadata_at(file, i, &entry); i++) {
        if (!glob_matches(options->metadata_glob, entry.key))
            continue;
        make_metadata_row(&row, &entry);
        table_put_cells(&t, &row);
        text_pad(stdout, t.gap);
        sound = value_put_line(stdout, &entry.value, &style) && sound;
        putc('\n', stdout);
    }
    return sound;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* The offset is "?" where a damaged file does not record it; the size says what is missing. */
static void make_tensor_row(table_row *row, const gufo_tensor *tensor, bool shards)
{
    row->count = row->used = 0;
    tensor_add_cells(row, tensor);
    if (shards)
        row_text(row, "#%" PRIu32, tensor->shard + 1);
    if (tensor->offset != GUFO_NO_OFFSET)
        row_text(row, "%" PRIu64, tensor->offset);
    else
        row_text(row, "?");
    if (tensor->available < tensor->size)
        row_text(row, "%s, %s missing", human_bytes(tensor->size).text,
                 human_bytes(tensor->size - tensor->available).text);
    else
        row_text(row, "%s", human_bytes(tensor->size).text);
}

/* Fits the table, or prints it.  Returns the number of tensors. */
static uint64_t walk_tensors(const input *in, const char *glob, table *t, bool print)
{
    bool shards = gufo_model_shard_count(in->model) > 1;
    uint64_t count = 0;
    gufo_tensor tensor;
    table_row row;

    for (uint64_t i = 0; !stdout_broken() && gufo_tensor_at(in->model, i, &tensor); i++) {
        if (!glob_matches(glob, tensor.name))
            continue;
        make_tensor_row(&row, &tensor, shards);
        if (print)
            table_put(t, &row);
        else
            table_fit(t, &row);
        count++;
    }
    return count;
}

static void write_tensors(const input *in, const show_options *options, bool color)
{
    size_t shards = gufo_model_shard_count(in->model);
    int digits = snprintf(NULL, 0, "#%zu", shards);
    const table_column columns[] = {{"", -1}, {"", -1}, {"", -1}, {"", shards > 1 ? -digits : 1},
                                    {"", 1},  {"", 1}};
    table t = table_of(columns, shards > 1 ? 6 : 5);
    uint64_t shown = walk_tensors(in, options->tensor_glob, &t, false);

    table_title(color, "Tensors", shown, gufo_model_facts(in->model).claimed_tensors);
    (void)walk_tensors(in, options->tensor_glob, &t, true);
}

/* ---- the whole ------------------------------------------------------------------------------ */

bool show_write_text(const input *in, const show_options *options)
{
    bool color = options_color(options->base.shared), sound = true;

    table_name(color, in->path);
    putc('\n', stdout);
    if (show_wants(options, options->only_summary)) {
        overview o = overview_of(in->model);

        show_write_summary(&o);
    }
    if (show_wants(options, options->only_metadata)) {
        putc('\n', stdout);
        sound = write_metadata(in, options, color);
    }
    if (show_wants(options, options->only_tensors)) {
        putc('\n', stdout);
        write_tensors(in, options, color);
    }
    return sound;
}
