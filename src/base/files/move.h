/* Moving bytes from one file to another, by the kernel where it can. */
#ifndef GUFO_BASE_MOVE_H
#define GUFO_BASE_MOVE_H

#include "base/files/source.h"

/* What both files must be shifted by alike for their blocks to be shared: a multiple of every block
 * size in use. */
#define MOVE_SHARED_BLOCK 4096u

/* Copies bytes [from, from + size) of a source, which are inside it, to byte `to` of a file:
 *
 *     clone      the blocks are shared; takes no time
 *     copy       the kernel moves the bytes; nothing passes through this program
 *     buffer     read and write, `buffer_size` bytes at a time, where neither is possible, and
 *                where `from` and `to` differ inside a block: the kernel takes longer there
 *
 * Any thread.  *read_failed says which side an error is about. */
gufo_status move_bytes(const source *input, uint64_t from, uint64_t size, int to_fd, uint64_t to,
                       void *buffer, size_t buffer_size, bool *read_failed, gufo_error *error);

#endif
