/* The plan of an edit in place, on disk beside the file: FILE.gufo-journal.
 *
 *     byte  0  head, which base/files/pending.h draws: sizes and checks
 *          72  old header, new header
 *
 * Numbers are little-endian.  A header is everything before the tensor data.  The journal is
 * complete on disk before the first byte of the file changes; an incomplete one means that nothing
 * has changed.
 *
 * Its content is written to the file, so gufo trusts it only if pending.h accepts it, and compares
 * its sizes with those of the file before it reads the rest. */
#ifndef GUFO_EDIT_JOURNAL_H
#define GUFO_EDIT_JOURNAL_H

#include <limits.h>
#include <sys/stat.h>

#include "base/files/pending.h"
#include "gufo/edit.h"

typedef struct edit_journal {
    pending_head head; /* whoever writes it adds the checks */
    const uint8_t *old_header, *new_header;
    uint8_t *memory; /* of a journal that was read: what the headers point into */
    gufo_allocator allocator;
} edit_journal;

/* No memory is asked for: whoever wants to know whether a file may be read has no allocator. */
typedef struct journal_path {
    char text[PATH_MAX + sizeof PENDING_SUFFIX];
} journal_name;

/* Where the journal of the file that `path` names would be.  GUFO_E_IO without such a file. */
gufo_status edit_journal_find(journal_name *out, const char *path, gufo_error *error);

/* Whether the file system takes the name of the journal: a file's name may be as long as a name can
 * be.  `path` has no symlinks. */
bool edit_journal_possible(const char *path);

/* Writes it, and waits until it is on disk.  *created is false if there could be none, because
 * there is one already or the folder does not let us; on other failures it is removed. */
gufo_status edit_journal_write(const edit_journal *j, const char *path, bool *created,
                               gufo_error *error);

typedef enum journal_state {
    JOURNAL_NONE,
    JOURNAL_TORN,
    JOURNAL_UNTRUSTED,
    JOURNAL_UNKNOWN, /* of a version of the format that we do not know */
    JOURNAL_UNFIT,   /* its file would have another size: the file was changed or replaced */
    JOURNAL_COMPLETE,
} journal_state;

/* Reads it; one that is complete is to be closed.  The error says why a journal is neither
 * complete, torn nor none. */
gufo_status edit_journal_read(edit_journal *j, const char *path, const struct stat *file,
                              const gufo_allocator *allocator, journal_state *state,
                              gufo_error *error);
void edit_journal_close(edit_journal *j);

/* How reading or checking went; errno says why something is unreadable. */
typedef enum read_outcome { READ_GOOD, READ_BAD, READ_IMPOSSIBLE } read_outcome;

/* Reads just so many bytes of a file: READ_BAD if it ends before. */
read_outcome edit_read(int fd, uint8_t *bytes, uint64_t size, uint64_t at);

/* GUFO_E_CHANGED: journal and file do not go together. */
gufo_status edit_fail_changed(gufo_error *error);

gufo_status edit_journal_remove(const char *path, gufo_error *error);

#endif
