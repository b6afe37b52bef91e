/* What a run has done so far, on disk beside its output.
 *
 *     byte  0  "GUFO-QNT"
 *           8  version of the library, 24 bytes, padded with zeros
 *          32  identity of the input
 *          40  identity of the options
 *          48  check of the 48 bytes before
 *          56  marks ...
 *
 *     mark  0  tensor
 *           8  units that are done, from the first one on
 *          16  loss of that tensor: count, square_value, square_error, largest_error
 *          44  check of the 44 bytes before, and of the mark's number
 *
 * Numbers are little-endian.  Marks are only appended, after the data that they speak of has
 * reached the disk, so that the last good one is true whatever has stopped the program or the
 * machine; a mark that was cut short is none. */
#ifndef GUFO_QUANT_JOURNAL_H
#define GUFO_QUANT_JOURNAL_H

#include "gufo/quant.h"

typedef struct journal_identity {
    uint64_t input, options;
} journal_identity;

typedef struct journal_mark {
    uint64_t tensor; /* MARK_COMPLETE: all data is written, and the files get their names */
    uint64_t units_done;
    gufo_quantize_loss loss;
} journal_mark;

#define MARK_COMPLETE UINT64_MAX

typedef struct journal {
    int fd; /* -1: none */
    const char *path;
    uint64_t marks; /* that are in it */
} journal;

/* For both, `path` must live on.  The file is locked against other processes: GUFO_E_IO if one of
 * them works on it. */

/* Makes a new one; one that exists is replaced if `replace`, else GUFO_E_EXISTS. */
gufo_status quant_journal_create(journal *j, const char *path, const journal_identity *identity,
                                 bool replace, gufo_error *error);
/* Opens one that exists and hands its marks to `visit`, in order.  *found is false, and nothing is
 * open, if there is none.  GUFO_E_ARGUMENT if it is of another input, options or version, or not our own file of one name
 * (base/trust.h): somebody else's data would be shipped as ours. */
gufo_status quant_journal_open(journal *j, const char *path, const journal_identity *identity,
                               void (*visit)(void *context, const journal_mark *mark),
                               void *context, bool *found, gufo_error *error);
/* Appends marks and waits until they are on disk. */
gufo_status quant_journal_append(journal *j, const journal_mark *marks, size_t count,
                                 gufo_error *error);
/* Closes it, and removes it unless `keep`; nothing to do for one that is not open. */
void quant_journal_close(journal *j, bool keep);

#endif
