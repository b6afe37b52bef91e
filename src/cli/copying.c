/* Commands that write a model again; copying.h has the idea. */
#include "cli/copying.h"

#include "cli/cpu.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/signals.h"
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>

/* ---- input ---------------------------------------------------------------------------------- */

/* The data of a pipe is gone once its metadata was read. */
static int check_data(const copying *job)
{
    for (size_t i = 0; i < gufo_model_shard_count(job->model); i++) {
        const gufo_model *file = gufo_model_shard(job->model, i);

        if (gufo_tensor_count(file) == 0 || gufo_model_has_data(file))
            continue;
        report_message(job->input, "tensor data cannot be read from a pipe");
        return CODE_USAGE;
    }
    return CODE_OK;
}

static int open_input(copying *job)
{
    if (path_is_standard(job->input))
        return report_usage(job->base.shared->command, "the input must be a file, not '-'");
    job->model = input_open_model(job->input, 0);
    return job->model != NULL ? check_data(job) : CODE_FAILED;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* What a plan refuses is wrong usage, except a broken set. */
static int report_no_plan(const copying *job, const gufo_error *error)
{
    static const gufo_status usage[] = {GUFO_E_ARGUMENT, GUFO_E_TYPE, GUFO_E_LIMIT};
    const char *hint = error->code == GUFO_E_TYPE ? job->type_hint : NULL;

    if (hint != NULL)
        report_message(job->input, "%s (%s)", error->message, hint);
    else
        report_error(job->input, error);
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++)
        if (error->code == usage[i])
            return CODE_USAGE;
    return CODE_FAILED;
}

static int report_failure(const copying *job, const gufo_error *error)
{
    const char *path = error->file[0] != '\0' ? error->file : job->output;

    switch (error->code) {
    case GUFO_E_STOPPED:
        report_message(job->output, "interrupted; nothing was written");
        return CODE_INTERRUPTED;
    case GUFO_E_ARGUMENT:
        report_error(path, error);
        return CODE_USAGE;
    case GUFO_E_EXISTS:
        if (!save_is_stream(path))
            return save_report(path, error);
        report_error(path, error);
        return CODE_USAGE;
    default:
        return report_error(path, error);
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool is_standard_output(const copying *job)
{
    return save_is_stdout(job->output);
}

static gufo_status write_copy(copying *job, gufo_cpu cpu, gufo_error *error)
{
    const shared_options *shared = job->base.shared;
    gufo_run how = progress_run(&job->bar, shared);
    gufo_status status;

    how.cpu = cpu;
    progress_start(&job->bar, shared->quiet);
    status = save_job(job->output, job->plan, &how, shared->force, error);
    progress_end(&job->bar);
    return status;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* The path of an output: to be freed; NULL without memory. */
static char *path_of(const copying *job, size_t index)
{
    size_t size = gufo_job_output_path(job->plan, job->output, index, NULL, 0) + 1;
    char *path = malloc(size);

    if (path != NULL)
        (void)gufo_job_output_path(job->plan, job->output, index, path, size);
    return path;
}

static void print_output(const copying *job, size_t index)
{
    gufo_job_output out = {0};
    char *path = path_of(job, index);

    (void)gufo_job_output_at(job->plan, index, &out);
    if (path != NULL)
        text_put(stdout, gufo_str_of(path), TEXT_PLAIN);
    printf(": %s, %s %s\n", human_bytes(out.size).text, human_grouped(out.tensor_count).text,
           out.tensor_count == 1 ? "tensor" : "tensors");
    free(path);
}

static void write_output(json_writer *j, const copying *job, size_t index)
{
    gufo_job_output out = {0};
    char *path = path_of(job, index);

    (void)gufo_job_output_at(job->plan, index, &out);
    json_begin_object(j, NULL);
    json_write_text(j, "path", path != NULL ? path : "");
    json_write_u64(j, "size", out.size);
    json_write_u64(j, "tensors", out.tensor_count);
    json_end_object(j);
    free(path);
}

/* Calls `report` for every way in which the copy differs from its input. */
static void for_each_normalised(const copying *job, void (*report)(void *, const char *),
                                void *context)
{
    for (uint32_t kind = 1; kind != 0; kind <<= 1)
        if (gufo_job_normalised(job->plan) & kind)
            report(context, gufo_normalised_text((gufo_normalised)kind));
}

static void write_normalised(void *context, const char *text)
{
    json_write_text(context, NULL, text);
}

static void write_json(const copying *job)
{
    json_writer j = json_writer_start(stdout);

    json_begin_object(&j, NULL);
    json_write_text(&j, "path", job->input);
    json_write_bool(&j, "dry_run", job->dry_run);
    json_begin_array(&j, "outputs");
    for (size_t i = 0; i < gufo_job_output_count(job->plan); i++)
        write_output(&j, job, i);
    json_end_array(&j);
    json_begin_array(&j, "normalised");
    for_each_normalised(job, write_normalised, &j);
    json_end_array(&j);
    json_end_document(&j);
}

static void warn_normalised(void *context, const char *text)
{
    const copying *job = context;

    report_warning(job->input, "not written the way a GGUF file is written today: %s", text);
}

/* Standard output may be the file itself. */
static void report_copy(copying *job)
{
    for_each_normalised(job, warn_normalised, job);
    if (is_standard_output(job) && !job->dry_run)
        return;
    if (job->base.shared->json)
        write_json(job);
    for (size_t i = 0; i < gufo_job_output_count(job->plan); i++)
        if (!job->base.shared->json && !job->base.shared->quiet)
            print_output(job, i);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int write_and_report(copying *job)
{
    gufo_cpu cpu;
    gufo_error error;
    int code = cpu_from_environment(&cpu);

    if (code != CODE_OK || write_copy(job, cpu, &error) == GUFO_OK)
        return code;
    /* Whoever closes a pipe has seen what it wanted. */
    if (is_standard_output(job) && error.system == EPIPE && signals_pipe_closed())
        return CODE_OK;
    return report_failure(job, &error);
}

static int carry_out(copying *job)
{
    int code = job->dry_run ? CODE_OK : write_and_report(job);

    if (code == CODE_OK)
        report_copy(job);
    return code;
}

int copying_run(copying *job, copying_planner *plan)
{
    gufo_error error;
    int code;

    job->input = job->base.shared->args[0];
    code = open_input(job);
    if (code == CODE_OK)
        code = plan(job, &error);
    if (code == CODE_OK)
        code = job->plan != NULL ? carry_out(job) : report_no_plan(job, &error);
    gufo_job_free(job->plan);
    gufo_close(job->model);
    signals_reading(NULL);
    return code;
}
