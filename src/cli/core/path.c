/* Paths. */
#include "cli/core/path.h"

#include "cli/core/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
