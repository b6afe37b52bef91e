/* Models as a table and as JSON. */
#include "cli/inspect/ls.h"

#include "base/sort.h"
#include "cli/core/human.h"
#include "cli/core/json.h"
#include "cli/core/stdout.h"
#include "cli/core/table.h"

#include "gufo/format.h"

#include <string.h>

#define SCHEMA_VERSION 1 /* as in show_json.c */

/* ---- order ---------------------------------------------------------------------------------- */

static const char *shown_name(const ls_file *file)
{
    return file->tag != NULL ? file->tag : file->path;
}

/* The largest first, of equals by name. */
static bool file_before(const void *a, const void *b)
{
    const ls_file *x = a, *y = b;
    int order = strcmp(shown_name(x), shown_name(y));

    if (x->rank != y->rank)
        return x->rank > y->rank;
    return order < 0 || (order == 0 && strcmp(x->path, y->path) < 0);
}

static uint64_t rank_of(const ls_file *file, ls_order order)
{
    const uint64_t ranks[] = {[LS_BY_NAME] = 0,
                              [LS_BY_SIZE] = file->size,
                              [LS_BY_DATE] =
                                  (uint64_t)file->date + (UINT64_MAX / 2 + 1), /* signed */
                              [LS_BY_PARAMETERS] = file->parameters,
                              [LS_BY_CONTEXT] = file->context};

    return ranks[order];
}

void ls_sort(ls_files *files, ls_order order)
{
    for (size_t i = files->shown = 0; i < files->count; i++)
        if (!files->items[i].left_out) {
            ls_file file = files->items[i];

            file.rank = rank_of(&file, order);
            files->items[i] = files->items[files->shown];
            files->items[files->shown++] = file;
        }
    sort_items(files->items, files->shown, sizeof *files->items, file_before);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void add_date(table_row *row, time_t date)
{
    struct tm parts;
    char text[32] = "-";

    if (date != 0 && localtime_r(&date, &parts) != NULL)
        strftime(text, sizeof text, "%Y-%m-%d", &parts);
    row_text(row, "%s", text);
}

/* Cells of a table are ASCII: "?" replaces other characters of a file. */
static void add_word(table_row *row, const char *text)
{
    char word[32];
    size_t len = 0;

    for (; text != NULL && text[len] != '\0' && len + 1 < sizeof word; len++)
        word[len] = (char)(text[len] > ' ' && text[len] <= '~' ? text[len] : '?');
    word[len] = '\0';
    row_text(row, "%s", len > 0 ? word : "-");
}

typedef struct model_rows {
    const ls_files *files;
    bool marks; /* one file is broken: a column marks it */
} model_rows;

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const model_rows *rows = context;
    const ls_file *file = &rows->files->items[index];

    if (index >= rows->files->shown)
        return false;
    row_str(row, gufo_str_of(shown_name(file)));
    add_word(row, file->architecture);
    row_text(row, "%s", file->parameters > 0 ? human_count(file->parameters).text : "-");
    row_text(row, "%s", file->quantization != NULL ? file->quantization : "-");
    row_text(row, "%s", file->date != 0 ? human_file_size(file->size).text : "-");
    row_text(row, "%s", file->context > 0 ? human_grouped(file->context).text : "-");
    if (rows->marks)
        row_text(row, "%s", file->fault.message != NULL ? "broken" : "");
    add_date(row, file->date);
    return true;
}

void ls_write_table(const ls_files *files)
{
    static const table_column columns[] = {{"name", -4, 0},  {"arch", -4, 2}, {"params", 6, 1},
                                           {"quant", -5, 0}, {"size", 4, 0},  {"context", 7, 3},
                                           {"", -1, 0},      {"date", 10, 4}};
    size_t count = sizeof columns / sizeof *columns;
    model_rows rows = {files, false};
    table t;

    for (size_t i = 0; i < files->shown; i++)
        rows.marks = rows.marks || files->items[i].fault.message != NULL;
    t = table_of(columns, count);
    if (!rows.marks) {
        t.columns[count - 2] = t.columns[count - 1];
        t.count--;
    }
    t.indent = 0;
    if (!stdout_is_terminal())
        t.most_name = SIZE_MAX;
    table_print(&t, make_row, &rows);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_fault(json_writer *j, const ls_fault *fault)
{
    json_begin_object(j, "broken");
    if (fault->file != NULL)
        json_write_text(j, "file", fault->file);
    json_write_offset(j, fault->offset);
    json_write_text(j, "message", fault->message);
    json_end_object(j);
}

static void write_date(json_writer *j, time_t date)
{
    struct tm parts;
    char text[40];
    bool known = date != 0 && gmtime_r(&date, &parts) != NULL &&
                 strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0;

    json_write_text(j, "date", known ? text : NULL);
}

static void write_model(const ls_file *file)
{
    json_writer j = json_begin_document(file->path);

    json_write_u64(&j, "schema_version", SCHEMA_VERSION);
    if (file->cache != NULL)
        json_write_text(&j, "cache", file->cache);
    if (file->tag != NULL)
        json_write_text(&j, "tag", file->tag);
    json_write_u64(&j, "shard_count", file->count > 0 ? file->count : 1);
    json_write_text(&j, "name", file->name);
    json_write_text(&j, "architecture", file->architecture);
    json_write_known(&j, "parameters", file->parameters > 0, file->parameters);
    json_write_text(&j, "quantization", file->quantization);
    json_write_u64(&j, "size", file->size);
    json_write_known(&j, "context_length", file->context > 0, file->context);
    write_date(&j, file->date);
    if (file->fault.message != NULL)
        write_fault(&j, &file->fault);
    json_end_document(&j);
}

void ls_write_json(const ls_files *files)
{
    for (size_t i = 0; i < files->shown && !stdout_broken(); i++)
        write_model(&files->items[i]);
}
