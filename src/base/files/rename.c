/* Several files get new names, usually a shard set.
 *
 * Every file always has a name, and until the set is complete under its new names it is complete
 * under the old ones: files get second names first, the first shard last, and lose the old names
 * then, the first shard first.  Files that are replaced are put aside before (base/files/commit.h),
 * and come back if something fails.
 *
 *     aside     others of that name, the first one first     the old names open
 *     link      new names: 2..n, then the first one          the old names open, then both
 *     unlink    old names: the first one, then 2..n          the new names open
 *     forget    the asides are removed
 *
 * After an interruption the same command continues: a new name that is the file's second name is
 * not in the way.  On file systems without hard links, files are renamed one after the other.
 *
 * A link itself is renamed, not its target: unlike outputs, names do not follow links. */
#include "gufo/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/commit.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/pending.h"
#include "base/memory.h"
#include "base/sort.h"

/* The state of the new name before the work. */
typedef enum new_name {
    NAME_FREE,
    NAME_OTHER,  /* of another file */
    NAME_SECOND, /* of the file itself, which has two */
    NAME_CASE,   /* the old one: the file system ignores case */
} new_name;

/* The state of a file. */
typedef struct moved {
    const gufo_move *move;
    dev_t device; /* of the file */
    ino_t inode;
    char *aside;
    new_name kind;
    bool is_aside; /* the file that had the new name */
    bool linked;   /* the file has got the new name */
    bool renamed;  /* the same, in place of the old one */
    bool unlinked; /* the old name is gone */
} moved;

typedef struct renaming {
    moved *list;
    output *files;   /* their new names as targets, for commit.h */
    uint32_t *order; /* by device and inode */
    size_t count;
    size_t failed;
    bool old_name; /* the failure is about the old name */
    const gufo_save_options *options;
    const gufo_allocator *allocator;
} renaming;

static bool replaces(const renaming *r)
{
    return (r->options->flags & GUFO_SAVE_REPLACE) != 0;
}

/* A name that cannot be looked at counts: it must not be replaced. */
static bool may_be_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 || errno != ENOENT;
}

/* ---- before --------------------------------------------------------------------------------- */

static bool comes_before(const void *owner, uint32_t a, uint32_t b)
{
    const moved *list = owner, *first = &list[a], *second = &list[b];

    if (first->device != second->device)
        return first->device < second->device;
    return first->inode != second->inode ? first->inode < second->inode : a < b;
}

/* Finds the files by their old names. */
static gufo_status find_files(renaming *r, const gufo_move *moves, gufo_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        struct stat info;

        r->failed = i;
        r->old_name = lstat(moves[i].from, &info) != 0;
        if (r->old_name)
            return fail_io(error, errno, "cannot be renamed");
        r->list[i] = (moved){.move = &moves[i], .device = info.st_dev, .inode = info.st_ino};
        r->order[i] = (uint32_t)i;
    }
    sort_indices(r->order, r->count, comes_before, r->list);
    return GUFO_OK;
}

static bool is_before(const void *owner, size_t row, const void *wanted)
{
    const renaming *r = owner;
    const moved *m = &r->list[r->order[row]];
    const struct stat *info = wanted;

    return m->device != info->st_dev ? m->device < info->st_dev : m->inode < info->st_ino;
}

/* Whether a file has the old name of another move, too. */
static bool is_of_other(const renaming *r, size_t index, const struct stat *info)
{
    size_t row = first_row_from(r, r->count, is_before, info);
    const moved *m;

    if (row < r->count && r->order[row] == index)
        row++;
    m = row < r->count ? &r->list[r->order[row]] : NULL;
    return m != NULL && m->device == info->st_dev && m->inode == info->st_ino;
}

/* Whether the folder lists the name as it is spelt: a file system that ignores case finds it
 * anyway. */
static bool is_listed(const char *path)
{
    char beside[PATH_MAX];
    DIR *listing = folder_of(path, beside) ? opendir(beside) : NULL;
    const struct dirent *entry;
    bool listed = listing == NULL;

    while (!listed && (entry = readdir(listing)) != NULL)
        listed = strcmp(entry->d_name, path + folder_len(path)) == 0;
    if (listing != NULL)
        (void)closedir(listing);
    return listed;
}

static new_name kind_of(const moved *m, const struct stat *to)
{
    if (m->device != to->st_dev || m->inode != to->st_ino)
        return NAME_OTHER;
    return is_listed(m->move->to) && is_listed(m->move->from) ? NAME_SECOND : NAME_CASE;
}

static gufo_status look(renaming *r, size_t index, gufo_error *error)
{
    moved *m = &r->list[index];
    output *file = &r->files[index];
    struct stat to;
    bool exists = lstat(m->move->to, &to) == 0;
    gufo_status status;

    if (!exists && errno != ENOENT)
        return fail_io(error, errno, "cannot examine it");
    status = pending_refuse(m->move->to, exists ? &to : NULL, r->allocator, error);
    if (status != GUFO_OK)
        return status;
    if (exists && is_of_other(r, index, &to))
        return refuse(error, GUFO_E_ARGUMENT,
                      "is the file of another old name of this command, which could be lost");
    m->kind = exists ? kind_of(m, &to) : NAME_FREE;
    if (m->kind == NAME_OTHER && !S_ISREG(to.st_mode) && !S_ISLNK(to.st_mode))
        return refuse(error, GUFO_E_ARGUMENT, "exists already, and is not a file");
    if (m->kind == NAME_OTHER && guard_find_file(r->options->guard, &to) != GUARD_NOTHING)
        return refuse(error, GUFO_E_ARGUMENT,
                      "is another file of this command, which would be lost");
    if (m->kind == NAME_OTHER && !replaces(r))
        return refuse(error, GUFO_E_EXISTS, "exists already");
    *file = (output){.fd = -1,
                     .target = mem_text(r->allocator, gufo_str_of(m->move->to)),
                     .exists = m->kind == NAME_OTHER,
                     .place = index, /* new names differ */
                     .allocator = r->allocator};
    m->aside = file->target != NULL ? commit_aside_path(file) : NULL;
    return m->aside != NULL ? GUFO_OK : fail_memory(error);
}

/* ---- the steps ------------------------------------------------------------------------------ */

static void sync_folder(const renaming *r)
{
    bool ignored;

    (void)folder_sync(r->list[0].move->to, &ignored, NULL);
}

/* Whether an interrupted command, which has given the file its new name already, has put another one aside. */
static bool was_aside(const moved *m)
{
    struct stat info;

    return m->kind == NAME_SECOND && lstat(m->aside, &info) == 0;
}

static gufo_status put_aside(renaming *r, gufo_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        moved *m = &r->list[i];

        r->failed = i;
        if (m->kind == NAME_OTHER && disk_rename(m->move->to, m->aside) != 0)
            return fail_io(error, errno, "cannot move the old file aside");
        m->is_aside = m->kind == NAME_OTHER || r->files[i].old != NULL || was_aside(m);
        if (i == 0)
            sync_folder(r);
    }
    sync_folder(r);
    return GUFO_OK;
}

static gufo_status give_name(moved *m, gufo_error *error)
{
    if (m->kind == NAME_SECOND || m->kind == NAME_CASE)
        return GUFO_OK;
    m->linked = disk_link(m->move->from, m->move->to) == 0;
    if (m->linked)
        return GUFO_OK;
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK)
        m->renamed = !may_be_there(m->move->to) && disk_rename(m->move->from, m->move->to) == 0;
    if (m->renamed)
        return GUFO_OK;
    return errno == EEXIST || may_be_there(m->move->to)
               ? refuse(error, GUFO_E_EXISTS, "exists already")
               : fail_io(error, errno, "cannot rename the file to this name");
}

static gufo_status give_names(renaming *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = r->count; i-- > 0 && status == GUFO_OK;) {
        if (i == 0)
            sync_folder(r);
        r->failed = i;
        status = give_name(&r->list[i], error);
    }
    sync_folder(r);
    return status;
}

static gufo_status take_old_names(renaming *r, gufo_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        moved *m = &r->list[i];
        const gufo_move *move = m->move;

        if (m->renamed)
            continue;
        m->unlinked = (m->kind == NAME_CASE ? disk_rename(move->from, move->to)
                                            : disk_unlink(move->from)) == 0;
        if (!m->unlinked) {
            r->failed = i;
            r->old_name = true;
            return fail_io(error, errno, "cannot be renamed: the old name cannot be removed");
        }
        if (i == 0)
            sync_folder(r);
    }
    sync_folder(r);
    return GUFO_OK;
}

static void remove_asides(const renaming *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].is_aside)
            (void)disk_unlink(r->list[i].aside);
}

/* ---- back ----------------------------------------------------------------------------------- */

static void add_to_message(gufo_error *error, const char *what, const char *path)
{
    size_t len;

    if (error == NULL)
        return;
    len = strlen(error->message);
    (void)snprintf(error->message + len, sizeof error->message - len, "%s%s", what, path);
}

/* Gives a file its old name back; false if that fails. */
static bool take_back(moved *m)
{
    const gufo_move *move = m->move;
    bool renamed = m->renamed || (m->unlinked && m->kind == NAME_CASE);
    bool back = !(renamed || m->unlinked) || (!renamed && disk_link(move->to, move->from) == 0) ||
                disk_rename(move->to, move->from) == 0;

    if (back && m->linked)
        (void)disk_unlink(move->to);
    return back;
}

static void put_back(renaming *r, gufo_error *error)
{
    for (size_t i = r->count; i-- > 0;)
        if (!take_back(&r->list[i]))
            add_to_message(error, "; it could not be moved back: the file is now ",
                           r->list[i].move->to);
    for (size_t i = r->count; i-- > 0;) {
        moved *m = &r->list[i];

        if (m->is_aside && (may_be_there(m->move->to) || disk_rename(m->aside, m->move->to) != 0))
            add_to_message(error, "; the file that had the new name is now ", m->aside);
    }
    sync_folder(r);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Refuses what a commit would refuse to put aside or to replace. */
static gufo_status rename_looked_at(renaming *r, gufo_error *error)
{
    gufo_status status = commit_check(r->files, r->count, &r->failed, error);

    if (status == GUFO_OK)
        status = commit_check_replace(r->files, r->count, replaces(r), &r->failed, error);
    if (status != GUFO_OK)
        return status;
    status = put_aside(r, error);
    if (status == GUFO_OK)
        status = give_names(r, error);
    if (status == GUFO_OK)
        status = take_old_names(r, error);
    if (status == GUFO_OK)
        remove_asides(r);
    else
        put_back(r, error);
    return status;
}

static gufo_status rename_all(renaming *r, const gufo_move *moves, gufo_error *error)
{
    gufo_status status = find_files(r, moves, error);

    for (size_t i = 0; i < r->count; i++)
        r->files[i].fd = -1;
    for (size_t i = 0; i < r->count && status == GUFO_OK; i++) {
        r->failed = i;
        status = look(r, i, error);
    }
    if (status == GUFO_OK)
        status = rename_looked_at(r, error);
    for (size_t i = 0; i < r->count; i++) {
        mem_free(r->allocator, r->list[i].aside);
        output_discard(&r->files[i]);
    }
    return status;
}

gufo_status gufo_rename(const gufo_move *moves, size_t count, const gufo_save_options *options,
                        gufo_error *error)
{
    static const gufo_save_options none = {0};
    renaming r = {.count = count, .options = options != NULL ? options : &none};
    gufo_status status = save_options_check(r.options, error);

    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = reserved_check(moves[i].reserved, "gufo_move", error);
    if (status != GUFO_OK || count == 0)
        return status;
    r.allocator = mem_allocator(r.options->allocator);
    r.list = mem_array(r.allocator, count, sizeof *r.list);
    r.files = mem_array(r.allocator, count, sizeof *r.files);
    r.order = mem_array(r.allocator, count, sizeof *r.order);
    status = r.list != NULL && r.files != NULL && r.order != NULL ? rename_all(&r, moves, error)
                                                                  : fail_memory(error);
    if (status != GUFO_OK)
        fail_in(error, r.old_name ? GUFO_FILE_INPUT : GUFO_FILE_OUTPUT, (uint32_t)r.failed,
                r.old_name ? moves[r.failed].from : moves[r.failed].to);
    mem_free(r.allocator, r.list);
    mem_free(r.allocator, r.files);
    mem_free(r.allocator, r.order);
    return status;
}
