/* A pager between the command and the terminal, as git has one. */
#ifndef CLI_INSPECT_PAGER_H
#define CLI_INSPECT_PAGER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct pager {
    pid_t process; /* 0: without a pager */
    int terminal;  /* standard output before */
    int errors;    /* standard error before; -1: it stayed where it was */
    const char *command;
    struct sigaction interrupt; /* what SIGINT did before */
} pager;

/* Starts $GUFO_PAGER, $PAGER or less if standard output is a terminal; before anything is written.
 * `wanted` false: never. */
void pager_start(pager *p, bool wanted);
/* Waits until the pager has ended.  Returns the exit code: `code`, or CODE_FAILED after a report if
 * there was no such program. */
int pager_end(pager *p, int code);

#endif
