/* A progress bar on standard error, if that is a terminal:
 *
 *      43 % [################                      ]  1.2 GiB of 2.8 GiB  310 MiB/s  0:05 left */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct progress {
    bool shown;             /* there is a terminal */
    bool drawn;             /* and something on it that is to be wiped out */
    uint64_t first;         /* what was done before: it says nothing about the rate */
    struct timespec begun;  /* when that was */
    struct timespec latest; /* drawn */
} progress;

/* Nothing is shown if `quiet`. */
void progress_start(progress *p, bool quiet);
/* `done` of `total` bytes; draws at most ten times a second.  One thread at a time. */
void progress_update(progress *p, uint64_t done, uint64_t total);
/* Wipes it out. */
void progress_end(progress *p);

#endif
