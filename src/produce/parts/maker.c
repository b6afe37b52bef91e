/* The first worker: it makes the files that all write to, and then lets the plan appear, whole.
 *
 *     OUT.parts        the folder, ours alone
 *     maker            made by one worker alone; the others wait for the plan
 *     OUT.part ...     fresh, of their full sizes
 *     plan             linked from another name when all that it speaks of is there
 *
 * A maker that has been silent for 120 seconds is replaced: a worker renames `maker` away, and then any worker can make it
 * again.  If the old one comes back, it sees that `maker` is not its own any more, and removes nothing. */
#include "produce/parts/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/output.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"

enum { OWN_NAME = 48 };

/* Between two looks for a plan that another worker makes: at first, and at most. */
#define SHORTEST_WAIT 0.02
#define LONGEST_WAIT 1.0

typedef struct maker {
    gufo_job *job;
    const gufo_job_options *outputs;
    const gufo_run *run;
    const gufo_plan *here; /* the plan that it writes */
    logs of;
    char *plan, *path; /* OUT.parts/plan, and OUT.parts/maker */
    int fd;            /* of `maker`, as long as this worker is the one; -1: it is not */
} maker;

static gufo_status fail_beside(const char *path, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, path);
    return status;
}

static bool is_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

/* ---- one maker ------------------------------------------------------------------------------ */

static gufo_status make_folder(const char *folder, gufo_error *error)
{
    if (disk_make_folder(folder, 0755) != 0 && errno != EEXIST)
        return fail_beside(folder, fail_io(error, errno, "cannot make the folder of parts"), error);
    return plan_folder_check(folder, error);
}

/* Becomes the maker, unless another worker is; a worker that was refused may have removed the empty folder. */
static gufo_status try_to_become(maker *m, gufo_error *error)
{
    m->fd = disk_open(m->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (m->fd < 0 && errno != EEXIST && errno != ENOENT)
        return fail_beside(m->path, fail_io(error, errno, "cannot create it"), error);
    return GUFO_OK;
}

static bool is_still_maker(const maker *m)
{
    return has_this_name(m->fd, m->path);
}

/* `maker` stays behind a plan, and goes with what has failed. */
static void leave(maker *m, bool failed)
{
    if (failed && is_still_maker(m))
        (void)disk_unlink(m->path);
    (void)close(m->fd);
    m->fd = -1;
}

/* Removes the name of a maker from which nothing has come for long: one process alone succeeds. */
static void remove_silent(const maker *m, const struct stat *seen)
{
    struct stat moved;
    char name[OWN_NAME];
    char *aside;

    (void)snprintf(name, sizeof name, ".maker-%016" PRIx64, hash_key_new().k0);
    aside = logs_path(&m->of, name);
    if (aside != NULL && disk_rename(m->path, aside) == 0) {
        /* Another process was quicker, and this is its name. */
        if (lstat(aside, &moved) == 0 &&
            (moved.st_ino != seen->st_ino || moved.st_mtim.tv_sec != seen->st_mtim.tv_sec))
            (void)disk_link(aside, m->path);
        (void)disk_unlink(aside);
    }
    mem_free(m->of.allocator, aside);
}

/* Seconds until the maker counts as gone; now it is removed. */
static double patience_with(const maker *m)
{
    struct timespec now = logs_now(&m->of);
    struct stat info;
    double silence = 0;

    if (lstat(m->path, &info) == 0)
        silence = plan_silence(&info.st_mtim, &now);
    if (silence >= SILENCE_SECONDS)
        remove_silent(m, &info);
    return SILENCE_SECONDS - silence;
}

static void sleep_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    (void)nanosleep(&time, NULL);
}

/* Until the plan is there, or no worker makes it any more. */
static gufo_status wait_for_plan(const maker *m, gufo_error *error)
{
    gufo_status status = run_progress(m->run, 0, m->job->total, error);
    double patience = 0;

    for (double pause = SHORTEST_WAIT;
         status == GUFO_OK && !is_there(m->plan) && is_there(m->path);) {
        if (patience <= 0)
            patience = patience_with(m);
        sleep_for(pause);
        patience -= pause;
        pause = pause < LONGEST_WAIT / 2 ? 2 * pause : LONGEST_WAIT;
        status = run_progress(m->run, 0, m->job->total, error);
    }
    return status;
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

/* A plan that is there already, of a worker that was quicker, stays. */
static gufo_status name_plan(const char *own, const char *path, gufo_error *error)
{
    gufo_status status = output_give_new_name(own, path, error);

    return status == GUFO_E_EXISTS ? GUFO_OK : status;
}

/* The plan gets its name when it is whole and on disk: others never see half of one. */
static gufo_status publish(const maker *m, gufo_error *error)
{
    char name[OWN_NAME];
    gufo_status status;
    char *own;

    (void)snprintf(name, sizeof name, ".plan-%016" PRIx64, hash_key_new().k0);
    own = logs_path(&m->of, name);
    if (own == NULL)
        return fail_memory(error);
    status = write_plan(own, m->here, error);
    if (status == GUFO_OK)
        status = name_plan(own, m->plan, error);
    if (status == GUFO_OK)
        (void)folder_sync_names(m->plan, NULL);
    (void)disk_unlink(own);
    mem_free(m->of.allocator, own);
    return fail_beside(m->plan, status, error);
}

/* Removes logs without a plan, the record of a commit and .part files: new ones take their place. */
static gufo_status remove_left(const maker *m, targets *t, gufo_error *error)
{
    char *record = logs_path(&m->of, PLAN_COMMIT);
    gufo_status status = record != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = logs_remove(&m->of, error);
    if (status == GUFO_OK)
        status = fail_beside(record, journal_remove(record, error), error);
    mem_free(m->of.allocator, record);
    return status == GUFO_OK ? targets_remove_left(t, error) : status;
}

/* A .part file would be anybody's if what says that workers made it were lost with the power. */
static gufo_status sync_names(const maker *m, gufo_error *error)
{
    gufo_status status = fail_beside(m->path, folder_sync_names(m->path, error), error);

    return status == GUFO_OK
               ? fail_beside(m->of.folder, folder_sync_names(m->of.folder, error), error)
               : status;
}

/* Nothing is removed once another worker is the maker: what is there is its own. */
static gufo_status make_all(const maker *m, gufo_error *error)
{
    targets t;
    gufo_status status = targets_find_new(&t, m->job, m->outputs, true, error);

    if (status == GUFO_OK)
        status = sync_names(m, error);
    if (status == GUFO_OK && is_still_maker(m))
        status = remove_left(m, &t, error);
    if (status == GUFO_OK)
        status = targets_reserve(&t, error);
    if (status == GUFO_OK)
        status = targets_sync_folders(&t, error);
    if (status == GUFO_OK && is_still_maker(m))
        status = publish(m, error);
    targets_end(&t, status == GUFO_OK || !is_still_maker(m));
    return is_still_maker(m) ? status : GUFO_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* What would be refused is refused before anything is made. */
static gufo_status check_new(const maker *m, gufo_error *error)
{
    bool begun = is_there(m->of.folder);
    gufo_error reason;
    targets t;
    gufo_status status = targets_find_new(&t, m->job, m->outputs, begun, &reason);

    targets_end(&t, true);
    /* Another worker has begun meanwhile: what is in the way is what it has made. */
    if (status == GUFO_E_EXISTS && !begun && is_there(m->of.folder))
        return check_new(m, error);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* Afterwards the plan is there, or another try is worth it. */
static gufo_status try_to_make(maker *m, gufo_error *error)
{
    gufo_status status = run_progress(m->run, 0, m->job->total, error);

    if (status == GUFO_OK)
        status = check_new(m, error);
    if (status == GUFO_OK)
        status = make_folder(m->of.folder, error);
    if (status == GUFO_OK)
        status = try_to_become(m, error);
    if (status != GUFO_OK)
        return status;
    if (m->fd < 0)
        return wait_for_plan(m, error);
    status = make_all(m, error);
    leave(m, status != GUFO_OK);
    return status;
}

static gufo_plan *make_plan(maker *m, gufo_error *error)
{
    gufo_status status = m->plan != NULL && m->path != NULL ? GUFO_OK : fail_memory(error);
    gufo_plan *plan = NULL;

    while (status == GUFO_OK && plan == NULL) {
        gufo_error reason;

        status = try_to_make(m, error);
        if (status == GUFO_OK)
            plan = gufo_plan_open(m->outputs->path, &reason);
        if (status == GUFO_OK && plan == NULL && reason.code != GUFO_E_NOT_FOUND)
            status = fail_as(error, &reason);
    }
    /* Nothing is left of a worker that was refused. */
    if (plan == NULL)
        (void)disk_remove_folder(m->of.folder);
    return plan;
}

gufo_plan *maker_plan(gufo_job *job, const gufo_job_options *outputs, const gufo_plan *here,
                      const gufo_run *run, gufo_error *error)
{
    const gufo_allocator *a = &job->allocator;
    char *folder = plan_folder_path(outputs->path, a);
    maker m = {.job = job, .outputs = outputs, .run = run, .here = here, .fd = -1};
    gufo_plan *plan = NULL;

    m.of = plan_logs(here, folder);
    if (folder != NULL) {
        m.plan = logs_path(&m.of, PLAN_NAME);
        m.path = logs_path(&m.of, PLAN_MAKER);
        plan = make_plan(&m, error);
    } else {
        (void)fail_memory(error);
    }
    mem_free(a, m.plan);
    mem_free(a, m.path);
    mem_free(a, folder);
    return plan;
}
