/* gufo report FILE... -o OUT: a page that shows models as pictures.
 *
 *     report_source.c   what is known of a FILE
 *     report_page.c     a page becomes a file */
#include "cli/commands.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/values/json.h"
#include "cli/core/terminal/text.h"
#include "cli/report/report.h"
#include "gufo/compare.h"

#include <stdlib.h>

typedef struct report_options {
    command_input base;
    input_options input;
    const char *date, *original;
    bool stats;
    gufo_cpu cpu;
} report_options;

static const command_option report_table[] = {
    {"output", "OUT", "The page to write; '-' is standard output", OPTION_OUTPUT, .common = true},
    {"stats", NULL, "Read all data, and show the numbers in tensors, outliers and scales of blocks",
     OPTION_FLAG(report_options, stats), .common = true},
    {"source", "ORIGINAL", "Show what each FILE lost of ORIGINAL, such as the model in F16",
     OPTION_TEXT(report_options, original), .common = true},
    {"date", "TEXT",
     "Say on the page when it was made; without it the same files give the same page",
     OPTION_TEXT(report_options, date)},
    OPTION_SINGLE(report_options),
    {0},
};

/* ---- the work ----------------------------------------------------------------------------------- */

/* All FILE arguments. */
typedef struct report_work {
    const report_options *options;
    report_source **sources;
    gufo_report_model *models;
    size_t count;
    gufo_guard guard;
    gufo_model *original; /* of --source */
    report_store store;   /* of what compares them */
} report_work;

/* The command that reads what the page lacks. */
static int add_hint(report_source *source, const char *path)
{
    text_stream hint;
    char *text;

    if (!text_stream_open(&hint))
        return report_memory(path);
    fputs("gufo report --stats", hint.out);
    shell_put_file(hint.out, path);
    fputs(" -o OUT.html", hint.out);
    text = text_stream_close(&hint);
    if (text == NULL)
        return report_memory(path);
    report_source_model(source)->hints[GUFO_REPORT_STATS] =
        report_store_text(report_source_store(source), gufo_str_of(text)).data;
    free(text);
    return report_source_model(source)->hints[GUFO_REPORT_STATS] != NULL ? CODE_OK : CODE_FAILED;
}

static int open_one(report_work *w, const char *path)
{
    int code = CODE_OK;
    report_source *source;

    if (path_is_standard(path))
        return report_usage("a FILE is read twice, and standard input cannot be");
    source = report_source_open(path, w->options->base.shared, &w->options->input, &code);
    if (source == NULL)
        return code;
    w->sources[w->count] = source;
    if (w->options->stats)
        code = report_add_numbers(report_source_store(source), path, w->options->base.shared,
                                  w->options->cpu, report_source_model(source));
    else
        code = add_hint(source, path);
    w->models[w->count++] = *report_source_model(source);
    if (code != CODE_OK)
        return code;
    return report_source_guard(source, &w->guard) && save_guard_more(&w->guard, &path, 1)
               ? CODE_OK
               : CODE_FAILED;
}

/* A page without one of the models would look as if it had them all. */
static int open_all(report_work *w)
{
    const shared_options *shared = w->options->base.shared;
    int code = CODE_OK;

    for (int i = 0; i < shared->arg_count && code == CODE_OK; i++) {
        shared->args[i] = (char *)remote_shown(shared->args[i]);
        code = open_one(w, shared->args[i]);
    }
    return code;
}

static uint64_t count_findings(const gufo_report_model *model, gufo_severity severity)
{
    uint64_t count = 0;

    for (size_t i = 0; i < model->finding_count; i++)
        count += model->findings[i].severity == severity;
    return count;
}

/* What was written. */
static void write_json(const report_work *w, uint64_t size)
{
    json_writer j = json_writer_start(stdout);

    json_begin_object(&j, NULL);
    json_write_u64(&j, "schema_version", 1);
    json_write_text(&j, "output", w->options->base.output);
    json_write_u64(&j, "size", size);
    json_begin_array(&j, "models");
    for (size_t i = 0; i < w->count; i++) {
        json_begin_object(&j, NULL);
        json_write_text(&j, "path", w->options->base.shared->args[i]);
        json_write_u64(&j, "errors", count_findings(&w->models[i], GUFO_ERROR));
        json_write_u64(&j, "warnings", count_findings(&w->models[i], GUFO_WARNING));
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    json_writer_line(&j);
}

/* ---- --source ------------------------------------------------------------------------------------- */

/* What they lost of the original. */
static int compare(report_work *w, gufo_report_content *content)
{
    const report_options *o = w->options;
    const char *paths[1 + GUFO_COMPARE_CANDIDATES] = {o->original};
    const gufo_model *models[1 + GUFO_COMPARE_CANDIDATES] = {NULL};

    if (o->original == NULL)
        return CODE_OK;
    w->original = input_open_model(o->original, 0);
    if (w->original == NULL)
        return CODE_FAILED;
    models[0] = w->original;
    for (size_t i = 0; input_file_at(w->original, i) != NULL; i++) {
        const char *path = input_file_at(w->original, i);

        if (!save_guard_more(&w->guard, &path, 1))
            return CODE_FAILED;
    }
    for (size_t i = 0; i < w->count; i++) {
        paths[1 + i] = o->base.shared->args[i];
        models[1 + i] = w->models[i].model;
        if (models[1 + i] == NULL)
            return report_as(CODE_FAILED, paths[1 + i],
                             "it cannot be compared: it cannot be opened");
    }
    return report_add_losses(&w->store, paths, models, w->count, o->base.shared, o->cpu, content);
}

static int write_page(report_work *w)
{
    const report_options *o = w->options;
    gufo_report_content content = {
        .models = w->models, .model_count = w->count, .note = gufo_str_of(o->date)};

    uint64_t size;
    int code = compare(w, &content);

    if (code == CODE_OK)
        code = report_page_save(&content, o->base.output, o->base.shared->force, &w->guard, &size);
    if (code == CODE_OK && o->base.shared->json)
        write_json(w, size);
    return code;
}

static int report_files(void *context)
{
    report_options *o = context;
    size_t count = (size_t)o->base.shared->arg_count;
    report_work w = {.options = o};
    int code;

    if (o->base.output == NULL)
        return report_usage("no page is given to write: -o OUT.html");
    if (o->base.shared->json && save_is_stdout(o->base.output))
        return report_usage("--json and a page cannot both be on standard output");
    if (o->original != NULL && count > GUFO_COMPARE_CANDIDATES)
        return report_usage("--source compares at most %d models", GUFO_COMPARE_CANDIDATES);
    code = options_cpu(&o->cpu);
    if (code != CODE_OK)
        return code;
    w.sources = calloc(count, sizeof(report_source *));
    w.models = calloc(count, sizeof(*w.models));
    code = w.sources != NULL && w.models != NULL ? CODE_OK : report_memory(NULL);
    if (code == CODE_OK && !save_guard(&w.guard, NULL, 0))
        code = CODE_FAILED;
    if (code == CODE_OK)
        code = save_check_later(o->base.output, o->base.shared->force, &w.guard);
    if (code == CODE_OK)
        code = open_all(&w);
    if (code == CODE_OK)
        code = write_page(&w);
    for (size_t i = 0; i < w.count; i++)
        report_source_free(w.sources[i]);
    gufo_model_free(w.original);
    report_store_free(&w.store);
    gufo_guard_free(&w.guard);
    free(w.sources);
    free(w.models);
    return code;
}

const command_line command_report = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Write a page that shows models as pictures: where the bytes are, the type of every "
           "tensor, a map of the file, what is wrong with it.\v"
           "The page is one HTML file, which loads nothing: it can be mailed, attached and "
           "printed.  A damaged file is shown as far as it can be read.  Exit status 0 means that "
           "the page is written, whatever it says of the files.",
    .examples = {{"gufo report model.gguf -o model.html", "One model."},
                 {"gufo report --stats model.gguf -o model.html", "Reads its data, too."},
                 {"gufo report --source f16.gguf q4.gguf q5.gguf -o both.html",
                  "What two models lost of the one they come from."}},
    COMMAND_OPTIONS(report_table, report_options),
    .run = report_files,
};
