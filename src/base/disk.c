/* The calls of disk.h, as this system has them. */
#define _GNU_SOURCE /* copy_file_range, fallocate */

#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

/* The largest single request: beyond this Linux transfers less than was asked for anyway. */
#define LARGEST_TRANSFER ((uint64_t)1 << 30)

int disk_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

ssize_t disk_write(int fd, const void *data, size_t size, uint64_t offset)
{
    return pwrite(fd, data, size, (off_t)offset);
}

int disk_resize(int fd, uint64_t size)
{
    return ftruncate(fd, (off_t)size);
}

int disk_reserve(int fd, uint64_t size)
{
    int failure = posix_fallocate(fd, 0, (off_t)size);

    errno = failure;
    return failure == 0 ? 0 : -1;
}

#ifdef __linux__

ssize_t disk_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    off_t from_at = (off_t)from_offset, to_at = (off_t)to_offset;
    uint64_t ask = size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER;

    return copy_file_range(from, &from_at, to, &to_at, (size_t)ask, 0);
}

int disk_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    struct file_clone_range range = {
        .src_fd = from, .src_offset = from_offset, .src_length = size, .dest_offset = to_offset};

    return ioctl(to, FICLONERANGE, &range);
}

int disk_insert(int fd, uint64_t offset, uint64_t size)
{
    return fallocate(fd, FALLOC_FL_INSERT_RANGE, (off_t)offset, (off_t)size);
}

#else

static int unsupported(void)
{
    errno = ENOSYS;
    return -1;
}

ssize_t disk_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size;
    return unsupported();
}

int disk_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size;
    return unsupported();
}

int disk_insert(int fd, uint64_t offset, uint64_t size)
{
    (void)fd, (void)offset, (void)size;
    return unsupported();
}

#endif

int disk_sync(int fd)
{
    return fsync(fd);
}

int disk_sync_folder(int fd)
{
    return fsync(fd);
}

int disk_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int disk_link(const char *from, const char *to)
{
    return link(from, to);
}

int disk_unlink(const char *path)
{
    return unlink(path);
}
