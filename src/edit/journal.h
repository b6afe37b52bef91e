/* What an edit in place is about to do, on disk beside the file: FILE.gufo-journal.
 *
 *     byte  0  "GUFOEDIT"
 *           8  version of this form, 1
 *          16  size of the file before the edit
 *          24  bytes that are inserted in front
 *          32  size of the old header
 *          40  size of the new header
 *          48  check of the old header
 *          56  check of the new header
 *          64  check of the 64 bytes before
 *          72  old header, new header
 *
 * Numbers are little-endian.  A header is everything before the tensor data.  The journal is complete
 * on disk before the first byte of the file changes; one that is not says that nothing has changed. */
#ifndef GUFO_EDIT_JOURNAL_H
#define GUFO_EDIT_JOURNAL_H

#include "base/source.h"
#include "gufo/edit.h"

typedef struct edit_journal {
    uint64_t file_size; /* before */
    uint64_t inserted;
    uint64_t old_size, new_size; /* of the headers */
    const uint8_t *old_header, *new_header;
    source bytes; /* of a journal that was read: what the headers point into */
} edit_journal;

/* The path of the journal of a file whose symlinks are followed: to be freed with the allocator;
 * NULL without memory. */
char *edit_journal_path(const char *real_path, const gufo_allocator *allocator);

/* Writes it, and waits until it is on disk.  *created is false if there could be none, because there
 * is one already or the folder does not let us; on other failures it is removed. */
gufo_status edit_journal_write(const edit_journal *j, const char *path, bool *created,
                               gufo_error *error);

typedef enum journal_state { JOURNAL_NONE, JOURNAL_TORN, JOURNAL_COMPLETE } journal_state;

/* Reads it; one that is complete is to be closed. */
gufo_status edit_journal_read(edit_journal *j, const char *path, const gufo_allocator *allocator,
                              journal_state *state, gufo_error *error);
void edit_journal_close(edit_journal *j);

gufo_status edit_journal_remove(const char *path, gufo_error *error);

#endif
