/* What an interrupted download has left: which bytes of OUT.part are those of the file.
 *
 * OUT.part.fetch is a journal as jobs have it (produce/run/run.h), with marks of its own:
 *
 *     begin    a run begins: of which file, on which start of the machine
 *     range    [first, first + count) is in OUT.part.  Nobody waits for the disk: the mark is true if the
 *              program was killed, but after a loss of power the bytes may be missing.
 *     fence    a sync of OUT.part begins
 *     synced   it has ended: all ranges before the last fence are on disk, whatever happens
 *
 *     begin  range range range  fence  range range  synced  range range       |  killed, or power was lost
 *            on disk for ever          written, if the machine runs since  ...
 *
 * So ranges that no sync covers count only if the machine has not been started again since they were recorded. */
#ifndef REMOTE_FETCH_RECORD_H
#define REMOTE_FETCH_RECORD_H

#include "produce/run/run.h"
#include "remote/fetch/range_set.h"

#define RECORD_SUFFIX ".part.fetch"

/* Which file is downloaded.  `address` has no secrets; `version` is what is new with new content: a strong
 * ETag, or a sha256. */
typedef struct record_subject {
    gufo_str address, version;
    uint64_t size;
} record_subject;

typedef enum record_found {
    RECORD_NONE,    /* nothing is left of an earlier run */
    RECORD_SAME,    /* of this file: `finished` says what is there */
    RECORD_CHANGED, /* of this address, which had another file then */
    RECORD_OTHER,   /* of another address */
} record_found;

typedef struct record {
    journal journal;
    range_set finished; /* as it was found */
} record;

/* Looks for the journal at `path`, which must live on, and locks it.  For RECORD_SAME it is open
 * then, and a new run begins in it.  GUFO_E_ARGUMENT for what is not our own journal; GUFO_E_IO if another
 * process works with it. */
gufo_status record_open(record *r, const char *path, const record_subject *subject,
                        record_found *found, const gufo_allocator *allocator, gufo_error *error);
/* Makes a new one; one of a run that has ended is replaced. */
gufo_status record_create(record *r, const char *path, const record_subject *subject,
                          const gufo_allocator *allocator, gufo_error *error);
/* These three one at a time. */
gufo_status record_range(record *r, byte_range range, gufo_error *error);
gufo_status record_fence(record *r, gufo_error *error);
gufo_status record_synced(record *r, gufo_error *error);
/* Closes it and removes it unless `keep`; nothing to do for {.journal.fd = -1}. */
void record_close(record *r, bool keep);

#endif
