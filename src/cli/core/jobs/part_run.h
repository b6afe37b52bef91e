/* Parts of a job: --part of the commands that write models, and gufo commit, which runs the same command again. */
#ifndef CLI_CORE_JOBS_PART_RUN_H
#define CLI_CORE_JOBS_PART_RUN_H

#include "cli/core/jobs/job_run.h"

/* What a command cannot do in parts, where `given`, and the way out. */
typedef struct part_conflict {
    bool given;
    const char *sentence;
} part_conflict;

/* Refuses with --part what cannot be made in parts: an output `out` (NULL: not known yet) that is a stream, --force, and
 * the conflicts.  Before the work.  Returns the exit code. */
int part_check(const command_input *input, const char *out, const part_conflict *conflicts,
               size_t count);

/* Refuses with --part a file that the command writes beside its output `out`, unless it is in the same folder: a plan may come
 * from anybody.  Returns the exit code. */
int part_check_beside(const command_input *input, const char *out, const char *path,
                      const char *option);

/* A name that comes from the machine: what the plan of `out` (NULL: not known yet) says, if there is one already, else
 * `own`, which may be NULL.  Lives as long as the options. */
const char *part_name(command_input *input, const char *out, const char *name, const char *own);

/* Makes the parts, or commits them all.  As job_run_start; ends the bar of `run` before it reports. */
job_end part_run(job_run *how, gufo_job *job, const gufo_run *run, gufo_error *error);
/* Shows what the parts of the share write, where nothing is written. */
job_end part_show(job_run *how, gufo_job *job, gufo_error *error);

#endif
