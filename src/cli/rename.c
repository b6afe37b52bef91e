/* Several files get new names.
 *
 *     look     no new name may be taken
 *     aside    files whose names are wanted (--force) get temporary ones
 *     name     a link with the new name, then the old one goes: a name that is taken meanwhile
 *              is noticed, and at no moment a file has no name
 *     forget   what was put aside is removed
 *
 * Whatever fails before the last step is taken back in the opposite order.  A program that is killed
 * in between leaves every file there, under the old name, the new one or both. */
#include "cli/rename.h"

#include "base/files/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/files/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The length of the folder at the beginning of a path, with its '/'. */
static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool is_taken(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 || errno != ENOENT;
}

/* ---- one file ------------------------------------------------------------------------------- */

static bool links_unsupported(int failure)
{
    return failure == EPERM || failure == EOPNOTSUPP || failure == ENOSYS || failure == EMLINK;
}

/* Like rename(), but fails with EEXIST if `to` exists. */
static int rename_new(const char *from, const char *to)
{
    int failure;

    if (disk_link(from, to) == 0) {
        if (disk_unlink(from) == 0)
            return 0;
        failure = errno;
        (void)disk_unlink(to);
        errno = failure;
        return -1;
    }
    if (!links_unsupported(errno))
        return -1;
    if (!is_taken(to))
        return disk_rename(from, to);
    errno = EEXIST;
    return -1;
}

static gufo_status look(const rename_move *move, bool force, gufo_error *error)
{
    struct stat info;

    bool exists = lstat(move->to, &info) == 0;

    if (!exists && errno != ENOENT)
        return fail_io(error, errno, "cannot look at it");
    gufo_status status = pending_refuse(move->to, exists ? &info : NULL, &default_allocator, error);

    if (status != GUFO_OK || !exists)
        return status;
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "exists already, and is not a file");
    if (!force)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "exists already");
    return GUFO_OK;
}

/* Room for the name of what is put aside. */
#define ASIDE_NAME 48

static gufo_status put_aside(rename_move *move, size_t index, gufo_error *error)
{
    size_t prefix = folder_len(move->to);

    if (!is_taken(move->to))
        return GUFO_OK;
    move->aside = malloc(prefix + ASIDE_NAME);
    if (move->aside == NULL)
        return fail_with(error, GUFO_E_MEMORY, GUFO_NO_OFFSET, "out of memory");
    memcpy(move->aside, move->to, prefix);
    snprintf(move->aside + prefix, ASIDE_NAME, ".gufo-%ld-%zu.tmp", (long)getpid(), index);
    if (rename_new(move->to, move->aside) != 0)
        return fail_io(error, errno, "cannot be put aside");
    move->is_aside = true;
    return GUFO_OK;
}

static gufo_status give_name(rename_move *move, gufo_error *error)
{
    if (rename_new(move->from, move->to) != 0)
        return errno == EEXIST ? fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "exists already")
                               : fail_io(error, errno, "cannot be renamed to %s", move->to);
    move->is_moved = true;
    return GUFO_OK;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Adds to the message that a file is not where it was. */
static void tell_stranded(gufo_error *error, const char *where)
{
    size_t len = strlen(error->message);

    (void)snprintf(error->message + len, sizeof error->message - len,
                   "; it could not be moved back: the file is now %s", where);
}

static void take_back(rename_move *moves, size_t count, gufo_error *error)
{
    for (rename_move *move = moves + count; move-- > moves;) {
        if (move->is_moved && rename_new(move->to, move->from) != 0)
            tell_stranded(error, move->to);
        else if (move->is_moved)
            move->is_moved = false;
    }
    for (rename_move *move = moves + count; move-- > moves;) {
        if (move->is_aside && rename_new(move->aside, move->to) != 0)
            tell_stranded(error, move->aside);
        else if (move->is_aside)
            move->is_aside = false;
    }
}

/* Nothing can be done about a failure here: the new names are given. */
static void forget(const rename_move *moves, size_t count)
{
    char *path = strdup(moves->to);
    int fd = -1;

    for (size_t i = 0; i < count; i++)
        if (moves[i].is_aside)
            (void)disk_unlink(moves[i].aside);
    if (path != NULL) {
        path[folder_len(path)] = '\0';
        fd = open(*path == '\0' ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd >= 0) {
        (void)disk_sync_folder(fd);
        (void)close(fd);
    }
    free(path);
}

gufo_status rename_all(rename_move *moves, size_t count, bool force, const char **failed_path,
                       gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        *failed_path = moves[i].to;
        status = look(&moves[i], force, error);
    }
    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        *failed_path = moves[i].to;
        status = put_aside(&moves[i], i, error);
    }
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        status = give_name(&moves[i], error);
        *failed_path = status == GUFO_E_EXISTS ? moves[i].to : moves[i].from;
    }
    if (status != GUFO_OK)
        take_back(moves, count, error);
    else
        forget(moves, count);
    return status;
}

void rename_free(rename_move *moves, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(moves[i].aside);
}
