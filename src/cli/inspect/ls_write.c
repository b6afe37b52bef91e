/* Models as a table and as JSON. */
#include "cli/inspect/ls.h"

#include "base/sort.h"
#include "cli/core/records/record.h"
#include "cli/core/stdout.h"

#include <string.h>

enum { SCHEMA_VERSION = 1 }; /* as in show_json.c */

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

/* ---- what is reported ----------------------------------------------------------------------- */

static const record_field fault_fields[] = {
    {"file", NULL, RECORD_TEXT, RECORD_AT(ls_fault, file), .none = RECORD_OR_OUT},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(ls_fault, offset)},
    {"message", NULL, RECORD_TEXT, RECORD_AT(ls_fault, message)},
};
static const record_type fault_type = RECORD_OF(ls_fault, fault_fields, 0);

enum { FAULTS = 1 }; /* a part: one file is broken, and a column marks it */

typedef struct model_row {
    ls_file file;
    const char *name, *mark;
    bool is_there, is_broken; /* the size is known; the fault */
    uint64_t shards;
} model_row;

static const record_field model_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"cache", NULL, RECORD_TEXT, RECORD_AT(model_row, file.cache), .none = RECORD_OR_OUT},
    {"tag", NULL, RECORD_TEXT, RECORD_AT(model_row, file.tag), .none = RECORD_OR_OUT},
    {"shard_count", NULL, RECORD_COUNT, RECORD_AT(model_row, shards)},
    {NULL, "name", RECORD_TEXT, RECORD_AT(model_row, name), .width = -4},
    {"name", NULL, RECORD_TEXT, RECORD_AT(model_row, file.name)},
    {"architecture", "arch", RECORD_WORD, RECORD_AT(model_row, file.architecture), .width = -4,
     .drop = 2},
    {"parameters", "params", RECORD_QUANTITY, RECORD_AT(model_row, file.parameters),
     .none = RECORD_OR_NULL, .width = 6, .drop = 1},
    {"quantization", "quant", RECORD_TEXT, RECORD_AT(model_row, file.quantization), .width = -5},
    {"size", NULL, RECORD_BYTES, RECORD_AT(model_row, file.size)},
    {NULL, "size", RECORD_BYTES, RECORD_AT(model_row, file.size), RECORD_KNOWN(model_row, is_there),
     .width = 4},
    {"context_length", "context", RECORD_COUNT, RECORD_AT(model_row, file.context),
     .none = RECORD_OR_NULL, .width = 7, .drop = 3},
    {NULL, "", RECORD_TEXT, RECORD_AT(model_row, mark), .part = FAULTS, .instead = "", .width = -1},
    {"date", "date", RECORD_DATE, RECORD_AT(model_row, file.date), .width = 10, .drop = 4},
    {"broken", NULL, RECORD_RECORD, RECORD_AT(model_row, file.fault),
     RECORD_GIVEN(model_row, is_broken), .of = &fault_type},
};
static const record_type model_type = RECORD_OF(model_row, model_fields, 0);

static bool make_model(const void *context, uint64_t index, void *record)
{
    const ls_files *files = context;
    model_row *row = record;

    if (index >= files->shown)
        return false;
    row->file = files->items[index];
    row->name = shown_name(&row->file);
    row->is_there = row->file.date != 0;
    row->is_broken = row->file.fault.message != NULL;
    row->mark = row->is_broken ? "broken" : NULL;
    row->shards = row->file.count > 0 ? row->file.count : 1;
    return true;
}

void ls_write_table(const ls_files *files)
{
    record_type type = model_type;
    table t;

    for (size_t i = 0; i < files->shown; i++)
        if (files->items[i].fault.message != NULL)
            type.parts = FAULTS;
    t = record_table(&type, 0);
    if (!stdout_is_terminal())
        t.most_name = SIZE_MAX;
    record_print(&t, &type, &(record_list){.make = make_model, .context = files});
}

void ls_write_json(const ls_files *files)
{
    model_row row;

    for (size_t i = 0; !stdout_broken() && make_model(files, i, &row); i++)
        record_write_document(row.file.path, &model_type, &row);
}
