/* Where the bytes of a file come from: one interface for a mapping, memory, a descriptor, a pipe
 * and a caller's range reader.
 *
 * Metadata is parsed in place, so the first part of the source must be contiguous in memory:
 *
 *     base                        have                              size
 *     |== in memory: mapped or read ==|--- still only in the source ---|
 *
 * For a mapping and for memory `have` is `size` from the start.  Otherwise source_need moves
 * `have` forward (and `base` may move), reading ahead in growing steps. */
#ifndef GUFO_BASE_SOURCE_H
#define GUFO_BASE_SOURCE_H

#include <time.h>

#include "gufo/base.h"

/* The size of a pipe before its end was seen. */
#define SOURCE_SIZE_UNKNOWN UINT64_MAX

struct source;

typedef gufo_status source_fetch(struct source *source, uint64_t offset, void *buffer, size_t size,
                                 size_t *got, gufo_error *error);

typedef struct source {
    const uint8_t *base;
    uint64_t have;
    uint64_t size;
    source_fetch *fetch; /* NULL: everything is in memory */
    uint8_t *buffer;     /* what base points to if it was read */
    size_t capacity;
    uint64_t buffer_limit;
    bool over_limit;    /* a need failed because of it */
    bool no_read_ahead; /* fetch nothing beyond what is needed */
    void *mapping;
    size_t mapping_size;
    int fd; /* -1: none */
    bool sequential;
    struct timespec modified;   /* the file of `fd`, when it was opened */
    gufo_progress_fn *progress; /* of what is read into memory, or skipped; NULL: nobody asks */
    void *progress_context;
    gufo_source user;
    const gufo_allocator *allocator;
} source;

/* Each takes over what it is given, also when it fails.  `allocator` must outlive the source;
 * `buffer_limit` bounds the bytes that are read into memory. */
gufo_status source_open_fd(source *source, int fd, bool map, uint64_t buffer_limit,
                           const gufo_allocator *allocator, gufo_error *error);
void source_open_memory(source *source, const void *data, size_t size);
void source_open_user(source *source, const gufo_source *user, uint64_t buffer_limit,
                      const gufo_allocator *allocator);
void source_close(source *source);
/* What a descriptor has of it. */
void source_close_fd(source *source);
/* Whether to read on, of a size that is not known. */
gufo_status source_note(const source *source, uint64_t done, gufo_error *error);

/* Reads `size` bytes from byte `offset` of a file, or with GUFO_NO_OFFSET the next ones; *got is
 * how many there are. */
gufo_status source_read_fd(int fd, uint64_t offset, void *buffer, size_t size, size_t *got,
                           gufo_error *error);

/* Makes the first `upto` bytes contiguous in memory.  On success either have >= upto, or the source
 * is shorter than that: size is known then and below upto. */
gufo_status source_need(source *source, uint64_t upto, gufo_error *error);

/* Whether all its bytes are in memory, and it is neither a file nor fetched. */
static inline bool source_in_memory(const source *s)
{
    return s->fetch == NULL && s->mapping == NULL && s->fd < 0;
}

/* Gives back what was read ahead but not used. */
void source_trim(source *source, uint64_t used);

/* Reads a pipe to its end and counts it; nothing to do for others. */
gufo_status source_drain(source *source, gufo_error *error);
/* Lets a pipe end where reading has come to; nothing to do for others. */
void source_end(source *source);

/* GUFO_E_CHANGED if a regular file has another size or time of change than when it was opened, or a caller's
 * source says so. */
gufo_status source_unchanged(const source *source, gufo_error *error);
/* Of a descriptor alone. */
gufo_status source_unchanged_fd(const source *source, gufo_error *error);

/* The bytes that are probably read next: for callers' sources, which may fetch them at once. */
void source_expect(const source *source, uint64_t offset, uint64_t size);

/* How many of the `size` bytes from `offset` on are in a hole of the file, so that they are zeros
 * without being read. */
uint64_t source_hole(const source *source, uint64_t offset, uint64_t size);

/* Replaces the file that is read by another one of the same size, and closes the old one; `fd`
 * stays the caller's.  The mapped bytes must be the same in both.  No other thread may read data
 * meanwhile; views stay valid. */
gufo_status source_exchange(const source *source, int fd, gufo_error *error);

/* Reads exactly [offset, offset + size), which must be inside the source. */
gufo_status source_read(const source *source, uint64_t offset, void *buffer, size_t size,
                        gufo_error *error);

#endif
