/* After an interruption.
 *
 * The journal says which bytes the edit was about to write.  Each byte at the beginning of the file
 * is therefore an old one or a new one, or a zero of the cleared magic, wherever the edit, or the
 * disk, stopped; anything else was written by another program, and is left unchanged.
 *
 *     size of the file    first bytes      what is done
 *     as before, way 2    all old          nothing: the blocks were never inserted
 *     any                 all new          nothing: only the journal was left
 *     any                 all old          nothing: the edit had not begun
 *     any                 a mixture        the new ones are written, magic last */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "edit/journal.h"

enum { PIECE = 1 << 16 };

/* ---- the state of the file ------------------------------------------------------------------ */

/* What the bytes of the file are so far; several may hold. */
typedef struct likeness {
    bool all_old, all_new, all_either;
} likeness;

/* The byte that was at `at` before anything was written: inserted bytes are zeros. */
static uint8_t old_byte(const edit_journal *j, bool inserted, uint64_t at)
{
    if (!inserted)
        return j->old_header[at];
    return at < j->head.inserted ? 0 : j->old_header[at - j->head.inserted];
}

static void compare(const edit_journal *j, bool inserted, const uint8_t *bytes, uint64_t offset,
                    size_t size, likeness *like)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t at = offset + i;
        bool is_old = bytes[i] == old_byte(j, inserted, at);
        bool is_new = bytes[i] == j->new_header[at];
        bool is_cleared = at < MAGIC_SIZE && bytes[i] == 0;

        like->all_old = like->all_old && is_old;
        like->all_new = like->all_new && is_new;
        like->all_either = like->all_either && (is_old || is_new || is_cleared);
    }
}

static gufo_status read_likeness(const edit_journal *j, int fd, bool inserted, uint64_t size,
                                 likeness *like, gufo_error *error)
{
    uint8_t bytes[PIECE];

    *like = (likeness){true, true, true};
    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t len = (size_t)smaller(size - at, PIECE);
        read_outcome outcome = edit_read(fd, bytes, len, at);

        if (outcome != READ_GOOD)
            return fail_io(error, outcome == READ_BAD ? EIO : errno, "cannot read");
        compare(j, inserted, bytes, at, len, like);
    }
    return GUFO_OK;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* Blocks were to be inserted, and were not: nothing else can have been written. */
static gufo_status check_untouched(const edit_journal *j, int fd, gufo_error *error)
{
    likeness like;
    gufo_status status = GUFO_OK;
    edit_journal before = *j;

    before.new_header = j->old_header;
    status = read_likeness(&before, fd, false, j->head.old_size, &like, error);
    if (status == GUFO_OK && !like.all_old)
        return edit_fail_changed(error);
    return status;
}

static gufo_status complete(const edit_journal *j, int fd, gufo_edit_recovery *out,
                            gufo_error *error)
{
    likeness like;
    struct stat info;
    gufo_status status;

    /* What is read below may be in memory only.  Until it is on disk the journal is needed, and
     * nothing may be written that could get there before. */
    status = edit_sync(fd, error);
    if (status == GUFO_OK && fstat(fd, &info) != 0)
        status = fail_io(error, errno, "cannot examine");
    if (status != GUFO_OK)
        return status;
    *out = GUFO_EDIT_RECOVERED_OLD;
    if (j->head.inserted > 0 && (uint64_t)info.st_size == j->head.file_size)
        return check_untouched(j, fd, error);
    if ((uint64_t)info.st_size != j->head.file_size + j->head.inserted)
        return edit_fail_changed(error);
    status = read_likeness(j, fd, j->head.inserted > 0, j->head.new_size, &like, error);
    if (status == GUFO_OK && !like.all_either)
        status = edit_fail_changed(error);
    if (status != GUFO_OK)
        return status;
    if (like.all_old && j->head.inserted == 0)
        return GUFO_OK;
    *out = GUFO_EDIT_RECOVERED_NEW;
    return like.all_new ? GUFO_OK : edit_put_header(fd, j->new_header, j->head.new_size, error);
}

/* Every name of the file would be written to, in whatever folder. */
static gufo_status check_one_name(const struct stat *info, gufo_error *error)
{
    if (info->st_nlink == 1)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "the file has %ju hard links, all of which a recovery would change; copy it, or "
                  "remove the others",
                  (uintmax_t)info->st_nlink);
}

/* With the file locked. */
static gufo_status recover_locked(int fd, bool writable, const char *path,
                                  const gufo_allocator *allocator, gufo_edit_recovery *out,
                                  gufo_error *error)
{
    journal_state state;
    struct stat info;
    edit_journal j;
    gufo_status status = fstat(fd, &info) == 0 ? GUFO_OK : fail_io(error, errno, "cannot examine");

    if (status == GUFO_OK)
        status = edit_journal_read(&j, path, &info, allocator, &state, error);
    if (status != GUFO_OK || state == JOURNAL_NONE)
        return status;
    *out = GUFO_EDIT_RECOVERED_OLD;
    if (state == JOURNAL_COMPLETE) {
        status = check_one_name(&info, error);
        if (status == GUFO_OK && !writable)
            status = fail_io(error, EACCES, "cannot open for writing");
        if (status == GUFO_OK)
            status = complete(&j, fd, out, error);
        edit_journal_close(&j);
    }
    return status == GUFO_OK ? edit_journal_remove(path, error) : status;
}

static gufo_status recover(const char *path, const gufo_allocator *allocator,
                           gufo_edit_recovery *out, gufo_error *error)
{
    journal_name journal;
    struct stat info;
    gufo_status status = edit_journal_find(&journal, path, error);
    bool writable;
    int fd;

    if (status != GUFO_OK)
        return status;
    if (lstat(journal.text, &info) != 0)
        return errno == ENOENT || errno == ENAMETOOLONG
                   ? GUFO_OK
                   : fail_io(error, errno, "cannot examine the journal");
    status = edit_open_locked(path, &fd, &writable, error);
    if (status != GUFO_OK)
        return status;
    status = recover_locked(fd, writable, journal.text, allocator, out, error);
    (void)close(fd);
    return status;
}

gufo_status gufo_edit_recover(const char *path, const gufo_edit_options *options,
                              gufo_edit_recovery *out, gufo_error *error)
{
    static const gufo_edit_options standard = {0};
    gufo_edit_recovery ignored;
    gufo_status status;

    options = options != NULL ? options : &standard;
    out = out != NULL ? out : &ignored;
    *out = GUFO_EDIT_RECOVERED_NOTHING;
    status = edit_check_options(path, options, 0, error);
    if (status != GUFO_OK)
        return status;
    status = recover(path, mem_allocator(options->allocator), out, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, path);
    return status;
}
