#define _GNU_SOURCE /* as base/files/disk.c */

#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library's own functions, under other names. */
#define disk_open real_open
#define disk_write real_write
#define disk_copy real_copy
#define disk_clone real_clone
#define disk_reserve real_reserve
#define disk_resize real_resize
#define disk_insert real_insert
#define disk_may_insert real_may_insert
#define disk_collapse real_collapse
#define disk_punch real_punch
#define disk_lease real_lease
#define disk_number real_number
#define disk_sync real_sync
#define disk_sync_data real_sync_data
#define disk_sync_folder real_sync_folder
#define disk_rename real_rename
#define disk_link real_link
#define disk_unlink real_unlink
#define disk_make_folder real_make_folder
#define disk_remove_folder real_remove_folder
#undef GUFO_BASE_DISK_H
#include "base/files/disk.c"
#undef disk_open
#undef disk_write
#undef disk_copy
#undef disk_clone
#undef disk_reserve
#undef disk_resize
#undef disk_insert
#undef disk_may_insert
#undef disk_collapse
#undef disk_punch
#undef disk_lease
#undef disk_number
#undef disk_sync
#undef disk_sync_data
#undef disk_sync_folder
#undef disk_rename
#undef disk_link
#undef disk_unlink
#undef disk_make_folder
#undef disk_remove_folder

static atomic_uint calls;
static unsigned first_failing = UINT_MAX, last_failing = UINT_MAX;
static int failure_number;
static bool helpless, syncless;

static void fail_between(unsigned first, unsigned last, int failure)
{
    atomic_store(&calls, 0);
    first_failing = first;
    last_failing = last;
    failure_number = failure;
}

void disk_fail_from(unsigned call, int failure)
{
    fail_between(call, UINT_MAX, failure);
}

void disk_fail_once(unsigned call, int failure)
{
    fail_between(call, call, failure);
}

void disk_fail_never(void)
{
    fail_between(UINT_MAX, 0, 0);
}

unsigned disk_call_count(void)
{
    return atomic_load(&calls);
}

void disk_without_help(bool without)
{
    helpless = without;
}

void disk_without_sync(bool without)
{
    syncless = without;
}

/* Counts a call; true if it is to fail. */
static bool fails(void)
{
    unsigned call = atomic_fetch_add(&calls, 1);

    if (call < first_failing || call > last_failing)
        return false;
    errno = failure_number;
    return true;
}

static bool simulating, lease_refused;

static bool unsupported(void)
{
    if (helpless || simulating)
        errno = EOPNOTSUPP;
    return helpless || simulating;
}

static void (*observe)(void *context, const disk_call *call);
static void *observe_context;

void disk_simulate(bool simulate)
{
    simulating = simulate;
}

void disk_refuse_lease(bool refuse)
{
    lease_refused = refuse;
}

void disk_observe(void (*observer)(void *context, const disk_call *call), void *context)
{
    observe = observer;
    observe_context = context;
}

/* Tells of a call that has returned `result`, and returns it. */
static int tell(int result, disk_call call)
{
    int failure = errno;

    if (result >= 0 && observe != NULL)
        observe(observe_context, &call);
    errno = failure;
    return result;
}

/* ---- simulated blocks ----------------------------------------------------------------------- */

enum { BLOCK = 4096 };

/* Moves what follows `from` to `to`. */
static int shift(int fd, uint64_t from, uint64_t to)
{
    size_t size, gap = to > from ? (size_t)(to - from) : 0;
    struct stat info;
    char *rest;
    int result = -1;

    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size <= from || from % BLOCK != 0 ||
        to % BLOCK != 0) {
        errno = EINVAL;
        return -1;
    }
    size = (size_t)((uint64_t)info.st_size - from);
    rest = calloc(1, size + gap);
    if (rest != NULL && pread(fd, rest, size, (off_t)from) == (ssize_t)size) {
        ssize_t moved = pwrite(fd, rest, size, (off_t)to);

        memset(rest, 0, size);
        if (gap > 0 && moved == (ssize_t)size)
            moved = pwrite(fd, rest, gap, (off_t)from) > 0 ? moved : -1;
        if (moved == (ssize_t)size)
            result = ftruncate(fd, (off_t)(to + size));
    }
    free(rest);
    return result;
}

/* ---- the calls ------------------------------------------------------------------------------ */

int disk_open(const char *path, int flags, mode_t mode)
{
    bool creates = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
    int fd = fails() ? -1 : real_open(path, flags, mode);

    return creates ? tell(fd, (disk_call){.kind = DISK_CREATE, .fd = fd, .path = path}) : fd;
}

ssize_t disk_write(int fd, const void *data, size_t size, uint64_t offset)
{
    ssize_t n = fails() ? -1 : real_write(fd, data, size, offset);

    if (n > 0)
        (void)tell(0, (disk_call){DISK_WRITE, fd, NULL, NULL, data, offset, (uint64_t)n});
    return n;
}

ssize_t disk_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    return unsupported() || fails() ? -1 : real_copy(from, from_offset, to, to_offset, size);
}

int disk_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    return unsupported() || fails() ? -1 : real_clone(from, from_offset, to, to_offset, size);
}

int disk_reserve(int fd, uint64_t size)
{
    return tell(fails() ? -1 : real_reserve(fd, size),
                (disk_call){.kind = DISK_RESIZE, .fd = fd, .size = size});
}

int disk_resize(int fd, uint64_t size)
{
    return tell(fails() ? -1 : real_resize(fd, size),
                (disk_call){.kind = DISK_RESIZE, .fd = fd, .size = size});
}

int disk_insert(int fd, uint64_t offset, uint64_t size)
{
    int result = -1;

    if (!(helpless && unsupported()) && !fails())
        result = simulating ? shift(fd, offset, offset + size) : real_insert(fd, offset, size);
    return tell(result, (disk_call){.kind = DISK_INSERT, .fd = fd, .offset = offset, .size = size});
}

bool disk_may_insert(int fd)
{
    return !helpless && (simulating || real_may_insert(fd));
}

int disk_collapse(int fd, uint64_t offset, uint64_t size)
{
    int result = -1;

    if (!(helpless && unsupported()) && !fails())
        result = simulating ? shift(fd, offset + size, offset) : real_collapse(fd, offset, size);
    return tell(result,
                (disk_call){.kind = DISK_COLLAPSE, .fd = fd, .offset = offset, .size = size});
}

int disk_punch(int fd, uint64_t offset, uint64_t size)
{
    int result = helpless && unsupported() ? -1 : fails() ? -1 : real_punch(fd, offset, size);

    return tell(result, (disk_call){.kind = DISK_PUNCH, .fd = fd, .offset = offset, .size = size});
}

int disk_lease(int fd, bool take)
{
    if (lease_refused) {
        errno = EAGAIN;
        return -1;
    }
    return simulating ? 0 : real_lease(fd, take);
}

/* A disk that is rebuilt has the same files under other numbers. */
uint64_t disk_number(int fd)
{
    return simulating ? 0 : real_number(fd);
}

int disk_sync(int fd)
{
    int result = fails() ? -1 : simulating || syncless ? 0 : real_sync(fd);

    return tell(result, (disk_call){.kind = DISK_SYNC, .fd = fd});
}

int disk_sync_data(int fd)
{
    int result = fails() ? -1 : simulating || syncless ? 0 : real_sync_data(fd);

    return tell(result, (disk_call){.kind = DISK_SYNC, .fd = fd});
}

int disk_sync_folder(int fd)
{
    int result = fails() ? -1 : simulating || syncless ? 0 : real_sync_folder(fd);

    return tell(result, (disk_call){.kind = DISK_SYNC_FOLDER, .fd = fd});
}

int disk_rename(const char *from, const char *to)
{
    return tell(fails() ? -1 : real_rename(from, to),
                (disk_call){.kind = DISK_RENAME, .fd = -1, .path = from, .to = to});
}

int disk_link(const char *from, const char *to)
{
    return tell(fails() ? -1 : real_link(from, to),
                (disk_call){.kind = DISK_LINK, .fd = -1, .path = from, .to = to});
}

int disk_unlink(const char *path)
{
    return tell(fails() ? -1 : real_unlink(path),
                (disk_call){.kind = DISK_UNLINK, .fd = -1, .path = path});
}

int disk_make_folder(const char *path, mode_t mode)
{
    return tell(fails() ? -1 : real_make_folder(path, mode),
                (disk_call){.kind = DISK_MAKE_FOLDER, .fd = -1, .path = path});
}

int disk_remove_folder(const char *path)
{
    return tell(fails() ? -1 : real_remove_folder(path),
                (disk_call){.kind = DISK_REMOVE_FOLDER, .fd = -1, .path = path});
}
