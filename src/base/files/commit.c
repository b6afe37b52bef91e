/* Names for a set; commit.h explains the order. */
#include "base/files/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"

enum { ASIDE_NAME = 32 };

/* The file put aside for a file. */
typedef enum aside {
    ASIDE_NONE,
    ASIDE_EMPTY, /* nothing is replaced */
    ASIDE_OLD,   /* the file that is replaced */
} aside;

/* A file on its way. */
typedef struct place {
    output *file;
    char *path; /* aside */
    aside aside;
    bool named; /* the new file, or what an interrupted commit left, has the target's name */
} place;

typedef struct commit {
    output *files;
    place *places; /* of each file */
    size_t count;
    const gufo_allocator *allocator;
    size_t failed;
} commit;

/* ---- names ---------------------------------------------------------------------------------- */

/* The path for the old file, which the caller frees.  The name is short, because that of the target
 * may be as long as a name can be.  The key is not a secret: the same name has to come out every
 * time. */
char *commit_aside_path(const output *file)
{
    size_t folder = folder_len(file->target);
    char name[ASIDE_NAME];

    (void)snprintf(name, sizeof name, ".gufo-%016" PRIx64 ".old",
                   hash_text((hash_key){0, 0}, gufo_str_of(file->target + folder)));
    return mem_join(file->allocator, (gufo_str){file->target, folder}, gufo_str_of(name));
}

static bool is_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

/* Why a file must not be put aside, or brought back from there; NULL for nothing. */
static const char *judge(const char *path, const struct stat *info)
{
    char folder[PATH_MAX];
    struct stat around;

    if (!folder_of(path, folder) || stat(folder, &around) != 0)
        return "its folder cannot be examined";
    return trust_aside(path, info, around.st_uid);
}

/* The kind of file at `path`. GUFO_E_ARGUMENT for one that is not ours. */
static gufo_status look_aside(const char *path, aside *out, gufo_error *error)
{
    struct stat info;
    const char *obstacle;

    *out = ASIDE_NONE;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine its folder");
    obstacle = judge(path, &info);
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "%s, the place for the old file, is in the way: %s",
                      QUOTED(gufo_str_of(path + folder_len(path))), obstacle);
    *out = info.st_size == 0 ? ASIDE_EMPTY : ASIDE_OLD;
    return GUFO_OK;
}

static gufo_status sync_folders(const commit *c, gufo_error *error)
{
    size_t ignored;

    return output_sync_folders(c->files, c->count, &ignored, error);
}

/* ---- what is there -------------------------------------------------------------------------- */

static void end(commit *c)
{
    for (size_t i = 0; c->places != NULL && i < c->count; i++)
        mem_free(c->allocator, c->places[i].path);
    mem_free(c->allocator, c->places);
}

static gufo_status begin(commit *c, output *files, size_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *c = (commit){.files = files, .count = count, .allocator = files[0].allocator};
    c->places = mem_zero(c->allocator, count * sizeof *c->places);
    if (c->places == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        place *p = &c->places[i];

        c->failed = i;
        *p = (place){
            .file = &files[i], .path = commit_aside_path(&files[i]), .named = files[i].named};
        status = p->path != NULL ? look_aside(p->path, &p->aside, error) : fail_memory(error);
    }
    return status;
}

/* Whether an earlier commit was interrupted. */
static bool is_interrupted(const commit *c)
{
    return c->places[0].aside != ASIDE_NONE && !is_there(c->places[0].file->target);
}

/* The asides of a commit that was complete, or none of whose names was given. */
static gufo_status remove_rubbish(commit *c, gufo_error *error)
{
    bool removed = false;

    for (size_t i = 0; i < c->count; i++) {
        place *p = &c->places[i];

        if (p->aside == ASIDE_NONE)
            continue;
        c->failed = i;
        if (disk_unlink(p->path) != 0)
            return fail_io(error, errno, "cannot remove the file that an earlier run moved aside");
        p->aside = ASIDE_NONE;
        removed = true;
    }
    /* They must not come back beside an aside of this commit. */
    return removed ? sync_folders(c, error) : GUFO_OK;
}

/* Shards that got their names earlier are without a first one only where that says so. */
static gufo_status check_named(commit *c, bool interrupted, gufo_error *error)
{
    for (size_t i = 0; i < c->count; i++) {
        const place *p = &c->places[i];

        c->failed = i;
        if (p->named && !c->places[0].named && !(interrupted && p->aside != ASIDE_NONE))
            return refuse(error, GUFO_E_ARGUMENT, "its temporary file is missing");
        if (!p->named && c->places[0].named)
            return refuse(error, GUFO_E_ARGUMENT,
                          "the first shard exists already, and this one does not");
    }
    return GUFO_OK;
}

static gufo_status take_stock(commit *c, gufo_error *error)
{
    bool interrupted = is_interrupted(c);
    gufo_status status = check_named(c, interrupted, error);

    if (status != GUFO_OK)
        return status;
    if (!interrupted)
        return remove_rubbish(c, error);
    for (size_t i = 1; i < c->count; i++)
        if (c->places[i].aside != ASIDE_NONE && is_there(c->places[i].file->target))
            c->places[i].named = true;
    return GUFO_OK;
}

/* ---- forward -------------------------------------------------------------------------------- */

static gufo_status put_aside(place *p, gufo_error *error)
{
    int fd;

    if (p->aside != ASIDE_NONE)
        return GUFO_OK;
    if (is_there(p->file->target)) {
        if (!p->file->replace) /* it has appeared meanwhile */
            return refuse(error, GUFO_E_EXISTS, "target exists already");
        if (disk_rename(p->file->target, p->path) != 0)
            return fail_io(error, errno, "cannot move the old file aside");
        p->aside = ASIDE_OLD;
        return GUFO_OK;
    }
    fd = disk_open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_io(error, errno, "cannot create a file in the folder of the target");
    (void)close(fd); /* nothing was written that could be lost */
    p->aside = ASIDE_EMPTY;
    return GUFO_OK;
}

/* The first one is aside on disk before anything else is: its aside determines what the others
 * mean. */
static gufo_status put_all_aside(commit *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < c->count && status == GUFO_OK; i++) {
        c->failed = i;
        status = put_aside(&c->places[i], error);
        if (status == GUFO_OK && i == 0)
            status = sync_folders(c, error);
    }
    return status == GUFO_OK ? sync_folders(c, error) : status;
}

/* What an interrupted commit left blocks a target that may not be replaced. */
static gufo_status give_name(place *p, gufo_error *error)
{
    gufo_status status;

    if (p->file->named)
        return GUFO_OK;
    if (p->named && disk_unlink(p->file->target) != 0)
        return fail_io(error, errno, "cannot remove what an interrupted run has left");
    p->named = false;
    status = output_take_name(p->file, error);
    p->named = status == GUFO_OK;
    return status;
}

static gufo_status name_all(commit *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = c->count; i-- > 1 && status == GUFO_OK;) {
        c->failed = i;
        status = give_name(&c->places[i], error);
    }
    c->failed = status == GUFO_OK ? 0 : c->failed;
    if (status == GUFO_OK)
        status = sync_folders(c, error);
    return status == GUFO_OK ? give_name(&c->places[0], error) : status;
}

/* The set is complete: failures can only leave rubbish. */
static void forget_asides(commit *c)
{
    (void)sync_folders(c, NULL);
    for (size_t i = 0; i < c->count; i++)
        if (c->places[i].aside != ASIDE_NONE)
            (void)disk_unlink(c->places[i].path);
    (void)sync_folders(c, NULL);
}

/* ---- back ----------------------------------------------------------------------------------- */

static bool take_back_name(place *p)
{
    if (!p->named)
        return true;
    /* Of an output that is resumed no data is lost. */
    if (p->file->keep && p->file->temporary != NULL && !is_there(p->file->temporary)) {
        p->named = disk_rename(p->file->target, p->file->temporary) != 0;
        p->file->named = p->file->named && p->named;
    } else if (p->aside == ASIDE_OLD) {
        p->named = false; /* what comes back replaces it */
    } else {
        p->named = disk_unlink(p->file->target) != 0;
    }
    return !p->named;
}

static bool bring_back(place *p)
{
    if (p->aside != ASIDE_OLD)
        return true;
    if (disk_rename(p->path, p->file->target) != 0)
        return false;
    p->aside = ASIDE_NONE;
    return true;
}

/* In an order that is understood as above wherever it stops: the first shard comes back last, and
 * until then every new shard has an aside. */
static bool put_back(commit *c)
{
    bool back = true;

    for (size_t i = c->count; i-- > 0;)
        back = take_back_name(&c->places[i]) && back;
    /* Until these are on disk under their temporary names nothing may take their place. */
    back = sync_folders(c, NULL) == GUFO_OK && back;
    for (size_t i = c->count; i-- > 1;)
        back = bring_back(&c->places[i]) && back;
    back = back && sync_folders(c, NULL) == GUFO_OK && bring_back(&c->places[0]);
    for (size_t i = 0; i < c->count && back; i++) {
        place *p = &c->places[i];

        if (p->aside == ASIDE_EMPTY && disk_unlink(p->path) == 0)
            p->aside = ASIDE_NONE;
        /* Without it there was no commit, and the other asides are rubbish. */
        if (i == 0)
            (void)sync_folders(c, NULL);
    }
    (void)sync_folders(c, NULL);
    return back;
}

static void report_not_back(gufo_error *error)
{
    size_t len;

    if (error == NULL)
        return;
    len = strlen(error->message);
    (void)snprintf(error->message + len, sizeof error->message - len,
                   "; the old files are beside it as .gufo-*.old until the command is repeated");
}

/* ---- the whole ------------------------------------------------------------------------------ */

static gufo_status close_all(commit *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < c->count && status == GUFO_OK; i++) {
        c->failed = i;
        if (c->places[i].file->fd >= 0)
            status = output_close(c->places[i].file, error);
    }
    return status;
}

static gufo_status carry_out(commit *c, gufo_error *error)
{
    gufo_status status = close_all(c, error);

    if (status == GUFO_OK)
        status = take_stock(c, error);
    if (status != GUFO_OK || c->places[0].named) /* only rubbish was left */
        return status;
    status = put_all_aside(c, error);
    if (status == GUFO_OK)
        status = name_all(c, error);
    if (status == GUFO_OK)
        forget_asides(c);
    else if (!put_back(c))
        report_not_back(error);
    return status;
}

gufo_status commit_set(output *files, size_t count, size_t *failed, gufo_error *error)
{
    gufo_status status;
    commit c;

    *failed = 0;
    if (count == 1 && !files[0].named)
        return output_commit(files, error);
    status = begin(&c, files, count, error);
    if (status == GUFO_OK)
        status = carry_out(&c, error);
    *failed = c.failed;
    end(&c);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        output_forget(&files[i]);
    return status;
}

/* ---- before --------------------------------------------------------------------------------- */

static bool is_aside(const output *file)
{
    char *path = commit_aside_path(file);
    aside found = ASIDE_NONE;

    if (path != NULL)
        (void)look_aside(path, &found, NULL);
    mem_free(file->allocator, path);
    return found != ASIDE_NONE;
}

/* Whether a file that exists is what an interrupted commit of this set has left. */
static bool is_left(const output *files, size_t count, size_t index)
{
    return count > 1 && index > 0 && !is_there(files[0].target) && is_aside(&files[0]) &&
           is_aside(&files[index]);
}

static bool comes_before(const void *owner, uint32_t a, uint32_t b)
{
    const output *files = owner;

    return files[a].place != files[b].place ? files[a].place < files[b].place : a < b;
}

/* By the folder's inode and the name: neither file has to be there. */
static gufo_status check_distinct(const output *files, size_t count, size_t *failed,
                                  gufo_error *error)
{
    uint32_t *order = mem_alloc(files->allocator, count * sizeof *order);
    gufo_status status = GUFO_OK;

    if (order == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_indices(order, count, comes_before, files);
    for (size_t i = 1; i < count && status == GUFO_OK; i++) {
        if (files[order[i - 1]].place != files[order[i]].place)
            continue;
        *failed = order[i];
        status = refuse(error, GUFO_E_ARGUMENT, "this and another output are the same file");
    }
    mem_free(files->allocator, order);
    return status;
}

/* After an interruption nobody could know whether a file that belongs to another user is the old
 * one, or one that this user has planted. */
static gufo_status check_old(const char *target, gufo_error *error)
{
    struct stat info;
    const char *obstacle = lstat(target, &info) == 0 ? judge(target, &info) : NULL;

    return obstacle == NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "the old file cannot be moved aside: %s", obstacle);
}

/* Looks where the old file would be, and notes it if an interrupted commit has put it there. */
static gufo_status check_aside(output *file, bool first_is_there, gufo_error *error)
{
    char *path = commit_aside_path(file);
    aside found;
    gufo_status status = path != NULL ? look_aside(path, &found, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = check_old(file->target, error);
    if (status == GUFO_OK && found == ASIDE_OLD && !first_is_there) {
        mem_free(file->allocator, file->old);
        file->old = path;
        path = NULL;
    }
    mem_free(file->allocator, path);
    return status;
}

gufo_status commit_check(output *files, size_t count, size_t *failed, gufo_error *error)
{
    bool first_is_there = is_there(files[0].target);
    gufo_status status;

    *failed = 0;
    if (count < 2)
        return GUFO_OK;
    status = check_distinct(files, count, failed, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        *failed = i;
        status = check_aside(&files[i], first_is_there, error);
    }
    return status;
}

gufo_status commit_check_replace(output *files, size_t count, bool replace, size_t *failed,
                                 gufo_error *error)
{
    for (size_t i = 0; i < count; i++) {
        bool in_the_way = files[i].exists && !files[i].named;

        *failed = i;
        files[i].replace = replace || (in_the_way && is_left(files, count, i));
        if (!replace && files[i].old != NULL)
            return refuse(error, GUFO_E_EXISTS,
                          "target exists already: an interrupted run has moved it aside");
        if (in_the_way && !files[i].replace)
            return refuse(error, GUFO_E_EXISTS, "target exists already");
    }
    return GUFO_OK;
}
