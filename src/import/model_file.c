/* Files of a model folder; model_file.h has the rule. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "import/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/beneath.h"
#include "base/files/folder.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/advise.h"
#include "import/open_regular.h"

#define CACHED "models--"
#define BLOBS "blobs"

/* ---- the caches of Hugging Face's tools ------------------------------------------------------ */

/* Cuts the last name off a path; "" if it has none. */
static const char *cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL)
        return "";
    *slash = '\0';
    return slash + 1;
}

/* The folder of the files of all revisions, if `folder` is one of them; -1. */
static int open_blobs(const char *folder)
{
    char path[PATH_MAX];
    const char *above;
    int repository, blobs;

    if (realpath(folder, path) == NULL)
        return -1;
    (void)cut_last(path);
    above = cut_last(path);
    if (strcmp(above, "snapshots") != 0 ||
        !str_begins(gufo_str_of(path + folder_len(path)), CACHED))
        return -1;
    repository = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    blobs = repository >= 0
                ? openat(repository, BLOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                : -1;
    if (repository >= 0)
        (void)close(repository);
    return blobs;
}

/* Of "../../blobs/HASH", the text of a link so many folders below that of its revision: HASH; NULL for any
 * other text. */
static const char *blob_of(const char *text, size_t folders)
{
    static const char up[] = "../";

    for (size_t i = 0; i < folders + 2; i++) {
        if (strncmp(text, up, sizeof up - 1) != 0)
            return NULL;
        text += sizeof up - 1;
    }
    if (strncmp(text, BLOBS "/", sizeof BLOBS) != 0)
        return NULL;
    text += sizeof BLOBS;
    return is_plain_name(gufo_str_of(text)) ? text : NULL;
}

static size_t count_folders(const char *name)
{
    size_t count = 0;

    for (; *name != '\0'; name++)
        count += *name == '/';
    return count;
}

/* The text and the owner of a link. */
static bool read_link(int parent, const char *name, char text[PATH_MAX], uid_t *owner)
{
    ssize_t len = readlinkat(parent, name, text, PATH_MAX);
    struct stat info;

    if (len < 0 || len >= PATH_MAX || fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    text[len] = '\0';
    *owner = info.st_uid;
    return true;
}

static int open_blob(const char *folder, const char *hash, uid_t owner)
{
    int blobs = open_blobs(folder), fd = blobs >= 0 ? beneath_open(blobs, hash) : -1;
    struct stat info;

    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != owner)) {
        (void)close(fd);
        fd = -1;
    }
    if (blobs >= 0)
        (void)close(blobs);
    return fd;
}

/* The file that a link of a cache leads to; -1: it is none. */
static int open_cached(int root, const char *folder, const char *name)
{
    char text[PATH_MAX], place[PATH_MAX];
    const char *last = name + folder_len(name), *hash = NULL;
    uid_t owner = 0;
    int parent = folder_of(name, place) ? beneath_open_folder(root, place) : -1;

    if (parent >= 0 && read_link(parent, last, text, &owner))
        hash = blob_of(text, count_folders(name));
    if (parent >= 0)
        (void)close(parent);
    return hash != NULL ? open_blob(folder, hash, owner) : -1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gufo_status fail_opening(int failure, gufo_error *error)
{
    if (failure == EXDEV)
        return import_advise(
            refuse(error, GUFO_E_MALFORMED, "a symlink leads out of the model's folder"),
            GUFO_ADVICE_FOLLOW, error);
    return failure == ENODEV ? refuse(error, GUFO_E_IO, "is not a regular file")
                             : fail_io(error, failure, "cannot open");
}

/* With errno. */
static int open_inside(const char *folder, const char *name)
{
    int root = beneath_root(folder), fd, failure;

    if (root < 0)
        return -1;
    fd = beneath_open(root, name);
    failure = errno;
    if (fd < 0 && failure == EXDEV)
        fd = open_cached(root, folder, name);
    (void)close(root);
    errno = failure;
    return fd;
}

/* Wherever it leads. */
static gufo_status open_anywhere(const char *folder, const char *name, int *fd, gufo_error *error)
{
    char *path = path_in(folder, name, &default_allocator);

    if (path == NULL)
        return fail_memory(error);
    *fd = open_regular(path, error);
    mem_free(&default_allocator, path);
    return *fd >= 0 ? GUFO_OK : GUFO_E_IO;
}

gufo_status model_file_open(const char *folder, const char *name, const import_bounds *bounds,
                            int *fd, gufo_error *error)
{
    if (folder == NULL || (bounds != NULL && bounds->follow))
        return open_anywhere(folder, name, fd, error);
    *fd = open_inside(folder, name);
    return *fd >= 0 ? GUFO_OK : fail_opening(errno, error);
}

gufo_status model_file_list(const char *folder, const char *name, const import_bounds *bounds,
                            DIR **listing, gufo_error *error)
{
    bool follow = bounds != NULL && bounds->follow;
    int root = beneath_root(folder), fd = -1, failure = errno;

    *listing = NULL;
    if (root >= 0) {
        fd = follow ? openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                    : beneath_open_folder(root, name);
        failure = errno;
        (void)close(root);
    }
    if (fd < 0)
        return failure == ENOENT && !model_file_exists(folder, name) ? GUFO_OK
                                                                     : fail_opening(failure, error);
    *listing = fdopendir(fd);
    if (*listing != NULL)
        return GUFO_OK;
    failure = errno;
    (void)close(fd);
    return fail_io(error, failure, "cannot list the folder");
}

bool model_file_exists(const char *folder, const char *name)
{
    char *path = path_in(folder, name, &default_allocator);
    struct stat info;
    bool exists = path == NULL || lstat(path, &info) == 0 || errno != ENOENT;

    mem_free(&default_allocator, path);
    return exists;
}
