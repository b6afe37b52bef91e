/* Commands about jobs in parts, as their files see it:
 *
 *     commit.c     gufo commit OUT      the files get their names
 *     parts.c      gufo parts OUT       a list
 *     progress.c   gufo progress OUT    how far it is, again and again
 *     advise.c     how long the parts take; advice.c has the arithmetic
 *     plan_open.c  what all of them begin with */
#ifndef CLI_PARTS_PARTS_H
#define CLI_PARTS_PARTS_H

#include "cli/core/jobs/part_list.h"
#include "cli/core/options/command_line.h"

/* Opens the plan of an output, and looks at its parts.  *plan is NULL, with CODE_OK, if the output exists without a plan:
 * it is complete.  Returns the exit code. */
int plan_open(const char *out, gufo_plan **plan);
/* Whether there is anything to open: a plan, or the output. */
bool plan_is_begun(const char *out);
/* Looks at the parts again.  *gone: the plan is not there any more, but the output is. */
int plan_look(gufo_plan *plan, const char *out, bool *gone);

/* What the parts are and have done together. */
typedef struct plan_sums {
    uint64_t parts, states[GUFO_PART_COMPLETE + 1];
    uint64_t bytes, bytes_done;
} plan_sums;

plan_sums plan_sum(const gufo_plan *plan);
/* "64 parts: 40 complete, 3 running, 21 waiting" */
void plan_put_sums(FILE *out, const plan_sums *sums);
/* Members of a JSON object. */
void plan_write_sums(json_writer *j, const plan_sums *sums);

/* What is known of the machines that will work; 0: the usual. */
typedef struct advise_options {
    uint64_t link, server; /* bytes per second: of each machine, of all together */
    uint64_t cores;        /* of a machine */
} advise_options;

/* Prints how long the work takes with how many machines.  Returns the exit code. */
int plan_advise(const char *out, const gufo_plan *plan, const advise_options *o, bool json);

/* Waits so long, or until a signal comes (signals_defer); false after a signal. */
bool plan_wait(double seconds);

#endif
