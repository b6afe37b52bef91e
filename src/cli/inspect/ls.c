/* gufo ls [FILE|DIR...]: the models in folders and caches, one line each, in the order that is asked for. */
#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/files/remote.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/values/array.h"
#include "cli/inspect/ls.h"

#include "gufo/find.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCHEMA_VERSION = 1 }; /* as in show.c */

typedef enum ls_order {
    LS_BY_NAME,
    LS_BY_SIZE,
    LS_BY_DATE,
    LS_BY_PARAMETERS,
    LS_BY_CONTEXT,
} ls_order;

typedef struct ls_options {
    command_input base;
    bool recursive, caches;
    ls_order order;
} ls_options;

/* ---- the list ------------------------------------------------------------------------------- */

typedef struct ls_models {
    gufo_find *find;
    gufo_found *items;
    size_t count;
    bool failed; /* something could not be read, after a report */
} ls_models;

static gufo_find_kind kind_of(void *context, const char *path)
{
    (void)context;
    return foreign_file_kind(path);
}

static gufo_model *open_foreign(void *context, const char *path, gufo_error *error)
{
    (void)context;
    return foreign_file_open(path, FOREIGN_OUTLINE, error);
}

static const char *part_of(void *context, const gufo_model *model, uint32_t index)
{
    (void)context;
    return foreign_file_part_at(model, index);
}

static const char *variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

/* What could not be opened is said as of every other file. */
static const char *fault_text(const gufo_error *fault)
{
    return fault->system != 0 && fault->offset == GUFO_NO_OFFSET ? strerror(fault->system)
                                                                 : fault->message;
}

static void report_fault(const gufo_error *fault)
{
    gufo_error shown = *fault;

    snprintf(shown.message, sizeof shown.message, "%s", fault_text(fault));
    (void)report_error(fault->file, &shown);
}

static void on_fault(void *context, const gufo_error *error)
{
    ls_models *models = context;

    models->failed = true;
    report_fault(error);
}

static bool ls_open(ls_models *models)
{
    const gufo_find_options options = {.variable = variable,
                                       .fault = on_fault,
                                       .kind = kind_of,
                                       .open = open_foreign,
                                       .part = part_of,
                                       .context = models};
    gufo_error error;

    *models = (ls_models){.find = gufo_find_new(&options, &error)};
    if (models->find == NULL)
        report_error(NULL, &error);
    return models->find != NULL;
}

/* Adds a path, or with NULL the caches. */
static void ls_add(ls_models *models, const char *path, bool recursive)
{
    gufo_error error;
    gufo_status status = path != NULL ? gufo_find_add(models->find, path,
                                                      recursive ? GUFO_FIND_RECURSIVE : 0, &error)
                                      : gufo_find_add_caches(models->find, &error);

    if (status != GUFO_OK)
        on_fault(models, &error);
}

static void ls_close(ls_models *models)
{
    gufo_find_free(models->find);
    free(models->items);
}

/* ---- order ---------------------------------------------------------------------------------- */

static const char *shown_name(const gufo_found *model)
{
    return model->name != NULL ? model->name : model->path;
}

static int by_name(const void *a, const void *b)
{
    const gufo_found *x = a, *y = b;
    int order = strcmp(shown_name(x), shown_name(y));

    return order != 0 ? order : strcmp(x->path, y->path);
}

/* The largest first, of equals by name. */
#define ORDER_BY(name, member)                                         \
    static int name(const void *a, const void *b)                      \
    {                                                                  \
        const gufo_found *x = a, *y = b;                               \
        int order = (x->member < y->member) - (x->member > y->member); \
                                                                       \
        return order != 0 ? order : by_name(a, b);                     \
    }
ORDER_BY(by_size, size)
ORDER_BY(by_date, date)
ORDER_BY(by_parameters, parameters)
ORDER_BY(by_context, context)

static int (*const orders[])(const void *a, const void *b) = {[LS_BY_NAME] = by_name,
                                                              [LS_BY_SIZE] = by_size,
                                                              [LS_BY_DATE] = by_date,
                                                              [LS_BY_PARAMETERS] = by_parameters,
                                                              [LS_BY_CONTEXT] = by_context};

static void ls_read(ls_models *models, unsigned threads, ls_order order)
{
    const gufo_run run = {.threads = threads};
    gufo_found *added, model;
    gufo_error error;

    if (gufo_find_read(models->find, &run, &error) != GUFO_OK)
        on_fault(models, &error);
    while (gufo_find_at(models->find, models->count, &model)) {
        added = array_add(&models->items, &models->count, sizeof *added);
        if (added == NULL) {
            models->failed = true;
            return;
        }
        *added = model;
    }
    if (models->count > 0)
        qsort(models->items, models->count, sizeof *models->items, orders[order]);
}

/* ---- what is reported ----------------------------------------------------------------------- */

typedef struct model_fault {
    const char *file; /* NULL: the one that is listed */
    const char *message;
    uint64_t offset; /* GUFO_NO_OFFSET: nowhere in it */
} model_fault;

static const record_field fault_fields[] = {
    {"file", NULL, RECORD_TEXT, RECORD_AT(model_fault, file), .none = RECORD_OR_OUT},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(model_fault, offset)},
    {"message", NULL, RECORD_TEXT, RECORD_AT(model_fault, message)},
};
static const record_type fault_type = RECORD_OF(model_fault, fault_fields, 0);

enum { FAULTS = 1 }; /* a part: one file is broken, and a column marks it */

typedef struct model_row {
    gufo_found model;
    model_fault fault;
    const char *name, *mark;
    bool is_there, is_broken; /* the size is known; the fault */
    uint64_t shards;
    time_t date;
} model_row;

static const record_field model_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"cache", NULL, RECORD_TEXT, RECORD_AT(model_row, model.cache), .none = RECORD_OR_OUT},
    {"tag", NULL, RECORD_TEXT, RECORD_AT(model_row, model.name), .none = RECORD_OR_OUT},
    {"shard_count", NULL, RECORD_COUNT, RECORD_AT(model_row, shards)},
    {NULL, "name", RECORD_TEXT, RECORD_AT(model_row, name), .width = -4},
    {"name", NULL, RECORD_TEXT, RECORD_AT(model_row, model.title)},
    {"architecture", "arch", RECORD_WORD, RECORD_AT(model_row, model.architecture), .width = -4,
     .drop = 2},
    {"parameters", "params", RECORD_QUANTITY, RECORD_AT(model_row, model.parameters),
     .none = RECORD_OR_NULL, .width = 6, .drop = 1},
    {"quantization", "quant", RECORD_TEXT, RECORD_AT(model_row, model.quantization), .width = -5},
    {"size", NULL, RECORD_BYTES, RECORD_AT(model_row, model.size)},
    {NULL, "size", RECORD_BYTES, RECORD_AT(model_row, model.size),
     RECORD_KNOWN(model_row, is_there), .width = 4},
    {"context_length", "context", RECORD_COUNT, RECORD_AT(model_row, model.context),
     .none = RECORD_OR_NULL, .width = 7, .drop = 3},
    {NULL, "", RECORD_TEXT, RECORD_AT(model_row, mark), .part = FAULTS, .instead = "", .width = -1},
    {"date", "date", RECORD_DATE, RECORD_AT(model_row, date), .width = 10, .drop = 4},
    {"broken", NULL, RECORD_RECORD, RECORD_AT(model_row, fault), RECORD_GIVEN(model_row, is_broken),
     .of = &fault_type},
};
static const record_type model_type = RECORD_OF(model_row, model_fields, 0);

static bool make_model(const void *context, uint64_t index, void *record)
{
    const ls_models *models = context;
    model_row *row = record;

    if (index >= models->count)
        return false;
    row->model = models->items[index];
    row->name = shown_name(&row->model);
    row->date = (time_t)row->model.date;
    row->is_there = row->model.date != 0;
    row->is_broken = row->model.fault != NULL;
    row->mark = row->is_broken ? "broken" : NULL;
    row->shards = row->model.shards;
    if (row->is_broken) {
        const gufo_error *fault = row->model.fault;
        bool is_other = strcmp(fault->file, row->model.path) != 0;

        row->fault = (model_fault){is_other ? fault->file : NULL, fault_text(fault), fault->offset};
    }
    return true;
}

static void ls_write_table(const ls_models *models)
{
    record_type type = model_type;
    table t;

    for (size_t i = 0; i < models->count; i++)
        if (models->items[i].fault != NULL)
            type.parts = FAULTS;
    t = record_table(&type, 0);
    if (!stdout_is_terminal())
        t.most_name = SIZE_MAX;
    record_print(&t, &type, &(record_list){.make = make_model, .context = models});
}

static void ls_write_json(const ls_models *models)
{
    model_row row;

    for (size_t i = 0; !stdout_broken() && make_model(models, i, &row); i++)
        record_write_document(row.model.path, &model_type, &row);
}

/* The models in a folder, for commands that take one after the other. */

bool ls_is_folder(const char *path)
{
    return remote_is_folder(path) || (path_is_folder(path) && !foreign_file_find(path, NULL));
}

int ls_each(const char *folder, void *context, int (*one)(void *context, const char *path))
{
    ls_models models;
    int code = CODE_OK;

    if (remote_is(folder))
        return report_as(CODE_FAILED, folder,
                         "the address names a repository: name a file of it; 'gufo ls' lists them");
    if (!ls_open(&models))
        return CODE_FAILED;
    ls_add(&models, folder, false);
    ls_read(&models, 0, LS_BY_NAME);
    if (models.count == 0 && !models.failed)
        code = report_as(CODE_NO, folder, "no models are in this folder");
    for (size_t i = 0; i < models.count && !stdout_broken(); i++)
        code = worst_code(code, one(context, models.items[i].path));
    if (models.failed)
        code = worst_code(code, CODE_FAILED);
    ls_close(&models);
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
static int report_faults(const ls_models *models, bool report)
{
    int code = models->failed ? CODE_FAILED : CODE_OK;

    for (size_t i = 0; i < models->count; i++) {
        const gufo_error *fault = models->items[i].fault;

        if (fault == NULL)
            continue;
        code = CODE_FAILED;
        if (report)
            report_fault(fault);
    }
    return code;
}

/* Lists what was added, and frees it.  Without any, a warning ends with `elsewhere`. */
static int ls_list(ls_models *models, const shared_options *shared, ls_order order,
                   const char *elsewhere)
{
    int code;

    ls_read(models, (unsigned)shared->threads, order);
    code = report_faults(models, !shared->json);
    if (models->count == 0 && code == CODE_OK) {
        report_warning(NULL, "no model was found%s", elsewhere);
        code = CODE_NO;
    } else if (models->count > 0) {
        (shared->json ? ls_write_json : ls_write_table)(models);
    }
    ls_close(models);
    return code;
}

int ls_folder(const char *path, const shared_options *shared)
{
    ls_models models;

    if (remote_is(path))
        return ls_repository(path, shared);
    if (!ls_open(&models))
        return CODE_FAILED;
    ls_add(&models, path, false);
    return ls_list(&models, shared, LS_BY_NAME, "");
}

/* An argument that is an address: its files, each repository in a table of its own. */
static int ls_elsewhere(const char *address, const shared_options *shared, int *count)
{
    if ((*count)++ > 0 && !shared->json)
        putchar('\n');
    return ls_repository(address, shared);
}

static int ls(void *context)
{
    const ls_options *options = context;
    const shared_options *shared = options->base.shared;
    int code = CODE_OK, elsewhere = 0;
    ls_models models;

    if (!ls_open(&models))
        return CODE_FAILED;
    if (options->caches)
        ls_add(&models, NULL, false);
    for (int i = 0; i < shared->arg_count; i++)
        if (remote_is(shared->args[i]))
            code = worst_code(code, ls_elsewhere(shared->args[i], shared, &elsewhere));
        else
            ls_add(&models, shared->args[i], options->recursive);
    if (elsewhere == shared->arg_count && elsewhere > 0 && !options->caches) {
        ls_close(&models);
        return code;
    }
    if (shared->arg_count == 0 && !options->caches)
        ls_add(&models, ".", options->recursive);
    return worst_code(
        code,
        ls_list(&models, shared, options->order,
                options->recursive || options->caches ? "" : "; -r searches subfolders, too"));
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
