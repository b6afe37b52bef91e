/* Atomic output files. */
#include "base/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/pending.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"

/* ---- files that must not be outputs ------------------------------------------------------------- */

typedef struct gufo_guard_entry guard_entry;

static int compare(const guard_entry *a, const guard_entry *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static bool is_before(const void *files, size_t row, const void *wanted)
{
    return compare((const guard_entry *)files + row, wanted) < 0;
}

/* At its place in the order. */
static gufo_status add(gufo_guard *g, guard_entry entry, gufo_error *error)
{
    guard_entry *list =
        mem_grow(mem_allocator(g->allocator), g->files, g->count, &g->room, sizeof *list);
    size_t row;

    if (list == NULL)
        return fail_memory(error);
    row = first_row_from(list, g->count, is_before, &entry);
    memmove(&list[row + 1], &list[row], (g->count - row) * sizeof *list);
    list[row] = entry;
    g->files = list;
    g->count++;
    return GUFO_OK;
}

static gufo_status add_file(gufo_guard *g, const struct stat *info, guard_role role,
                            gufo_error *error)
{
    return S_ISREG(info->st_mode)
               ? add(g, (guard_entry){info->st_dev, info->st_ino, 0, role}, error)
               : GUFO_OK;
}

gufo_status gufo_guard_add_fd(gufo_guard *g, int fd, gufo_error *error)
{
    struct stat info;

    return fd >= 0 && fstat(fd, &info) == 0 ? add_file(g, &info, GUARD_INPUT, error) : GUFO_OK;
}

gufo_status guard_add_path(gufo_guard *g, const char *path, gufo_error *error)
{
    struct stat info;

    return path != NULL && stat(path, &info) == 0 ? add_file(g, &info, GUARD_INPUT, error)
                                                  : GUFO_OK;
}

/* Adds a file that is written, at its place; `info` are the facts of what is there, or NULL. */
static gufo_status guard_add_place(gufo_guard *g, uint64_t place, const struct stat *info,
                                   gufo_error *error)
{
    gufo_status status = add(g, (guard_entry){.place = place, .role = GUARD_OUTPUT}, error);

    return status == GUFO_OK && info != NULL ? add_file(g, info, GUARD_OUTPUT, error) : status;
}

static guard_role find(const gufo_guard *g, guard_entry wanted)
{
    size_t count = g != NULL ? g->count : 0;
    size_t row = count > 0 ? first_row_from(g->files, count, is_before, &wanted) : 0;

    return row < count && compare(&g->files[row], &wanted) == 0 ? g->files[row].role
                                                                : GUARD_NOTHING;
}

guard_role guard_find_file(const gufo_guard *g, const struct stat *info)
{
    return find(g, (guard_entry){.device = info->st_dev, .inode = info->st_ino});
}

static guard_role guard_find_place(const gufo_guard *g, uint64_t place)
{
    return find(g, (guard_entry){.place = place});
}

gufo_status gufo_guard_add_paths(gufo_guard *g, const char *const *paths, size_t count,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = guard_add_path(g, paths[i], error);
    return status;
}

bool gufo_guard_has(const gufo_guard *g, const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && guard_find_file(g, &info) != GUARD_NOTHING;
}

void gufo_guard_free(gufo_guard *g)
{
    mem_free(mem_allocator(g->allocator), g->files);
    *g = (gufo_guard){.allocator = g->allocator};
}

enum { LINKS_FOLLOWED = 40, NAMES_TRIED = 100 };

/* ---- the target ----------------------------------------------------------------------------- */

/* Replaces o->target, a symlink, by what it names. */
static gufo_status follow_link(output *o, gufo_error *error)
{
    char link[PATH_MAX];
    ssize_t len = readlink(o->target, link, sizeof link);
    size_t folder = len > 0 && link[0] == '/' ? 0 : folder_len(o->target);
    char *next;

    if (len < 0 || (size_t)len >= sizeof link)
        return fail_io(error, len < 0 ? errno : ENAMETOOLONG, "cannot follow symlink");
    next = mem_join(o->allocator, (gufo_str){o->target, folder}, (gufo_str){link, (size_t)len});
    if (next == NULL)
        return fail_memory(error);
    mem_free(o->allocator, o->target);
    o->target = next;
    return GUFO_OK;
}

/* Where everybody may create files, a link of another user may lead our output to any place: only
 * our own are followed, and those of the folder's owner, as the kernel does with
 * protected_symlinks. */
static gufo_status check_link(const output *o, const struct stat *link, gufo_error *error)
{
    if (!trust_is_planted(o->target, link->st_uid))
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "target is another user's symlink in a folder where everybody may create files");
}

/* The same for the folders that lead to it. */
static gufo_status check_folders(const output *o, gufo_error *error)
{
    if (!way_is_planted(o->target))
        return GUFO_OK;
    return refuse(
        error, GUFO_E_ARGUMENT,
        "a folder of the target is another user's symlink in a folder where everybody may "
        "create files");
}

/* The text of a link in /proc is not always a path: that of a removed file ends in " (deleted)". */
static gufo_status check_way(const output *o, const char *path, const struct stat *found,
                             gufo_error *error)
{
    struct stat opened;

    if (stat(path, &opened) != 0 || (o->exists && is_same_file(&opened, found)))
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "target is a symlink whose text does not lead to the file that it opens");
}

/* Finds the file to replace. o->exists says whether there is one. */
static gufo_status find_target(output *o, const char *path, struct stat *info, gufo_error *error)
{
    if (*path == '\0')
        return fail_io(error, ENOENT, "the name of the target is empty");
    o->target = mem_text(o->allocator, gufo_str_of(path));
    if (o->target == NULL)
        return fail_memory(error);
    for (int links = 0; links <= LINKS_FOLLOWED; links++) {
        gufo_status status = check_folders(o, error);

        if (status != GUFO_OK)
            return status;
        o->exists = lstat(o->target, info) == 0;
        if (!o->exists && errno != ENOENT)
            return fail_io(error, errno, "cannot examine the target");
        if (!o->exists || !S_ISLNK(info->st_mode))
            return links == 0 ? GUFO_OK : check_way(o, path, info, error);
        status = check_link(o, info, error);
        if (status == GUFO_OK)
            status = follow_link(o, error);
        if (status != GUFO_OK)
            return status;
    }
    return fail_io(error, ELOOP, "cannot follow symlink");
}

static gufo_status check_target(const output *o, const struct stat *info, gufo_error *error)
{
    if (!S_ISREG(info->st_mode))
        return refuse(error, GUFO_E_EXISTS, "target exists and is not a regular file");
    if (!o->replace)
        return refuse(error, GUFO_E_EXISTS, "target exists already");
    return GUFO_OK;
}

/* ---- the temporary file --------------------------------------------------------------------- */

/* Nobody else may read a secret, or a file that has not yet got the rights of what it replaces. */
static mode_t first_mode(const output *o)
{
    return o->is_private || o->exists || o->old != NULL ? 0600 : 0666;
}

/* A folder of the target may have become a symlink since it was found: the file that was made for it is
 * where its name leads, along a way that nobody has planted, or it does not get a byte. */
static gufo_status check_made(const output *o, const char *path, gufo_error *error)
{
    struct stat made, named;
    bool there = lstat(path, &named) == 0;

    if ((!there && errno != ENOENT) || fstat(o->fd, &made) != 0)
        return fail_io(error, errno, "cannot examine the file that was made");
    if (!there || !is_same_file(&made, &named))
        return refuse(error, GUFO_E_CHANGED, "the folder of the target was exchanged");
    return check_folders(o, error);
}

static void list_temporary(const output *o, const char *path)
{
    if (o->listed != NULL)
        *o->listed = path;
}

/* Opens a file with a new name in the target's folder.  The name is short, because the target's may
 * be as long as a name can be. */
static gufo_status create_temporary(output *o, mode_t mode, gufo_error *error)
{
    size_t folder = folder_len(o->target);
    int failure = EEXIST;

    o->temporary = mem_alloc(o->allocator, folder + TEMPORARY_NAME);
    if (o->temporary == NULL)
        return fail_memory(error);
    memcpy(o->temporary, o->target, folder);
    for (int tries = 0; tries < NAMES_TRIED && failure == EEXIST; tries++) {
        temporary_name(o->temporary + folder);
        list_temporary(
            o, o->temporary); /* a signal may end the program as soon as the file is there */
        o->fd = disk_open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (o->fd >= 0)
            return check_made(o, o->temporary, error);
        failure = errno;
    }
    list_temporary(o, NULL);
    mem_free(o->allocator, o->temporary);
    o->temporary = NULL;
    return fail_io(error, failure, "cannot create a file in the folder of the target");
}

/* Not the disk lacks room, but the file system, or the system, a way to reserve it. */
static bool reserve_unsupported(int failure)
{
    return failure == EOPNOTSUPP || failure == ENOSYS || failure == EINVAL;
}

/* Reserves the whole size, so that lack of space shows before any work is done.  Where that cannot be
 * done, the file gets its size alone. */
static gufo_status reserve(const output *o, uint64_t size, gufo_error *error)
{
    int failure;

    if (size == 0)
        return GUFO_OK;
    if (size > INT64_MAX)
        return fail_io(error, EFBIG, "cannot reserve %s bytes", GROUPED(size));
    do
        failure = disk_reserve(o->fd, size) == 0 ? 0 : errno;
    while (failure == EINTR);
    if (reserve_unsupported(failure))
        failure = disk_resize(o->fd, size) == 0 ? 0 : errno;
    return failure == 0 ? GUFO_OK
                        : fail_io(error, failure, "cannot reserve %s bytes", GROUPED(size));
}

static gufo_status fail_folder(int failure, gufo_error *error)
{
    if (failure != ENOENT)
        return fail_io(error, failure, "cannot examine the folder of the target");
    (void)refuse(error, GUFO_E_IO, "the folder for it does not exist");
    if (error != NULL)
        error->system = ENOENT;
    return GUFO_E_IO;
}

/* Notes where the target is, whatever the path to its folder. */
static gufo_status note_place(output *o, gufo_error *error)
{
    char folder[PATH_MAX];
    struct stat info;
    hash_key key;

    if (!folder_of(o->target, folder))
        return fail_io(error, ENAMETOOLONG, "cannot examine the folder of the target");
    if (stat(folder, &info) != 0)
        return fail_folder(errno, error);
    key = (hash_key){(uint64_t)info.st_dev, (uint64_t)info.st_ino};
    o->place = hash_text(key, gufo_str_of(o->target + folder_len(o->target)));
    return GUFO_OK;
}

static gufo_status check_guard(const output *o, const struct stat *info, const gufo_guard *guard,
                               gufo_error *error)
{
    guard_role role = o->exists ? guard_find_file(guard, info) : GUARD_NOTHING;

    if (role == GUARD_NOTHING)
        role = guard_find_place(guard, o->place);
    if (role == GUARD_INPUT)
        return refuse(error, GUFO_E_ARGUMENT, "the output is the input; it would be lost");
    if (role == GUARD_OUTPUT)
        return refuse(error, GUFO_E_ARGUMENT, "this and another output are the same file");
    return GUFO_OK;
}

/* Finds the file to replace, and where it is. */
static gufo_status find_place(output *o, const char *path, struct stat *info, gufo_error *error)
{
    gufo_status status = find_target(o, path, info, error);

    return status == GUFO_OK ? note_place(o, error) : status;
}

gufo_status gufo_guard_add_output(gufo_guard *guard, const char *path, gufo_error *error)
{
    output o = {.fd = -1, .allocator = mem_allocator(guard->allocator)};
    struct stat info;
    gufo_status status = find_place(&o, path, &info, error);

    if (status == GUFO_OK)
        status = guard_add_place(guard, o.place, o.exists ? &info : NULL, error);
    output_discard(&o);
    return status;
}

gufo_status output_find(output *o, const char *path, bool replace, const gufo_guard *guard,
                        const gufo_allocator *allocator, gufo_error *error)
{
    struct stat info;
    gufo_status status;

    *o = (output){.fd = -1, .replace = replace, .allocator = allocator};
    status = find_place(o, path, &info, error);
    if (status == GUFO_OK)
        status = check_guard(o, &info, guard, error);
    if (status == GUFO_OK && o->exists)
        status = check_target(o, &info, error);
    if (status == GUFO_OK)
        status = pending_refuse(o->target, o->exists ? &info : NULL, o->allocator, error);
    if (status != GUFO_OK)
        output_discard(o);
    return status;
}

gufo_status output_create(output *o, uint64_t size, bool reserved, gufo_error *error)
{
    gufo_status status = create_temporary(o, first_mode(o), error);

    if (status != GUFO_OK)
        return status;
    if (reserved)
        return reserve(o, size, error);
    return disk_resize(o->fd, size) == 0
               ? GUFO_OK
               : fail_io(error, errno, "cannot reserve %s bytes", GROUPED(size));
}

gufo_status output_open(output *o, const char *path, bool replace, uint64_t size,
                        const gufo_guard *guard, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status = output_find(o, path, replace, guard, allocator, error);

    if (status != GUFO_OK)
        return status;
    status = output_create(o, size, true, error);
    if (status != GUFO_OK)
        output_discard(o);
    return status;
}

/* ---- an output that lasts ------------------------------------------------------------------- */

char *output_beside(const output *o, const char *suffix)
{
    return mem_join(o->allocator, gufo_str_of(o->target), gufo_str_of(suffix));
}

/* Otherwise another user's file would become our output, or another name of our file would be
 * written to. */
static gufo_status check_part(const output *o, const char *path, gufo_error *error)
{
    struct stat info;
    const char *obstacle =
        fstat(o->fd, &info) != 0 ? "it cannot be examined" : trust_own(path, &info, TRUST_ONE_NAME);

    return obstacle == NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "cannot resume with its .part file: %s", obstacle);
}

gufo_status output_open_part(output *o, bool again, uint64_t size, bool reserved, gufo_error *error)
{
    gufo_status status;
    char *path = output_beside(o, ".part");

    if (path == NULL)
        return fail_memory(error);
    /* A link of that name must not redirect us to another file. */
    o->fd =
        disk_open(path, O_RDWR | O_CREAT | TRUST_OPEN_FLAGS | (again ? 0 : O_EXCL), first_mode(o));
    if (o->fd < 0) {
        int failure = errno;

        mem_free(o->allocator, path);
        return fail_io(error, failure, "cannot create a file in the folder of the target");
    }
    status = check_made(o, path, error);
    if (status == GUFO_OK && again)
        status = check_part(o, path, error);
    if (status !=
        GUFO_OK) { /* another user's, or no longer where its name leads: not to be removed */
        mem_free(o->allocator, path);
        (void)close(o->fd);
        o->fd = -1;
        return status;
    }
    o->temporary = path;
    if ((again || !reserved) && disk_resize(o->fd, size) != 0) /* it may be longer */
        return fail_io(error, errno, "cannot reserve %s bytes", GROUPED(size));
    return reserved ? reserve(o, size, error) : GUFO_OK;
}

gufo_status output_write(const output *o, uint64_t offset, const void *data, size_t size,
                         gufo_error *error)
{
    return output_write_at(o->fd, offset, data, size, error);
}

gufo_status output_write_at(int fd, uint64_t offset, const void *data, size_t size,
                            gufo_error *error)
{
    const uint8_t *bytes = data;

    while (size > 0) {
        ssize_t n =
            offset == GUFO_NO_OFFSET ? write(fd, bytes, size) : disk_write(fd, bytes, size, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_io(error, n < 0 ? errno : ENOSPC, "cannot write");
        bytes += n;
        size -= (size_t)n;
        if (offset != GUFO_NO_OFFSET)
            offset += (uint64_t)n;
    }
    return GUFO_OK;
}

/* ---- putting it in place -------------------------------------------------------------------- */

/* Whether link() failed because this file system has no hard links. */
static bool links_unsupported(int failure)
{
    return failure == EPERM || failure == EOPNOTSUPP || failure == ENOSYS || failure == EMLINK;
}

gufo_status output_sync_folders(const output *files, size_t count, size_t *failed,
                                gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        if (i > 0 && folder_same(files[i - 1].target, files[i].target))
            continue;
        *failed = i;
        status = folder_sync_names(files[i].target, error);
    }
    return status;
}

/* The name might have appeared meanwhile: link() notices that, rename() would not. */
gufo_status output_give_new_name(const char *file, const char *name, gufo_error *error)
{
    struct stat info;
    int failure = disk_link(file, name) == 0 ? 0 : errno;

    if (links_unsupported(failure) && lstat(name, &info) != 0 && errno == ENOENT)
        failure = disk_rename(file, name) == 0 ? 0 : errno;
    else if (links_unsupported(failure))
        failure = EEXIST;
    if (failure == EEXIST)
        return refuse(error, GUFO_E_EXISTS, "target exists already");
    return failure == 0 ? GUFO_OK : fail_io(error, failure, "cannot name the target");
}

static gufo_status take_new_name(const output *o, gufo_error *error)
{
    gufo_status status = output_give_new_name(o->temporary, o->target, error);

    if (status != GUFO_OK)
        return status;
    if (o->keep) /* at no moment may hours of work be without a name */
        (void)folder_sync_names(o->target, NULL);
    (void)disk_unlink(o->temporary);
    return GUFO_OK;
}

gufo_status output_take_name(const output *o, gufo_error *error)
{
    if (!o->replace)
        return take_new_name(o, error);
    if (disk_rename(o->temporary, o->target) != 0)
        return fail_io(error, errno, "cannot rename to the target");
    return GUFO_OK;
}

/* The new file gets the rights of the one it replaces.  Owner and group only where that is
 * permitted; rights that were meant for others than its own are then not given. */
static void keep_rights(const output *o)
{
    struct stat info;
    mode_t mode;

    if (o->is_private || (!o->exists && o->old == NULL))
        return;
    if (lstat(o->old != NULL ? o->old : o->target, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    mode = info.st_mode & 07777;
    if (fchown(o->fd, info.st_uid, info.st_gid) != 0) {
        mode &= 0777; /* no set-user-id for another user */
        if (fchown(o->fd, (uid_t)-1, info.st_gid) != 0)
            mode &= (mode_t)~070;
    }
    (void)fchmod(o->fd, mode);
}

void output_forget(output *o)
{
    list_temporary(o, NULL);
    mem_free(o->allocator, o->temporary);
    mem_free(o->allocator, o->target);
    mem_free(o->allocator, o->old);
    *o = (output){.fd = -1, .allocator = o->allocator};
}

gufo_status output_close(output *o, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    int fd = o->fd;

    keep_rights(o);
    if (disk_sync(fd) != 0)
        status = fail_io(error, errno, "cannot sync");
    o->fd = -1;
    if (close(fd) != 0 && status == GUFO_OK)
        status = fail_io(error, errno, "cannot write");
    return status;
}

gufo_status output_commit(output *o, gufo_error *error)
{
    gufo_status status = o->fd >= 0 ? output_close(o, error) : GUFO_OK;

    if (status == GUFO_OK)
        status = output_take_name(o, error);
    if (status != GUFO_OK) {
        output_discard(o);
        return status;
    }
    (void)folder_sync_names(o->target, NULL);
    output_forget(o);
    return GUFO_OK;
}

void output_discard(output *o)
{
    if (o->fd >= 0)
        (void)close(o->fd);
    if (o->temporary != NULL && !o->keep)
        (void)disk_unlink(o->temporary);
    if (o->allocator != NULL)
        output_forget(o);
}
