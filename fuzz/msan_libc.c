/* stat, fstat and getentropy for builds with MemorySanitizer.
 *
 * The sanitizer knows from a list what memory a function of libc fills in.  That of clang 14 lacks
 * these in glibc since 2.33, so that all they say would pass for uninitialised.  Here memory is
 * set before the system is asked. */
#define _GNU_SOURCE /* AT_EMPTY_PATH, getentropy, syscall */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fstat(int fd, struct stat *info)
{
    memset(info, 0, sizeof *info);
    return (int)syscall(SYS_newfstatat, fd, "", info, AT_EMPTY_PATH);
}

int stat(const char *path, struct stat *info)
{
    memset(info, 0, sizeof *info);
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, info, 0);
}

int getentropy(void *buffer, size_t length)
{
    memset(buffer, 0, length);
    return syscall(SYS_getrandom, buffer, length, 0) == (long)length ? 0 : -1;
}
