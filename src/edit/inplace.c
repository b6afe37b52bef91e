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
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/output.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "edit/journal.h"

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

gufo_status edit_write_in_place(gufo_edit *edit, const gufo_edit_plan *plan,
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
