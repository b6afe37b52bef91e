/* Bytes that were fetched before they were asked for, of all files of a client together: the least recently used
 * ones make room.  Any thread. */
#ifndef REMOTE_RANGES_CHUNKS_H
#define REMOTE_RANGES_CHUNKS_H

#include "remote/remote.h"

/* All chunks together; what one chunk may have at most is far less. */
#define CHUNKS_ROOM ((uint64_t)24 << 20)

typedef struct chunk {
    struct chunk *newer, *older;
    const void *owner; /* the file that it is of */
    uint64_t offset;
    size_t size;
    uint8_t bytes[];
} chunk;

/* Room for `size` bytes, to be filled and added, or freed with chunk_free; NULL without memory. */
chunk *chunk_new(gufo_remote *remote, size_t size);
void chunk_free(gufo_remote *remote, chunk *chunk);
/* Takes it over; it may be gone when the function returns. */
void chunks_add(gufo_remote *remote, chunk *chunk);

/* Copies bytes from `offset` on into `buffer` as far as they are there, at most `size`; returns how many. */
size_t chunks_copy(gufo_remote *remote, const void *owner, uint64_t offset, void *buffer,
                   size_t size);
/* How many bytes from `offset` on are missing before the first one that is there, at most `size`. */
uint64_t chunks_missing(gufo_remote *remote, const void *owner, uint64_t offset, uint64_t size);

/* Frees those of one file. */
void chunks_drop(gufo_remote *remote, const void *owner);

#endif
