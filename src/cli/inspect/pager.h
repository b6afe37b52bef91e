/* A pager between the command and the terminal, as git has one. */
#ifndef CLI_INSPECT_PAGER_H
#define CLI_INSPECT_PAGER_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct pager {
    pid_t process; /* -1: it did not start */
    FILE *kept;    /* what it will show; NULL: it reads from a pipe */
    int terminal;  /* standard output before; -1: without a pager */
    int errors;    /* standard error before; -1: it stayed where it was */
    const char *command;
    struct sigaction interrupt; /* what SIGINT did before */
} pager;

/* Starts $GUFO_PAGER, $PAGER or less if standard output is a terminal; before anything is written.
 * `wanted` false: never. */
void pager_start(pager *p, bool wanted);
/* As pager_start, for work that shows a progress bar: the pager starts in pager_end, and shows all that
 * was written since. */
void pager_start_late(pager *p, bool wanted);
/* Waits until the pager has ended.  Returns the exit code: `code`, or CODE_FAILED after a report if
 * there was no such program. */
int pager_end(pager *p, int code);

#endif
