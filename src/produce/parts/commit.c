/* The commit: all parts are complete, and the outputs get their names.
 *
 *     compare, count --> add what was measured --> inputs unchanged? --> recorded: complete --> names --> recorded: named
 *
 * A commit that was interrupted is repeated: OUT.parts/commit says how far it has come.  The plan and its logs stay until
 * the caller has what it wants of them (gufo_plan_clean). */
#include "produce/parts/plan.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/disk.h"
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
    const gufo_plan_options none = {0};
    gufo_plan *here = NULL;
    gufo_status status;

    c->plan = gufo_plan_open(c->outputs->path, error);
    if (c->plan != NULL)
        here = gufo_plan_of_job(c->job, c->outputs, 1, &none, error);
    if (here == NULL)
        return error->code;
    status = gufo_plan_compare(c->plan, here, error);
    gufo_plan_free(here);
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

/* Results of the units of one part. */
typedef struct part_results {
    done_units units; /* those that have a result */
    uint8_t *results;
    size_t size;
} part_results;

static void keep_results(void *context, uint64_t first, uint64_t count, const uint8_t *results)
{
    part_results *r = context;

    for (uint64_t i = 0; results != NULL && i < count; i++) {
        uint64_t at = first + i - r->units.first;

        if (first + i < r->units.first || at >= r->units.count)
            continue;
        memcpy(r->results + at * r->size, results + i * r->size, r->size);
        r->units.done[at] = 1;
    }
}

/* Adds results in the order of units, each once, whichever part has it. */
static void add_results_from(committing *c, const part_results *r)
{
    for (uint64_t at; (at = c->next_unit - r->units.first) < r->units.count; c->next_unit++) {
        if (r->units.done[at] == 0)
            break;
        job_add_result(c->job, cut_piece_of(c->job, c->next_unit), r->results + at * r->size);
    }
}

static gufo_status add_results_of(committing *c, uint64_t number, gufo_error *error)
{
    const plan_part *part = &c->plan->parts[number];
    part_results r = {.units = {part->first_unit, part->end_unit - part->first_unit, NULL},
                      .size = c->logs.result_size};
    gufo_status status = GUFO_OK;
    part_logs found;

    r.units.done = mem_zero(&c->job->allocator, (size_t)r.units.count + 1);
    r.results = mem_array(&c->job->allocator, r.units.count + 1, r.size);
    if (r.units.done == NULL || r.results == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = logs_read(&c->logs, number, true, keep_results, &r, &found, error);
    if (status == GUFO_OK)
        add_results_from(c, &r);
    mem_free(&c->job->allocator, r.units.done);
    mem_free(&c->job->allocator, r.results);
    return status;
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

            if (c->next_unit - part->first_unit < part->end_unit - part->first_unit)
                status = add_results_of(c, i, error);
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

/* The record of a commit, a new one or that of one which was interrupted: it is locked. */
static gufo_status open_record(committing *c, gufo_error *error)
{
    const journal_identity identity = {.plan = c->plan->hash};
    bool found;
    gufo_status status =
        journal_open(&c->record, c->path, 0, &identity, take_state, c, &found, error);

    if (status == GUFO_OK && !found)
        status = journal_create(&c->record, c->path, 0, &identity, false, error);
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
    mem_free(&job->allocator, c.path);
    gufo_plan_free(c.plan);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* Whether a name in the folder is one of ours: N.log, N.M.log, and those that begin with a point for a moment. */
static bool is_ours(const char *name)
{
    static const char *const beginnings[] = {".clock-", ".maker-", ".plan-"};
    gufo_str text = gufo_str_of(name);
    size_t at = str_digits(text, 0);

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (str_begins(text, beginnings[i]))
            return true;
    if (strcmp(name, PLAN_MAKER) == 0)
        return true;
    if (at == 0)
        return false;
    if (name[at] == '.' && is_digit(name[at + 1]))
        at = str_digits(text, at + 1) + at + 1;
    return strcmp(name + at, ".log") == 0;
}

static gufo_status remove_in(const logs *of, const char *name, gufo_error *error)
{
    char *path = logs_path(of, name);
    gufo_status status = GUFO_OK;

    if (path == NULL)
        return fail_memory(error);
    if (disk_unlink(path) != 0 && errno != ENOENT) {
        status = fail_io(error, errno, "cannot remove it");
        fail_in(error, GUFO_FILE_JOURNAL, 0, path);
    }
    mem_free(of->allocator, path);
    return status;
}

static gufo_status remove_logs(const logs *of, gufo_error *error)
{
    DIR *folder = opendir(of->folder);
    gufo_status status = GUFO_OK;
    const struct dirent *entry;

    if (folder == NULL)
        return fail_io(error, errno, "cannot list the folder of parts");
    while (status == GUFO_OK && (entry = readdir(folder)) != NULL)
        if (is_ours(entry->d_name))
            status = remove_in(of, entry->d_name, error);
    (void)closedir(folder);
    return status;
}

/* The plan goes before the record of the commit, which says that what is left may be removed. */
static gufo_status remove_all(const logs *of, gufo_error *error)
{
    gufo_status status = remove_logs(of, error);

    if (status == GUFO_OK)
        status = remove_in(of, PLAN_NAME, error);
    if (status == GUFO_OK)
        status = remove_in(of, PLAN_COMMIT, error);
    if (status == GUFO_OK && disk_remove_folder(of->folder) != 0 && errno != ENOENT &&
        errno != ENOTEMPTY && errno != EEXIST)
        status = fail_io(error, errno, "cannot remove the folder of parts");
    return status;
}

gufo_status gufo_plan_clean(const char *path, bool *done, gufo_error *error)
{
    char *folder = plan_folder_path(path, &default_allocator);
    const logs of = {.folder = folder, .allocator = &default_allocator};
    committing c = {.record = {.fd = -1}};
    char *record = folder != NULL ? logs_path(&of, PLAN_COMMIT) : NULL;
    gufo_status status = record != NULL ? GUFO_OK : fail_memory(error);
    gufo_error reason = {0};
    bool found;

    *done = false;
    if (status == GUFO_OK)
        status = plan_folder_check(folder, &reason);
    if (status == GUFO_OK)
        status = journal_open(&c.record, record, 0, NULL, take_state, &c, &found, &reason);
    if (status == GUFO_OK && c.named) {
        status = remove_all(&of, &reason);
        *done = status == GUFO_OK;
    }
    journal_close(&c.record, true);
    if (status == GUFO_E_NOT_FOUND)
        status = GUFO_OK;
    else if (status != GUFO_OK && record != NULL)
        (void)fail_as(error, &reason);
    mem_free(&default_allocator, record);
    mem_free(&default_allocator, folder);
    return status;
}
