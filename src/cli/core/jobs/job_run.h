/* The one place where commands run jobs: to files, to a stream, in parts (part_run.h), or only to see what would
 * be refused.
 *
 *     job_run how = {.files = {.path = OUT, .flags = FLAGS}, .input = input};
 *     end = job_run_start(&how, job, &error);
 *
 * What a command reports of its result follows afterwards, after JOB_DONE. */
#ifndef CLI_CORE_JOBS_JOB_RUN_H
#define CLI_CORE_JOBS_JOB_RUN_H

#include "cli/core/files/progress.h"
#include "gufo/produce.h"

enum { JOB_NAMES = 3 };

typedef struct job_run {
    gufo_job_options files; /* `path` "-": standard output */
    const command_input *input;
    /* Names that come from this machine, or from the plan (part_name), with their texts; NULL: none. */
    gufo_plan_note names[JOB_NAMES];
    bool dry_run;    /* nothing is written */
    bool files_only; /* what exists and is not a file is refused, where a stream would take it */
    bool no_bar;
    bool clears; /* nothing is left of a run that nobody continues */
    gufo_cpu cpu;
    uint64_t memory; /* 0: as much as by default */
    int code;        /* the exit code after JOB_REPORTED */
} job_run;

typedef enum job_end {
    JOB_DONE,     /* the files are there, or would be */
    JOB_FAILED,   /* `error` says why */
    JOB_REPORTED, /* the command has no more to say, and ends with `code` */
} job_end;

/* Writes the files of a job, which a signal removes, unless the job can be resumed; with `clears`, Ctrl-C
 * removes what was not there before, and every signal what --force would not continue.  Or writes its one
 * file to "-", standard output, or to a stream (save_is_stream).  JOB_DONE, too, for a standard output that
 * its reader has closed: it has seen what it wanted. */
job_end job_run_start(job_run *how, gufo_job *job, gufo_error *error);
/* Whether that would be refused; writes nothing. */
gufo_status job_run_check(const job_run *how, gufo_job *job, gufo_error *error);

/* The path of output `index` of a job that writes to `path`, which the caller frees; NULL after a
 * report. */
char *job_output_path(const gufo_job *job, const char *path, size_t index);

/* ---- runs that are interrupted and continued: of commands with a journal --------------------- */

/* The files of a run with a journal: the same command continues what it has left, if nobody else can
 * have written it; `asked` (--resume) whatever it is, or says why not; --force starts over.  Says from
 * where it goes on. */
gufo_job_options resume_files(const char *path, const shared_options *shared, bool asked);
/* Whether the journal of the job is beside its first output, so that the same command continues. */
bool resume_is_kept(const gufo_job *job, const char *path);
/* Whether the journal of a run is beside the output: then only the run finds out whether an output
 * that exists is its own. */
bool resume_is_left(const char *path);

/* Reports that a signal has stopped the run, and the command that continues it.  Returns
 * CODE_INTERRUPTED. */
int resume_interrupted(const char *path, const shared_options *shared, bool asked);
/* Advice against `path`, which exists: the journal of a run, or an output. */
const char *resume_hint(const char *path);

#endif
