/* Keeps the journal up to date beside the work.
 *
 * Waiting for a disk takes as long as encoding many units.  A separate thread does that every few
 * seconds: it reads the progress, waits until that data is on disk, and only then records it in the
 * journal.  Meanwhile the work continues. */
#ifndef GUFO_PRODUCE_KEEPER_H
#define GUFO_PRODUCE_KEEPER_H

#include <pthread.h>

#include "produce/run/journal.h"
#include "produce/run/targets.h"

typedef struct keeper {
    targets *targets;
    journal *journal;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t wake;
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
void keeper_start(keeper *k, targets *t, journal *j, bool thread);
/* How far the work is, and the bytes that it has written since the last call.  Returns what has
 * gone wrong so far. */
gufo_status keeper_note(keeper *k, const journal_mark *mark, uint64_t bytes, gufo_error *error);
/* Ends the thread. */
void keeper_stop(keeper *k);
/* Saves everything that was noted.  Called without a thread, or after its end. */
gufo_status keeper_save(keeper *k, gufo_error *error);
void keeper_free(keeper *k);

#endif
