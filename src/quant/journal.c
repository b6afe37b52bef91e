/* The journal; journal.h draws its bytes. */
#include "quant/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/output.h"
#include "base/trust.h"

enum {
    VERSION_SIZE = 24,
    AT_VERSION = 8,
    AT_INPUT = 32,
    AT_OPTIONS = 40,
    AT_CHECK = 48,
    HEADER_SIZE = 56,
    MARK_CHECK = 44,
    MARK_SIZE = 48,
    MARKS_AT_ONCE = 64, /* that are encoded in one go */
};

static const char magic[] = "GUFO-QNT";
static const char older_magic[] = "GUFOQRUN";

/* Checks are there for what a crash leaves, not for what somebody forges: the key is no secret. */
static uint64_t check_of(const uint8_t *bytes, size_t size, uint64_t number)
{
    return hash_text((hash_key){number, 0}, (gufo_str){(const char *)bytes, size});
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void put_u64(uint8_t *at, uint64_t v)
{
    store_u64(at, v, bytes_swapped(false));
}

static uint64_t get_u64(const uint8_t *at)
{
    return load_u64(at, bytes_swapped(false));
}

static void put_f64(uint8_t *at, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    put_u64(at, bits);
}

static double get_f64(const uint8_t *at)
{
    uint64_t bits = get_u64(at);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static void encode_header(uint8_t header[HEADER_SIZE], const journal_identity *identity)
{
    const char *version = gufo_version();

    memset(header, 0, HEADER_SIZE);
    memcpy(header, magic, sizeof magic - 1);
    memcpy(header + AT_VERSION, version, strnlen(version, VERSION_SIZE));
    put_u64(header + AT_INPUT, identity->input);
    put_u64(header + AT_OPTIONS, identity->options);
    put_u64(header + AT_CHECK, check_of(header, AT_CHECK, 0));
}

static void encode_mark(uint8_t *at, const journal_mark *mark, uint64_t number)
{
    uint32_t largest;

    memcpy(&largest, &mark->loss.largest_error, sizeof largest);
    put_u64(at, mark->tensor);
    put_u64(at + 8, mark->units_done);
    put_u64(at + 16, mark->loss.count);
    put_f64(at + 24, mark->loss.square_value);
    put_f64(at + 32, mark->loss.square_error);
    store_u32(at + 40, largest, bytes_swapped(false));
    store_u32(at + MARK_CHECK, (uint32_t)check_of(at, MARK_CHECK, number), bytes_swapped(false));
}

static bool decode_mark(const uint8_t *at, journal_mark *mark, uint64_t number)
{
    uint32_t largest = load_u32(at + 40, bytes_swapped(false));

    if (load_u32(at + MARK_CHECK, bytes_swapped(false)) !=
        (uint32_t)check_of(at, MARK_CHECK, number))
        return false;
    *mark = (journal_mark){.tensor = get_u64(at), .units_done = get_u64(at + 8)};
    mark->loss.count = get_u64(at + 16);
    mark->loss.square_value = get_f64(at + 24);
    mark->loss.square_error = get_f64(at + 32);
    memcpy(&mark->loss.largest_error, &largest, sizeof largest);
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
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(j->fd, bytes + *got, size - *got, (off_t)(offset + *got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io(error, errno, "cannot read the journal");
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return GUFO_OK;
}

static gufo_status sync_journal(const journal *j, gufo_error *error)
{
    return disk_sync(j->fd) == 0 ? GUFO_OK : fail_io(error, errno, "cannot sync the journal");
}

/* Where locks are not supported there are none. */
static gufo_status lock(const journal *j, gufo_error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(j->fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN))
        return GUFO_OK;
    return fail_io(error, EBUSY, "another process works on it");
}

void quant_journal_close(journal *j, bool keep)
{
    if (j->fd >= 0) {
        if (!keep)
            (void)disk_unlink(j->path);
        (void)close(j->fd);
    }
    *j = (journal){.fd = -1};
}

/* ---- a new one ------------------------------------------------------------------------------ */

/* Removes the one that is there, unless somebody works on it. */
static gufo_status remove_old(journal *j, gufo_error *error)
{
    gufo_status status;

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

static gufo_status create_file(journal *j, gufo_error *error)
{
    j->fd = disk_open(j->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (j->fd >= 0)
        return lock(j, error);
    if (errno == EEXIST)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET,
                         "an interrupted run has left this journal");
    return fail_io(error, errno, "cannot create the journal");
}

gufo_status quant_journal_create(journal *j, const char *path, const journal_identity *identity,
                                 bool replace, gufo_error *error)
{
    uint8_t header[HEADER_SIZE];
    gufo_status status = GUFO_OK;

    *j = (journal){.fd = -1, .path = path};
    if (replace)
        status = remove_old(j, error);
    if (status == GUFO_OK)
        status = create_file(j, error);
    if (status != GUFO_OK) {
        quant_journal_close(j, true);
        return status;
    }
    encode_header(header, identity);
    status = write_at(j, 0, header, sizeof header, error);
    if (status == GUFO_OK)
        status = sync_journal(j, error);
    if (status != GUFO_OK)
        quant_journal_close(j, false);
    return status;
}

/* ---- one that exists ------------------------------------------------------------------------ */

/* Tells what is different. */
static gufo_status compare_header(const uint8_t *found, const journal_identity *identity,
                                  gufo_error *error)
{
    uint8_t wanted[HEADER_SIZE];
    char version[VERSION_SIZE + 1] = {0}, quoted[GUFO_QUOTE_SIZE];

    encode_header(wanted, identity);
    memcpy(version, found + AT_VERSION, VERSION_SIZE);
    if (memcmp(found, older_magic, sizeof older_magic - 1) == 0)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "cannot resume: this journal was left by an older version of gufo");
    if (memcmp(found, magic, sizeof magic - 1) != 0 ||
        get_u64(found + AT_CHECK) != check_of(found, AT_CHECK, 0))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "cannot resume: this is not a journal of an interrupted run");
    if (memcmp(found + AT_VERSION, wanted + AT_VERSION, VERSION_SIZE) != 0)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "cannot resume: begun by version %s of gufo, and this is %s",
                         quote_name(quoted, gufo_str_of(version)), gufo_version());
    if (get_u64(found + AT_INPUT) != identity->input)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "cannot resume: begun with another input, or the input was changed");
    if (get_u64(found + AT_OPTIONS) != identity->options)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "cannot resume: begun with other options, or another importance matrix");
    return GUFO_OK;
}

/* Hands over all good marks; j->marks tells how many. */
static gufo_status read_marks(journal *j, void (*visit)(void *context, const journal_mark *mark),
                              void *context, gufo_error *error)
{
    uint8_t bytes[MARKS_AT_ONCE * MARK_SIZE];
    gufo_status status;
    journal_mark mark;
    size_t got;

    for (;;) {
        status = read_at(j, HEADER_SIZE + j->marks * MARK_SIZE, bytes, sizeof bytes, &got, error);
        if (status != GUFO_OK)
            return status;
        for (size_t at = 0; got - at >= MARK_SIZE; at += MARK_SIZE, j->marks++) {
            if (!decode_mark(bytes + at, &mark, j->marks))
                return GUFO_OK;
            visit(context, &mark);
        }
        if (got < sizeof bytes)
            return GUFO_OK;
    }
}

/* Takes off what comes after the last good mark: later ones are not to make it look good. */
static gufo_status cut(const journal *j, gufo_error *error)
{
    if (disk_resize(j->fd, HEADER_SIZE + j->marks * MARK_SIZE) != 0)
        return fail_io(error, errno, "cannot write the journal");
    return sync_journal(j, error);
}

/* Reads and checks the header.  *found is false if the run was stopped while it was written, before
 * anything else was: the file is removed then. */
static gufo_status read_header(const journal *j, const journal_identity *identity, bool *found,
                               gufo_error *error)
{
    uint8_t header[HEADER_SIZE];
    size_t got;
    gufo_status status = read_at(j, 0, header, sizeof header, &got, error);

    if (status != GUFO_OK)
        return status;
    *found = got == sizeof header;
    if (*found)
        return compare_header(header, identity, error);
    return disk_unlink(j->path) == 0 ? GUFO_OK : fail_io(error, errno, "cannot remove the journal");
}

static gufo_status check_own(const journal *j, gufo_error *error)
{
    struct stat info;
    const char *obstacle = fstat(j->fd, &info) != 0 ? "it cannot be examined" : trust_own(&info);

    return obstacle == NULL ? GUFO_OK
                            : fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                                        "cannot resume with this journal: %s", obstacle);
}

gufo_status quant_journal_open(journal *j, const char *path, const journal_identity *identity,
                               void (*visit)(void *context, const journal_mark *mark),
                               void *context, bool *found, gufo_error *error)
{
    gufo_status status;

    *j = (journal){.fd = -1, .path = path};
    j->fd = disk_open(path, O_RDWR | TRUST_OPEN_FLAGS, 0);
    *found = j->fd >= 0;
    status = *found || errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot open the journal");
    if (*found)
        status = check_own(j, error);
    if (status == GUFO_OK && *found)
        status = lock(j, error);
    if (status == GUFO_OK && *found)
        status = read_header(j, identity, found, error);
    if (status == GUFO_OK && *found)
        status = read_marks(j, visit, context, error);
    if (status == GUFO_OK && *found)
        status = cut(j, error);
    if (status != GUFO_OK || !*found)
        quant_journal_close(j, true);
    return status;
}

/* ---- marks ---------------------------------------------------------------------------------- */

gufo_status quant_journal_append(journal *j, const journal_mark *marks, size_t count,
                                 gufo_error *error)
{
    uint8_t bytes[MARKS_AT_ONCE * MARK_SIZE];
    gufo_status status = GUFO_OK;

    while (count > 0 && status == GUFO_OK) {
        size_t step = count < MARKS_AT_ONCE ? count : MARKS_AT_ONCE;

        for (size_t i = 0; i < step; i++)
            encode_mark(bytes + i * MARK_SIZE, &marks[i], j->marks + i);
        status = write_at(j, HEADER_SIZE + j->marks * MARK_SIZE, bytes, step * MARK_SIZE, error);
        j->marks += step;
        marks += step;
        count -= step;
    }
    return status == GUFO_OK ? sync_journal(j, error) : status;
}
