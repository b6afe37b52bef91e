/* The frame of the commands that write a model again: split, merge, endian, strip and extract.  The
 * struct of their options begins with a `copying`.  Each makes its plan, and copying_run does the
 * rest: it opens the input, carries the plan out, reports it and closes. */
#ifndef CLI_CORE_JOBS_COPYING_H
#define CLI_CORE_JOBS_COPYING_H

#include "cli/core/options/options.h"

#include "gufo/edit.h"

typedef struct copying copying;
struct json_writer;

struct copying {
    command_input base;
    bool dry_run;
    bool
        into_new; /* the folder of the output is missing: a dry run does not make it, and none of its
                    * files can be in the way */
    bool deletes;    /* the input, while the output is written */
    bool foreign;    /* models in other formats are taken, too */
    uint64_t memory; /* bytes that may be used; 0: as many as by default */
    /* Opens the model that the arguments name as job->model; NULL: the first argument names it.
     * Sets *done if nothing is left to do.  Returns CODE_OK, or another code after a report. */
    int (*open)(copying *job, bool *done);
    /* Writes more about the result: members of its JSON, or lines where `j` is NULL.  May be NULL. */
    void (*report)(const copying *job, struct json_writer *j);
    const char *input;     /* base.output "-": standard output */
    const char *type_hint; /* advice against an element type that cannot be written; NULL: none */
    gufo_model *model;
    gufo_job *plan;
    int code; /* why planning failed; CODE_OK: the library gives the error */
};

/* Makes a plan for job->model; NULL if it sets job->code after a report, or fills `error`. */
typedef gufo_job *copying_planner(copying *job, gufo_error *error);

/* Runs a job: the first argument is the input; job->base.output is known, or the plan finds it.
 * Returns the exit code. */
int copying_run(copying *job, copying_planner *plan);

#endif
