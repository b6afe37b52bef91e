/* Queries about a job, and the checks that every way of writing begins and ends with. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "produce/units/work.h"

size_t gufo_job_output_count(const gufo_job *job)
{
    return (size_t)job->target_count;
}

bool gufo_job_output_at(const gufo_job *job, size_t index, gufo_job_output *out)
{
    const job_target *t;

    if (index >= job->target_count)
        return false;
    t = &job->targets[index];
    if (out != NULL)
        *out = (gufo_job_output){
            .size = t->size, .tensor_count = t->tensor_count, .data_size = t->data_size};
    return true;
}

uint32_t gufo_job_normalised(const gufo_job *job)
{
    return job->normalised;
}

const char *volatile const *gufo_job_temporaries(const gufo_job *job)
{
    return job->temporaries;
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* The bytes of `path` before the part that says which shard a file is. */
static size_t prefix_of(const gufo_job *job, const char *path)
{
    static const char suffix[] = ".gguf";
    size_t len = strlen(path), suffix_len = sizeof suffix - 1, prefix_len;
    uint32_t number, count;

    if (job->naming == JOB_NAMED_PREFIX)
        return len;
    if (gufo_shard_path_parse(path, &prefix_len, &number, &count) && number == 1 &&
        count == job_set_size(job))
        return prefix_len;
    if (job->naming == JOB_NAMED_STEM && len > suffix_len &&
        strcmp(path + len - suffix_len, suffix) == 0)
        return len - suffix_len;
    return len;
}

size_t gufo_job_output_path(const gufo_job *job, const char *path, size_t index, char *out,
                            size_t size)
{
    size_t len = strlen(path);
    uint64_t shards = job_set_size(job);
    bool alone = shards == 1 && job->naming != JOB_NAMED_PREFIX;

    if (job->naming == JOB_NAMED_EACH) {
        int written = snprintf(out, size, "%s/%s", path, job->targets[index].name);

        return written > 0 ? (size_t)written : 0;
    }
    if (job->naming != JOB_NAMED_FILE && !alone)
        return gufo_shard_path_format(out, size, path, prefix_of(job, path),
                                      (uint32_t)(index % shards) + 1, (uint32_t)shards);
    if (size > 0) {
        size_t fits = len < size ? len : size - 1;

        memcpy(out, path, fits);
        out[fits] = '\0';
    }
    return len;
}

/* ---- headers -------------------------------------------------------------------------------- */

gufo_status job_header(const job_target *target, const void **bytes, size_t *size,
                       gufo_error *error)
{
    if (target->document != NULL)
        return gufo_document_header(target->document, bytes, size, error);
    *bytes = target->header;
    *size = target->header_size;
    return GUFO_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

gufo_status job_check_options(const gufo_job_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_JOB_REPLACE | GUFO_JOB_RESUMABLE | GUFO_JOB_RESUME |
                           GUFO_JOB_DELETE_INPUT | GUFO_JOB_CONTINUE;

    if (options == NULL || options->path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.path is missing");
    if (flags_check(options->flags, known, "gufo_job_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if ((options->flags & GUFO_JOB_DELETE_INPUT) != 0 && (options->flags & GUFO_JOB_RESUME) == 0)
        return refuse(error, GUFO_E_ARGUMENT, "GUFO_JOB_DELETE_INPUT needs GUFO_JOB_RESUME");
    if ((options->flags & GUFO_JOB_CONTINUE) != 0 &&
        (options->flags & (GUFO_JOB_RESUMABLE | GUFO_JOB_RESUME)) == 0)
        return refuse(error, GUFO_E_ARGUMENT, "GUFO_JOB_CONTINUE needs GUFO_JOB_RESUMABLE");
    if (options->also_read == NULL && options->also_read_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.also_read is missing");
    if (options->more_paths == NULL && options->more_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.more_paths is missing");
    return reserved_check((const uint64_t[4]){options->reserved[0], options->reserved[1]},
                          "gufo_job_options", error);
}

gufo_status job_check_run(const gufo_run *run, gufo_error *error)
{
    if (!gufo_cpu_available(run->cpu))
        return refuse(error, GUFO_E_ARGUMENT,
                      "this processor does not have the instructions that were asked for");
    return run_check(run, error);
}

/* An input that changed meanwhile may have been read half old and half new. */
gufo_status job_check_inputs(const gufo_job *job, gufo_error *error)
{
    for (uint64_t i = 0; i < job->input_count; i++) {
        const job_input *input = &job->inputs[i];
        gufo_status status = input->source != NULL && !input->released
                                 ? source_unchanged(input->source, error)
                                 : GUFO_OK;

        if (status != GUFO_OK) {
            fail_in(error, input->role, input->index, input->name);
            return status;
        }
    }
    return GUFO_OK;
}

gufo_status job_begin(gufo_job *job, const gufo_run *run, gufo_error *error)
{
    gufo_status status = job_check_run(run, error);

    if (status != GUFO_OK)
        return status;
    if (job->used)
        return refuse(error, GUFO_E_ARGUMENT, "the job was already written");
    job->used = true;
    return job->hooks.begin != NULL ? job->hooks.begin(job->hooks.context, run, error) : GUFO_OK;
}
