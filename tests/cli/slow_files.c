/* Loaded before libc (LD_PRELOAD): disks as slow as a tape, so that a test sees a command at work.
 *
 * Large reads and writes take a moment, and what is written is dropped: files with large holes are read, and no
 * disk fills.  Holes look like data, and no blocks are shared: everything is copied. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 64 * 1024, MOST = 1024 * 1024, NANOSECONDS = 2000000 };

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#pragma GCC visibility push(default)

off64_t lseek64(int fd, off64_t offset, int whence)
{
    off64_t (*real)(int, off64_t, int);

    *(void **)&real = next("lseek64");
    return real(fd, offset, whence == SEEK_DATA ? SEEK_SET : whence);
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, void *);
    va_list arguments;
    void *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    *(void **)&real = next("ioctl");
    if ((request >> 8 & 0xff) == 0x94) { /* those of file systems: FICLONERANGE */
        errno = EOPNOTSUPP;
        return -1;
    }
    return real(fd, request, argument);
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size,
                        unsigned flags)
{
    size_t done = size < MOST ? size : MOST;

    (void)from, (void)to, (void)flags;
    if (from_at == NULL || to_at == NULL) {
        errno = EINVAL;
        return -1;
    }
    wait_a_moment();
    *from_at += (off64_t)done;
    *to_at += (off64_t)done;
    return (ssize_t)done;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    int (*real)(int, int, off64_t, off64_t);

    *(void **)&real = next("fallocate64");
    return mode == 0 ? 0 : real(fd, mode, offset, size);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    ssize_t (*real)(int, void *, size_t, off64_t);

    *(void **)&real = next("pread64");
    if (size >= LARGE)
        wait_a_moment();
    return real(fd, buffer, size < MOST ? size : MOST, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t);

    *(void **)&real = next("pwrite64");
    if (size < LARGE)
        return real(fd, buffer, size, offset);
    wait_a_moment();
    return (ssize_t)size;
}
