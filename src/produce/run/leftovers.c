/* The checks before a run, and the last step of one that was interrupted. */
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "produce/run/run.h"
#include "produce/units/work.h"

/* ---- before --------------------------------------------------------------------------------- */

static bool has_journal(const targets *t)
{
    struct stat info;

    return t->resumable && lstat(t->journal, &info) == 0;
}

/* Without being asked, it continues only what nobody else can have made up, and what no process works
 * on: not knowing that is not enough. */
gufo_status leftovers_look(const targets *t, const journal_identity *identity, bool *may,
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

/* A run that neither continues nor replaces an interrupted one fails at its journal. */
static gufo_status check_nothing_left(const targets *t, bool may_continue, gufo_error *error)
{
    if (!has_journal(t) || may_continue || (t->flags & GUFO_JOB_REPLACE) != 0)
        return GUFO_OK;
    (void)journal_refuse(error);
    fail_in(error, GUFO_FILE_JOURNAL, 0, t->journal);
    return GUFO_E_EXISTS;
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
    if (lstat(path, &info) == 0 && trust_own(&info) == NULL && disk_unlink(path) != 0 &&
        errno != ENOENT)
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
