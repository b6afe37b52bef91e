/* gufo ls [FILE|DIR...]: the models in folders, one line each.
 *
 * It reads only headers.  It trusts folders as little as files: it opens regular files alone, does
 * not follow symlinks to folders below an argument, and one broken file spoils one line. */
#include "base/sort.h"
#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/stdout.h"
#include "cli/inspect/ls.h"

#include <stdlib.h>
#include <string.h>

/* Models as a table and as JSON. */

enum { SCHEMA_VERSION = 1 }; /* as in show.c */

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

/* ---- writing -------------------------------------------------------------------------------- */
static void ls_sort(ls_files *files, ls_order order)
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

static void ls_write_table(const ls_files *files)
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

static void ls_write_json(const ls_files *files)
{
    model_row row;

    for (size_t i = 0; !stdout_broken() && make_model(files, i, &row); i++)
        record_write_document(row.file.path, &model_type, &row);
}

/* The models in a folder, for commands that take one after the other. */

bool ls_is_folder(const char *path)
{
    return path_is_folder(path) && !foreign_file_find(path, NULL);
}

int ls_each(const char *folder, void *context, int (*one)(void *context, const char *path))
{
    ls_files files = {0};
    int code = CODE_OK;

    ls_add_argument(&files, folder, false);
    ls_read(&files, 0);
    ls_sort(&files, LS_BY_NAME);
    if (files.shown == 0 && !files.failed)
        code = report_as(CODE_NO, folder, "no models are in this folder");
    for (size_t i = 0; i < files.shown && !stdout_broken(); i++)
        code = worst_code(code, one(context, files.items[i].path));
    if (files.failed)
        code = worst_code(code, CODE_FAILED);
    ls_free(&files);
    return code;
}

/* ---- command line --------------------------------------------------------------------------- */

static const char *const order_words[] = {
    [LS_BY_NAME] = "name",       [LS_BY_SIZE] = "size",
    [LS_BY_DATE] = "date",       [LS_BY_PARAMETERS] = "parameters",
    [LS_BY_CONTEXT] = "context", NULL};

static const command_option ls_table[] = {
    {"recursive", NULL, "Search subfolders, too", OPTION_FLAG(ls_options, recursive),
     .letter = 'r'},
    {"sort", "ORDER",
     "name (the default), or the largest or newest first: size, date, parameters, context",
     OPTION_CHOICE(ls_options, order, order_words, LS_BY_NAME)},
    {"caches", NULL, "List the caches of Hugging Face, llama.cpp, Ollama and LM Studio",
     OPTION_FLAG(ls_options, caches)},
    {0},
};

/* ---- the command ---------------------------------------------------------------------------- */

/* The exit code; JSON has the faults in its objects. */
static int report_faults(const ls_files *files, bool report)
{
    int code = files->failed ? CODE_FAILED : CODE_OK;

    for (size_t i = 0; i < files->shown; i++) {
        const ls_file *file = &files->items[i];
        gufo_error error = {.offset = file->fault.offset};

        if (file->fault.message == NULL)
            continue;
        code = CODE_FAILED;
        snprintf(error.message, sizeof error.message, "%s", file->fault.message);
        if (report)
            report_error(file->fault.file != NULL ? file->fault.file : file->path, &error);
    }
    return code;
}

int ls_list(ls_files *files, const shared_options *shared, ls_order order, const char *elsewhere)
{
    int code;

    ls_read(files, (unsigned)shared->threads);
    ls_sort(files, order);
    code = report_faults(files, !shared->json);
    if (files->shown == 0 && code == CODE_OK) {
        report_warning(NULL, "no model was found%s", elsewhere);
        code = CODE_NO;
    } else if (files->shown > 0) {
        (shared->json ? ls_write_json : ls_write_table)(files);
    }
    ls_free(files);
    return code;
}

static int ls(void *context)
{
    const ls_options *options = context;
    const shared_options *shared = options->base.shared;
    ls_files files = {0};

    if (options->caches)
        ls_add_caches(&files);
    for (int i = 0; i < shared->arg_count; i++)
        ls_add_argument(&files, shared->args[i], options->recursive);
    if (shared->arg_count == 0 && !options->caches)
        ls_add_argument(&files, ".", options->recursive);
    return ls_list(&files, shared, options->order,
                   options->recursive || options->caches ? "" : "; -r searches subfolders, too");
}

const command_line command_ls = {
    .operands = {.names = "[FILE|DIR...]"},
    .doc = "List models: name, architecture, parameters, quantization, size, context and date.\v"
           "A folder (by default this one) means the files in it whose names end in '.gguf', and "
           "blobs named sha256-... that are GGUF files; a set of shards is one model, and so are "
           "several links to one file.  A folder with "
           "config.json and *.safetensors or pytorch_model*.bin files is a model, too.  gufo reads "
           "only headers.  It reports what is wrong with a "
           "broken file; the exit status is then 3.  It is 1 if no model was found.",
    .examples = {{"gufo ls -r --sort=size ~/models",
                  "All models below a folder, the largest first."},
                 {"gufo ls --caches", "What Hugging Face, llama.cpp, Ollama and LM Studio keep."}},
    COMMAND_OPTIONS(ls_table, ls_options),
    .run = ls,
};
