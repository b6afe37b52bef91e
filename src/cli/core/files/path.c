/* Paths. */
#include "cli/core/files/path.h"

#include "base/files/folder.h"
#include "cli/core/terminal/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool path_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool path_exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 || errno != ENOENT;
}

bool path_is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

size_t path_begin(const char *path, void *bytes, size_t size)
{
    struct stat info;
    /* Bytes of a pipe would be missing afterwards; what takes the place of a file must not be waited
     * for. */
    bool is_file = !path_is_standard(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    int fd = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    ssize_t got = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        got = pread(fd, bytes, size, 0);
    if (fd >= 0)
        (void)close(fd);
    return got > 0 ? (size_t)got : 0;
}

char *path_format(const char *format, ...)
{
    char *path = NULL;
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len >= 0)
        path = malloc((size_t)len + 1);
    if (path == NULL) {
        report_memory(NULL);
        return NULL;
    }
    va_start(arguments, format);
    vsnprintf(path, (size_t)len + 1, format, arguments);
    va_end(arguments);
    return path;
}

char *path_with(const char *path, const char *suffix)
{
    return path_format("%s%s", path, suffix);
}

char *path_beside(const char *path, const char *name)
{
    return path_format("%.*s%s", (int)(path_name(path) - path), path, name);
}
