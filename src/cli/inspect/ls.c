/* gufo ls [FILE|DIR...]: the models in folders, one line each.
 *
 * It reads only headers.  It trusts folders as little as files: it opens regular files alone, does
 * not follow symlinks to folders below an argument, and one broken file spoils one line. */
#include "cli/inspect/ls.h"

#include "cli/commands.h"

#include <stdlib.h>

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
