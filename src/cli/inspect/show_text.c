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
#include "cli/inspect/show.h"

#include "cli/core/glob.h"
#include "cli/core/human.h"
#include "cli/core/stdout.h"
#include "cli/core/records/table.h"
#include "cli/core/tensor_text.h"
#include "cli/core/text.h"
#include "cli/core/value.h"
#include "cli/inspect/fold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

    if (!gufo_metadata_at(context, index, &entry))
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
    table_title(color, "Tensors", f->item_count, gufo_model_facts(in->model).claimed_tensors);
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
        overview o = overview_of(in->model);

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
