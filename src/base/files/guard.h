/* Files that an output may not replace: those that are read, and those that are written beside it.
 *
 * A path does not identify a file: symlinks and hard links lead to the same one.  A guard holds the
 * device and inode of every file, and the place (folder and name) of one that does not exist yet;
 * the code that finds a target (output.c) asks it.  Files are compared nowhere else. */
#ifndef GUFO_BASE_GUARD_H
#define GUFO_BASE_GUARD_H

#include <sys/stat.h>

#include "gufo/files.h"

typedef enum guard_role {
    GUARD_NOTHING, /* it is none of them */
    GUARD_INPUT,
    GUARD_OUTPUT,
} guard_role;

/* In order, so that finding one among many is quick. */
struct gufo_guard_entry {
    dev_t device; /* of a file */
    ino_t inode;
    uint64_t place; /* of one that may not be there yet (output.h); else 0 */
    guard_role role;
};

/* Adds the input that a path names; nothing to do for NULL, for a path without a file, and for what is
 * not a regular file. */
gufo_status guard_add_path(gufo_guard *guard, const char *path, gufo_error *error);
/* As what the file with these facts was added.  `guard` may be NULL. */
guard_role guard_find_file(const gufo_guard *guard, const struct stat *info);

#endif
