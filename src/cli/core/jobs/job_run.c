/* Jobs: to files or streams; and runs that are interrupted and continued. */
#include "cli/core/jobs/job_run.h"

#include "cli/core/jobs/part_run.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/number.h"
#include "cli/core/values/str.h"

#include <errno.h>
#include <stdlib.h>

char *job_output_path(const gufo_job *job, const char *path, size_t index)
{
    size_t size = gufo_job_output_path(job, path, index, NULL, 0) + 1;
    char *text = malloc(size);

    if (text != NULL)
        (void)gufo_job_output_path(job, path, index, text, size);
    else
        report_memory(path);
    return text;
}

/* ---- streams -------------------------------------------------------------------------------- */

static bool streams(const job_run *how, const gufo_job *job)
{
    const char *path = how->files.path;
    char *only;
    bool is;

    if (how->files_only)
        return false;
    only = gufo_job_output_count(job) == 1 ? job_output_path(job, path, 0) : NULL;
    is = path_is_standard(path) || (only != NULL && save_is_stream(only));
    free(only);
    return is;
}

static gufo_status check_stream(const gufo_job_options *files, gufo_error *error)
{
    if (!path_is_standard(files->path) && path_is_folder(files->path))
        return error_set(error, GUFO_E_IO, EISDIR, "cannot open");
    if ((files->flags & GUFO_JOB_DELETE_INPUT) == 0)
        return GUFO_OK;
    return error_set(error, GUFO_E_ARGUMENT, 0,
                     "the input is not deleted for an output that is not a file");
}

/* A stream has nothing to clean up, and may wait for its reader forever: there the first signal
 * ends everything. */
static gufo_status run_stream(const char *path, gufo_job *job, const gufo_run *run,
                              gufo_error *error)
{
    int fd = save_open_stream(path, error);
    gufo_status status;

    if (fd < 0)
        return error->code;
    status = save_close_stream(fd, gufo_job_stream(job, fd, run, error), error);
    return status != GUFO_OK && save_is_stdout(path) && error->system == EPIPE &&
                   signals_pipe_closed()
               ? GUFO_OK
               : status;
}

/* ---- files ---------------------------------------------------------------------------------- */

static gufo_status run_files(const gufo_job_options *files, gufo_job *job, const gufo_run *run,
                             gufo_error *error)
{
    gufo_status status;

    signals_temporaries(gufo_job_temporaries(job), gufo_job_output_count(job));
    signals_defer();
    status = gufo_job_run(job, files, run, error);
    signals_temporaries(NULL, 0);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

gufo_status job_run_check(const job_run *how, gufo_job *job, gufo_error *error)
{
    return streams(how, job) ? check_stream(&how->files, error)
                             : gufo_job_check(job, &how->files, error);
}

static job_end run_to(job_run *how, gufo_job *job, const gufo_run *run, gufo_error *error)
{
    gufo_status status;

    if (how->input->part.given)
        return part_run(how, job, run, error);
    status = streams(how, job) ? run_stream(how->files.path, job, run, error)
                               : run_files(&how->files, job, run, error);
    return status == GUFO_OK ? JOB_DONE : JOB_FAILED;
}

job_end job_run_start(job_run *how, gufo_job *job, gufo_error *error)
{
    const shared_options *shared = how->input->shared;
    progress bar;
    gufo_run run = progress_run(&bar, shared);
    job_end end;

    if (how->dry_run && job_run_check(how, job, error) != GUFO_OK)
        return JOB_FAILED;
    if (how->dry_run)
        return how->input->part.given ? part_show(how, job, error) : JOB_DONE;
    run.cpu = how->cpu;
    run.memory = how->memory;
    progress_start(&bar, how->no_bar || shared->quiet);
    end = run_to(how, job, &run, error);
    progress_end(&bar);
    return end;
}

/* ---- runs that are interrupted and continued ------------------------------------------------- */

static const char suffix[] = ".part.journal";

static void announce(void *path, uint64_t done, uint64_t total)
{
    double part = total > 0 ? (double)done / (double)total : 1;

    report_note(path, "continues an interrupted run at %u %% (%s of %s)", (unsigned)(100 * part),
                human_file_size(done).text, human_file_size(total).text);
}

gufo_job_options resume_files(char *path, const shared_options *shared, bool asked)
{
    return (gufo_job_options){.path = path,
                              .flags = GUFO_JOB_RESUMABLE |
                                       (shared->force ? GUFO_JOB_REPLACE : GUFO_JOB_CONTINUE) |
                                       (asked ? GUFO_JOB_RESUME : 0u),
                              .on_continue = announce,
                              .continue_context = path};
}

bool resume_is_left(const char *path)
{
    const gufo_save_options options = {.flags = GUFO_SAVE_REPLACE};
    gufo_text target = {0};
    char *journal = NULL;
    bool left;

    if (!save_is_stream(path) && gufo_save_check(path, &options, &target, NULL) == GUFO_OK)
        journal = path_format("%.*s%s", (int)target.len, target.data, suffix);
    left = journal != NULL && path_exists(journal);
    gufo_text_free(&target);
    free(journal);
    return left;
}

int resume_interrupted(const char *path, const shared_options *shared, bool asked)
{
    return report_as(
        CODE_INTERRUPTED, path,
        "interrupted; the finished part is kept beside it; the same command %scontinues",
        shared->force && !asked ? "with --resume " : "");
}

const char *resume_hint(const char *path)
{
    if (save_is_stream(path)) /* or a folder */
        return "";
    return ends_with(gufo_str_of(path), suffix) ? " (--resume continues it, --force starts over)"
                                                : " (--force replaces it)";
}
