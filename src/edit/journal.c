/* The journal, whose bytes journal.h draws; whether there is one. */
#define _GNU_SOURCE /* realpath */

#include "edit/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/output.h"
#include "base/files/pending.h"
#include "base/hash.h"
#include "base/memory.h"
#include "edit/edit.h"

enum { PIECE = 64 * 1024 };

/* Checks detect what a crash leaves, not forgeries: the key is not a secret.  They are taken piece
 * by piece, so that checking needs no more memory than that. */
static uint64_t check_piece(uint64_t check, uint64_t size, const uint8_t *bytes, size_t len)
{
    return hash_text((hash_key){check, size}, (gufo_str){(const char *)bytes, len});
}

static size_t next_piece(uint64_t size, uint64_t at)
{
    return size - at < PIECE ? (size_t)(size - at) : PIECE;
}

static uint64_t check_of(const uint8_t *bytes, uint64_t size)
{
    uint64_t check = 0;

    for (uint64_t at = 0; at < size; at += PIECE)
        check = check_piece(check, size, bytes + at, next_piece(size, at));
    return check;
}

gufo_status edit_journal_find(journal_name *out, const char *path, gufo_error *error)
{
    if (realpath(path, out->text) == NULL)
        return fail_io(error, errno, "cannot open");
    memcpy(out->text + strlen(out->text), PENDING_SUFFIX, sizeof PENDING_SUFFIX);
    return GUFO_OK;
}

bool edit_journal_possible(const char *path)
{
    journal_name journal;
    struct stat info;

    return edit_journal_find(&journal, path, NULL) != GUFO_OK || lstat(journal.text, &info) == 0 ||
           errno != ENAMETOOLONG;
}

/* Waits until names in the folder of `path` are on disk; fails also where that cannot be asked
 * for. */
static gufo_status sync_folder(const char *path, gufo_error *error)
{
    bool opened;

    return folder_sync(path, &opened, error);
}

gufo_status edit_journal_remove(const char *path, gufo_error *error)
{
    if (disk_unlink(path) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the journal");
    /* If the name comes back after a crash, it is found to be of an edit that is complete. */
    (void)sync_folder(path, NULL);
    return GUFO_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status write_all(const edit_journal *j, int fd, gufo_error *error)
{
    pending_head head = j->head;
    uint8_t bytes[PENDING_HEAD_SIZE];
    gufo_status status;

    head.old_check = check_of(j->old_header, head.old_size);
    head.new_check = check_of(j->new_header, head.new_size);
    pending_encode(&head, bytes);
    status = output_write_at(fd, 0, bytes, PENDING_HEAD_SIZE, error);
    if (status == GUFO_OK)
        status =
            output_write_at(fd, PENDING_HEAD_SIZE, j->old_header, (size_t)head.old_size, error);
    if (status == GUFO_OK)
        status = output_write_at(fd, PENDING_HEAD_SIZE + head.old_size, j->new_header,
                                 (size_t)head.new_size, error);
    if (status == GUFO_OK && disk_sync_data(fd) != 0)
        status = fail_io(error, errno, "cannot sync the journal");
    return status;
}

gufo_status edit_journal_write(const edit_journal *j, const char *path, bool *created,
                               gufo_error *error)
{
    int fd = disk_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    gufo_status status;

    *created = fd >= 0;
    if (fd < 0)
        return fail_io(error, errno, "cannot create the journal");
    status = write_all(j, fd, error);
    if (close(fd) != 0 && status == GUFO_OK)
        status = fail_io(error, errno, "cannot write the journal");
    if (status == GUFO_OK)
        status = sync_folder(path, error);
    if (status != GUFO_OK)
        (void)edit_journal_remove(path, NULL);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

read_outcome edit_read(int fd, uint8_t *bytes, uint64_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t got = pread(fd, bytes, next_piece(size, 0), (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? READ_IMPOSSIBLE : READ_BAD;
        bytes += got;
        at += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return READ_GOOD;
}

/* Whether `size` bytes from `from` on have this check. */
static read_outcome check_header(int fd, uint64_t from, uint64_t size, uint64_t expected)
{
    uint8_t bytes[PIECE];
    uint64_t check = 0;

    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t len = next_piece(size, at);
        read_outcome read = edit_read(fd, bytes, len, from + at);

        if (read != READ_GOOD)
            return read;
        check = check_piece(check, size, bytes, len);
    }
    return check == expected ? READ_GOOD : READ_BAD;
}

static journal_state check_headers(pending_journal *p)
{
    const pending_head *h = &p->head;
    read_outcome all = check_header(p->fd, PENDING_HEAD_SIZE, h->old_size, h->old_check);

    if (all == READ_GOOD)
        all = check_header(p->fd, PENDING_HEAD_SIZE + h->old_size, h->new_size, h->new_check);
    if (all == READ_IMPOSSIBLE)
        p->obstacle = "it cannot be read";
    return all == READ_GOOD ? JOURNAL_COMPLETE : all == READ_BAD ? JOURNAL_TORN : JOURNAL_UNTRUSTED;
}

/* Looks at it; the journal of a state that is JOURNAL_COMPLETE is left open. */
static journal_state look(pending_journal *p, const char *path, const struct stat *file)
{
    static const journal_state states[] = {
        [PENDING_NOTHING] = JOURNAL_NONE,        [PENDING_OTHER] = JOURNAL_NONE,
        [PENDING_UNTRUSTED] = JOURNAL_UNTRUSTED, [PENDING_TORN] = JOURNAL_TORN,
        [PENDING_UNKNOWN] = JOURNAL_UNKNOWN,     [PENDING_HEAD] = JOURNAL_COMPLETE};
    journal_state state = states[pending_open(p, path, file->st_uid)];
    const pending_head *h = &p->head;
    uint64_t size = (uint64_t)file->st_size;

    if (state != JOURNAL_COMPLETE)
        return state;
    if (size != h->file_size && size != h->file_size + h->inserted)
        state = JOURNAL_UNFIT;
    else
        state = check_headers(p);
    if (state != JOURNAL_COMPLETE)
        (void)close(p->fd);
    return state;
}

/* No process can truncate what is in memory. */
static gufo_status load(edit_journal *j, const pending_journal *p, const gufo_allocator *allocator,
                        gufo_error *error)
{
    const pending_head *h = &p->head;
    uint64_t size = h->old_size + h->new_size;
    uint8_t *memory = size <= SIZE_MAX ? mem_alloc(allocator, (size_t)size) : NULL;

    if (memory == NULL)
        return fail_memory(error);
    *j = (edit_journal){.head = *h,
                        .old_header = memory,
                        .new_header = memory + h->old_size,
                        .memory = memory,
                        .allocator = *allocator};
    if (edit_read(p->fd, memory, size, PENDING_HEAD_SIZE) == READ_GOOD &&
        check_of(j->old_header, h->old_size) == h->old_check &&
        check_of(j->new_header, h->new_size) == h->new_check)
        return GUFO_OK;
    edit_journal_close(j);
    return refuse(error, GUFO_E_CHANGED, "the journal was changed while it was being read");
}

gufo_status edit_fail_changed(gufo_error *error)
{
    return refuse(error, GUFO_E_CHANGED,
                  "the file was changed or replaced after the edit that left a journal; if the "
                  "file is correct, remove the file of the same name that ends in .gufo-journal");
}

static gufo_status fail_state(journal_state state, const char *path, const char *obstacle,
                              gufo_error *error)
{
    switch (state) {
    case JOURNAL_UNTRUSTED:
        return refuse(error, GUFO_E_ARGUMENT,
                      "%s is not accepted as the journal of an interrupted edit: %s",
                      QUOTED(gufo_str_of(strrchr(path, '/') + 1)), obstacle);
    case JOURNAL_UNKNOWN:
        return refuse(error, GUFO_E_ARGUMENT,
                      "the journal was left by another version of gufo, in a format that this one "
                      "does not know; that version can recover the file");
    case JOURNAL_UNFIT:
        return edit_fail_changed(error);
    default:
        return GUFO_OK;
    }
}

gufo_status edit_journal_read(edit_journal *j, const char *path, const struct stat *file,
                              const gufo_allocator *allocator, journal_state *state,
                              gufo_error *error)
{
    pending_journal p;
    gufo_status status;

    *state = look(&p, path, file);
    if (*state != JOURNAL_COMPLETE)
        return fail_state(*state, path, p.obstacle, error);
    status = load(j, &p, allocator, error);
    (void)close(p.fd);
    return status;
}

void edit_journal_close(edit_journal *j)
{
    mem_free(&j->allocator, j->memory);
    j->memory = NULL;
}

/* ---- whether an edit is going on, or was interrupted ---------------------------------------- */

/* What the journal says about the file, no matter who holds its lock. */
static gufo_edit_state state_of(const char *path)
{
    /* Recovery reports that the file was changed since, or that it does not know the format. */
    static const gufo_edit_state states[] = {[JOURNAL_COMPLETE] = GUFO_EDIT_STATE_INTERRUPTED,
                                             [JOURNAL_UNFIT] = GUFO_EDIT_STATE_INTERRUPTED,
                                             [JOURNAL_UNKNOWN] = GUFO_EDIT_STATE_INTERRUPTED};
    pending_journal p;
    journal_state state;
    journal_name journal;
    struct stat info;

    if (edit_journal_find(&journal, path, NULL) != GUFO_OK || stat(path, &info) != 0)
        return GUFO_EDIT_STATE_SETTLED;
    state = look(&p, journal.text, &info);
    if (state == JOURNAL_COMPLETE)
        (void)close(p.fd);
    return states[state];
}

gufo_edit_state gufo_edit_pending(const char *path)
{
    gufo_edit_state state = path != NULL ? state_of(path) : GUFO_EDIT_STATE_SETTLED;

    if (state != GUFO_EDIT_STATE_INTERRUPTED || !pending_is_locked(path))
        return state;
    /* It may have ended between the two questions. */
    return state_of(path) == GUFO_EDIT_STATE_SETTLED ? GUFO_EDIT_STATE_SETTLED
                                                     : GUFO_EDIT_STATE_LIVE;
}

gufo_status edit_check_settled(const char *path, bool locked, gufo_error *error)
{
    static const char *const sentences[] = {
        [GUFO_EDIT_STATE_LIVE] = "the file is being edited",
        [GUFO_EDIT_STATE_INTERRUPTED] = "an edit of the file was interrupted; recover it first",
    };
    gufo_edit_state state = locked ? state_of(path) : gufo_edit_pending(path);

    return state == GUFO_EDIT_STATE_SETTLED
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "%s", sentences[state]);
}
