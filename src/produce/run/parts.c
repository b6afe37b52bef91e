/* The files that an interrupted run left: OUT.part, some of which may already have their final
 * names. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "produce/run/targets.h"
#include "produce/units/work.h"

/* ---- nothing is to be kept ------------------------------------------------------------------ */

static gufo_status remove_part(const targets *t, const char *path, gufo_error *error)
{
    const char *obstacle;
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine its .part file");
    obstacle = trust_replaceable(&info);
    if (obstacle != NULL)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "its .part file is in the way and cannot be replaced: %s", obstacle);
    if ((t->flags & GUFO_JOB_REPLACE) == 0)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "its .part file exists already");
    if (disk_unlink(path) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the old .part file");
    return GUFO_OK;
}

static gufo_status clear_part(const targets *t, const output *file, gufo_error *error)
{
    char *path = output_beside(file, ".part");
    gufo_status status;

    if (path == NULL)
        return fail_memory(error);
    status = remove_part(t, path, error);
    mem_free(&t->job->allocator, path);
    return status;
}

gufo_status parts_clear(targets *t, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++) {
        status = clear_part(t, &t->files[i], error);
        if (status != GUFO_OK)
            (void)targets_fail(t, i, status, error);
    }
    return status;
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Looks for the .part file; *info are its facts. */
static gufo_status find_part(const output *file, bool *exists, struct stat *info, gufo_error *error)
{
    char *path = output_beside(file, ".part");

    if (path == NULL)
        return fail_memory(error);
    *exists = lstat(path, info) == 0;
    mem_free(file->allocator, path);
    return GUFO_OK;
}

static gufo_status check_size(const targets *t, uint32_t index, bool exists,
                              const struct stat *info, gufo_error *error)
{
    if (exists && S_ISREG(info->st_mode) && (uint64_t)info->st_size == t->job->targets[index].size)
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                     "cannot resume: its .part file is missing or has another size");
}

gufo_status parts_check(targets *t, gufo_error *error)
{
    for (uint32_t i = 0; i < t->job->target_count; i++) {
        struct stat info;
        bool exists;
        gufo_status status = find_part(&t->files[i], &exists, &info, error);

        if (status == GUFO_OK)
            status = check_size(t, i, exists, &info, error);
        if (status != GUFO_OK)
            return targets_fail(t, i, status, error);
    }
    return GUFO_OK;
}

static gufo_status reserve_again(output *file, uint64_t size, gufo_error *error)
{
    gufo_status status = output_open_part(file, true, size, error);

    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
    return status;
}

/* Takes everything out of the .part file: it may be what another run left, and no other process
 * writes to the padding. */
static gufo_status empty_part(output *file, gufo_error *error)
{
    gufo_status status = reserve_again(file, 0, error);

    mem_free(file->allocator, file->temporary);
    file->temporary = NULL;
    return status;
}

gufo_status parts_reserve_again(targets *t, bool empty, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++) {
        if (empty)
            status = empty_part(&t->files[i], error);
        if (status == GUFO_OK)
            status = reserve_again(&t->files[i], t->job->targets[i].size, error);
        if (status != GUFO_OK)
            (void)targets_fail(t, i, status, error);
    }
    return status;
}

/* ---- nothing but names is missing ----------------------------------------------------------- */

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Whether the target is the output that was made: it has its size and its header, and got its name
 * after the journal was complete.  Naming changes the time of the last change of a file's facts; an
 * old target, which may be of the same size and header, has an earlier one. */
static bool has_its_name(const targets *t, uint32_t index, const struct timespec *complete)
{
    enum { PIECE = 4096 };
    const void *header;
    uint8_t bytes[PIECE];
    struct stat info;
    size_t size, step;
    int fd = open(t->files[index].target, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &info) == 0 &&
                (uint64_t)info.st_size == t->job->targets[index].size &&
                !is_before(&info.st_ctim, complete) &&
                job_header(&t->job->targets[index], &header, &size, NULL) == GUFO_OK;

    for (size_t at = 0; same && at < size; at += step) {
        step = size - at < PIECE ? size - at : PIECE;
        same = pread(fd, bytes, step, (off_t)at) == (ssize_t)step &&
               memcmp(bytes, (const uint8_t *)header + at, step) == 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return same;
}

/* Stopped between the two steps of naming, a file has both names. */
static gufo_status drop_second_name(const output *file, const struct stat *part, bool *exists,
                                    gufo_error *error)
{
    struct stat target;
    char *path;

    if (!*exists || stat(file->target, &target) != 0 || target.st_dev != part->st_dev ||
        target.st_ino != part->st_ino)
        return GUFO_OK;
    path = output_beside(file, ".part");
    if (path == NULL)
        return fail_memory(error);
    *exists = disk_unlink(path) != 0;
    mem_free(file->allocator, path);
    return GUFO_OK;
}

static gufo_status open_complete(targets *t, uint32_t index, const struct timespec *complete,
                                 gufo_error *error)
{
    output *file = &t->files[index];
    struct stat info;
    bool exists;
    gufo_status status = find_part(file, &exists, &info, error);

    if (status == GUFO_OK)
        status = drop_second_name(file, &info, &exists, error);
    if (status != GUFO_OK)
        return status;
    if (!exists && has_its_name(t, index, complete)) {
        file->named = true;
        file->temporary = output_beside(file, ".part");
        return file->temporary != NULL ? GUFO_OK : fail_memory(error);
    }
    status = check_size(t, index, exists, &info, error);
    return status == GUFO_OK ? reserve_again(file, t->job->targets[index].size, error) : status;
}

/* One that has its name is not in its own way. */
static gufo_status check_unnamed(targets *t, gufo_error *error)
{
    gufo_status status;
    bool *named = mem_zero(&t->job->allocator, (size_t)t->job->target_count * sizeof *named);

    if (named == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < t->job->target_count; i++) {
        named[i] = t->files[i].exists;
        t->files[i].exists = t->files[i].exists && !t->files[i].named;
    }
    status = targets_check_replaceable(t, error);
    for (uint64_t i = 0; i < t->job->target_count; i++)
        t->files[i].exists = named[i];
    mem_free(&t->job->allocator, named);
    return status;
}

gufo_status parts_open_complete(targets *t, const struct timespec *complete, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++) {
        status = open_complete(t, i, complete, error);
        if (status != GUFO_OK)
            return targets_fail(t, i, status, error);
    }
    return check_unnamed(t, error);
}
