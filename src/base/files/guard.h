/* Files that a job reads, and that none of its outputs may replace.
 *
 * A path does not identify a file: symlinks and hard links lead to the same one.  A guard holds the
 * device and inode of every input; the code that finds a target (output.h) asks it. */
#ifndef GUFO_BASE_GUARD_H
#define GUFO_BASE_GUARD_H

#include <sys/stat.h>

#include "gufo/base.h"

typedef struct guard_entry {
    dev_t device;
    ino_t inode;
} guard_entry;

/* `{0}` with an allocator that outlives it: an empty one. */
typedef struct output_guard {
    guard_entry *files;
    size_t count, room;
    const gufo_allocator *allocator;
} output_guard;

/* Add the file of a descriptor, or that a path names; nothing to do for -1 and NULL, for a path
 * without a file, and for what is not a regular file. */
gufo_status guard_add_fd(output_guard *guard, int fd, gufo_error *error);
gufo_status guard_add_path(output_guard *guard, const char *path, gufo_error *error);
/* Whether the file with these facts was added.  Sorts nothing: guard_ready comes before. */
bool guard_holds(const output_guard *guard, const struct stat *info);
/* Puts the files in order, so that finding one among many is quick. */
void guard_ready(output_guard *guard);
void guard_free(output_guard *guard);

#endif
