/* Keeps the journal up to date beside the work.
 *
 * Waiting for a disk takes as long as encoding many units.  A thread of its own does that every few
 * seconds: it takes what is done so far, waits until that data is on disk, and only then notes it
 * in the journal.  Meanwhile the work goes on. */
#ifndef GUFO_QUANT_KEEPER_H
#define GUFO_QUANT_KEEPER_H

#include <pthread.h>

#include "quant/journal.h"
#include "quant/quantizer.h"

typedef struct keeper {
    const gufo_quantizer *q;
    journal *journal;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t wake;
    bool stop;
    journal_mark *marks; /* not in the journal yet: one per tensor */
    size_t count, capacity;
    gufo_status status; /* of what the thread did */
    gufo_error error;
} keeper;

/* Where no thread can be started, only quant_keeper_save saves. */
void quant_keeper_start(keeper *k, const gufo_quantizer *q, journal *j);
/* How far the work is.  Returns what has gone wrong so far. */
gufo_status quant_keeper_note(keeper *k, const journal_mark *mark, gufo_error *error);
/* Ends the thread. */
void quant_keeper_stop(keeper *k);
/* Saves everything that was noted, after quant_keeper_stop. */
gufo_status quant_keeper_save(keeper *k, gufo_error *error);
void quant_keeper_free(keeper *k);

#endif
