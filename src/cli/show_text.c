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
 * Tables are walked twice: once for the width of the columns, once to write.  Long keys and names
 * hang over rather than widen every row. */
#include "cli/show.h"

#include "cli/glob.h"
#include "cli/human.h"
#include "cli/stdout.h"
#include "cli/tensor_text.h"
#include "cli/text.h"
#include "cli/value.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_ARRAY_LIMIT 8
#define KEY_COLUMNS 44    /* the widest column that keys and names get */
#define KEY_SHOWN 200     /* no more of a key is shown */
#define VALUE_COLUMNS 64  /* of a value, if no terminal says how wide it is */
#define LEAST_COLUMNS 24  /* of a value on a narrow terminal */
#define STRING_COLUMNS 24 /* of a string inside an array */
#define GAP 2             /* between columns, and before the first */

/* The columns of the terminal; 0 if standard output is none. */
static size_t terminal_columns(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

static void put_heading(bool color, const char *text)
{
    if (color)
        fputs("\033[1m", stdout);
    text_put(stdout, gufo_str_of(text), TEXT_PLAIN);
    if (color)
        fputs("\033[0m", stdout);
}

/* "Metadata (23)"; with a pattern, or if not all could be read, "Metadata (3 of 23)" */
static void put_table_heading(bool color, const char *title, uint64_t shown, uint64_t all)
{
    put_heading(color, title);
    if (shown == all)
        printf(" (%s)\n", human_grouped(all).text);
    else
        printf(" (%s of %s)\n", human_grouped(shown).text, human_grouped(all).text);
}

/* A left-aligned cell and the gap after it. */
static void put_cell(gufo_str text, size_t columns)
{
    text_put_cell(stdout, text, columns, KEY_SHOWN);
    text_pad(stdout, GAP);
}

/* ---- metadata ------------------------------------------------------------------------------- */

typedef struct small_text {
    char text[96];
} small_text;

/* "uint32", "string[]" */
static small_text value_type_text(const gufo_value *value)
{
    small_text t;
    bool array = value->type == GUFO_VALUE_ARRAY;

    snprintf(t.text, sizeof t.text, "%s%s",
             gufo_value_type_name(array ? value->as.array.type : value->type), array ? "[]" : "");
    return t;
}

typedef struct metadata_table {
    uint64_t shown;
    size_t key, type; /* columns */
} metadata_table;

static metadata_table measure_metadata(const gufo_model *file, const char *glob)
{
    metadata_table table = {0};
    gufo_entry entry;

    for (uint64_t i = 0; gufo_metadata_at(file, i, &entry); i++) {
        if (!glob_matches(glob, entry.key))
            continue;
        table.shown++;
        text_widen(&table.key, text_needs(entry.key, KEY_COLUMNS));
        text_widen(&table.type, strlen(value_type_text(&entry.value).text));
    }
    return table;
}

/* The room that is left on a terminal.  Elsewhere strings are short and arrays as long as the limit
 * says. */
static value_style style_of_values(const show_options *options, const metadata_table *table)
{
    size_t terminal = terminal_columns();
    size_t before = table->key + table->type + 3 * GAP;
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
    const gufo_model *file = in->model;
    metadata_table table = measure_metadata(file, options->metadata_glob);
    value_style style = style_of_values(options, &table);
    gufo_entry entry;
    bool sound = true;

    put_table_heading(color, "Metadata", table.shown, gufo_model_facts(file).claimed_metadata);
    for (uint64_t i = 0; !stdout_broken() && gufo_metadata_at(file, i, &entry); i++) {
        if (!glob_matches(options->metadata_glob, entry.key))
            continue;
        text_pad(stdout, GAP);
        put_cell(entry.key, table.key);
        put_cell(gufo_str_of(value_type_text(&entry.value).text), table.type);
        sound = value_put_line(stdout, &entry.value, &style) && sound;
        putc('\n', stdout);
    }
    return sound;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* "?" where a damaged file does not record it. */
static small_text offset_text(const gufo_tensor *tensor)
{
    small_text t = {"?"};

    if (tensor->offset != GUFO_NO_OFFSET)
        snprintf(t.text, sizeof t.text, "%" PRIu64, tensor->offset);
    return t;
}

/* "205.5 MiB", and what is missing of it in a damaged file. */
static small_text size_text(const gufo_tensor *tensor)
{
    small_text t;

    if (tensor->available < tensor->size)
        snprintf(t.text, sizeof t.text, "%s, %s missing", human_bytes(tensor->size).text,
                 human_bytes(tensor->size - tensor->available).text);
    else
        snprintf(t.text, sizeof t.text, "%s", human_bytes(tensor->size).text);
    return t;
}

static size_t decimal_digits(uint64_t number)
{
    size_t digits = 1;

    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

typedef struct tensor_table {
    uint64_t shown;
    size_t name, type, dims, shard, offset, size; /* columns; no shards: 0 */
} tensor_table;

static tensor_table measure_tensors(const input *in, const char *glob)
{
    tensor_table table = {0};
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_tensor_at(in->model, i, &tensor); i++) {
        if (!glob_matches(glob, tensor.name))
            continue;
        table.shown++;
        text_widen(&table.name, text_needs(tensor.name, KEY_COLUMNS));
        text_widen(&table.type, strlen(tensor_type_text(tensor.type).text));
        text_widen(&table.dims, strlen(tensor_shape_text(&tensor, " x ").text));
        text_widen(&table.offset, strlen(offset_text(&tensor).text));
        text_widen(&table.size, strlen(size_text(&tensor).text));
    }
    if (gufo_model_shard_count(in->model) > 1)
        table.shard = decimal_digits(gufo_model_shard_count(in->model));
    return table;
}

static void put_tensor(const gufo_tensor *tensor, const tensor_table *table)
{
    text_pad(stdout, GAP);
    put_cell(tensor->name, table->name);
    put_cell(gufo_str_of(tensor_type_text(tensor->type).text), table->type);
    put_cell(gufo_str_of(tensor_shape_text(tensor, " x ").text), table->dims);
    if (table->shard > 0)
        printf("#%-*" PRIu32 "  ", (int)table->shard, tensor->shard + 1);
    printf("%*s  %*s\n", (int)table->offset, offset_text(tensor).text, (int)table->size,
           size_text(tensor).text);
}

/* What the headers announce; of a damaged file not all may have been read. */
static uint64_t claimed_tensors(const input *in)
{
    uint64_t claimed = 0;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++)
        claimed += gufo_model_facts(gufo_model_shard(in->model, i)).claimed_tensors;
    return claimed;
}

static void write_tensors(const input *in, const show_options *options, bool color)
{
    tensor_table table = measure_tensors(in, options->tensor_glob);
    gufo_tensor tensor;

    put_table_heading(color, "Tensors", table.shown, claimed_tensors(in));
    for (uint64_t i = 0; !stdout_broken() && gufo_tensor_at(in->model, i, &tensor); i++)
        if (glob_matches(options->tensor_glob, tensor.name))
            put_tensor(&tensor, &table);
}

/* ---- the whole ------------------------------------------------------------------------------ */

bool show_write_text(const input *in, const show_options *options)
{
    bool color = options_color(options->base.shared);
    bool sound = true;

    put_heading(color, in->path);
    putc('\n', stdout);
    if (show_has_summary(options))
        show_write_summary(in);
    if (show_has_metadata(options)) {
        putc('\n', stdout);
        sound = write_metadata(in, options, color);
    }
    if (show_has_tensors(options)) {
        putc('\n', stdout);
        write_tensors(in, options, color);
    }
    return sound;
}
