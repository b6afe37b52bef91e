/* Way 3: a new file, which a job writes.
 *
 * The tensor data is moved as it is, gaps and unknown types included, by the kernel where it can.
 * Where it can share blocks (btrfs, XFS), the data begins as far into a block as it did before, so
 * that all of it is shared.  Another alignment gives every tensor a new place: then the document is
 * laid out packed. */
#define _GNU_SOURCE /* O_TMPFILE */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/move.h"
#include "base/files/output.h"
#include "edit/edit.h"
#include "produce/produce.h"

/* A file without a name, which goes when it is closed, in the folder of `target`, of which the name
 * is cut off; -1 where there can be none. */
static int open_unnamed(char *target)
{
#ifdef O_TMPFILE
    char *slash = strrchr(target, '/');

    if (slash != NULL)
        slash[1] = '\0';
    return disk_open(slash != NULL ? target : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)target;
    return -1;
#endif
}

/* Whether the file systems let a new file share blocks of the old one: asks by doing it. */
static gufo_status find_shared(const gufo_edit *edit, const char *path, bool replace, bool *shared,
                               gufo_error *error)
{
    const source *input = &model_file(edit->model)->source;
    gufo_facts facts = gufo_model_facts(edit->model);
    output target;
    gufo_status status;
    int fd;

    *shared = false;
    if (input->fd < 0 || facts.size < facts.data_offset ||
        facts.size - facts.data_offset < MOVE_SHARED_BLOCK)
        return GUFO_OK;
    status = output_find(&target, path, replace, NULL, &edit->allocator, error);
    if (status != GUFO_OK) {
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
        return status;
    }
    fd = open_unnamed(target.target);
    *shared = fd >= 0 && disk_clone(input->fd, 0, fd, 0, MOVE_SHARED_BLOCK) == 0;
    if (fd >= 0)
        (void)close(fd);
    output_discard(&target);
    return GUFO_OK;
}

/* The document as a job; NULL on failure. */
static gufo_job *plan_job(gufo_edit *edit, gufo_error *error)
{
    gufo_job *job = job_new(&edit->allocator, error);
    gufo_status status;

    if (job == NULL)
        return NULL;
    /* Also where no tensor is taken from it: it must not change. */
    status = job_add_shards(job, edit->model, error);
    if (status == GUFO_OK)
        status = job_add_document(job, edit->document, error);
    return job_planned(job, status, error);
}

gufo_status edit_rewrite(gufo_edit *edit, const gufo_edit_target *target, const gufo_run *run,
                         gufo_edit_plan *plan, gufo_error *error)
{
    bool itself = target->output == NULL, replace = itself || target->replace;
    gufo_job_options options = {.path = itself ? edit->path : target->output,
                                .flags = replace ? GUFO_JOB_REPLACE : 0};
    bool shared = false;
    gufo_status status = GUFO_OK;
    gufo_error reason = {0};
    gufo_job *job;

    if (!plan->relaid && !target->no_padding) /* shared blocks need room in front of them */
        status = find_shared(edit, options.path, replace, &shared, error);
    if (status == GUFO_OK && shared)
        status = edit_choose_rewrite(edit, target, true, plan, error);
    if (status != GUFO_OK)
        return status;
    job = plan_job(edit, &reason);
    if (job != NULL) {
        job->unreserved = job->unreserved || shared;
        for (uint64_t i = 0; i < job->input_count; i++)
            job->inputs[i].replaceable = itself;
        status = gufo_job_run(job, &options, run, &reason);
    } else {
        status = reason.code;
    }
    gufo_job_free(job);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

/* ---- streams -------------------------------------------------------------------------------- */

gufo_status gufo_edit_stream(gufo_edit *edit, int fd, const gufo_edit_target *target,
                             const gufo_run *run, gufo_error *error)
{
    gufo_edit_target into = target != NULL ? *target : (gufo_edit_target){0};
    gufo_edit_plan plan = {0};
    gufo_job *job = NULL;
    gufo_error ignored;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    into.output = "";
    status = edit_check_call(edit, &into, error);
    if (status == GUFO_OK)
        status = edit_choose(edit, &into, &plan, error);
    if (status == GUFO_OK) {
        job = plan_job(edit, error);
        status = job != NULL ? gufo_job_stream(job, fd, run, error) : error->code;
    }
    gufo_job_free(job);
    return model_fail(edit->model, status, error);
}
