/* The calls of disk.h on this system. */
#define _GNU_SOURCE /* copy_file_range, fallocate, F_SETLEASE */

#include "base/files/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/ioctl.h>
#include <sys/vfs.h>

/* The kernel's interface, by the values that it promises to keep: its headers (linux/falloc.h,
 * fs.h, magic.h) are not there with every C library. */
enum { KEEP_SIZE = 0x01, PUNCH_HOLE = 0x02, COLLAPSE_RANGE = 0x08, INSERT_RANGE = 0x20 };
enum { EXT4 = 0xef53, XFS = 0x58465342 };
#define F2FS UINT32_C(0xf2f52010)
struct clone_range {
    int64_t from;
    uint64_t from_offset, size, to_offset;
};
#define CLONE_RANGE _IOW(0x94, 13, struct clone_range)
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

#ifdef __linux__

/* Not posix_fallocate: where the file system has no such call, the C library's writes a zero into every
 * block, which takes as long as the work and loses what another process writes there meanwhile. */
int disk_reserve(int fd, uint64_t size)
{
    return fallocate(fd, 0, 0, (off_t)size);
}

ssize_t disk_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    off_t from_at = (off_t)from_offset, to_at = (off_t)to_offset;
    uint64_t ask = size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER;

    return copy_file_range(from, &from_at, to, &to_at, (size_t)ask, 0);
}

int disk_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
    struct clone_range range = {from, from_offset, size, to_offset};

    return ioctl(to, CLONE_RANGE, &range);
}

int disk_insert(int fd, uint64_t offset, uint64_t size)
{
    return fallocate(fd, INSERT_RANGE, (off_t)offset, (off_t)size);
}

/* A call that must fail would also show this, but it changes the file's time. */
bool disk_may_insert(int fd)
{
    static const uint32_t able[] = {EXT4, XFS, F2FS};
    struct statfs info;

    if (fstatfs(fd, &info) != 0)
        return false;
    for (size_t i = 0; i < sizeof able / sizeof *able; i++)
        if ((uint32_t)info.f_type == able[i])
            return true;
    return false;
}

int disk_collapse(int fd, uint64_t offset, uint64_t size)
{
    return fallocate(fd, COLLAPSE_RANGE, (off_t)offset, (off_t)size);
}

int disk_punch(int fd, uint64_t offset, uint64_t size)
{
    return fallocate(fd, PUNCH_HOLE | KEEP_SIZE, (off_t)offset, (off_t)size);
}

/* A process that waits for the lease makes the system send a signal, which by default would end the
 * process; this one is ignored by default. */
int disk_lease(int fd, bool take)
{
    if (take && fcntl(fd, F_SETSIG, SIGURG) != 0)
        return -1;
    return fcntl(fd, F_SETLEASE, take ? F_WRLCK : F_UNLCK);
}

#else

static int unsupported(void)
{
    errno = ENOSYS;
    return -1;
}

int disk_reserve(int fd, uint64_t size)
{
    (void)fd, (void)size;
    return unsupported();
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

bool disk_may_insert(int fd)
{
    (void)fd;
    return false;
}

int disk_collapse(int fd, uint64_t offset, uint64_t size)
{
    (void)fd, (void)offset, (void)size;
    return unsupported();
}

int disk_punch(int fd, uint64_t offset, uint64_t size)
{
    (void)fd, (void)offset, (void)size;
    return unsupported();
}

int disk_lease(int fd, bool take)
{
    (void)fd, (void)take;
    return unsupported();
}

#endif

uint64_t disk_number(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

int disk_sync(int fd)
{
    return fsync(fd);
}

int disk_sync_data(int fd)
{
    return fdatasync(fd);
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

int disk_link_by_name(const char *text, const char *path)
{
    return symlink(text, path);
}

int disk_unlink(const char *path)
{
    return unlink(path);
}

int disk_make_folder(const char *path, mode_t mode)
{
    return mkdir(path, mode);
}

int disk_remove_folder(const char *path)
{
    return rmdir(path);
}
