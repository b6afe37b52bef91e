/* The file that gufo migrate writes: by the job of the import, or by the quantizer. */
#include "cli/core/files/input.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/options/built_in.h"
#include "cli/import/migrate.h"

#include "gufo/check.h"
#include "gufo/name.h"
#include "gufo/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- the plan ------------------------------------------------------------------------------- */

/* Of --quantize: from the exact numbers, which are not quantized any more. */
static gufo_job *plan_quantizer(migration *m, gufo_error *error)
{
    const gufo_quantize_options options = {.recipe = {.target = m->target}};

    m->quantizer = gufo_quantizer_new(gufo_import_model(m->import), &options, error);
    return m->quantizer != NULL ? gufo_quantizer_job(m->quantizer) : NULL;
}

static int name_output(migration *m)
{
    const char *given = m->options->base.output;
    const char *type = m->quantizer != NULL ? m->target.name : NULL;
    char name[GUFO_NAME_SIZE];
    gufo_error error;

    if (given == NULL && gufo_import_file_name(m->import, type, name, &error) != GUFO_OK) {
        report_error(m->options->input, &error);
        return CODE_USAGE;
    }
    m->output = given != NULL ? path_with(given, "") : path_beside(m->options->input, name);
    return m->output != NULL ? CODE_OK : CODE_FAILED;
}

int migrate_plan(migration *m)
{
    const migrate_options *o = m->options;
    gufo_error error;
    int code;

    m->job = o->quantize != NULL ? plan_quantizer(m, &error)
                                 : (m->plain = gufo_import_job(m->import, &error));
    if (m->job == NULL) {
        report_error(o->input, &error);
        return error.code == GUFO_E_NOT_FOUND ? CODE_USAGE : CODE_FAILED; /* no importance data */
    }
    code = name_output(m);
    if (code == CODE_OK && o->base.output == NULL && !o->dry_run &&
        save_is_pending(m->output, true))
        code = CODE_USAGE;
    return code;
}

/* ---- files that are read -------------------------------------------------------------------- */

/* All parts of the old file, and what options name: no output replaces them.  The caller frees the
 * items. */
static bool list_read(const migration *m, option_texts *files)
{
    bool listed = m->options->known == NULL || option_add(files, m->options->known) == CODE_OK;
    const char *path;

    for (uint32_t i = 0; listed && (path = gufo_import_part_at(m->import, i)) != NULL; i++)
        listed = option_add(files, path) == CODE_OK;
    for (size_t i = 0;
         m->vocabulary != NULL && listed && (path = input_file_at(m->vocabulary, i)) != NULL; i++)
        listed = option_add(files, path) == CODE_OK;
    return listed;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Of a file that is left behind, too. */
static int report_failure(const migration *m, const gufo_error *error)
{
    const migrate_options *o = m->options;
    const char *path = error->file[0] != '\0' ? error->file : m->output;

    if (error->code == GUFO_E_STOPPED)
        return resume_interrupted(m->output, o->base.shared, o->resume);
    if (error->code == GUFO_E_EXISTS)
        return report_as(CODE_USAGE, path, "%s%s", error->message, resume_hint(path));
    if (error->code == GUFO_E_RANGE)
        return report_as(CODE_FAILED, o->input, "%s", error->message);
    return save_report(path, error);
}

static bool is_stream(const migration *m)
{
    return save_is_stdout(m->output) || save_is_stream(m->output);
}

static job_run how_to_run(const migration *m, const option_texts *files)
{
    const migrate_options *o = m->options;
    job_run how = {.files = resume_files(m->output, o->base.shared, o->resume),
                   .input = &o->base,
                   .names = {{.name = NAME_OLD, .text = gufo_import_describe(m->import).called}},
                   .dry_run = o->dry_run,
                   .cpu = m->cpu};

    how.files.flags |= o->dry_run ? GUFO_JOB_REPLACE : 0;
    how.files.also_read = files->items;
    how.files.also_read_count = files->count;
    return how;
}

static void count_finding(void *context, const gufo_finding *finding)
{
    migration *m = context;
    migrate_verdict *verdict = &m->verdict;

    verdict->errors += finding->rule->severity == GUFO_ERROR;
    verdict->warnings += finding->rule->severity == GUFO_WARNING;
    if (finding->rule->severity == GUFO_ERROR)
        report_warning(m->output, "%s %s: %s", finding->rule->id, finding->rule->name,
                       finding->message);
}

/* As gufo validate does. */
static int check_output(migration *m)
{
    const gufo_check_options check = {.level = GUFO_LEVEL_MODEL,
                                      .path = m->output,
                                      .judge = template_judge,
                                      .tokenizer_json = tokenizer_json_reader};
    gufo_open_options options = {
        .flags = GUFO_OPEN_LENIENT, .on_finding = count_finding, .finding_context = m};
    gufo_status status = GUFO_OK;
    gufo_error error;
    gufo_model *model;

    if (m->options->dry_run || is_stream(m))
        return CODE_OK;
    model = gufo_model_open(m->output, &options, &error);
    if (model == NULL)
        return report_error(m->output, &error);
    status = gufo_model_check(model, count_finding, m, &error);
    if (status == GUFO_OK)
        status = gufo_model_check_content(model, &check, count_finding, m, &error);
    gufo_model_free(model);
    m->verdict.checked = true;
    m->verdict.valid = m->verdict.errors == 0;
    return status == GUFO_OK ? CODE_OK : report_error(m->output, &error);
}

int migrate_write(migration *m)
{
    option_texts files = {0};
    bool listed = list_read(m, &files);
    job_run how = how_to_run(m, &files);
    job_end end = JOB_REPORTED;
    gufo_error error;

    if (listed)
        end = job_run_start(&how, m->job, &error);
    free(files.items);
    m->reported = end == JOB_REPORTED;
    if (m->reported)
        return listed ? how.code : CODE_FAILED;
    return end == JOB_DONE ? check_output(m) : report_failure(m, &error);
}
