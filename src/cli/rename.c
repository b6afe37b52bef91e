/* Several files get new names, usually a shard set.
 *
 * They are committed as all sets are (base/files/commit.h), with the old name in place of a temporary
 * one: the first file comes last, so that after a crash the set opens under its old names, under the
 * new ones, or not at all, and every file always has a name.  Files that are replaced are put aside
 * first.
 *
 * A link itself is renamed, not its target: unlike outputs, names are taken without following links. */
#include "cli/rename.h"

#include "base/error.h"
#include "base/files/commit.h"
#include "base/files/disk.h"
#include "base/files/pending.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 || errno != ENOENT;
}

/* ---- before --------------------------------------------------------------------------------- */

static gufo_status look(const rename_move *move, bool force, gufo_error *error)
{
    struct stat info;
    bool exists = lstat(move->to, &info) == 0;
    gufo_status status;

    if (!exists && errno != ENOENT)
        return fail_io(error, errno, "cannot look at it");
    status = pending_refuse(move->to, exists ? &info : NULL, &default_allocator, error);
    if (status != GUFO_OK || !exists)
        return status;
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "exists already, and is not a file");
    if (!force)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "exists already");
    return GUFO_OK;
}

static gufo_status look_at_all(const rename_move *moves, size_t count, bool force,
                               const char **failed_path, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        *failed_path = moves[i].to;
        status = look(&moves[i], force, error);
        if (status != GUFO_OK || is_there(moves[i].from))
            continue;
        *failed_path = moves[i].from;
        status = fail_io(error, ENOENT, "cannot be renamed");
    }
    return status;
}

/* ---- the names ------------------------------------------------------------------------------ */

/* As if the new file were complete under its old name. */
static gufo_status make_output(output *o, const rename_move *move, bool force, size_t place,
                               gufo_error *error)
{
    *o = (output){.fd = -1,
                  .target = mem_text(&default_allocator, gufo_str_of(move->to)),
                  .temporary = mem_text(&default_allocator, gufo_str_of(move->from)),
                  .replace = force,
                  .keep = true,
                  .place = place, /* new names differ */
                  .allocator = &default_allocator};
    return o->target != NULL && o->temporary != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status commit(output *files, const rename_move *moves, size_t count, bool force,
                          size_t *failed, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = make_output(&files[i], &moves[i], force, i, error);
    if (status == GUFO_OK)
        status = commit_check(files, count, failed, error);
    if (status == GUFO_OK)
        status = commit_check_replace(files, count, force, failed, error);
    if (status == GUFO_OK)
        status = commit_set(files, count, failed, error);
    for (size_t i = 0; i < count; i++)
        output_discard(&files[i]);
    return status;
}

/* A name that could not be taken away then, or that a rename has left because both were names of the
 * same file. */
static gufo_status remove_old_names(const rename_move *moves, size_t count,
                                    const char **failed_path, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count; i++) {
        if (!is_there(moves[i].from) || disk_unlink(moves[i].from) == 0 || status != GUFO_OK)
            continue;
        *failed_path = moves[i].from;
        status = fail_io(error, errno, "has its new name, but the old one cannot be removed");
    }
    return status;
}

/* Adds to the message that a file is not where it was. */
static void name_stranded(const rename_move *moves, size_t count, gufo_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(error->message);

        if (!is_there(moves[i].from))
            (void)snprintf(error->message + len, sizeof error->message - len,
                           "; it could not be moved back: the file is now %s", moves[i].to);
    }
}

gufo_status rename_all(const rename_move *moves, size_t count, bool force, const char **failed_path,
                       gufo_error *error)
{
    gufo_status status = look_at_all(moves, count, force, failed_path, error);
    output *files;
    size_t failed = 0;

    if (status != GUFO_OK)
        return status;
    *failed_path = moves[0].to;
    files = mem_zero(&default_allocator, count * sizeof *files);
    if (files == NULL)
        return fail_memory(error);
    status = commit(files, moves, count, force, &failed, error);
    mem_free(&default_allocator, files);
    if (status == GUFO_OK)
        return remove_old_names(moves, count, failed_path, error);
    *failed_path = moves[failed].to;
    name_stranded(moves, count, error);
    return status;
}
