/* A run, from a plan to files with their names.
 *
 *     find --> reserve --> open, units, close --> inputs unchanged? --> names
 *       |         |                 |                    |                |
 *       +---------+-----------------+--------------------+----------------+--> nothing is left
 *
 * A resumable job keeps OUT.part and a journal when it is stopped:
 *
 *     find, read the journal --> continue from there --> ... --> data complete, recorded --> names
 *
 * It continues if the caller asks for it, or if nobody need be asked.
 */
#include "produce/run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "produce/units/work.h"

/* ---- the checks before a run, and the last step of one that was interrupted --------------------- */

/* ---- before --------------------------------------------------------------------------------- */

static bool has_journal(const targets *t)
{
    struct stat info;

    return t->resumable && lstat(t->journal, &info) == 0;
}

/* Without being asked, it continues only what nobody else can have made up, and what no process works
 * on: not knowing that is not enough. */
static gufo_status leftovers_look(const targets *t, const journal_identity *identity, bool *may,
                                  gufo_error *error)
{
    gufo_error reason = {0};
    bool locked;
    gufo_status status;

    *may = (t->flags & GUFO_JOB_RESUME) != 0;
    if (!targets_continues(t))
        return GUFO_OK;
    status = journal_look(t->journal, t->job->hooks.result_size, identity, &locked, &reason);
    *may = status == GUFO_OK && locked;
    return status != GUFO_OK && reason.system == EBUSY ? fail_as(error, &reason) : GUFO_OK;
}

/* Whether gufo_job_run continues what was left, if it may and if there is something. */
static gufo_status look(const gufo_job *job, const targets *t, bool *may, gufo_error *error)
{
    journal_identity identity = {0};
    gufo_status status = GUFO_OK;

    if (has_journal(t) && targets_continues(t))
        status = identity_of(job, false, &identity, error);
    if (status == GUFO_OK)
        status = leftovers_look(t, &identity, may, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, t->journal);
    return status;
}

gufo_status targets_check_no_run(const targets *t, gufo_error *error)
{
    if (!has_journal(t))
        return GUFO_OK;
    (void)journal_refuse(error);
    fail_in(error, GUFO_FILE_JOURNAL, 0, t->journal);
    return GUFO_E_EXISTS;
}

/* A run that neither continues nor replaces an interrupted one fails at its journal. */
static gufo_status check_nothing_left(const targets *t, bool may_continue, gufo_error *error)
{
    return may_continue || (t->flags & GUFO_JOB_REPLACE) != 0 ? GUFO_OK
                                                              : targets_check_no_run(t, error);
}

gufo_status gufo_job_check(gufo_job *job, const gufo_job_options *options, gufo_error *error)
{
    release r = {.fd = -1};
    gufo_status status = job_check_options(options, error);
    bool may_continue = false;
    targets t;

    if (status == GUFO_OK && job->target_count == 0)
        status = refuse(error, GUFO_E_ARGUMENT, "the job writes no file");
    if (status != GUFO_OK)
        return status;
    status = targets_find(&t, job, options, error);
    if (status == GUFO_OK)
        status = look(job, &t, &may_continue, error);
    /* Outputs with names may be those of the run that is continued, which the run itself finds out. */
    if (status == GUFO_OK && !(may_continue && has_journal(&t)))
        status = targets_check_replaceable(&t, error);
    if (status == GUFO_OK)
        status = check_nothing_left(&t, may_continue, error);
    if (status == GUFO_OK && targets_deletes(&t))
        status = release_begin(&r, job, NULL, &t, error);
    if (status == GUFO_OK && targets_deletes(&t) && !has_journal(&t))
        status = release_check(&r, 0, false, NULL, error);
    release_end(&r);
    targets_end(&t, true);
    return status;
}

/* ---- before parts are made -------------------------------------------------------------------- */

static gufo_status check_no_part(targets *t, uint32_t index, gufo_error *error)
{
    struct stat info;

    return lstat(t->parts[index], &info) != 0
               ? GUFO_OK
               : refuse(error, GUFO_E_EXISTS, "its .part file exists already");
}

gufo_status targets_find_new(targets *t, gufo_job *job, const gufo_job_options *options, bool begun,
                             gufo_error *error)
{
    gufo_job_options resumable = *options;
    gufo_status status;

    resumable.flags |= GUFO_JOB_RESUMABLE;
    status = targets_find(t, job, &resumable, error);
    if (status == GUFO_OK)
        status = targets_check_replaceable(t, error);
    if (status == GUFO_OK)
        status = check_nothing_left(t, false, error);
    if (status == GUFO_OK && !begun && (t->flags & GUFO_JOB_REPLACE) == 0)
        status = targets_each(t, check_no_part, error);
    return status;
}

gufo_status targets_remove_left(targets *t, gufo_error *error)
{
    gufo_status status = journal_remove(t->journal, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, t->journal);
    t->flags |= GUFO_JOB_REPLACE;
    return status == GUFO_OK ? parts_clear(t, error) : status;
}

/* ---- after ---------------------------------------------------------------------------------- */

static void note_named(void *context, const journal_mark *mark)
{
    *(bool *)context = mark->piece == MARK_NAMED;
}

/* Removes only our own files with the suffix that a run gives to inputs without data. */
static gufo_status remove_left(const char *input, gufo_error *error)
{
    char *path = mem_join(&default_allocator, gufo_str_of(input), gufo_str_of(RELEASE_SUFFIX));
    gufo_status status = GUFO_OK;
    struct stat info;

    if (path == NULL)
        return fail_memory(error);
    if (lstat(path, &info) == 0 && trust_own(path, &info, TRUST_ONE_NAME) == NULL &&
        disk_unlink(path) != 0 && errno != ENOENT)
        status = fail_io(error, errno, "cannot remove %s", path);
    mem_free(&default_allocator, path);
    return status;
}

gufo_status gufo_job_clean(const char *path, const char *const *inputs, size_t count, bool *done,
                           gufo_error *error)
{
    output first;
    journal j = {.fd = -1};
    char *name;
    gufo_status status;

    *done = false;
    if (path == NULL || (inputs == NULL && count > 0))
        return refuse(error, GUFO_E_ARGUMENT, "the path of the output or of an input is missing");
    status = output_find(&first, path, true, NULL, &default_allocator, error);
    if (status != GUFO_OK)
        return status;
    name = output_beside(&first, ".part.journal");
    if (name == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK) {
        bool found, named = false;

        status = journal_open(&j, name, 0, NULL, note_named, &named, &found, error);
        *done = status == GUFO_OK && found && named;
    }
    for (size_t i = 0; i < count && *done && status == GUFO_OK; i++)
        status = remove_left(inputs[i], error);
    journal_close(&j, !*done || status != GUFO_OK);
    mem_free(&default_allocator, name);
    output_discard(&first);
    return status;
}

typedef struct run {
    gufo_job *job;
    targets targets;
    work work;
    journal journal;
    keeper keeper;
    release release; /* of inputs, where that is asked for */
    void (*on_continue)(void *context, uint64_t done, uint64_t total);
    void *continue_context;
    uint64_t units_done;
    uint64_t stamp; /* of the input that gets holes, if the journal has it */
    bool stamped;
    bool continued; /* what an interrupted run has left */
    bool complete;  /* an interrupted run has done all but the names, */
    bool named;     /* and these, too */
} run;

/* ---- a job that leaves nothing behind ------------------------------------------------------- */

static gufo_status run_at_once(run *r, gufo_error *error)
{
    gufo_status status = targets_check_replaceable(&r->targets, error);

    if (status == GUFO_OK)
        status = targets_reserve(&r->targets, error);
    return status == GUFO_OK ? spans_finish(&r->targets, &r->work, error) : status;
}

/* ---- one that can be resumed ---------------------------------------------------------------- */

/* Takes over what an interrupted run has noted. */
static void take_mark(void *context, const journal_mark *mark)
{
    run *r = context;

    if (mark->piece == MARK_COMPLETE) {
        r->complete = true;
        r->units_done = r->job->unit_count;
    } else if (mark->piece == MARK_NAMED) {
        r->named = true;
    } else if (mark->piece == MARK_INPUT) {
        r->stamp = mark->units_done;
        r->stamped = true;
    } else if (mark->piece < r->job->piece_count && mark->units_done <= r->job->unit_count) {
        if (job_result(r->job, mark->piece) != NULL)
            memcpy(job_result(r->job, mark->piece), mark->result, r->job->hooks.result_size);
        r->units_done = mark->units_done;
    }
}

/* What the units that are done have read. */
static uint64_t bytes_before(const gufo_job *job, uint64_t units)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < job->piece_count && job->pieces[i].first_unit < units; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        bytes += cut_span_bytes(p, p->first_unit, smaller(p->first_unit + p->units, units));
    }
    return bytes;
}

static gufo_status fail_journal(const run *r, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, r->targets.journal);
    return status;
}

/* Ends targets and journal.  The journal goes last, for a .part file without one would be
 * anybody's, and its path lives as long as it does. */
static void end_resumable(run *r, bool keep_files, bool keep_journal)
{
    char *path = r->targets.journal;

    r->targets.journal = NULL;
    targets_end(&r->targets, keep_files);
    r->targets = (targets){.job = NULL};
    journal_close(&r->journal, keep_journal);
    mem_free(&r->job->allocator, path);
}

/* Starts from nothing.  The journal comes first: a .part file without one would be anybody's. */
static gufo_status start_anew(run *r, const journal_identity *identity, gufo_error *error)
{
    bool replace = (r->targets.flags & GUFO_JOB_REPLACE) != 0;
    gufo_status status = targets_check_replaceable(&r->targets, error);

    if (status == GUFO_OK && targets_deletes(&r->targets))
        status = release_check(&r->release, 0, false, NULL, error);
    if (status != GUFO_OK)
        return status;
    status = journal_create(&r->journal, r->targets.journal, r->job->hooks.result_size, identity,
                            replace, error);
    if (status != GUFO_OK)
        return fail_journal(r, status, error);
    status = parts_clear(&r->targets, error);
    if (status == GUFO_OK)
        status = targets_reserve(&r->targets, error);
    /* A journal that says what is done must not outlive the files that it speaks of. */
    if (status == GUFO_OK)
        status = targets_sync_folders(&r->targets, error);
    if (status != GUFO_OK) /* nothing is lost by removing these */
        end_resumable(r, false, false);
    return status;
}

/* Goes on where an interrupted run has stopped. */
static gufo_status start_again(run *r, gufo_error *error)
{
    gufo_status status;

    r->targets.complete = r->journal.written;
    if (targets_deletes(&r->targets)) {
        status =
            release_check(&r->release, r->units_done, true, r->stamped ? &r->stamp : NULL, error);
        if (status != GUFO_OK)
            return status;
    }
    if (r->named)
        return GUFO_OK;
    if (r->complete)
        return parts_open_complete(&r->targets, error);
    status = targets_check_replaceable(&r->targets, error);
    r->targets.units_done = r->units_done;
    if (status == GUFO_OK)
        status = parts_continue(&r->targets, error);
    r->work.done = bytes_before(r->job, r->units_done);
    return status;
}

/* Continues where a user has asked for it, or would have. */
static gufo_status start_continued(run *r, gufo_error *error)
{
    gufo_status status = start_again(r, error);

    if (status == GUFO_E_ARGUMENT && targets_continues(&r->targets))
        return fail_journal(r, journal_refuse(error), error);
    if (status == GUFO_OK && r->on_continue != NULL)
        r->on_continue(r->continue_context, r->complete ? r->work.total : r->work.done,
                       r->work.total);
    return status;
}

/* Before the first byte is copied: a run that resumes this one is to read the same file. */
static gufo_status note_input(run *r, bool anew, gufo_error *error)
{
    const journal_mark mark = {.piece = MARK_INPUT, .units_done = release_stamp(&r->release)};
    gufo_status status = journal_append(&r->journal, &mark, 1, error);

    if (status == GUFO_OK)
        return GUFO_OK;
    (void)fail_journal(r, status, error);
    if (anew) /* nothing is lost */
        end_resumable(r, false, false);
    return status;
}

/* Opens the journal of the run that is to be continued, if there is one. */
static gufo_status find_journal(run *r, const journal_identity *identity, gufo_error *error)
{
    bool may;
    gufo_status status = leftovers_look(&r->targets, identity, &may, error);

    if (status == GUFO_OK && may)
        status = journal_open(&r->journal, r->targets.journal, r->job->hooks.result_size, identity,
                              take_mark, r, &r->continued, error);
    return fail_journal(r, status, error);
}

static gufo_status start(run *r, gufo_error *error)
{
    journal_identity identity;
    gufo_status status = GUFO_OK;

    if (targets_deletes(&r->targets))
        status = release_begin(&r->release, r->job, &r->keeper, &r->targets, error);
    if (status == GUFO_OK)
        status = identity_of(r->job, r->release.holes, &identity, error);
    if (status == GUFO_OK)
        status = find_journal(r, &identity, error);
    if (status != GUFO_OK)
        return status;
    status = r->continued ? start_continued(r, error) : start_anew(r, &identity, error);
    if (status == GUFO_OK && !r->stamped && r->release.holes)
        status = note_input(r, !r->continued, error);
    if (status != GUFO_OK)
        return status;
    /* A mark must not outlive the name of the file that it speaks of. */
    if (!r->complete) {
        status = targets_sync_folders(&r->targets, error);
        if (status != GUFO_OK && !r->continued)
            end_resumable(r, false, false);
    }
    return status;
}

static gufo_status note_unit(void *context, uint64_t number, uint64_t index, const void *result,
                             gufo_error *error)
{
    run *r = context;
    const journal_mark mark = {index, number + 1, job_result(r->job, index)};
    plain_piece room;
    unit u = cut_find(r->job, number, &room);
    gufo_status status = keeper_note(&r->keeper, &mark, cut_bytes(&u), error);

    (void)result; /* the mark has the sum */
    if (status == GUFO_OK && targets_deletes(&r->targets))
        status = release_after(&r->release, number + 1, cut_bytes(&u), error);
    return status;
}

/* Syncs and records all data before the first file gets its name, and the names before it removes
 * what is left of the inputs. */
static gufo_status note_state(run *r, uint64_t state, gufo_error *error)
{
    const journal_mark mark = {.piece = state};
    gufo_status status = keeper_note(&r->keeper, &mark, 0, error);

    if (status == GUFO_OK)
        status = keeper_save(&r->keeper, error);
    return fail_journal(r, status, error);
}

static gufo_status work_resumably(run *r, gufo_error *error)
{
    const keeper_sink kept = keeper_to_journal(&r->journal);
    gufo_status status = GUFO_OK;

    keeper_start(&r->keeper, &r->targets, &kept, !targets_deletes(&r->targets));
    r->work.note = note_unit;
    r->work.note_context = r;
    if (!r->complete)
        status = spans_run(&r->targets, &r->work, r->units_done, error);
    keeper_stop(&r->keeper);
    if (status == GUFO_OK && !r->complete)
        status = job_check_inputs(r->job, error);
    if (status == GUFO_OK && !r->complete)
        status = note_state(r, MARK_COMPLETE, error);
    if (status == GUFO_OK && !r->named && targets_deletes(&r->targets))
        status = release_rest(&r->release, error);
    return status;
}

static gufo_status remove_inputs(run *r, gufo_error *error)
{
    gufo_status status = r->named ? GUFO_OK : note_state(r, MARK_NAMED, error);

    return status == GUFO_OK ? release_remove(&r->release, error) : status;
}

/* Works, and leaves either the output, or nothing, or files that can be resumed. */
static gufo_status run_resumably(run *r, gufo_error *error)
{
    gufo_status status = start(r, error);
    bool keep = r->continued || (r->targets.flags & GUFO_JOB_RESUME) != 0;

    if (status != GUFO_OK) {
        journal_close(&r->journal, true);
        return status;
    }
    status = work_resumably(r, error);
    keep = keep || status == GUFO_E_STOPPED;
    if (status != GUFO_OK && keep)
        (void)keeper_save(&r->keeper, NULL);
    if (status == GUFO_OK && !r->named)
        status = targets_commit(&r->targets, keep, error);
    if (status == GUFO_OK && targets_deletes(&r->targets))
        status = remove_inputs(r, error);
    keeper_free(&r->keeper);
    end_resumable(r, keep, status != GUFO_OK && keep);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

gufo_status gufo_job_run(gufo_job *job, const gufo_job_options *options, const gufo_run *how,
                         gufo_error *error)
{
    run r = {.job = job, .journal = {.fd = -1}, .release = {.fd = -1}};
    gufo_status status = job_check_options(options, error);

    if (status == GUFO_OK && job->target_count == 0)
        status = refuse(error, GUFO_E_ARGUMENT, "the job writes no file");
    if (status == GUFO_OK)
        status = job_start(job, &r.work, how, false, error);
    if (status != GUFO_OK)
        return status;
    r.on_continue = options->on_continue;
    r.continue_context = options->continue_context;
    status = targets_find(&r.targets, job, options, error);
    if (status == GUFO_OK)
        status = r.targets.resumable ? run_resumably(&r, error) : run_at_once(&r, error);
    release_end(&r.release);
    if (r.targets.job != NULL) /* resumed jobs keep what they could not even look at */
        targets_end(&r.targets, r.targets.resumable);
    work_end(&r.work);
    return status;
}
