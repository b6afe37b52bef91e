#define _GNU_SOURCE /* as base/disk.c */

#include "disk.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>

/* The library's own functions, under other names. */
#define disk_open real_open
#define disk_write real_write
#define disk_copy real_copy
#define disk_clone real_clone
#define disk_reserve real_reserve
#define disk_resize real_resize
#define disk_insert real_insert
#define disk_sync real_sync
#define disk_sync_folder real_sync_folder
#define disk_rename real_rename
#define disk_link real_link
#define disk_unlink real_unlink
#undef GUFO_BASE_DISK_H
#include "base/disk.c"
#undef disk_open
#undef disk_write
#undef disk_copy
#undef disk_clone
#undef disk_reserve
#undef disk_resize
#undef disk_insert
#undef disk_sync
#undef disk_sync_folder
#undef disk_rename
#undef disk_link
#undef disk_unlink

static atomic_uint calls;
static unsigned first_failing = UINT_MAX, last_failing = UINT_MAX;
static int failure_number;
static bool helpless;

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

/* Counts a call; true if it is to fail. */
static bool fails(void)
{
    unsigned call = atomic_fetch_add(&calls, 1);

    if (call < first_failing || call > last_failing)
        return false;
    errno = failure_number;
    return true;
}

static bool unsupported(void)
{
    if (helpless)
        errno = EOPNOTSUPP;
    return helpless;
}

int disk_open(const char *path, int flags, mode_t mode)
{
    return fails() ? -1 : real_open(path, flags, mode);
}

ssize_t disk_write(int fd, const void *data, size_t size, uint64_t offset)
{
    return fails() ? -1 : real_write(fd, data, size, offset);
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
    return fails() ? -1 : real_reserve(fd, size);
}

int disk_resize(int fd, uint64_t size)
{
    return fails() ? -1 : real_resize(fd, size);
}

int disk_insert(int fd, uint64_t offset, uint64_t size)
{
    return unsupported() || fails() ? -1 : real_insert(fd, offset, size);
}

int disk_sync(int fd)
{
    return fails() ? -1 : real_sync(fd);
}

int disk_sync_folder(int fd)
{
    return fails() ? -1 : real_sync_folder(fd);
}

int disk_rename(const char *from, const char *to)
{
    return fails() ? -1 : real_rename(from, to);
}

int disk_link(const char *from, const char *to)
{
    return fails() ? -1 : real_link(from, to);
}

int disk_unlink(const char *path)
{
    return fails() ? -1 : real_unlink(path);
}
