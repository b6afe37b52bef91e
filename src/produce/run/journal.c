/* The journal; run.h draws its bytes. */
#define _GNU_SOURCE /* flock */

#include "produce/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/output.h"
#include "base/files/source.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "produce/units/work.h"

enum {
    FORM = 1,
    VERSION_SIZE = 24,
    AT_FORM = 8,
    AT_RESULT_SIZE = 12,
    AT_VERSION = 16,
    AT_INPUTS = 40,
    AT_PLAN = 48,
    AT_CHECK = 56,
    HEADER_SIZE = 64,
    MARK_RESULT = 16,
    MARK_CHECK = 8,
    MOST_MARK = MARK_RESULT + JOB_RESULT_SIZE + MARK_CHECK,
    MARKS_AT_ONCE = 16, /* that are encoded in one go, on the stack of a thread */
};

static const char magic[] = "GUFO-JOB";

/* ---- bytes ---------------------------------------------------------------------------------- */

static size_t mark_size(const journal *j)
{
    return MARK_RESULT + j->result_size + MARK_CHECK;
}

static uint64_t mark_at(const journal *j, uint64_t number)
{
    return HEADER_SIZE + number * mark_size(j);
}

static void encode_header(uint8_t header[HEADER_SIZE], const journal *j,
                          const journal_identity *identity)
{
    const char *version = gufo_version();

    memset(header, 0, HEADER_SIZE);
    memcpy(header, magic, sizeof magic - 1);
    store_u32(header + AT_FORM, FORM, bytes_swapped(false));
    store_u32(header + AT_RESULT_SIZE, (uint32_t)j->result_size, bytes_swapped(false));
    memcpy(header + AT_VERSION, version, strnlen(version, VERSION_SIZE));
    store_little_u64(header + AT_INPUTS, identity->inputs);
    store_little_u64(header + AT_PLAN, identity->plan);
    store_little_u64(header + AT_CHECK, hash_check(header, AT_CHECK, 0));
}

static void encode_mark(const journal *j, uint8_t *at, const journal_mark *mark, uint64_t number)
{
    size_t checked = MARK_RESULT + j->result_size;

    store_little_u64(at, mark->piece);
    store_little_u64(at + 8, mark->units_done);
    if (mark->result != NULL)
        memcpy(at + MARK_RESULT, mark->result, j->result_size);
    else
        memset(at + MARK_RESULT, 0, j->result_size);
    store_little_u64(at + checked, hash_check(at, checked, number));
}

static bool decode_mark(const journal *j, const uint8_t *at, journal_mark *mark, uint64_t number)
{
    size_t checked = MARK_RESULT + j->result_size;

    if (load_little_u64(at + checked) != hash_check(at, checked, number))
        return false;
    *mark = (journal_mark){load_little_u64(at), load_little_u64(at + 8), at + MARK_RESULT};
    return true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static gufo_status write_at(const journal *j, uint64_t offset, const void *data, size_t size,
                            gufo_error *error)
{
    gufo_error reason;

    if (output_write_at(j->fd, offset, data, size, &reason) == GUFO_OK)
        return GUFO_OK;
    return fail_io(error, reason.system, "cannot write the journal");
}

/* Reads up to `size` bytes; less at the end of the file. */
static gufo_status read_at(const journal *j, uint64_t offset, uint8_t *bytes, size_t size,
                           size_t *got, gufo_error *error)
{
    gufo_error reason;

    if (source_read_fd(j->fd, offset, bytes, size, got, &reason) == GUFO_OK)
        return GUFO_OK;
    return fail_io(error, reason.system, "cannot read the journal");
}

static gufo_status sync_journal(const journal *j, gufo_error *error)
{
    return disk_sync(j->fd) == 0 ? GUFO_OK : fail_io(error, errno, "cannot sync the journal");
}

/* Where locks are not supported there are none: `locked` says so.  The process that has left or made the file may have
 * removed it, and another one have made a new one, before we got the lock. */
static gufo_status lock(journal *j, gufo_error *error)
{
    j->locked = flock(j->fd, LOCK_EX | LOCK_NB) == 0;
    if (j->locked ? has_this_name(j->fd, j->path) : errno != EWOULDBLOCK)
        return GUFO_OK;
    return fail_io(error, EBUSY, "another process is working on it");
}

void journal_close(journal *j, bool keep)
{
    if (j->fd >= 0) {
        if (!keep)
            (void)disk_unlink(j->path);
        (void)close(j->fd);
    }
    *j = (journal){.fd = -1};
}

/* ---- a new one ------------------------------------------------------------------------------ */

/* A file that is not our journal can neither be continued nor replaced. */
static gufo_status check_replaceable(const journal *j, bool *exists, gufo_error *error)
{
    const char *obstacle;
    struct stat info;

    *exists = lstat(j->path, &info) == 0;
    if (!*exists)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine the journal");
    obstacle = trust_own(j->path, &info, 0);
    return obstacle == NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "what has the name of the journal cannot be replaced: %s", obstacle);
}

/* Removes an existing one, unless a process is working on it. */
static gufo_status remove_old(journal *j, gufo_error *error)
{
    bool exists;
    gufo_status status = check_replaceable(j, &exists, error);

    if (status != GUFO_OK || !exists)
        return status;

    j->fd = disk_open(j->path, O_RDWR | TRUST_OPEN_FLAGS, 0);
    if (j->fd < 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot open the journal");
    status = lock(j, error);
    if (status == GUFO_OK && disk_unlink(j->path) != 0)
        status = fail_io(error, errno, "cannot remove the journal");
    (void)close(j->fd);
    j->fd = -1;
    return status;
}

gufo_status journal_remove(const char *path, gufo_error *error)
{
    journal j = {.fd = -1, .path = path};

    return remove_old(&j, error);
}

gufo_status journal_refuse(gufo_error *error)
{
    return refuse(error, GUFO_E_EXISTS, "an interrupted run has left this journal");
}

static gufo_status create_file(journal *j, gufo_error *error)
{
    gufo_status status;
    bool exists;

    /* It decides what gets into the output, whatever the umask lets others do with that. */
    j->fd = disk_open(j->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (j->fd >= 0)
        return lock(j, error);
    if (errno == EEXIST) {
        status = check_replaceable(j, &exists, error);
        return status != GUFO_OK ? status : journal_refuse(error);
    }
    return fail_io(error, errno, "cannot create the journal");
}

gufo_status journal_create(journal *j, const char *path, size_t result_size,
                           const journal_identity *identity, bool replace, gufo_error *error)
{
    uint8_t header[HEADER_SIZE];
    gufo_status status = GUFO_OK;

    *j = (journal){.fd = -1, .path = path, .result_size = result_size};
    if (replace)
        status = remove_old(j, error);
    if (status == GUFO_OK)
        status = create_file(j, error);
    if (status != GUFO_OK) {
        journal_close(j, true);
        return status;
    }
    encode_header(header, j, identity);
    status = write_at(j, 0, header, sizeof header, error);
    if (status == GUFO_OK)
        status = sync_journal(j, error);
    if (status != GUFO_OK)
        journal_close(j, false);
    return status;
}

/* ---- one that exists ------------------------------------------------------------------------ */

/* Whether it is a journal, of this version. */
static gufo_status check_kind(const uint8_t *found, const uint8_t *wanted, gufo_error *error)
{
    char version[VERSION_SIZE + 1] = {0};

    memcpy(version, found + AT_VERSION, VERSION_SIZE);
    if (memcmp(found, magic, sizeof magic - 1) != 0 ||
        load_little_u64(found + AT_CHECK) != hash_check(found, AT_CHECK, 0))
        return refuse(error, GUFO_E_ARGUMENT,
                      "cannot resume: this is not a journal of an interrupted run");
    if (memcmp(found + AT_VERSION, wanted + AT_VERSION, VERSION_SIZE) != 0 ||
        memcmp(found + AT_FORM, wanted + AT_FORM, sizeof(uint32_t)) != 0)
        return refuse(error, GUFO_E_ARGUMENT,
                      "cannot resume: it was begun by version %s of gufo, and this is %s",
                      QUOTED(gufo_str_of(version)), gufo_version());
    return GUFO_OK;
}

/* Reports what is different. */
static gufo_status compare_header(const uint8_t *found, journal *j,
                                  const journal_identity *identity, gufo_error *error)
{
    static const journal_identity any = {0};
    uint8_t wanted[HEADER_SIZE];
    gufo_status status;

    encode_header(wanted, j, identity != NULL ? identity : &any);
    status = check_kind(found, wanted, error);
    if (status != GUFO_OK)
        return status;
    if (identity == NULL) {
        j->result_size = load_u32(found + AT_RESULT_SIZE, bytes_swapped(false));
        return j->result_size <= JOB_RESULT_SIZE
                   ? GUFO_OK
                   : refuse(error, GUFO_E_ARGUMENT,
                            "cannot resume: this is not a journal of an interrupted run");
    }
    if (load_little_u64(found + AT_INPUTS) != identity->inputs)
        return refuse(error, GUFO_E_ARGUMENT,
                      "cannot resume: it was begun with another input, or the input was changed");
    if (memcmp(found, wanted, AT_CHECK) != 0)
        return refuse(
            error, GUFO_E_ARGUMENT,
            "cannot resume: it was begun with other options, or with another importance matrix");
    return GUFO_OK;
}

/* Hands over all good marks; j->marks is their number. */
static gufo_status read_marks(journal *j, journal_visit *visit, void *context, gufo_error *error)
{
    uint8_t bytes[MARKS_AT_ONCE * MOST_MARK];
    size_t each = mark_size(j), got;
    gufo_status status;
    journal_mark mark;

    for (;;) {
        status = read_at(j, mark_at(j, j->marks), bytes, MARKS_AT_ONCE * each, &got, error);
        if (status != GUFO_OK)
            return status;
        for (size_t at = 0; got - at >= each; at += each, j->marks++) {
            if (!decode_mark(j, bytes + at, &mark, j->marks))
                return GUFO_OK;
            visit(context, &mark);
        }
        if (got < MARKS_AT_ONCE * each)
            return GUFO_OK;
    }
}

/* Takes off what comes after the last good mark: later ones are not to make it look good. */
static gufo_status cut(const journal *j, gufo_error *error)
{
    struct stat info;

    /* What is whole keeps the time at which it was written. */
    if (fstat(j->fd, &info) == 0 && (uint64_t)info.st_size == mark_at(j, j->marks))
        return GUFO_OK;
    if (disk_resize(j->fd, mark_at(j, j->marks)) != 0)
        return fail_io(error, errno, "cannot write the journal");
    return sync_journal(j, error);
}

/* Whether so few bytes are what a crash left of a header: its beginning, or zeros. */
static bool begins_header(const uint8_t *bytes, size_t size)
{
    bool zeros = true;

    for (size_t i = 0; i < size; i++)
        zeros = zeros && bytes[i] == 0;
    return zeros || memcmp(bytes, magic, size < sizeof magic - 1 ? size : sizeof magic - 1) == 0;
}

/* Reads and checks the header.  *whole is false if the run was stopped while it was written, before
 * anything else was. */
static gufo_status read_header(journal *j, const journal_identity *identity, bool *whole,
                               gufo_error *error)
{
    uint8_t header[HEADER_SIZE];
    size_t got;
    gufo_status status = read_at(j, 0, header, sizeof header, &got, error);

    if (status != GUFO_OK)
        return status;
    *whole = got == sizeof header;
    if (*whole)
        return compare_header(header, j, identity, error);
    return begins_header(header, got)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "cannot resume: this is not a journal of an interrupted run");
}

static gufo_status check_own(journal *j, gufo_error *error)
{
    struct stat info = {0};
    const char *obstacle = fstat(j->fd, &info) != 0
                               ? "it cannot be examined"
                               : trust_own(j->path, &info, TRUST_ONE_NAME | TRUST_CLOSED);

    j->written = info.st_mtim;
    return obstacle == NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "cannot resume with this journal: %s", obstacle);
}

/* Opens one that is ours, locks it and checks its header.  Nothing is open without *found, or after
 * a failure. */
static gufo_status open_whole(journal *j, const char *path, size_t result_size,
                              const journal_identity *identity, bool *found, bool *whole,
                              gufo_error *error)
{
    gufo_status status;

    *whole = false;
    *j = (journal){.fd = -1, .path = path, .result_size = result_size};
    j->fd = disk_open(path, O_RDWR | TRUST_OPEN_FLAGS, 0);
    *found = j->fd >= 0;
    if (!*found)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot open the journal");
    status = check_own(j, error);
    if (status == GUFO_OK)
        status = lock(j, error);
    if (status == GUFO_OK)
        status = read_header(j, identity, whole, error);
    if (status != GUFO_OK)
        journal_close(j, true);
    return status;
}

gufo_status journal_open(journal *j, const char *path, size_t result_size,
                         const journal_identity *identity, journal_visit *visit, void *context,
                         bool *found, gufo_error *error)
{
    bool whole;
    gufo_status status = open_whole(j, path, result_size, identity, found, &whole, error);

    if (status != GUFO_OK || !*found)
        return status;
    *found = whole;
    if (whole)
        status = read_marks(j, visit, context, error);
    else if (disk_unlink(j->path) != 0)
        status = fail_io(error, errno, "cannot remove the journal");
    if (status == GUFO_OK && whole)
        status = cut(j, error);
    if (status != GUFO_OK || !whole)
        journal_close(j, true);
    return status;
}

gufo_status journal_look(const char *path, size_t result_size, const journal_identity *identity,
                         bool *locked, gufo_error *error)
{
    bool found, whole;
    journal j;
    gufo_status status = open_whole(&j, path, result_size, identity, &found, &whole, error);

    *locked = status == GUFO_OK && (!found || j.locked);
    if (status == GUFO_OK && found)
        journal_close(&j, true);
    return status;
}

/* ---- marks ---------------------------------------------------------------------------------- */

gufo_status journal_note(journal *j, const journal_mark *marks, size_t count, gufo_error *error)
{
    uint8_t bytes[MARKS_AT_ONCE * MOST_MARK];
    gufo_status status = GUFO_OK;

    while (count > 0 && status == GUFO_OK) {
        size_t step = count < MARKS_AT_ONCE ? count : MARKS_AT_ONCE;

        for (size_t i = 0; i < step; i++)
            encode_mark(j, bytes + i * mark_size(j), &marks[i], j->marks + i);
        status = write_at(j, mark_at(j, j->marks), bytes, step * mark_size(j), error);
        j->marks += step;
        marks += step;
        count -= step;
    }
    return status;
}

gufo_status journal_append(journal *j, const journal_mark *marks, size_t count, gufo_error *error)
{
    gufo_status status = journal_note(j, marks, count, error);

    return status == GUFO_OK ? sync_journal(j, error) : status;
}
