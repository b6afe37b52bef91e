/* What the commands that write a model again have in common: split, merge, endian, strip and
 * extract.  Each reads its command line and makes the plan; the rest is here:
 *
 *     copying_open     what the user named as input
 *     copying_finish   the plan is run and reported, and everything is closed */
#ifndef CLI_COPYING_H
#define CLI_COPYING_H

#include "cli/options.h"
#include "cli/progress.h"

#include "gufo/edit.h"

typedef struct copying {
    const shared_options *shared;
    const char *input, *output; /* `output` "-": standard output */
    bool dry_run;
    const char *type_hint; /* what helps against an element type that cannot be; NULL: nothing */
    gufo_model *model;
    gufo_job *plan;
    progress bar;
} copying;

/* Opens the input.  Returns CODE_OK, or another after a report. */
int copying_open(copying *job);

/* Ends a command: reports `error` if there is no plan (job->plan is NULL though the input is open),
 * else carries it out, and closes.  `code` is that of the steps before; returns the exit code. */
int copying_finish(copying *job, int code, const gufo_error *error);

/* Reads IN and OUT, which must be all arguments: `names` is how a report calls the two.  False after
 * a report. */
bool copying_read_two(copying *job, const char *names);

#endif
