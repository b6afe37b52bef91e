/* The first worker: it makes the files that all write to, and then lets the plan appear, whole.
 *
 *     OUT.parts        the folder, ours alone
 *     maker            made by one worker alone; the others wait for the plan
 *     OUT.part ...     fresh, of their full sizes
 *     plan             linked from another name when all that it speaks of is there
 *
 * A maker that is gone is replaced when nothing has come of it for long: whoever renames `maker` away is the next one.
 * Should the old one come back, the plan that appears first is that of both: its files have the same names and sizes. */
#include "produce/parts/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/output.h"
#include "base/hash.h"
#include "base/memory.h"

enum { OWN_NAME = 48 };

/* Between two looks for a plan that another worker makes. */
#define WAIT_NANOSECONDS 20000000L

static gufo_status fail_beside(const char *path, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, path);
    return status;
}

/* ---- one maker ------------------------------------------------------------------------------ */

static gufo_status make_folder(const char *folder, gufo_error *error)
{
    if (disk_make_folder(folder, 0755) != 0 && errno != EEXIST)
        return fail_beside(folder, fail_io(error, errno, "cannot make the folder of parts"), error);
    return plan_folder_check(folder, error);
}

/* Whether this process has made a file of that name. */
static gufo_status create_alone(const char *path, bool *alone, gufo_error *error)
{
    int fd = disk_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

    *alone = fd >= 0;
    if (fd < 0 && errno != EEXIST)
        return fail_beside(path, fail_io(error, errno, "cannot create"), error);
    if (fd >= 0)
        (void)close(fd);
    return GUFO_OK;
}

/* Removes the name of a maker from which nothing has come for long: one process alone succeeds. */
static void remove_silent(const logs *of, const char *maker)
{
    struct timespec now = logs_now(of);
    struct stat info, moved;
    char name[OWN_NAME];
    char *aside;

    if (lstat(maker, &info) != 0 || now.tv_sec - info.st_mtim.tv_sec < SILENCE_SECONDS)
        return;
    (void)snprintf(name, sizeof name, ".maker-%016" PRIx64, hash_key_new().k0);
    aside = logs_path(of, name);
    if (aside != NULL && disk_rename(maker, aside) == 0) {
        /* Another process was quicker, and this is its name. */
        if (lstat(aside, &moved) == 0 && moved.st_ino != info.st_ino)
            (void)disk_link(aside, maker);
        (void)disk_unlink(aside);
    }
    mem_free(of->allocator, aside);
}

/* ---- the files ------------------------------------------------------------------------------ */

static gufo_status write_plan(const char *path, const gufo_plan *plan, gufo_error *error)
{
    int fd = disk_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    gufo_status status;

    if (fd < 0)
        return fail_io(error, errno, "cannot create the plan");
    status = output_write_at(fd, 0, plan->text, plan->size, error);
    if (status == GUFO_OK && disk_sync(fd) != 0)
        status = fail_io(error, errno, "cannot sync the plan");
    if (close(fd) != 0 && status == GUFO_OK)
        status = fail_io(error, errno, "cannot write the plan");
    return status;
}

/* The plan gets its name when it is whole and on disk: others never see half of one.  *ours is false if another process
 * was quicker. */
static gufo_status publish(const logs *of, const gufo_plan *plan, bool *ours, gufo_error *error)
{
    char name[OWN_NAME];
    char *own, *path = logs_path(of, PLAN_NAME);
    gufo_status status = GUFO_OK;
    bool opened;

    (void)snprintf(name, sizeof name, ".plan-%016" PRIx64, hash_key_new().k0);
    own = logs_path(of, name);
    if (own == NULL || path == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = write_plan(own, plan, error);
    *ours = status == GUFO_OK && disk_link(own, path) == 0;
    if (status == GUFO_OK && !*ours && errno != EEXIST)
        status = fail_io(error, errno, "cannot name the plan");
    if (status == GUFO_OK) {
        (void)folder_sync(path, &opened, NULL);
    }
    if (own != NULL)
        (void)disk_unlink(own);
    status = fail_beside(path, status, error);
    mem_free(of->allocator, own);
    mem_free(of->allocator, path);
    return status;
}

static gufo_status make_all(const logs *of, gufo_job *job, const gufo_job_options *outputs,
                            const gufo_plan *here, gufo_error *error)
{
    targets t;
    bool ours;
    gufo_status status = targets_find_new(&t, job, outputs, true, error);

    if (status == GUFO_OK)
        status = targets_remove_left(&t, error);
    if (status == GUFO_OK)
        status = targets_reserve(&t, error);
    if (status == GUFO_OK)
        status = targets_sync_folders(&t, error);
    if (status == GUFO_OK)
        status = publish(of, here, &ours, error);
    targets_end(&t, status == GUFO_OK);
    return status;
}

/* What would be refused is refused before anything is made. */
static gufo_status check_new(gufo_job *job, const gufo_job_options *outputs, const char *folder,
                             gufo_error *error)
{
    gufo_error reason;
    struct stat info;
    targets t;
    gufo_status status = targets_find_new(&t, job, outputs, lstat(folder, &info) == 0, &reason);

    targets_end(&t, true);
    /* Another worker has begun meanwhile: what is in the way is what it has made. */
    if (status == GUFO_E_EXISTS && lstat(folder, &info) == 0)
        return check_new(job, outputs, folder, error);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Whether the worker is the maker; else the plan is there, or another worker makes it. */
static gufo_status try_to_make(const logs *of, gufo_job *job, const gufo_job_options *outputs,
                               const gufo_plan *here, gufo_error *error)
{
    char *maker = logs_path(of, PLAN_MAKER);
    bool alone = false;
    gufo_status status = maker != NULL ? create_alone(maker, &alone, error) : fail_memory(error);

    if (status == GUFO_OK && alone) {
        status = make_all(of, job, outputs, here, error);
        if (status != GUFO_OK)
            (void)disk_unlink(maker);
    } else if (status == GUFO_OK) {
        const struct timespec a_while = {.tv_nsec = WAIT_NANOSECONDS};

        remove_silent(of, maker);
        (void)nanosleep(&a_while, NULL);
    }
    mem_free(of->allocator, maker);
    return status;
}

gufo_plan *maker_plan(gufo_job *job, const gufo_job_options *outputs, const gufo_plan *here,
                      const gufo_run *run, gufo_error *error)
{
    const gufo_allocator *a = &job->allocator;
    char *folder = plan_folder_path(outputs->path, a);
    gufo_plan *plan = NULL;
    gufo_status status = folder != NULL ? GUFO_OK : fail_memory(error);
    logs of = plan_logs(here, folder);
    gufo_error reason;

    while (status == GUFO_OK && plan == NULL) {
        plan = gufo_plan_open(outputs->path, &reason);
        if (plan != NULL)
            break;
        if (reason.code != GUFO_E_NOT_FOUND) {
            status = fail_as(error, &reason);
            break;
        }
        status = run_progress(run, 0, job->total, error);
        if (status == GUFO_OK)
            status = check_new(job, outputs, folder, error);
        if (status == GUFO_OK)
            status = make_folder(folder, error);
        if (status == GUFO_OK)
            status = try_to_make(&of, job, outputs, here, error);
    }
    /* Nothing is left of a worker that was refused. */
    if (plan == NULL && folder != NULL)
        (void)disk_remove_folder(folder);
    mem_free(a, folder);
    return plan;
}
