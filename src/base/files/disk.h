/* Every call that changes what is on a disk.
 *
 * The library makes these calls here and nowhere else.  A test program that defines the functions
 * itself is linked with its own instead of ours (disk.c is then not taken from the library): it can
 * make any of them fail, and record them all to rebuild the disk as a loss of power would leave it.
 *
 * As in POSIX, -1 is failure, with the reason in errno.  A call that the system lacks fails with
 * ENOSYS or EOPNOTSUPP, and callers use another way. */
#ifndef GUFO_BASE_DISK_H
#define GUFO_BASE_DISK_H

#include <sys/types.h>

#include "gufo/base.h"

/* open(), for files that are written. */
int disk_open(const char *path, int flags, mode_t mode);
ssize_t disk_write(int fd, const void *data, size_t size, uint64_t offset);

/* Moves bytes inside the kernel: as many as it likes at a time (0 at the end of the file). */
ssize_t disk_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size);
/* Lets the second file share the blocks of the first one.  Both offsets, and the size unless it
 * reaches to the end of `from`, are multiples of the file system's block. */
int disk_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size);

/* Reserves the first `size` bytes, which read as zeros where nothing was written. */
int disk_reserve(int fd, uint64_t size);
int disk_resize(int fd, uint64_t size);
/* Shifts everything from `offset` on back by `size` bytes and puts zeros there.  Both are multiples
 * of the file system's block. */
int disk_insert(int fd, uint64_t offset, uint64_t size);
/* Whether that is worth trying: the file system knows how, though this file may not let it. */
bool disk_may_insert(int fd);
/* The inverse of disk_insert: takes those bytes out, and what follows moves to `offset`. */
int disk_collapse(int fd, uint64_t offset, uint64_t size);
/* Punches a hole: frees the blocks there, which read as zeros then; the size stays. */
int disk_punch(int fd, uint64_t offset, uint64_t size);
/* Takes an exclusive lease: fails if the file is open or mapped elsewhere; a process that opens it
 * afterwards waits until the lease is given back (`take` false, or the descriptor is closed) or the
 * system loses patience (45 seconds on Linux). */
int disk_lease(int fd, bool take);

/* The number that a file keeps under every name; 0 if it is not known. */
uint64_t disk_number(int fd);

int disk_sync(int fd);
/* The same for the bytes and all that is needed to find them, but not for times and rights: much
 * quicker where bytes were written over others. */
int disk_sync_data(int fd);
/* What was linked, renamed and unlinked in the folder that `fd` is. */
int disk_sync_folder(int fd);

int disk_rename(const char *from, const char *to);
int disk_link(const char *from, const char *to);
/* A symbolic link at `path`, whose text is `text`. */
int disk_link_by_name(const char *text, const char *path);
int disk_unlink(const char *path);
int disk_make_folder(const char *path, mode_t mode);
int disk_remove_folder(const char *path);

#endif
