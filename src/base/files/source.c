/* Sources of bytes; source.h has the idea.
 *
 * Metadata of a regular file is mapped: nothing is copied, and only the pages in use are read.
 * Bulk data goes through pread even then, because an I/O error in a mapping is a signal and from
 * pread it is an error. */
#define _GNU_SOURCE /* SEEK_DATA */

#include "base/files/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

/* Shorter holes are read: asking for them would take as long. */
enum { FIRST_READ = 64 * 1024, DRAIN_READ = 64 * 1024, LEAST_HOLE = 64 * 1024 };

/* The largest single request: beyond this Linux transfers less than was asked for anyway. */
#define LARGEST_READ ((size_t)1 << 30)

gufo_status source_read_fd(int fd, uint64_t offset, void *buffer, size_t size, size_t *got,
                           gufo_error *error)
{
    uint8_t *bytes = buffer;

    *got = 0;
    while (*got < size) {
        size_t ask = (size_t)smaller(size - *got, LARGEST_READ);
        ssize_t n = offset == GUFO_NO_OFFSET ? read(fd, bytes + *got, ask)
                                             : pread(fd, bytes + *got, ask, (off_t)(offset + *got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io(error, errno, "cannot read");
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return GUFO_OK;
}

/* Whether to read on, of a size that is not known. */
static gufo_status note_progress(const source *s, uint64_t done, gufo_error *error)
{
    if (s->progress == NULL || s->progress(s->progress_context, done, 0))
        return GUFO_OK;
    return refuse(error, GUFO_E_STOPPED, "stopped");
}

/* Waits until a read of a pipe would not.  Meanwhile it may be stopped. */
static gufo_status wait_for_bytes(const source *s, uint64_t done, gufo_error *error)
{
    enum { TICK = 100 }; /* ms */
    struct pollfd waited = {.fd = s->fd, .events = POLLIN};
    gufo_status status = GUFO_OK;
    int ready = 0;

    while (status == GUFO_OK && ready == 0) {
        ready = poll(&waited, 1, TICK);
        if (ready < 0 && errno == EINTR)
            ready = 0;
        if (ready == 0)
            status = note_progress(s, done, error);
    }
    return status; /* what else is wrong, the read reports */
}

static gufo_status fetch_descriptor(source *s, uint64_t offset, void *buffer, size_t size,
                                    size_t *got, gufo_error *error)
{
    uint8_t *bytes = buffer;
    ssize_t n = 1;

    if (!s->sequential)
        return source_read_fd(s->fd, offset, buffer, size, got, error);
    for (*got = 0; *got < size && n != 0; *got += n > 0 ? (size_t)n : 0) {
        gufo_status status = wait_for_bytes(s, offset + *got, error);

        if (status != GUFO_OK)
            return status;
        n = read(s->fd, bytes + *got, (size_t)smaller(size - *got, LARGEST_READ));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return fail_io(error, errno, "cannot read");
    }
    return GUFO_OK;
}

/* A caller's reader need not say why it failed. */
static gufo_status read_user(const source *s, uint64_t offset, void *buffer, size_t size,
                             gufo_error *error)
{
    gufo_error reason;
    gufo_status status;

    (void)fail_with(&reason, GUFO_E_IO, offset, "the source cannot be read");
    status = s->user.read(s->user.context, offset, buffer, size, &reason);
    return status == GUFO_OK ? GUFO_OK : fail_from_callback(error, status, &reason);
}

static gufo_status fetch_user(source *s, uint64_t offset, void *buffer, size_t size, size_t *got,
                              gufo_error *error)
{
    *got = size;
    return read_user(s, offset, buffer, size, error);
}

/* Maps the whole file; false where that is impossible. */
static bool map_file(source *s, uint64_t size)
{
    if (size == 0 || size > SIZE_MAX)
        return false;
    s->mapping = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (s->mapping == MAP_FAILED) {
        s->mapping = NULL;
        return false;
    }
    s->mapping_size = (size_t)size;
    s->base = s->mapping;
    s->have = size;
    return true;
}

gufo_status source_open_fd(source *s, int fd, bool map, uint64_t buffer_limit,
                           const gufo_allocator *allocator, gufo_error *error)
{
    struct stat info;
    off_t end;

    *s = (source){.fd = fd, .allocator = allocator, .buffer_limit = buffer_limit};
    if (fstat(fd, &info) != 0)
        return fail_io(error, errno, "cannot examine");
    if (S_ISDIR(info.st_mode))
        return fail_io(error, EISDIR, "cannot read");
    s->fetch = fetch_descriptor;
    s->modified = info.st_mtim;
    end = S_ISREG(info.st_mode)   ? info.st_size
          : S_ISBLK(info.st_mode) ? lseek(fd, 0, SEEK_END)
                                  : -1;
    s->sequential = end < 0;
    s->size = s->sequential ? SOURCE_SIZE_UNKNOWN : (uint64_t)end;
    if (map && S_ISREG(info.st_mode))
        (void)map_file(s, s->size);
    return GUFO_OK;
}

void source_open_memory(source *s, const void *data, size_t size)
{
    *s = (source){.fd = -1, .base = data, .have = size, .size = size};
}

void source_open_user(source *s, const gufo_source *user, uint64_t buffer_limit,
                      const gufo_allocator *allocator)
{
    *s = (source){.fd = -1,
                  .size = user->size,
                  .fetch = fetch_user,
                  .user = *user,
                  .allocator = allocator,
                  .buffer_limit = buffer_limit};
}

void source_close(source *s)
{
    if (s->mapping != NULL)
        (void)munmap(s->mapping, s->mapping_size);
    if (s->buffer != NULL)
        mem_free(s->allocator, s->buffer);
    if (s->fd >= 0)
        (void)close(s->fd);
    if (s->user.close != NULL)
        s->user.close(s->user.context);
    *s = (source){.fd = -1};
}

static gufo_status resize_buffer(source *s, uint64_t capacity, gufo_error *error)
{
    uint8_t *bigger =
        capacity > SIZE_MAX ? NULL : mem_resize(s->allocator, s->buffer, (size_t)capacity);

    if (bigger == NULL)
        return fail_memory(error);
    s->base = s->buffer = bigger;
    s->capacity = (size_t)capacity;
    return GUFO_OK;
}

/* How far to read next: doubling, so that the cost stays linear.  A length in the file does not
 * count before its bytes have arrived. */
static uint64_t next_goal(const source *s)
{
    uint64_t goal = s->have < FIRST_READ / 2 ? FIRST_READ : s->have * 2;

    if (goal > s->size)
        goal = s->size;
    return goal > s->buffer_limit ? s->buffer_limit : goal;
}

/* Reads on, towards `upto` at least. */
static gufo_status read_on(source *s, uint64_t upto, gufo_error *error)
{
    uint64_t room = next_goal(s), goal = s->no_read_ahead && upto < room ? upto : room;
    gufo_status status;
    size_t got;

    s->over_limit = goal <= s->have;
    if (s->over_limit)
        return fail_with(error, GUFO_E_LIMIT, s->have,
                         "metadata is longer than %s bytes, the limit for input that "
                         "cannot be mapped",
                         GROUPED(s->buffer_limit));
    if (goal > s->capacity && (status = resize_buffer(s, room, error)) != GUFO_OK)
        return status;
    status = s->fetch(s, s->have, s->buffer + s->have, (size_t)(goal - s->have), &got, error);
    if (status != GUFO_OK)
        return status;
    s->have += got;
    if (s->have < goal) /* the end came early: a pipe's, or the file was truncated meanwhile */
        s->size = s->have;
    return note_progress(s, s->have, error);
}

gufo_status source_need(source *s, uint64_t upto, gufo_error *error)
{
    while (s->have < upto && s->have < s->size && upto <= s->size) {
        gufo_status status = read_on(s, upto, error);

        if (status != GUFO_OK)
            return status;
    }
    return GUFO_OK;
}

void source_trim(source *s, uint64_t used)
{
    if (s->buffer == NULL || used == 0 || used >= s->capacity)
        return;
    if (resize_buffer(s, used, NULL) == GUFO_OK)
        s->have = s->have < used ? s->have : used;
}

gufo_status source_drain(source *s, gufo_error *error)
{
    uint8_t scrap[DRAIN_READ];
    uint64_t total = s->have;

    if (s->size != SOURCE_SIZE_UNKNOWN)
        return GUFO_OK;
    for (;;) {
        size_t got;
        gufo_status status = s->fetch(s, total, scrap, sizeof scrap, &got, error);

        if (status != GUFO_OK)
            return status;
        total += got;
        if (got < sizeof scrap)
            break;
        if ((status = note_progress(s, total, error)) != GUFO_OK)
            return status;
    }
    s->size = total;
    return GUFO_OK;
}

void source_end(source *s)
{
    if (s->size == SOURCE_SIZE_UNKNOWN)
        s->size = s->have;
}

uint64_t source_hole(const source *s, uint64_t offset, uint64_t size)
{
#ifdef SEEK_DATA
    off_t data;

    if (s->fd < 0 || s->sequential || size < LEAST_HOLE)
        return 0;
    data = lseek(s->fd, (off_t)offset, SEEK_DATA);
    if (data < 0 && errno == ENXIO) /* nothing but a hole follows, unless the file was truncated */
        data = lseek(s->fd, 0, SEEK_END);
    return data < 0 || (uint64_t)data < offset ? 0 : smaller((uint64_t)data - offset, size);
#else
    (void)s, (void)offset, (void)size;
    return 0;
#endif
}

gufo_status source_read(const source *s, uint64_t offset, void *buffer, size_t size,
                        gufo_error *error)
{
    gufo_status status;
    size_t got = size;

    if (s->fd >= 0 && !s->sequential)
        status = source_read_fd(s->fd, offset, buffer, size, &got, error);
    else if (range_inside(offset, size, s->have)) {
        memcpy(buffer, s->base + offset, size);
        return GUFO_OK;
    } else if (s->user.read != NULL)
        status = read_user(s, offset, buffer, size, error);
    else
        return fail_with(error, GUFO_E_ARGUMENT, offset,
                         "data of a pipe can be read only once; give a file");
    if (status == GUFO_OK && got < size)
        return fail_with(error, GUFO_E_TRUNCATED, offset + got,
                         "the file was truncated while it was being read");
    return status;
}

gufo_status source_unchanged(const source *s, gufo_error *error)
{
    struct stat info;

    if (s->fd < 0 || s->sequential)
        return GUFO_OK;
    if (fstat(s->fd, &info) != 0)
        return fail_io(error, errno, "cannot examine");
    if (!S_ISREG(info.st_mode) ||
        ((uint64_t)info.st_size == s->size && info.st_mtim.tv_sec == s->modified.tv_sec &&
         info.st_mtim.tv_nsec == s->modified.tv_nsec))
        return GUFO_OK;
    return refuse(error, GUFO_E_CHANGED, "the file was changed while it was being read");
}

gufo_status source_exchange(const source *s, int fd, gufo_error *error)
{
    if (s->mapping != NULL &&
        mmap(s->mapping, s->mapping_size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return fail_io(error, errno, "cannot map");
    if (dup2(fd, s->fd) < 0 || fcntl(s->fd, F_SETFD, FD_CLOEXEC) < 0)
        return fail_io(error, errno, "cannot exchange");
    return GUFO_OK;
}
