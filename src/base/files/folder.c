/* The folder of a file. */
#include "base/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/hash.h"

size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

bool folder_same(const char *a, const char *b)
{
    size_t len = folder_len(a);

    return len == folder_len(b) && memcmp(a, b, len) == 0;
}

bool folder_of(const char *path, char out[PATH_MAX])
{
    size_t len = folder_len(path);

    if (len >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(out, len > 0 ? path : ".", len > 0 ? len : 1);
    out[len > 0 ? len : 1] = '\0';
    return true;
}

void temporary_name(char name[TEMPORARY_NAME])
{
    (void)snprintf(name, TEMPORARY_NAME, ".gufo-%016" PRIx64 ".tmp", hash_key_new().k0);
}

gufo_status folder_sync(const char *path, bool *opened, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    char folder[PATH_MAX];
    int fd = folder_of(path, folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    *opened = fd >= 0;
    if (fd < 0)
        return fail_io(error, errno, "cannot open the folder");
    if (disk_sync_folder(fd) != 0 && errno != EINVAL)
        status = fail_io(error, errno, "cannot sync the folder");
    (void)close(fd);
    return status;
}

gufo_status folder_sync_names(const char *path, gufo_error *error)
{
    bool opened;
    gufo_status status = folder_sync(path, &opened, error);

    return opened ? status : GUFO_OK;
}
