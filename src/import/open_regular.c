/* Opening a file that may be anything: files of an import are read several times, and found by
 * their names.  Opening a device, or a pipe, may have effects. */
#include "import/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"

int open_regular(const char *path, gufo_error *error)
{
    struct stat info;
    int fd;

    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        (void)refuse(error, GUFO_E_IO, "is not a regular file");
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        (void)fail_io(error, errno, "cannot open");
    return fd;
}

bool is_plain_name(gufo_str name)
{
    return name.len > 0 && name.len <= NAME_MAX && memchr(name.data, '/', name.len) == NULL &&
           memchr(name.data, '\0', name.len) == NULL && !gufo_str_equal(name, gufo_str_of(".")) &&
           !gufo_str_equal(name, gufo_str_of(".."));
}

char *path_in(const char *folder, const char *name, const gufo_allocator *allocator)
{
    size_t len = folder != NULL ? strlen(folder) : 0, rest = strlen(name);
    char *path = mem_alloc(allocator, len + 1 + rest + 1), *end = path;

    if (path == NULL)
        return NULL;
    if (folder != NULL) {
        memcpy(end, folder, len);
        end += len;
        *end++ = '/';
    }
    memcpy(end, name, rest + 1);
    return path;
}
