/* The files that a job writes.
 *
 *     find      the target paths; nothing is changed
 *     reserve   a temporary file beside each, of its full size: OUT.part if the job can be resumed
 *     open      create a file and write its header; close: the file is safe on disk
 *     commit    rename all files when all are safe (base/files/commit.h)
 *
 * Few files are open at a time: a set may have tens of thousands. */
#ifndef GUFO_PRODUCE_TARGETS_H
#define GUFO_PRODUCE_TARGETS_H

#include <pthread.h>
#include <time.h>

#include "produce/produce.h"

typedef struct targets {
    gufo_job *job;
    output *files;
    char **paths;             /* as callers spell them */
    char **parts;             /* TARGET.part, if the job can be resumed */
    int *fds;                 /* of those that are open; else -1 */
    char *journal;            /* the path of OUT.part.journal; NULL without any */
    struct timespec complete; /* when an interrupted run had recorded that all data is written */
    uint32_t flags;
    uint64_t units_done; /* by an interrupted run */
    bool resumable;
    bool lost; /* a sync has failed: nothing that was written since is known to be on disk, ever */
    pthread_mutex_t lock; /* files are opened and closed while another thread syncs them */
} targets;

/* Whether deleted inputs make room for the targets: then not all of it can be reserved. */
static inline bool targets_deletes(const targets *t)
{
    return (t->flags & GUFO_JOB_DELETE_INPUT) != 0;
}

/* Whether what an interrupted run left is continued without being asked for. */
static inline bool targets_continues(const targets *t)
{
    return (t->flags & (GUFO_JOB_CONTINUE | GUFO_JOB_RESUME | GUFO_JOB_REPLACE)) ==
           GUFO_JOB_CONTINUE;
}

static inline bool targets_reserves(const targets *t)
{
    return !t->job->unreserved && !targets_deletes(t);
}

gufo_status targets_find(targets *t, gufo_job *job, const gufo_job_options *options,
                         gufo_error *error);
/* GUFO_E_EXISTS for one that may not be replaced. */
gufo_status targets_check_replaceable(targets *t, gufo_error *error);
gufo_status targets_reserve(targets *t, gufo_error *error);
/* Waits until the names of the files that were reserved are on disk. */
gufo_status targets_sync_folders(const targets *t, gufo_error *error);
gufo_status targets_open(targets *t, uint32_t index, gufo_error *error);
gufo_status targets_close(targets *t, uint32_t index, gufo_error *error);
/* Waits until everything that was written so far is on disk. */
gufo_status targets_sync(targets *t, gufo_error *error);
gufo_status targets_commit(targets *t, bool keep, gufo_error *error);
/* Ends everything; what was not committed is removed unless `keep`. */
void targets_end(targets *t, bool keep);

/* For data that comes in any order: opens a file whose header is written already, and closes one
 * that may be opened again. */
gufo_status targets_reopen(targets *t, uint32_t index, gufo_error *error);
void targets_rest(targets *t, uint32_t index);

/* ---- spans.c -------------------------------------------------------------------------------- */

struct work;

/* Makes all units from `from` on; opens and closes targets as they are needed, those without units
 * too. */
gufo_status spans_run(targets *t, struct work *w, uint64_t from, gufo_error *error);
/* All of them, and then names for the targets, unless an input has changed. */
gufo_status spans_finish(targets *t, struct work *w, gufo_error *error);

/* ---- parts.c: what an interrupted run has left ----------------------------------------------- */

/* Removes .part files, if what is left may be replaced; else GUFO_E_EXISTS for the first of
 * them. */
gufo_status parts_clear(targets *t, gufo_error *error);
/* Opens the .part files again, after t->units_done: those that were begun must have their full
 * sizes; others are emptied. */
gufo_status parts_continue(targets *t, gufo_error *error);
/* The same for a job whose data is complete: some files may have their names already. */
gufo_status parts_open_complete(targets *t, gufo_error *error);

/* ---- leftovers.c ---------------------------------------------------------------------------- */

struct journal_identity;

/* Whether the run may continue what an interrupted one has left: it was asked to, or the journal is of
 * the same plan, ours, and locked by nobody.  GUFO_E_IO if a process works on it. */
gufo_status leftovers_look(const targets *t, const struct journal_identity *identity, bool *may,
                           gufo_error *error);

/* Names the target in an error about it; returns `status`. */
gufo_status targets_fail(const targets *t, uint32_t index, gufo_status status, gufo_error *error);

typedef gufo_status target_step(targets *t, uint32_t index, gufo_error *error);

/* Does that with one target after the other; errors name theirs. */
gufo_status targets_each(targets *t, target_step *step, gufo_error *error);

#endif
