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
#include "produce/run/run.h"
#include "produce/units/work.h"

/* ---- nothing is to be kept ------------------------------------------------------------------ */

static gufo_status remove_part(targets *t, uint32_t index, gufo_error *error)
{
    const char *obstacle;
    struct stat info;

    if (lstat(t->parts[index], &info) != 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine its .part file");
    obstacle = trust_replaceable(&info);
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "its .part file is in the way and cannot be replaced: %s", obstacle);
    if ((t->flags & GUFO_JOB_REPLACE) == 0)
        return refuse(error, GUFO_E_EXISTS, "its .part file exists already");
    if (disk_unlink(t->parts[index]) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the old .part file");
    return GUFO_OK;
}

gufo_status parts_clear(targets *t, gufo_error *error)
{
    return targets_each(t, remove_part, error);
}

/* ---- going on ------------------------------------------------------------------------------- */

static gufo_status check_part(targets *t, uint32_t index, gufo_error *error)
{
    struct stat info;

    if (lstat(t->parts[index], &info) == 0 && S_ISREG(info.st_mode) &&
        (uint64_t)info.st_size == t->job->targets[index].size)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "cannot resume: its .part file is missing or has another size");
}

static gufo_status reserve_again(targets *t, uint32_t index, gufo_error *error)
{
    gufo_status status = output_open_part(&t->files[index], true, t->job->targets[index].size,
                                          targets_reserves(t), error);

    targets_rest(t, index);
    return status;
}

/* Takes everything out of the .part file first: it may be what another run left, and no other
 * process writes to the padding. */
static gufo_status reserve_emptied(targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    gufo_status status = output_open_part(file, true, 0, false, error);

    targets_rest(t, index);
    mem_free(file->allocator, file->temporary);
    file->temporary = NULL;
    return status == GUFO_OK ? reserve_again(t, index, error) : status;
}

/* A target that was not begun may not have its size yet. */
static gufo_status continue_part(targets *t, uint32_t index, gufo_error *error)
{
    const job_target *target = &t->job->targets[index];
    bool begun =
        target->has_pieces && t->job->pieces[target->first_piece].first_unit < t->units_done;
    gufo_status status = begun ? check_part(t, index, error) : GUFO_OK;

    if (status != GUFO_OK)
        return status;
    return begun ? reserve_again(t, index, error) : reserve_emptied(t, index, error);
}

gufo_status parts_continue(targets *t, gufo_error *error)
{
    return targets_each(t, continue_part, error);
}

/* ---- nothing but names is missing ----------------------------------------------------------- */

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Whether the target is the output that was made: it has its size and its header, and got its name
 * after the journal was complete.  Naming changes the time of the last change of a file's facts; an
 * old target, which may be of the same size and header, has an earlier one. */
static bool has_its_name(const targets *t, uint32_t index)
{
    enum { PIECE = 4096 };
    const void *header;
    uint8_t bytes[PIECE];
    struct stat info;
    size_t size, step, got;
    int fd = open(t->files[index].target, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &info) == 0 &&
                (uint64_t)info.st_size == t->job->targets[index].size &&
                !is_before(&info.st_ctim, &t->complete) &&
                job_header(&t->job->targets[index], &header, &size, NULL) == GUFO_OK;

    for (size_t at = 0; same && at < size; at += step) {
        step = size - at < PIECE ? size - at : PIECE;
        same = source_read_fd(fd, at, bytes, step, &got, NULL) == GUFO_OK && got == step &&
               memcmp(bytes, (const uint8_t *)header + at, step) == 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return same;
}

/* Stopped between the two steps of naming, a file has both names: it loses that of a .part file. */
static void drop_second_name(const targets *t, uint32_t index)
{
    struct stat part, target;

    if (lstat(t->parts[index], &part) == 0 && stat(t->files[index].target, &target) == 0 &&
        target.st_dev == part.st_dev && target.st_ino == part.st_ino)
        (void)disk_unlink(t->parts[index]);
}

static bool has_part(const targets *t, uint32_t index)
{
    struct stat part;

    return lstat(t->parts[index], &part) == 0;
}

static gufo_status open_complete(targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    gufo_status status;

    drop_second_name(t, index);
    if (has_part(t, index) || !has_its_name(t, index)) {
        status = check_part(t, index, error);
        return status == GUFO_OK ? reserve_again(t, index, error) : status;
    }
    file->named = true;
    file->temporary = mem_text(file->allocator, gufo_str_of(t->parts[index]));
    return file->temporary != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status parts_open_complete(targets *t, gufo_error *error)
{
    gufo_status status = targets_each(t, open_complete, error);

    return status == GUFO_OK ? targets_check_replaceable(t, error) : status;
}
