/* A run of a job: its targets, its progress on disk, and inputs that it removes. */
#ifndef GUFO_PRODUCE_RUN_H
#define GUFO_PRODUCE_RUN_H

#include <time.h>

#include "base/lock.h"
#include "produce/produce.h"

/* ---- targets ------------------------------------------------------------------------------------ */

struct job_part;

/* The files that a job writes.
 *
 *     find      the target paths; nothing is changed
 *     reserve   a temporary file beside each, of its full size: OUT.part if the job can be resumed
 *     open      create a file and write its header; close: the file is safe on disk
 *     commit    rename all files when all are safe (base/files/commit.h)
 *
 * Few files are open at a time: a set may have tens of thousands. */
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
    const struct job_part *part; /* the part that they were found for; NULL: all are there */
    bool is_made;                /* their bytes are there, whatever is reserved */
    bool lost;  /* a sync has failed: nothing that was written since is known to be on disk, ever */
    mutex lock; /* files are opened and closed while another thread syncs them */
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
    return !t->job->unreserved && !targets_deletes(t) && !t->is_made;
}

gufo_status targets_find(targets *t, gufo_job *job, const gufo_job_options *options,
                         gufo_error *error);
/* Finds those that a part touches, whose .part files exist and have their sizes: they are opened as they are, and
 * closed without a name.  The maker of these files has compared them with the inputs. */
gufo_status targets_find_part(targets *t, gufo_job *job, const gufo_job_options *options,
                              const struct job_part *part, gufo_error *error);
/* GUFO_E_EXISTS for one that may not be replaced. */
gufo_status targets_check_replaceable(targets *t, gufo_error *error);
gufo_status targets_reserve(targets *t, gufo_error *error);
/* Waits until the names of the files that were reserved are on disk. */
gufo_status targets_sync_folders(const targets *t, gufo_error *error);
gufo_status targets_open(targets *t, uint32_t index, gufo_error *error);
/* Syncs one and closes it for good; nothing to do for one that is not open. */
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

/* ---- spans ----------------------------------------------------------------------------- */

struct work;

/* Makes all units from `from` on; opens and closes targets as they are needed, those without units
 * too. */
gufo_status spans_run(targets *t, struct work *w, uint64_t from, gufo_error *error);
/* All of them, and then names for the targets, unless an input has changed. */
gufo_status spans_finish(targets *t, struct work *w, gufo_error *error);

/* ---- what an interrupted run has left -------------------------------------------- */

/* Removes .part files, if what is left may be replaced; else GUFO_E_EXISTS for the first of
 * them. */
gufo_status parts_clear(targets *t, gufo_error *error);
/* Opens the .part files again, after t->units_done: those that were begun must have their full
 * sizes; others are emptied. */
gufo_status parts_continue(targets *t, gufo_error *error);
/* The same for a job whose data is complete: some files may have their names already. */
gufo_status parts_open_complete(targets *t, gufo_error *error);

/* ---- one target or all ------------------------------------------------------------------------- */

/* Names the target in an error about it; returns `status`. */
gufo_status targets_fail(const targets *t, uint32_t index, gufo_status status, gufo_error *error);

typedef gufo_status target_step(targets *t, uint32_t index, gufo_error *error);
gufo_status targets_each(targets *t, target_step *step, gufo_error *error);

/* ---- for parts ------------------------------------------------------------------------------------ */

/* Finds targets that no run has begun, and what is in their way; `begun`: .part files are those of other workers. */
gufo_status targets_find_new(targets *t, gufo_job *job, const gufo_job_options *options, bool begun,
                             gufo_error *error);
/* GUFO_E_EXISTS if a run of gufo_job_run was interrupted since: .part files are its own then. */
gufo_status targets_check_no_run(const targets *t, gufo_error *error);
/* Removes what an interrupted run has left of them. */
gufo_status targets_remove_left(targets *t, gufo_error *error);
/* Names for targets whose .part files are complete since t->complete; some may have theirs already. */
gufo_status targets_commit_parts(targets *t, gufo_error *error);

/* ---- streams --------------------------------------------------------------------------------- */

/* Where bytes go in order: a pipe, a socket, a terminal. */
typedef struct sink {
    int fd;
    uint64_t position; /* bytes that were sent */
    bool failed;       /* the stream is broken */
} sink;

gufo_status sink_send(sink *s, const void *bytes, uint64_t size, gufo_error *error);
/* Sends zeros up to byte `place`. */
gufo_status sink_pad(sink *s, uint64_t place, gufo_error *error);

/* ---- the journal -------------------------------------------------------------------------------- */

/* The progress of a job, on disk beside its first output: OUT.part.journal.
 *
 *     byte  0  "GUFO-JOB"
 *           8  version of this format, 1
 *          12  bytes of a result
 *          16  version of the library, 24 bytes, padded with zeros
 *          40  identity of the inputs
 *          48  identity of the plan: options, pieces, how they are cut
 *          56  check of the 56 bytes before
 *          64  marks ...
 *
 *     mark  0  piece
 *           8  units that are done, from the first one on
 *          16  the measurements of that piece: `bytes of a result`
 *           .  check of the bytes before, and of the mark's number, 8 bytes
 *
 * Numbers are little-endian; results are bytes of this machine, and its byte order is part of the
 * identity.  Marks are only appended, after the data that they describe is on disk, so the last
 * good mark is true no matter what stopped the program or the machine; a mark that was cut short
 * does not count. */
typedef struct journal_identity {
    uint64_t inputs, plan;
} journal_identity;

typedef struct journal_mark {
    uint64_t piece; /* or MARK_... */
    uint64_t units_done;
    const void *result; /* NULL: zeros */
} journal_mark;

#define MARK_COMPLETE UINT64_MAX /* all data is written, and the files get their names */
#define MARK_NAMED \
    (UINT64_MAX - 1) /* they have their names, and what is left of inputs is removed */

#define MARK_INPUT \
    (UINT64_MAX - 2) /* `units_done` is the stamp of the input that gets holes, before the first */

typedef struct journal {
    int fd; /* -1: none */
    const char *path;
    size_t result_size;
    bool locked;             /* no other process works on it: false where locks are not supported */
    uint64_t marks;          /* that are in it */
    struct timespec written; /* last, before it was opened */
} journal;

/* The result is valid during the call only. */
typedef void journal_visit(void *context, const journal_mark *mark);

/* For both, `path` must live on.  The file is locked against other processes: GUFO_E_IO if one of
 * them works on it. */

/* Makes a new one; one that exists is replaced if `replace`, else GUFO_E_EXISTS.  GUFO_E_ARGUMENT
 * for a file that is not our journal. */
gufo_status journal_create(journal *j, const char *path, size_t result_size,
                           const journal_identity *identity, bool replace, gufo_error *error);
/* GUFO_E_EXISTS: a journal is in the way. */
gufo_status journal_refuse(gufo_error *error);
/* Opens one that exists and hands its marks to `visit`, in order.  *found is false, and nothing is
 * open, if none exists.  GUFO_E_ARGUMENT if it is of other inputs, another plan or version, or
 * not our own file, of one name, that others cannot write to: another user's data would get into
 * the output.  Without `identity` inputs and plan do not matter, nor does result_size. */
gufo_status journal_open(journal *j, const char *path, size_t result_size,
                         const journal_identity *identity, journal_visit *visit, void *context,
                         bool *found, gufo_error *error);
/* Whether that would succeed, or find none; changes nothing.  *locked: no other process works on it. */
gufo_status journal_look(const char *path, size_t result_size, const journal_identity *identity,
                         bool *locked, gufo_error *error);
/* Removes one that may be there. */
gufo_status journal_remove(const char *path, gufo_error *error);
/* Appends marks and waits until they are on disk. */
gufo_status journal_append(journal *j, const journal_mark *marks, size_t count, gufo_error *error);
/* The same without waiting: a program that is killed leaves them behind, a loss of power may not. */
gufo_status journal_note(journal *j, const journal_mark *marks, size_t count, gufo_error *error);
/* Closes it, and removes it unless `keep`; nothing to do for one that is not open. */
void journal_close(journal *j, bool keep);

/* The identity of a job that is about to write its targets.  `timeless`: without the times of its
 * inputs, which change while it works. */
gufo_status identity_of(const gufo_job *job, bool timeless, journal_identity *out,
                        gufo_error *error);
/* Its parts, for who compares them one by one: options, and how pieces are cut; what an input says before its
 * data, and 64 blocks of it; a piece, with the values of numbers that are computed. */
uint64_t identity_of_options(const gufo_job *job);
gufo_status identity_of_input(const job_input *input, uint64_t *head, uint64_t *samples,
                              gufo_error *error);
gufo_status identity_chain_piece(uint64_t *hash, const piece *p, gufo_error *error);

/* ---- the keeper --------------------------------------------------------------------------------- */

/* Keeps the journal up to date beside the work.
 *
 * Waiting for a disk takes as long as encoding many units.  A separate thread does that every few
 * seconds: it reads the progress, waits until that data is on disk, and only then records it in the
 * journal.  Meanwhile the work continues. */
typedef struct keeper_sink {
    /* Appends marks and waits until they are on disk. */
    gufo_status (*append)(void *context, const journal_mark *marks, size_t count,
                          gufo_error *error);
    void *context;
    bool keeps_results; /* of every unit; else the last mark of a piece has its sum */
    bool beats;         /* wants calls without marks, too: others see that this run lives */
} keeper_sink;

typedef struct keeper {
    targets *targets;
    keeper_sink sink;
    companion thread;

    mutex lock; /* for all below */
    bool stop;
    journal_mark *marks; /* not in the journal yet: one per piece */
    uint8_t *results;    /* of the marks; their own pointers are set only while they are saved */
    size_t count;
    uint64_t capacity, result_capacity;
    uint64_t bytes;     /* that were written since the last sync */
    gufo_status status; /* of what the thread did */
    gufo_error error;
} keeper;

/* If no thread is wanted, or none can be started, only keeper_save saves. */
void keeper_start(keeper *k, targets *t, const keeper_sink *where, bool thread);
keeper_sink keeper_to_journal(journal *j);
/* How far the work is, and the bytes that it has written since the last call.  Returns what has
 * gone wrong so far. */
gufo_status keeper_note(keeper *k, const journal_mark *mark, uint64_t bytes, gufo_error *error);
/* Ends the thread. */
void keeper_stop(keeper *k);
/* Saves everything that was noted.  Called without a thread, or after its end. */
gufo_status keeper_save(keeper *k, gufo_error *error);
void keeper_free(keeper *k);

/* ---- inputs that are removed -------------------------------------------------------------------- */

/* Removes inputs while a job works (GUFO_JOB_DELETE_INPUT), so that a disk needs room for only a
 * part of the result.
 *
 *     units done --> synced, and marked in the journal --> what only they needed is released
 *
 *     whole    NAME.moved gets the header of NAME and its size, without data; then NAME is removed
 *     holes    NAME is renamed to NAME.moved, and holes are punched into it: for one file that
 *              becomes several
 *
 * A resumed run makes its plan from NAME.moved: the same header, size and time give the same plan.
 * It has another name because a set without its data must not open.  The run removes these files
 * when the outputs have their names; the journal records that first. */
#define RELEASE_SUFFIX ".moved"

typedef struct release {
    gufo_job *job;
    keeper *keeper;
    bool holes;
    uint64_t count; /* of inputs that are released */
    /* whole: the inputs in the order in which they are needed for the last time, and the units that
     * must be done before that */
    uint32_t *order;
    uint64_t *units, next;
    /* holes: for each piece, the first byte that this piece or a later one needs */
    uint64_t *needed, freed;
    int fd;
    uint64_t unsaved; /* bytes that were read since progress was recorded last */
} release;

/* Checks that all inputs can be released, before anything is written.  The caller must end `r` even
 * after a failure. */
gufo_status release_begin(release *r, gufo_job *job, keeper *k, const targets *t,
                          gufo_error *error);
/* Which file the input is that gets holes, and whether it was changed since: true as long as it has its name. */
uint64_t release_stamp(const release *r);
/* Whether a run can begin with `units_done`, `found` in a journal with that stamp (NULL: with none):
 * GUFO_E_ARGUMENT for an input whose data is gone, GUFO_E_CHANGED for one that was changed. */
gufo_status release_check(const release *r, uint64_t units_done, bool found, const uint64_t *stamp,
                          gufo_error *error);
/* Called when units are done, with the bytes that the last one has read: records them and releases
 * what they needed, if that frees enough. */
gufo_status release_after(release *r, uint64_t units_done, uint64_t bytes, gufo_error *error);
/* All units are done and recorded: releases all. */
gufo_status release_rest(release *r, gufo_error *error);
/* The outputs have their names: removes what is left. */
gufo_status release_remove(release *r, gufo_error *error);
void release_end(release *r);

#endif
