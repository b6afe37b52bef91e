/* Sources of bytes behind a descriptor; a build without a system has source_none.c instead.
 *
 * Metadata of a regular file is mapped: nothing is copied, and only the pages in use are read.
 * Bulk data goes through pread even then, because an I/O error in a mapping is a signal and from
 * pread it is an error. */
#define _GNU_SOURCE /* SEEK_DATA */

#include "base/files/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"

/* Shorter holes are read: asking for them would take as long. */
enum { LEAST_HOLE = 64 * 1024 };

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
            status = source_note(s, done, error);
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

void source_close_fd(source *s)
{
    if (s->mapping != NULL)
        (void)munmap(s->mapping, s->mapping_size);
    if (s->fd >= 0)
        (void)close(s->fd);
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

gufo_status source_unchanged_fd(const source *s, gufo_error *error)
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
