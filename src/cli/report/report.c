/* gufo report FILE... -o OUT: a page that shows models as pictures.
 *
 *     report_source.c   what is known of a FILE
 *     report_page.c     a page becomes a file */
#include "cli/commands.h"
#include "cli/core/files/save.h"
#include "cli/core/values/json.h"
#include "cli/report/report.h"

#include <stdlib.h>

typedef struct report_options {
    command_input base;
    input_options input;
    const char *date;
} report_options;

static const command_option report_table[] = {
    {"output", "OUT", "The page to write; '-' is standard output", OPTION_OUTPUT, .common = true},
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
} report_work;

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
    w->models[w->count++] = *report_source_model(source);
    return report_source_guard(source, &w->guard) && save_guard_more(&w->guard, &path, 1)
               ? CODE_OK
               : CODE_FAILED;
}

/* A page without one of the models would look as if it had them all. */
static int open_all(report_work *w)
{
    const shared_options *shared = w->options->base.shared;
    int code = CODE_OK;

    for (int i = 0; i < shared->arg_count && code == CODE_OK; i++)
        code = open_one(w, shared->args[i]);
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

static int write_page(const report_work *w)
{
    const report_options *o = w->options;
    gufo_report_content content = {
        .models = w->models, .model_count = w->count, .note = gufo_str_of(o->date)};

    uint64_t size;
    int code = report_page_save(&content, o->base.output, o->base.shared->force, &w->guard, &size);

    if (code == CODE_OK && o->base.shared->json)
        write_json(w, size);
    return code;
}

static int report_files(void *context)
{
    const report_options *o = context;
    size_t count = (size_t)o->base.shared->arg_count;
    report_work w = {.options = o};
    int code;

    if (o->base.output == NULL)
        return report_usage("no page is given to write: -o OUT.html");
    if (o->base.shared->json && save_is_stdout(o->base.output))
        return report_usage("--json and a page cannot both be on standard output");
    w.sources = calloc(count, sizeof(*w.sources));
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
                 {"gufo report a.gguf b.gguf -o both.html", "Two models on one page."}},
    COMMAND_OPTIONS(report_table, report_options),
    .run = report_files,
};
