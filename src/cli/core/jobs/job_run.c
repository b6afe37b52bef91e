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

static const char part_suffix[] = ".part", journal_suffix[] = ".part.journal";

/* The path of a file beside an output that is a file; NULL for none.  The caller frees it. */
static char *beside_output(const char *path, const char *suffix)
{
    const gufo_save_options options = {.flags = GUFO_SAVE_REPLACE};
    gufo_text target = {0};
    char *beside = NULL;

    if (!save_is_stream(path) && gufo_save_check(path, &options, &target, NULL) == GUFO_OK)
        beside = path_format("%.*s%s", (int)target.len, target.data, suffix);
    gufo_text_free(&target);
    return beside;
}

static void remove_beside(const gufo_job *job, const char *path, size_t index, const char *suffix)
{
    char *output = job_output_path(job, path, index);
    char *beside = output != NULL ? beside_output(output, suffix) : NULL;

    if (beside != NULL)
        save_remove(beside);
    free(beside);
    free(output);
}

/* The journal goes last: until then the same command continues, or begins again. */
static void remove_left(const gufo_job *job, const char *path)
{
    for (size_t i = gufo_job_output_count(job); i-- > 0;)
        remove_beside(job, path, i, part_suffix);
    remove_beside(job, path, 0, journal_suffix);
}

static gufo_status run_files(const job_run *how, gufo_job *job, const gufo_run *run,
                             gufo_error *error)
{
    const gufo_job_options *files = &how->files;
    bool starts_over = (files->flags & GUFO_JOB_REPLACE) != 0;
    bool fresh = starts_over || !resume_is_kept(job, files->path);
    gufo_status status;

    signals_temporaries(gufo_job_temporaries(job), gufo_job_output_count(job));
    signals_defer();
    status = gufo_job_run(job, files, run, error);
    signals_temporaries(NULL, 0);
    if (status == GUFO_E_STOPPED && how->clears && fresh &&
        (starts_over || signals_stopped_by_person()))
        remove_left(job, files->path);
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
                               : run_files(how, job, run, error);
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

static void announce(void *path, uint64_t done, uint64_t total)
{
    double part = total > 0 ? (double)done / (double)total : 1;

    report_note(path, "continues an interrupted run at %u %% (%s of %s)", (unsigned)(100 * part),
                human_file_size(done).text, human_file_size(total).text);
}

gufo_job_options resume_files(const char *path, const shared_options *shared, bool asked)
{
    return (gufo_job_options){.path = path,
                              .flags = GUFO_JOB_RESUMABLE |
                                       (shared->force ? GUFO_JOB_REPLACE : GUFO_JOB_CONTINUE) |
                                       (asked ? GUFO_JOB_RESUME : 0u),
                              .on_continue = announce,
                              .continue_context = (void *)path};
}

bool resume_is_left(const char *path)
{
    char *journal = beside_output(path, journal_suffix);
    bool left = journal != NULL && path_exists(journal);

    free(journal);
    return left;
}

bool resume_is_kept(const gufo_job *job, const char *path)
{
    char *first = job_output_path(job, path, 0);
    bool kept = first != NULL && resume_is_left(first);

    free(first);
    return kept;
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
    return ends_with(gufo_str_of(path), journal_suffix)
               ? " (--resume continues it, --force starts over)"
               : " (--force replaces it)";
}
