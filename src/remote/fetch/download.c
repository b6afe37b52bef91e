/* A download from its first request on; download.h has the order of things. */
#include "remote/fetch/download.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "remote/fetch/header.h"

/* Of the first request: a header that is not one shows itself there.  Where an earlier run has seen it, a few
 * bytes are enough to know what file it is. */
enum { FIRST_BYTES = 1 << 20, FIRST_AGAIN = 4096 };

/* ---- the first request ---------------------------------------------------------------------- */

typedef struct first_bytes {
    download *d;
    uint8_t *bytes;
    size_t count, room;
    int status; /* of HTTP */
    bool again; /* the file is known: it has to be the same one */
} first_bytes;

static bool take_first(void *context, const void *bytes, size_t size)
{
    first_bytes *f = context;

    size = (size_t)smaller(size, f->room - f->count);
    memcpy(f->bytes + f->count, bytes, size);
    f->count += size;
    return f->count < f->room;
}

static void take_first_again(void *context)
{
    ((first_bytes *)context)->count = 0;
}

static bool first_goes_on(void *context)
{
    const download *d = ((first_bytes *)context)->d;

    return d->goes_on == NULL || d->goes_on(d->context);
}

/* What the server says must agree with itself and with what is wanted. */
static gufo_status compare_size(const download *d, uint64_t size, const char *whose,
                                gufo_error *error)
{
    if (size == GUFO_NO_OFFSET || d->size == GUFO_NO_OFFSET || size == d->size)
        return GUFO_OK;
    return refuse(error, GUFO_E_CHANGED, "the file has %s bytes, and %s bytes are %s",
                  GROUPED(d->size), GROUPED(size), whose);
}

static gufo_status compare_sha256(const download *d, const char *said, gufo_error *error)
{
    if (d->file->sha256[0] == '\0' || strcmp(d->file->sha256, said) == 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_CHANGED,
                  "the server says that the file has SHA-256 %s, and %s is wanted", said,
                  d->file->sha256);
}

static gufo_status note_answer(download *d, const http_answer *answer, first_bytes *f,
                               gufo_error *error)
{
    char said[SHA256_HEX + 1];
    gufo_status status = GUFO_OK;

    d->version = answer->version;
    d->from = answer->from;
    d->size = answer->version.size;
    memcpy(d->commit, answer->repo_commit, sizeof d->commit);
    f->status = answer->status;
    if (d->size == GUFO_NO_OFFSET && f->status == 200 && f->count < f->room)
        d->size = f->count;
    memcpy(d->sha256, d->file->sha256, sizeof d->sha256);
    if (etag_sha256(answer->linked_etag, said)) {
        status = compare_sha256(d, said, error);
        memcpy(d->sha256, said, sizeof said);
    }
    d->differs = status != GUFO_OK;
    if (status == GUFO_OK)
        status = compare_size(d, answer->linked_size, "announced", error);
    if (status == GUFO_OK)
        status = compare_size(d, d->file->size, "wanted", error);
    return status;
}

/* A file without bytes has no first one. */
static bool is_empty(gufo_status status, const http_answer *answer)
{
    return status == GUFO_E_RANGE && answer->version.size == 0;
}

static gufo_status ask(download *d, first_bytes *f, size_t count, gufo_error *error)
{
    const http_version known = d->version;
    http_request request = {.url = d->file->url,
                            .count = count,
                            .version = f->again ? &known : NULL,
                            .take = take_first,
                            .restart = take_first_again,
                            .goes_on = first_goes_on,
                            .context = f};
    http_answer *answer = mem_zero(d->allocator, sizeof *answer);
    gufo_status status;

    if (answer == NULL)
        return fail_memory(error);
    f->count = 0;
    f->room = count;
    status = http_get(d->remote, &request, answer, error);
    if (status == GUFO_OK || is_empty(status, answer))
        status = note_answer(d, answer, f, error);
    mem_free(d->allocator, answer);
    return status;
}

static gufo_status check_header(download *d, const first_bytes *f, gufo_error *error)
{
    const gufo_str bytes = {(const char *)f->bytes, f->count};

    d->is_checked = !header_is_wanted(d->file->name);
    return d->is_checked ? header_check_page(bytes, d->file->name, error)
                         : header_check(bytes, d->size, &d->is_checked, d->allocator, error);
}

/* Asks for the first bytes and learns what file it is, and whether it can be fetched by ranges. */
static gufo_status look(download *d, first_bytes *f, size_t count, gufo_error *error)
{
    gufo_status status = ask(d, f, count, error);
    bool is_certain = d->version.is_strong || d->sha256[0] != '\0';

    f->again = true;
    if (status == GUFO_OK)
        status = check_header(d, f, error);
    d->has_ranges =
        status == GUFO_OK && f->status == 206 && d->size != GUFO_NO_OFFSET && is_certain;
    return status;
}

/* ---- what an earlier run has left ----------------------------------------------------------- */

static record_subject subject_of(const download *d)
{
    const char *version = d->sha256[0] != '\0'   ? d->sha256
                          : d->version.is_strong ? d->version.etag
                                                 : "";

    return (record_subject){gufo_str_of(d->file->address), gufo_str_of(version), d->size};
}

/* What there is at OUT.part.  *obstacle: why it is not a file of ours; NULL if it is, or nothing is there. */
static gufo_status examine_part(const download *d, bool *exists, uint64_t *size,
                                const char **obstacle, gufo_error *error)
{
    char *path = output_beside(d->out, ".part");
    gufo_status status = GUFO_OK;
    struct stat info;

    *obstacle = NULL;
    *size = 0;
    if (path == NULL)
        return fail_memory(error);
    *exists = lstat(path, &info) == 0;
    if (*exists) {
        *obstacle = trust_own(path, &info, TRUST_ONE_NAME);
        *size = (uint64_t)info.st_size;
    } else if (errno != ENOENT)
        status = fail_io(error, errno, "cannot examine the .part file");
    mem_free(d->allocator, path);
    return status;
}

static gufo_status remove_part(const download *d, gufo_error *error)
{
    char *path = output_beside(d->out, ".part");
    int failure;

    if (path == NULL)
        return fail_memory(error);
    failure = disk_unlink(path) == 0 || errno == ENOENT ? 0 : errno;
    mem_free(d->allocator, path);
    return failure == 0 ? GUFO_OK : fail_io(error, failure, "cannot remove the .part file");
}

/* Starts over.  The record comes first: an OUT.part without one is nobody's. */
static gufo_status start_over(download *d, const record_subject *subject, gufo_error *error)
{
    gufo_status status = record_create(&d->record, d->record_path, subject, d->allocator, error);

    if (status == GUFO_OK)
        status = remove_part(d, error);
    if (status == GUFO_OK)
        status =
            output_open_part(d->out, false, d->size != GUFO_NO_OFFSET ? d->size : 0, true, error);
    return status;
}

static gufo_status go_on(download *d, gufo_error *error)
{
    d->finished = d->record.finished;
    d->record.finished = (range_set){.allocator = d->allocator};
    d->kept = range_set_bytes(&d->finished);
    return output_open_part(d->out, true, d->size, true, error);
}

/* Whether what is there may be used or removed. */
static gufo_status check_left(const download *d, record_found found, bool exists,
                              const char *obstacle, gufo_error *error)
{
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "cannot use its .part file: %s", obstacle);
    if (d->replace)
        return GUFO_OK;
    if (found == RECORD_OTHER)
        return refuse(error, GUFO_E_EXISTS,
                      "an interrupted download of another address has left its .part file");
    if (found == RECORD_NONE && exists)
        return refuse(error, GUFO_E_EXISTS, "it has a .part file that no download has left");
    return GUFO_OK;
}

/* Opens OUT.part and its record, with what is there of this very file. */
static gufo_status open_files(download *d, gufo_error *error)
{
    record_subject subject = subject_of(d);
    const char *obstacle = NULL;
    bool exists = false;
    uint64_t size = 0;
    record_found found;
    gufo_status status =
        record_open(&d->record, d->record_path, &subject, &found, d->allocator, error);

    if (status == GUFO_OK)
        status = examine_part(d, &exists, &size, &obstacle, error);
    if (status == GUFO_OK)
        status = check_left(d, found, exists, obstacle, error);
    if (status != GUFO_OK) {
        record_close(&d->record, true);
        return status;
    }
    if (found == RECORD_SAME && exists && d->has_ranges && size == d->size)
        return go_on(d, error);
    record_close(&d->record, true);
    d->is_new = found == RECORD_CHANGED && exists;
    return start_over(d, &subject, error);
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* The first bytes are there already, if nothing better is. */
static gufo_status use_first(download *d, const first_bytes *f, gufo_error *error)
{
    byte_range range = {0, f->count}, gap;
    gufo_status status;

    if ((!d->has_ranges && f->count != d->size) || f->count == 0 ||
        !range_set_gap(&d->finished, 0, f->count, &gap))
        return GUFO_OK;
    status = output_write(d->out, 0, f->bytes, f->count, error);
    if (status == GUFO_OK && !range_set_add(&d->finished, range))
        status = fail_memory(error);
    if (status == GUFO_OK && d->has_ranges)
        status = record_range(&d->record, range, error);
    return status;
}

static gufo_status begin(download *d, first_bytes *f, gufo_error *error)
{
    struct stat info;
    bool is_left = lstat(d->record_path, &info) == 0;
    gufo_status status = look(d, f, is_left ? FIRST_AGAIN : FIRST_BYTES, error);

    if (status == GUFO_OK)
        status = open_files(d, error);
    if (status == GUFO_OK && d->kept == 0 && is_left && f->count < d->size) /* nobody has seen it */
        status = look(d, f, FIRST_BYTES, error);
    return status == GUFO_OK ? use_first(d, f, error) : status;
}

gufo_status download_begin(download *d, gufo_error *error)
{
    first_bytes f = {.d = d};
    gufo_status status;

    d->record = (record){.journal.fd = -1};
    d->finished.allocator = d->allocator;
    d->size = GUFO_NO_OFFSET;
    d->out->keep = true;
    d->record_path = output_beside(d->out, RECORD_SUFFIX);
    f.bytes = mem_alloc(d->allocator, FIRST_BYTES);
    status = d->record_path != NULL && f.bytes != NULL ? begin(d, &f, error) : fail_memory(error);
    mem_free(d->allocator, f.bytes);
    return status;
}

/* ---- the end -------------------------------------------------------------------------------- */

gufo_status download_check(download *d, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    d->differs = strcmp(d->found, d->sha256) != 0;
    if (d->differs)
        status = refuse(error, GUFO_E_CHANGED, "what came has SHA-256 %s, and %s is wanted",
                        d->found, d->sha256);
    else if (!d->is_checked)
        status = header_check_file(d->out->fd, d->allocator, error);
    if (status == GUFO_E_MEMORY || status == GUFO_OK)
        return status;
    d->out->keep = false; /* it is all there, and wrong: nothing will make it right */
    d->has_ranges = false;
    return status;
}

void download_end(download *d)
{
    bool keep = d->has_ranges && d->finished.count > 0 && !d->is_named;

    if (d->record_path != NULL)
        record_close(&d->record, keep);
    d->out->keep = keep;
    output_discard(d->out);
    range_set_clear(&d->finished);
    mem_free(d->allocator, d->record_path);
    d->record_path = NULL;
}
