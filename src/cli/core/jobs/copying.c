/* Commands that write a model again; copying.h has the idea. */
#include "cli/core/jobs/copying.h"

#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/jobs/part_run.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/json.h"
#include "cli/core/values/number.h"

#include <stdlib.h>

/* ---- input ---------------------------------------------------------------------------------- */

static int open_model(copying *job)
{
    if (path_is_standard(job->input))
        return report_usage("the input must be a file, not '-'");
    job->model = input_open_model(job->input, 0);
    return job->model != NULL ? CODE_OK : CODE_FAILED;
}

/* The data of a pipe is gone after reading its metadata. */
static int open_input(copying *job, bool *done)
{
    int code = job->open != NULL ? job->open(job, done) : open_model(job);

    if (code != CODE_OK || *done)
        return code;
    for (size_t i = 0; i < gufo_model_shard_count(job->model); i++) {
        const gufo_model *file = gufo_model_shard(job->model, i);

        if (gufo_model_tensor_count(file) == 0 || gufo_model_has_data(file))
            continue;
        return report_as(CODE_USAGE, job->input, "tensor data cannot be read from a pipe");
    }
    return CODE_OK;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* A plan refuses wrong usage, or a broken set. */
static int report_no_plan(const copying *job, const gufo_error *error)
{
    bool usage =
        error->code == GUFO_E_ARGUMENT || error->code == GUFO_E_TYPE || error->code == GUFO_E_LIMIT;

    if (error->code == GUFO_E_TYPE && job->type_hint != NULL)
        report_message(job->input, "%s (%s)", error->message, job->type_hint);
    else
        report_error(job->input, error);
    return usage ? CODE_USAGE : CODE_FAILED;
}

static int report_failure(const copying *job, const gufo_error *error)
{
    if (error->code == GUFO_E_STOPPED && job->deletes)
        return report_as(CODE_INTERRUPTED, job->base.output,
                         "interrupted; the same command continues");
    if (error->code == GUFO_E_STOPPED && resume_is_kept(job->plan, job->base.output))
        return resume_interrupted(job->base.output, job->base.shared, false);
    if (error->code == GUFO_E_LIMIT && job->memory > 0)
        return report_as(CODE_USAGE, job->input, "%s (--memory)", error->message);
    bool one_of_them = error->file[0] != '\0' && error->code != GUFO_E_STOPPED;
    const char *path = one_of_them ? error->file : job->base.output;

    if (error->code != GUFO_E_EXISTS || !save_is_stream(path))
        return save_report(path, error);
    report_error(path, error);
    return CODE_USAGE;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* What a scheduler ends is continued, as a run of quantize is; what a person ends leaves nothing. */
static job_run how_to_run(const copying *job)
{
    const shared_options *shared = job->base.shared;
    const uint32_t replaces = shared->force || job->dry_run ? GUFO_JOB_REPLACE : 0u;
    job_run how = {.input = &job->base, .memory = job->memory, .dry_run = job->dry_run};

    if (job->deletes) {
        how.files.path = job->base.output;
        how.files.flags = replaces | GUFO_JOB_RESUME | GUFO_JOB_DELETE_INPUT;
    } else {
        how.files = resume_files(job->base.output, shared, false);
        how.files.flags |= replaces;
        how.clears = true;
    }
    return how;
}

/* What writing would refuse. */
static int check_copy(const copying *job, const job_run *how)
{
    gufo_error error;

    return job_run_check(how, job->plan, &error) == GUFO_OK ? CODE_OK : report_failure(job, &error);
}

/* Warns before the first byte, because a deletion cannot be undone. */
static void announce_deletion(const copying *job)
{
    size_t files = gufo_model_shard_count(job->model);
    char what[80] = "the file is deleted";

    if (files > 1)
        snprintf(what, sizeof what, "all %zu files of the model are deleted, one by one,", files);
    report_warning(job->input,
                   "%s while the output is written; this cannot be undone, but the same "
                   "command continues it",
                   what);
}

/* *done: it has been reported. */
static int run_copy(copying *job, bool *done)
{
    job_run how = how_to_run(job);
    gufo_error error;
    int code = job->dry_run ? CODE_OK : options_cpu(&how.cpu);

    if (job->dry_run && job->into_new)
        return CODE_OK;
    if (code == CODE_OK && job->deletes && !job->dry_run) {
        code = check_copy(job, &how);
        if (code == CODE_OK)
            announce_deletion(job);
    }
    if (code != CODE_OK)
        return code;
    switch (job_run_start(&how, job->plan, &error)) {
    case JOB_FAILED:
        return report_failure(job, &error);
    case JOB_REPORTED:
        *done = true;
        return how.code;
    case JOB_DONE:
        break;
    }
    return CODE_OK;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* Writes JSON if it gets a writer. */
static void report_output(const copying *job, size_t index, json_writer *j)
{
    gufo_job_output out = {0};
    line l;
    char *path = job_output_path(job->plan, job->base.output, index);

    (void)gufo_job_output_at(job->plan, index, &out);
    if (j != NULL) {
        json_begin_object(j, NULL);
        json_write_text(j, "path", path != NULL ? path : "");
        json_write_u64(j, "size", out.size);
        json_write_u64(j, "tensors", out.tensor_count);
        json_end_object(j);
    } else {
        line_begin(&l);
        text_put(l.out, gufo_str_of(path != NULL ? path : ""), TEXT_PLAIN);
        fprintf(l.out, ": %s", human_file_size(out.size).text);
        if (out.tensor_count > 0 || job->report == NULL) /* else it may be any file */
            fprintf(l.out, ", %s", human_counted(out.tensor_count, "tensor", "tensors").text);
        line_end(&l);
    }
    free(path);
}

/* Names a way in which the copy differs from its input; NULL if it does not differ in this one. */
static const char *normalised(const copying *job, uint32_t kind)
{
    bool is = (gufo_job_normalised(job->plan) & kind) != 0;

    return is ? gufo_normalised_text((gufo_normalised)kind) : NULL;
}

static void write_json(const copying *job)
{
    json_writer j = json_begin_document(job->input);

    json_write_bool(&j, "dry_run", job->dry_run);
    json_begin_array(&j, "outputs");
    for (size_t i = 0; i < gufo_job_output_count(job->plan); i++)
        report_output(job, i, &j);
    json_end_array(&j);
    json_begin_array(&j, "normalised");
    for (uint32_t kind = 1; kind != 0; kind <<= 1)
        if (normalised(job, kind) != NULL)
            json_write_text(&j, NULL, normalised(job, kind));
    json_end_array(&j);
    if (job->report != NULL)
        job->report(job, &j);
    json_end_document(&j);
}

/* Standard output may be the file itself. */
static void report_copy(copying *job)
{
    for (uint32_t kind = 1; kind != 0; kind <<= 1)
        if (normalised(job, kind) != NULL)
            report_warning(job->input, "the output differs in form: %s", normalised(job, kind));
    if (save_is_stdout(job->base.output) && !job->dry_run)
        return;
    if (job->base.shared->json)
        write_json(job);
    for (size_t i = 0; i < gufo_job_output_count(job->plan); i++)
        if (!job->base.shared->json && !job->base.shared->quiet)
            report_output(job, i, NULL);
    if (job->report != NULL && !job->base.shared->json && !job->base.shared->quiet)
        job->report(job, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------ */

int copying_run(copying *job, copying_planner *plan)
{
    bool done = false;
    gufo_error error;
    int code;

    const part_conflict conflicts[] = {
        {job->deletes, "--part excludes --delete-input: delete the input after 'gufo commit'"}};

    job->input = job->base.shared->args[0];
    if (part_check(&job->base, job->base.output, conflicts, 1) != CODE_OK)
        return CODE_USAGE;
    code = !job->foreign && foreign_file_refuse(job->input) ? CODE_FAILED : open_input(job, &done);
    if (code == CODE_OK && !done) {
        job->plan = plan(job, &error);
        if (job->plan == NULL)
            code = job->code != CODE_OK ? job->code : report_no_plan(job, &error);
    }
    if (code == CODE_OK && !done && job->foreign && job->base.output != NULL &&
        foreign_file_spoiled(job->input, job->base.output))
        code = CODE_USAGE;
    if (code == CODE_OK && !done)
        code = run_copy(job, &done);
    if (code == CODE_OK && !done)
        report_copy(job);
    gufo_job_free(job->plan);
    gufo_model_free(job->model);
    signals_reading(NULL);
    return code;
}
