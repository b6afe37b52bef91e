/* The commit: all parts are complete, and the outputs get their names.
 *
 *     compare, count --> add what was measured --> inputs unchanged? --> recorded: complete --> names --> recorded: named
 *
 * A commit that was interrupted is repeated: OUT.parts/commit says how far it has come.  The plan and its logs stay until
 * the caller has what it wants of them (gufo_plan_clean). */
#include "produce/parts/plan.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/memory.h"

typedef struct committing {
    gufo_job *job;
    const gufo_job_options *outputs;
    const gufo_run *run;
    gufo_plan *plan;
    char *folder, *path; /* OUT.parts, and the record of the commit in it */
    logs logs;
    targets targets;
    journal record;
    bool complete, named; /* in the record */
    uint64_t next_unit;   /* whose result is not added yet */
} committing;

/* ---- the plan ------------------------------------------------------------------------------- */

static gufo_status open_plan(committing *c, gufo_error *error)
{
    gufo_status status;

    c->plan = gufo_plan_open(c->outputs->path, error);
    if (c->plan == NULL)
        return error->code;
    status = plan_check_job(c->plan, c->job, error);
    if (status != GUFO_OK)
        return status;
    c->folder = plan_folder_path(c->outputs->path, &c->job->allocator);
    if (c->folder == NULL)
        return fail_memory(error);
    c->logs = plan_logs(c->plan, c->folder);
    c->path = logs_path(&c->logs, PLAN_COMMIT);
    return c->path != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status count_missing(committing *c, uint64_t *missing, gufo_error *error)
{
    gufo_status status = gufo_plan_look(c->plan, c->outputs->path, error);

    *missing = 0;
    for (uint64_t i = 0; i < c->plan->part_count && status == GUFO_OK; i++)
        *missing += c->plan->states[i].state != GUFO_PART_COMPLETE;
    return status;
}

/* ---- what was measured ------------------------------------------------------------------------ */

/* Adds results in the order of units, each once, whichever part has it. */
static void add_units(void *context, uint64_t first, uint64_t count, const uint8_t *results)
{
    committing *c = context;

    if (results == NULL || first > c->next_unit)
        return;
    for (uint64_t i = c->next_unit - first; i < count && c->next_unit < c->job->unit_count; i++) {
        job_add_result(c->job, cut_piece_of(c->job, c->next_unit),
                       results + i * c->logs.result_size);
        c->next_unit++;
    }
}

/* One look at the parts is enough, unless pieces of several targets take turns: then a part may have units before those
 * of an earlier one. */
static gufo_status add_results(committing *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t before;

    if (c->logs.result_size == 0)
        return GUFO_OK;
    do {
        before = c->next_unit;
        for (uint64_t i = 0; i < c->plan->part_count && status == GUFO_OK; i++) {
            const plan_part *part = &c->plan->parts[i];
            part_logs found;

            if (c->next_unit >= part->first_unit && c->next_unit < part->end_unit)
                status = logs_read(&c->logs, i, true, add_units, c, &found, error);
            if (status == GUFO_OK)
                status = run_progress(c->run, i + 1, c->plan->part_count, error);
        }
    } while (status == GUFO_OK && c->next_unit < c->job->unit_count && c->next_unit > before);
    if (status == GUFO_OK && c->next_unit < c->job->unit_count)
        status = refuse(error, GUFO_E_MALFORMED, "the logs have no result of unit %s",
                        GROUPED(c->next_unit));
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

static void take_state(void *context, const journal_mark *mark)
{
    committing *c = context;

    c->complete = c->complete || mark->piece == MARK_COMPLETE;
    c->named = c->named || mark->piece == MARK_NAMED;
}

static gufo_status fail_record(const committing *c, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, c->path);
    return status;
}

static gufo_status record_state(committing *c, uint64_t state, gufo_error *error)
{
    const journal_mark mark = {.piece = state};

    return fail_record(c, journal_append(&c->record, &mark, 1, error), error);
}

/* Another process may have committed and cleaned up before this one had its lock. */
static gufo_status check_still_there(committing *c, gufo_error *error)
{
    gufo_error reason;
    gufo_plan *plan = gufo_plan_open(c->outputs->path, &reason);
    bool same = plan != NULL && plan->hash == c->plan->hash;

    gufo_plan_free(plan);
    if (same)
        return GUFO_OK;
    if (plan == NULL && reason.code != GUFO_E_NOT_FOUND)
        return fail_as(error, &reason);
    return refuse(error, GUFO_E_NOT_FOUND, "another process has committed these parts meanwhile");
}

/* The record of a commit, a new one or that of one which was interrupted: it is locked. */
static gufo_status open_record(committing *c, gufo_error *error)
{
    const journal_identity identity = {.plan = c->plan->hash};
    bool found;
    gufo_status status =
        journal_open(&c->record, c->path, 0, &identity, take_state, c, &found, error);

    if (status == GUFO_OK && !found)
        status = journal_create(&c->record, c->path, 0, &identity, false, error);
    /* Neither the record nor a log may be lost once files have their names. */
    if (status == GUFO_OK)
        status = folder_sync_names(c->path, error);
    if (status == GUFO_OK) {
        status = check_still_there(c, error);
        if (status != GUFO_OK)
            journal_close(&c->record, found);
    }
    return fail_record(c, status, error);
}

static gufo_status give_names(committing *c, gufo_error *error)
{
    gufo_job_options options = *c->outputs;
    gufo_status status = GUFO_OK;
    struct stat info;

    options.flags |= GUFO_JOB_RESUMABLE;
    if (!c->complete)
        status = record_state(c, MARK_COMPLETE, error);
    if (status == GUFO_OK && fstat(c->record.fd, &info) != 0)
        status = fail_record(c, fail_io(error, errno, "cannot examine the record"), error);
    if (status != GUFO_OK)
        return status;
    status = targets_find(&c->targets, c->job, &options, error);
    c->targets.complete = info.st_mtim;
    if (status == GUFO_OK)
        status = targets_check_no_run(&c->targets, error);
    if (status == GUFO_OK)
        status = targets_commit_parts(&c->targets, error);
    if (status == GUFO_OK)
        status = record_state(c, MARK_NAMED, error);
    targets_end(&c->targets, true);
    return status;
}

static gufo_status commit_complete(committing *c, gufo_error *error)
{
    gufo_status status = add_results(c, error);

    if (status == GUFO_OK)
        status = job_check_inputs(c->job, error);
    if (status == GUFO_OK)
        status = open_record(c, error);
    if (status == GUFO_OK && !c->named)
        status = give_names(c, error);
    journal_close(&c->record, true);
    return status;
}

gufo_status gufo_plan_commit(gufo_job *job, const gufo_job_options *outputs, const gufo_run *run,
                             uint64_t *missing, gufo_error *error)
{
    committing c = {.job = job, .outputs = outputs, .run = run_of(run), .record = {.fd = -1}};
    gufo_error reason;
    uint64_t count = 0;
    gufo_status status = parts_check_job(job, outputs, &reason);

    job->by_parts = true;
    if (status == GUFO_OK)
        status = job_add_counted(job, &reason);
    if (status == GUFO_OK)
        status = job_begin(job, c.run, &reason);
    if (status == GUFO_OK)
        status = open_plan(&c, &reason);
    if (status == GUFO_OK)
        status = count_missing(&c, &count, &reason);
    if (status == GUFO_OK && count == 0)
        status = commit_complete(&c, &reason);
    if (missing != NULL)
        *missing = count;
    mem_free(&job->allocator, c.folder);
    mem_free(c.logs.allocator, c.path);
    gufo_plan_free(c.plan);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* The record of the commit, which says that what is left may be removed, goes last; the plan first, for logs
 * without it say nothing, and it would miss the parts whose logs are gone. */
static gufo_status remove_all(const logs *of, const char *record, gufo_error *error)
{
    gufo_status status = logs_remove_file(of, PLAN_NAME, error);

    if (status == GUFO_OK)
        status = folder_sync_names(record, error);
    if (status == GUFO_OK)
        status = logs_remove(of, error);
    if (status == GUFO_OK)
        status = logs_remove_file(of, PLAN_MAKER, error);
    if (status == GUFO_OK)
        status = folder_sync_names(record, error);
    if (status == GUFO_OK)
        status = logs_remove_file(of, PLAN_COMMIT, error);
    if (status == GUFO_OK && disk_remove_folder(of->folder) != 0 && errno != ENOENT &&
        errno != ENOTEMPTY && errno != EEXIST)
        status = fail_io(error, errno, "cannot remove the folder of parts");
    return status;
}

/* *done: the record says that all files have their names, and everything is removed.  An empty folder, in which
 * nothing was begun or from which all was removed, goes, too. */
static gufo_status clean_folder(const logs *of, bool *done, gufo_error *error)
{
    committing c = {.record = {.fd = -1}};
    char *record = logs_path(of, PLAN_COMMIT);
    gufo_status status = record != NULL ? GUFO_OK : fail_memory(error);
    bool found;

    if (status == GUFO_OK)
        status = journal_open(&c.record, record, 0, NULL, take_state, &c, &found, error);
    if (status == GUFO_OK && c.named)
        status = remove_all(of, record, error);
    else if (status == GUFO_OK && !found)
        (void)disk_remove_folder(of->folder);
    *done = status == GUFO_OK && c.named;
    journal_close(&c.record, true);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, of->folder);
    mem_free(of->allocator, record);
    return status;
}

gufo_status gufo_plan_clean(const char *path, bool *done, gufo_error *error)
{
    gufo_error reason;
    char *folder;
    gufo_status status = plan_folder_find(path, &default_allocator, &folder, &reason);
    const logs of = {.folder = folder, .allocator = &default_allocator};

    *done = false;
    if (status == GUFO_OK)
        status = clean_folder(&of, done, &reason);
    mem_free(&default_allocator, folder);
    return status == GUFO_OK || status == GUFO_E_NOT_FOUND ? GUFO_OK : fail_as(error, &reason);
}
