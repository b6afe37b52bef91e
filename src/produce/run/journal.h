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
#ifndef GUFO_PRODUCE_JOURNAL_H
#define GUFO_PRODUCE_JOURNAL_H

#include <time.h>

#include "produce/produce.h"

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
/* Appends marks and waits until they are on disk. */
gufo_status journal_append(journal *j, const journal_mark *marks, size_t count, gufo_error *error);
/* Closes it, and removes it unless `keep`; nothing to do for one that is not open. */
void journal_close(journal *j, bool keep);

/* The identity of a job that is about to write its targets.  `timeless`: without the times of its
 * inputs, which change while it works. */
gufo_status identity_of(const gufo_job *job, bool timeless, journal_identity *out,
                        gufo_error *error);

#endif
