/* Ways 1 and 2: the new metadata goes where the old one is.
 *
 *     journal: write, sync          nothing has changed yet
 *     way 2: insert zeros, sync     0000 .... GGUF old | tensor data
 *     way 1: clear magic, sync      0000 old           | tensor data
 *     all but magic: write, sync    0000 new           | tensor data
 *     magic: write, sync            GGUF new           | tensor data
 *     journal: remove
 *
 * Each step waits for the one before to be on disk.  From the second to the last one the file
 * begins with zeros, which no reader takes for a GGUF file.  If a step fails, the same steps with
 * the old metadata undo the edit. */
#define _GNU_SOURCE /* O_TMPFILE */

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/disk.h"
#include "base/files/move.h"
#include "base/files/output.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "edit/journal.h"
#include "produce/produce.h"

gufo_status edit_sync(int fd, gufo_error *error)
{
    return disk_sync_data(fd) == 0 ? GUFO_OK : fail_io(error, errno, "cannot sync");
}

static gufo_status write_synced(int fd, uint64_t offset, const void *data, uint64_t size,
                                gufo_error *error)
{
    gufo_status status = output_write_at(fd, offset, data, (size_t)size, error);

    return status == GUFO_OK ? edit_sync(fd, error) : status;
}

static gufo_status clear_magic(int fd, gufo_error *error)
{
    static const uint8_t zeros[MAGIC_SIZE];

    return write_synced(fd, 0, zeros, MAGIC_SIZE, error);
}

/* For a file whose magic is cleared. */
static gufo_status put_cleared(int fd, const uint8_t *header, uint64_t size, gufo_error *error)
{
    gufo_status status =
        write_synced(fd, MAGIC_SIZE, header + MAGIC_SIZE, size - MAGIC_SIZE, error);

    return status == GUFO_OK ? write_synced(fd, 0, header, MAGIC_SIZE, error) : status;
}

gufo_status edit_put_header(int fd, const uint8_t *header, uint64_t size, gufo_error *error)
{
    gufo_status status = clear_magic(fd, error);

    return status == GUFO_OK ? put_cleared(fd, header, size, error) : status;
}

/* ---- taking it back ------------------------------------------------------------------------- */

/* The old metadata goes behind the inserted bytes, where it was, and these are taken out again. */
static gufo_status take_out(int fd, const edit_journal *j)
{
    gufo_status status = clear_magic(fd, NULL);

    if (status == GUFO_OK)
        status = write_synced(fd, j->head.inserted, j->old_header, j->head.old_size, NULL);
    if (status == GUFO_OK && disk_collapse(fd, 0, j->head.inserted) != 0)
        status = GUFO_E_IO;
    return status == GUFO_OK ? edit_sync(fd, NULL) : status;
}

/* Makes the file the old one again.  The old metadata comes from the journal: the mapping shows
 * what is in the file now. */
static bool roll_back(const gufo_edit *edit, const char *journal_path)
{
    journal_state state;
    edit_journal j;
    struct stat info;
    bool back;

    if (fstat(edit->fd, &info) != 0 ||
        edit_journal_read(&j, journal_path, &info, &edit->allocator, &state, NULL) != GUFO_OK ||
        state != JOURNAL_COMPLETE)
        return false;
    if ((uint64_t)info.st_size == j.head.file_size)
        back = edit_put_header(edit->fd, j.old_header, j.head.old_size, NULL) == GUFO_OK;
    else
        back = take_out(edit->fd, &j) == GUFO_OK;
    edit_journal_close(&j);
    return back && edit_journal_remove(journal_path, NULL) == GUFO_OK;
}

/* ---- the edit ------------------------------------------------------------------------------- */

/* *refused: the file is as it was. */
static gufo_status insert_synced(const gufo_edit *edit, uint64_t size, bool *refused,
                                 gufo_error *error)
{
    struct stat info;
    gufo_status status;

    if (disk_insert(edit->fd, 0, size) == 0)
        return edit_sync(edit->fd, error);
    status = fail_io(error, errno, "cannot insert blocks");
    *refused =
        fstat(edit->fd, &info) == 0 && (uint64_t)info.st_size == gufo_model_facts(edit->model).size;
    return status;
}

/* Everything between the journal's two ends. */
static gufo_status change_file(const gufo_edit *edit, const edit_journal *j, bool *refused,
                               gufo_error *error)
{
    gufo_status status;

    *refused = false;
    if (j->head.inserted == 0)
        return edit_put_header(edit->fd, j->new_header, j->head.new_size, error);
    status = insert_synced(edit, j->head.inserted, refused, error);
    return status == GUFO_OK ? put_cleared(edit->fd, j->new_header, j->head.new_size, error)
                             : status;
}

/* With the journal on disk. */
static gufo_status change_and_settle(const gufo_edit *edit, const edit_journal *j,
                                     const char *journal_path, in_place_outcome *outcome,
                                     gufo_error *error)
{
    bool refused, settled;
    gufo_status status = change_file(edit, j, &refused, error);

    if (status == GUFO_OK) {
        status = edit_journal_remove(journal_path, error);
        *outcome = status == GUFO_OK ? IN_PLACE_DONE : IN_PLACE_BROKEN;
        return status;
    }
    settled = refused ? edit_journal_remove(journal_path, NULL) == GUFO_OK
                      : roll_back(edit, journal_path);
    if (settled)
        *outcome = refused ? IN_PLACE_CLOSED : IN_PLACE_UNTOUCHED;
    else
        *outcome = IN_PLACE_BROKEN;
    return status;
}

/* With the new header at hand. */
static gufo_status write_journalled(gufo_edit *edit, const edit_journal *j,
                                    in_place_outcome *outcome, gufo_error *error)
{
    journal_name path;
    gufo_status status = gufo_model_unchanged(edit->model, error);
    bool created = true;

    if (status == GUFO_OK)
        status = edit_journal_find(&path, edit->real_path, error);
    if (status == GUFO_OK)
        status = edit_journal_write(j, path.text, &created, error);
    if (!created)
        *outcome = IN_PLACE_CLOSED;
    else if (status == GUFO_OK)
        status = change_and_settle(edit, j, path.text, outcome, error);
    else if (edit_check_settled(edit->path, true, NULL) !=
             GUFO_OK) /* the journal is complete, and cannot be removed */
        *outcome = IN_PLACE_BROKEN;
    return status;
}

/* Ways 1 and 2. */
static gufo_status edit_write_in_place(gufo_edit *edit, const gufo_edit_plan *plan,
                                       in_place_outcome *outcome, gufo_error *error)
{
    edit_journal j = {.head = {.file_size = gufo_model_facts(edit->model).size,
                               .inserted = plan->data_offset - plan->old_data_offset,
                               .old_size = plan->old_data_offset,
                               .new_size = plan->data_offset},
                      .old_header = model_file(edit->model)->source.base};
    const void *header;
    size_t size;
    gufo_status status = gufo_document_header(edit->document, &header, &size, error);

    *outcome = IN_PLACE_UNTOUCHED;
    if (status != GUFO_OK)
        return status;
    j.new_header = header;
    return write_journalled(edit, &j, outcome, error);
}

/* Way 3: a new file, which a job writes.
 *
 * The tensor data is moved as it is, gaps and unknown types included, by the kernel where it can.
 * Where it can share blocks (btrfs, XFS), the data begins as far into a block as it did before, so
 * that all of it is shared.  Another alignment gives every tensor a new place: then the document is
 * laid out packed. */

/* Opens a file without a name in the folder of `target`: closing it deletes it.  Cuts the name off `target`;
 * -1 where the file system has no such files. */
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

/* ---- the whole file ------------------------------------------------------------------------- */
/* Way 3.  `plan` has been chosen; data_offset, padding and file_size may change. */
static gufo_status edit_rewrite(gufo_edit *edit, const gufo_edit_target *target,
                                const gufo_run *run, gufo_edit_plan *plan, gufo_error *error)
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

/* ---- from a document to a file: tries one way after another ------------------------------------- */

static const gufo_edit_target the_file_itself = {0};

gufo_status gufo_edit_plan_for(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *out,
                               gufo_error *error)
{
    gufo_edit_plan plan = {0};
    uint8_t version = edit->document->encoding.version;
    gufo_status status;

    target = target != NULL ? target : &the_file_itself;
    status = edit_check_call(edit, target, error);
    if (status == GUFO_OK)
        status = edit_choose(edit, target, &plan, error);
    edit_give_back(edit);
    if (edit->document->encoding.version != version) {
        edit->document->encoding.version = version;
        document_touch(edit->document);
    }
    if (status == GUFO_OK && out != NULL)
        *out = plan;
    return model_fail(edit->model, status, error);
}

/* If an edit in place proves impossible, the file is rewritten. */
static gufo_status write_planned(gufo_edit *edit, const gufo_edit_target *target,
                                 const gufo_run *run, gufo_edit_plan *plan, bool *recover,
                                 gufo_error *error)
{
    in_place_outcome outcome;
    gufo_error reason;
    gufo_status status;

    if (plan->way == GUFO_EDIT_NOTHING)
        return GUFO_OK;
    if (plan->way == GUFO_EDIT_REWRITE)
        return edit_rewrite(edit, target, run, plan, error);
    status = edit_write_in_place(edit, plan, &outcome, &reason);
    *recover = outcome == IN_PLACE_BROKEN;
    if (outcome == IN_PLACE_CLOSED && target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS) {
        snprintf(plan->way == GUFO_EDIT_INSERT ? plan->not_inserted : plan->not_overwritten,
                 sizeof plan->not_inserted, "%.*s", (int)sizeof plan->not_inserted - 1,
                 reason.message);
        status = edit_choose_rewrite(edit, target, false, plan, error);
        return status == GUFO_OK ? edit_rewrite(edit, target, run, plan, error) : status;
    }
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}

gufo_status gufo_edit_apply(gufo_edit *edit, const gufo_edit_target *target, const gufo_run *run,
                            gufo_edit_plan *done, bool *recover, gufo_error *error)
{
    gufo_edit_plan plan = {0};
    bool ignored;
    gufo_status status;

    target = target != NULL ? target : &the_file_itself;
    recover = recover != NULL ? recover : &ignored;
    *recover = false;
    status = edit_check_call(edit, target, error);
    if (status != GUFO_OK)
        return model_fail(edit->model, status, error);
    edit->applied = true;
    status = edit_choose(edit, target, &plan, error);
    if (status == GUFO_OK)
        status = write_planned(edit, target, run, &plan, recover, error);
    edit_give_back(edit);
    if (status == GUFO_OK && done != NULL)
        *done = plan;
    return model_fail(edit->model, status, error);
}
