/* Whether a file is being edited in place, or such an edit was interrupted: the head of its
 * journal.
 *
 * An edit in place puts FILE.gufo-journal beside the file (src/edit/journal.h draws all of it) and
 * holds a lock on the file.  A journal without the lock is left over.  Code that reads or replaces
 * a file asks here; the 72 bytes of the head are enough to recognise a journal, however large that
 * is:
 *
 *     byte  0  "GUFO-EDJ"
 *           8  version of this format, 1
 *          16  size of the file before the edit
 *          24  bytes that are inserted in front
 *          32  size of the old header
 *          40  size of the new header
 *          48  check of the old header
 *          56  check of the new header
 *          64  check of the 64 bytes before
 *
 * A later version keeps the first 16 bytes and the check, so that its journals are known as such.
 *
 * Only a journal that trust.h accepts counts.  Anything else of that name (a folder, a symlink,
 * another user's file) says nothing about the file.  After a loss of power, an
 * incomplete journal is its beginning or zeros, in a private file, as all journals are; only such a
 * file may be removed, for other files of that name belong to others. */
#ifndef GUFO_BASE_PENDING_H
#define GUFO_BASE_PENDING_H

#include <sys/stat.h>

#include "gufo/base.h"

#define PENDING_SUFFIX ".gufo-journal"

enum { PENDING_HEAD_SIZE = 72 };

typedef struct pending_head {
    uint64_t file_size, inserted, old_size, new_size, old_check, new_check;
} pending_head;

typedef enum pending_found {
    PENDING_NOTHING,
    PENDING_OTHER,     /* there is something that never was a journal */
    PENDING_UNTRUSTED, /* there is something, but it is not a journal that counts: `obstacle` */
    PENDING_TORN,      /* it was never complete, so that nothing was changed */
    PENDING_UNKNOWN,   /* of a version of the format that we do not know */
    PENDING_HEAD,      /* its head, at least, is good */
} pending_found;

/* A journal that was looked for.  `fd` is open for PENDING_HEAD only, and is to be closed. */
typedef struct pending_journal {
    int fd;
    const char *obstacle; /* static */
    pending_head head;
} pending_journal;

void pending_encode(const pending_head *head, uint8_t bytes[PENDING_HEAD_SIZE]);

/* Looks at the journal at `path`, of a file of `owner`. */
pending_found pending_open(pending_journal *journal, const char *path, uid_t owner);

/* Whether a process holds the lock that an edit takes on the file `path`. */
bool pending_is_locked(const char *path);

/* Refuses to write to the file `target` (symlinks followed; `info` are its facts, NULL if none
 * exists) that has a journal beside it: a recovery would apply it to the new file.
 * GUFO_E_ARGUMENT. */
gufo_status pending_refuse(const char *target, const struct stat *info,
                           const gufo_allocator *allocator, gufo_error *error);

#endif
