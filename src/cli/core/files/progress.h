/* A progress bar on standard error, if that is a terminal:
 *
 *      43 % [############                  ]  1.2 GiB of 2.8 GiB  310.0 MiB/s  0:05 left */
#ifndef CLI_CORE_FILES_PROGRESS_H
#define CLI_CORE_FILES_PROGRESS_H

#include "cli/core/options/options.h"

#include "gufo/run.h"

#include <stdbool.h>
#include <time.h>

typedef struct progress {
    bool shown;             /* on a terminal */
    bool drawn;             /* and it has to be wiped off */
    uint64_t first;         /* done before: it does not count for the rate */
    struct timespec begun;  /* when that was */
    struct timespec latest; /* drawn */
} progress;

enum { PROGRESS_LINE = 256 }; /* room for any line */

/* Makes a line of at most `columns` columns: `done` of `total` bytes, and `rate` in a second (0:
 * not known).  Returns its length. */
size_t progress_line(char *out, size_t size, size_t columns, uint64_t done, uint64_t total,
                     double rate);

/* Nothing is shown if `quiet`. */
void progress_start(progress *p, bool quiet);
/* For work that writes results meanwhile: one line of JSON on a terminal would be torn by the
 * bar. */
void progress_start_beside(progress *p, const shared_options *shared);
/* `done` of `total` bytes; draws at most ten times a second.  One thread at a time. */
void progress_update(progress *p, uint64_t done, uint64_t total);
/* Wipes it off. */
void progress_end(progress *p);

/* A gufo_progress_fn with the bar as its context.  It stops when a signal asks for that
 * (signals_defer). */
bool progress_step(void *bar, uint64_t done, uint64_t total);
/* How the library works while this bar is drawn: with the threads that the user allows. */
gufo_run progress_run(progress *p, const shared_options *shared);

#endif
