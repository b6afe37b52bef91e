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
#ifndef GUFO_PRODUCE_RELEASE_H
#define GUFO_PRODUCE_RELEASE_H

#include "produce/run/keeper.h"

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
