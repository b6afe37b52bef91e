/* Moving bytes; move.h has the idea.
 *
 * The kernel may refuse for many reasons (other file systems, old kernels, offsets that do not
 * fit).  The code does not ask why: a real fault shows when the rest is read and written.
 *
 * Targets are new files, which hold zeros: a hole of the input needs no copying. */
#include "base/files/move.h"

#include <errno.h>

#include "base/files/disk.h"
#include "base/files/output.h"

/* Linux copies in steps of this size from where it begins.  Steps that begin at its multiples in the
 * target go into large pages of the cache; others take half as long again, and to write them back, too. */
enum { COPY_STEP = 64 * 1024 };

/* A stretch that is still to be moved. */
typedef struct stretch {
    int from_fd, to_fd;
    uint64_t from, to, size;
} stretch;

static void advance(stretch *s, uint64_t bytes)
{
    s->from += bytes;
    s->to += bytes;
    s->size -= bytes;
}

/* Moves up to `limit` bytes in the kernel, as many as it can. */
static void copy(stretch *s, uint64_t limit)
{
    uint64_t left = limit < s->size ? limit : s->size;

    while (left > 0) {
        ssize_t n = disk_copy(s->from_fd, s->from, s->to_fd, s->to, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        advance(s, (uint64_t)n);
        left -= (uint64_t)n;
    }
}

/* Whether blocks of the input become blocks of the target.  Others cannot be shared, and Linux takes
 * twice as long to copy them as a program that reads and writes. */
static bool fits_blocks(const stretch *s)
{
    return s->from % MOVE_SHARED_BLOCK == s->to % MOVE_SHARED_BLOCK;
}

/* Shares the whole blocks of the stretch; the bytes before the first one are copied. */
static void share(stretch *s)
{
    uint64_t whole;

    if (s->from % MOVE_SHARED_BLOCK != 0)
        copy(s, MOVE_SHARED_BLOCK - s->from % MOVE_SHARED_BLOCK);
    whole = s->size - s->size % MOVE_SHARED_BLOCK;
    if (s->from % MOVE_SHARED_BLOCK == 0 && whole > 0 &&
        disk_clone(s->from_fd, s->from, s->to_fd, s->to, whole) == 0)
        advance(s, whole);
}

gufo_status move_bytes(const source *input, uint64_t from, uint64_t size, int to_fd, uint64_t to,
                       void *buffer, size_t buffer_size, bool *read_failed, gufo_error *error)
{
    stretch s = {input->fd, to_fd, from, to, size};
    gufo_status status = GUFO_OK;

    *read_failed = false;
    advance(&s, source_hole(input, from, size));
    if (input->fd >= 0 && !input->sequential && fits_blocks(&s)) {
        share(&s);
        copy(&s, (COPY_STEP - s.to % COPY_STEP) % COPY_STEP);
        copy(&s, s.size);
    }
    while (s.size > 0 && status == GUFO_OK) {
        size_t step = s.size < buffer_size ? (size_t)s.size : buffer_size;

        status = source_read(input, s.from, buffer, step, error);
        *read_failed = status != GUFO_OK;
        if (status == GUFO_OK)
            status = output_write_at(to_fd, s.to, buffer, step, error);
        advance(&s, step);
    }
    return status;
}
