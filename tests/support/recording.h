/* What a loss of power may leave of a folder.
 *
 * A recording holds the files of a folder and every call that changes them (disk.h).  From these
 * the folder is rebuilt as it may be after power was lost: what was synced is there; each call
 * since then has reached the disk or not, in any order, and a write may be torn between sectors of
 * 512 bytes. */
#ifndef TEST_SUPPORT_RECORDING_H
#define TEST_SUPPORT_RECORDING_H

#include "disk.h"
#include "folder.h"

typedef struct recording recording;

/* Starts with the files that are in the folder, which has no folders yet.  One recording at a time. */
recording *recording_start(const char *directory);
/* Nothing more is recorded. */
void recording_stop(recording *r);
void recording_free(recording *r);

size_t recording_calls(const recording *r);

typedef void recording_visit(void *context, const char *label);

typedef enum recording_depth {
    RECORDING_ALL,  /* every subset of lost calls, and every way to tear a write */
    RECORDING_ENDS, /* all of them lost, none, and each one alone lost or kept */
} recording_depth;

/* Rebuilds in the folder `into`, which is emptied each time, every state that a loss of power after
 * the first `calls` calls may leave, and calls `visit` for each. */
void recording_each_loss(const recording *r, size_t calls, recording_depth depth, const char *into,
                         recording_visit *visit, void *context);

#endif
