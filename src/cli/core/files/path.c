/* Paths, and small files. */
#include "cli/core/files/path.h"
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

bool path_same(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool path_folder(const char *path, char out[PATH_MAX])
{
    int len = (int)(path_name(path) - path);

    return snprintf(out, PATH_MAX, "%.*s", len > 0 ? len : 1, len > 0 ? path : ".") < PATH_MAX;
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

/* ---- files that are read as a whole ---------------------------------------------------------- */

/* Bytes that move leave nothing behind: they may be a password. */
static bool grow(gufo_str *bytes, size_t room)
{
    char *longer = malloc(room);

    if (longer == NULL)
        return false;
    if (bytes->len > 0)
        memcpy(longer, bytes->data, bytes->len);
    small_file_wipe(bytes->data, bytes->len);
    free((char *)bytes->data);
    bytes->data = longer;
    return true;
}

static int read_stream(FILE *in, const char *path, size_t most, const char *too_long,
                       gufo_str *bytes)
{
    size_t room = 0, got = 1;

    while (got > 0 && bytes->len <= most) {
        if (bytes->len + 1 >= room && !grow(bytes, room = 2 * room + 4096))
            return report_memory(path);
        got = fread((char *)bytes->data + bytes->len, 1, room - bytes->len - 1, in);
        bytes->len += got;
    }
    ((char *)bytes->data)[bytes->len] = '\0';
    if (bytes->len > most)
        return report_as(CODE_FAILED, path, "%s", too_long);
    return ferror(in) ? report_system(path, errno) : CODE_OK;
}

static int read_all(FILE *in, const char *path, size_t most, const char *too_long, gufo_str *bytes)
{
    int code;

    *bytes = (gufo_str){0};
    if (in == NULL)
        return report_system(path, errno);
    (void)setvbuf(in, NULL, _IONBF, 0); /* no second copy, which would never be wiped */
    code = read_stream(in, path, most, too_long, bytes);
    if (code != CODE_OK)
        small_file_free(bytes);
    if (in != stdin)
        (void)fclose(in);
    return code;
}

int small_file_read(const char *path, size_t most, const char *too_long, gufo_str *bytes)
{
    return read_all(path_is_standard(path) ? stdin : fopen(path, "re"), path, most, too_long,
                    bytes);
}

int small_file_read_beside(const char *path, size_t most, const char *too_long, gufo_str *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    FILE *in;

    *bytes = (gufo_str){0};
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return report_as(CODE_FAILED, path, "not a regular file");
    }
    in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (in == NULL && fd >= 0)
        (void)close(fd);
    return read_all(in, path, most, too_long, bytes);
}

void small_file_wipe(const void *data, size_t size)
{
    /* A compiler may drop the clearing of memory that is not read afterwards. */
    volatile char *bytes = (char *)data;

    for (size_t i = 0; i < size; i++)
        bytes[i] = 0;
}

void small_file_free(gufo_str *bytes)
{
    small_file_wipe(bytes->data, bytes->len);
    free((char *)bytes->data);
    *bytes = (gufo_str){0};
}
