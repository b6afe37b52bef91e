/* Logs of parts; plan.h draws their bytes. */
#include "produce/parts/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/output.h"
#include "base/files/source.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"

enum { HEAD = 40, CHECK = 8, LOG_NAME = 64 };

/* A record of more results than a worker ever writes at once was not written by one. */
#define MOST_CONTENT (UINT64_C(1) << 31)

typedef enum record_kind {
    RECORD_BEGIN = 1, /* the plan, the part, the worker */
    RECORD_UNITS = 2,
    RECORD_PASSED = 3, /* units that the part has nothing of */
    RECORD_BEAT = 4,
    RECORD_ENDED = 16, /* and a gufo_part_state */
} record_kind;

typedef struct record {
    uint64_t kind, first, count, size;
} record;

/* ---- names ---------------------------------------------------------------------------------- */

char *logs_path(const logs *of, const char *name)
{
    char *folder = mem_join(of->allocator, gufo_str_of(of->folder), gufo_str_of("/"));
    char *path =
        folder != NULL ? mem_join(of->allocator, gufo_str_of(folder), gufo_str_of(name)) : NULL;

    mem_free(of->allocator, folder);
    return path;
}

static char *path_of(const logs *of, uint64_t part, unsigned attempt)
{
    char name[LOG_NAME];

    if (attempt <= 1)
        (void)snprintf(name, sizeof name, "%" PRIu64 ".log", part);
    else
        (void)snprintf(name, sizeof name, "%" PRIu64 ".%u.log", part, attempt);
    return logs_path(of, name);
}

static gufo_status fail_log(const char *path, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, path);
    return status;
}

struct timespec logs_now(const logs *of)
{
    struct timespec now = {0};
    char name[LOG_NAME];
    struct stat info;
    char *path;
    int fd = -1;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(name, sizeof name, ".clock-%016" PRIx64, hash_key_new().k0);
    path = logs_path(of, name);
    if (path != NULL)
        fd = disk_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        if (fstat(fd, &info) == 0)
            now = info.st_mtim;
        (void)disk_unlink(path);
        (void)close(fd);
    }
    mem_free(of->allocator, path);
    return now;
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status put_record(part_log *log, const record *r, const void *content,
                              gufo_error *error)
{
    uint64_t size = HEAD + (r->size > 0 ? r->size + CHECK : 0);
    uint8_t *at = buffer_extend(&log->records, size);

    if (at == NULL)
        return fail_memory(error);
    store_little_u64(at, r->kind);
    store_little_u64(at + 8, r->first);
    store_little_u64(at + 16, r->count);
    store_little_u64(at + 24, r->size);
    store_little_u64(at + 32, hash_check(at, 32, log->number));
    if (r->size > 0) {
        memcpy(at + HEAD, content, (size_t)r->size);
        store_little_u64(at + HEAD + r->size, hash_check(at + HEAD, r->size, log->number));
    }
    log->number++;
    return GUFO_OK;
}

static gufo_status write_records(part_log *log, bool sync, gufo_error *error)
{
    gufo_error reason;
    gufo_status status =
        output_write_at(log->fd, log->end, log->records.data, log->records.len, &reason);

    if (status != GUFO_OK) /* the next call writes them again, at the same place */
        return fail_log(log->path, fail_io(error, reason.system, "cannot write the log"), error);
    log->end += log->records.len;
    log->records.len = 0;
    if (sync && disk_sync_data(log->fd) != 0)
        return fail_log(log->path, fail_io(error, errno, "cannot sync the log"), error);
    return GUFO_OK;
}

static gufo_status append(part_log *log, const record *r, const void *content, bool sync,
                          gufo_error *error)
{
    gufo_status status = put_record(log, r, content, error);

    return status == GUFO_OK ? write_records(log, sync, error) : status;
}

/* The name of this machine and the number of this process. */
static void name_worker(char out[LOG_TEXT])
{
    char host[256] = "";

    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        (void)snprintf(host, sizeof host, "host");
    (void)snprintf(out, LOG_TEXT, "%s:%ld", host, (long)getpid());
}

gufo_status log_create(part_log *log, const logs *of, uint64_t part, unsigned attempt,
                       uint64_t next_unit, bool *taken, gufo_error *error)
{
    record begin = {.kind = RECORD_BEGIN, .first = of->plan, .count = part};
    char name[LOG_TEXT];

    *log = (part_log){.fd = -1,
                      .path = path_of(of, part, attempt),
                      .of = of,
                      .next_unit = next_unit,
                      .records.allocator = of->allocator};
    *taken = false;
    if (log->path == NULL)
        return fail_memory(error);
    log->fd = disk_open(log->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (log->fd < 0) {
        *taken = errno == EEXIST;
        return *taken ? GUFO_OK
                      : fail_log(log->path, fail_io(error, errno, "cannot create the log"), error);
    }
    name_worker(name);
    begin.size = strlen(name);
    return append(log, &begin, name, false, error); /* nothing is done yet that could be lost */
}

gufo_status log_units(part_log *log, uint64_t first, uint64_t end, const void *results,
                      gufo_error *error)
{
    const record passed = {
        .kind = RECORD_PASSED, .first = log->next_unit, .count = first - log->next_unit};
    const record units = {.kind = RECORD_UNITS,
                          .first = first,
                          .count = end - first,
                          .size = (end - first) * log->of->result_size};
    gufo_status status = GUFO_OK;

    if (passed.count > 0)
        status = put_record(log, &passed, NULL, error);
    if (status == GUFO_OK)
        status = put_record(log, &units, results, error);
    log->next_unit = end;
    return status;
}

gufo_status log_sync(part_log *log, gufo_error *error)
{
    return write_records(log, true, error);
}

/* Synced, for a client of NFS may keep it for half a minute, and others the old time for a minute more. */
gufo_status log_beat(part_log *log, gufo_error *error)
{
    return append(log, &(record){.kind = RECORD_BEAT}, NULL, true, error);
}

gufo_status log_end(part_log *log, gufo_part_state state, const char *reason, gufo_error *error)
{
    const record ended = {.kind = (uint64_t)RECORD_ENDED + (uint64_t)state,
                          .size = reason != NULL ? strnlen(reason, LOG_TEXT - 1) : 0};

    return append(log, &ended, reason, true, error);
}

void log_close(part_log *log)
{
    if (log->fd >= 0)
        (void)close(log->fd);
    if (log->of != NULL)
        mem_free(log->of->allocator, log->path);
    buffer_free(&log->records);
    *log = (part_log){.fd = -1};
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reading {
    const logs *of;
    uint64_t part;
    bool with_results;
    log_visit *visit;
    void *context;
    part_logs *out;
    int fd;
    const char *path;
    uint64_t at, size; /* of the file */
    uint64_t number;
    buffer content;
} reading;

static gufo_status read_at(const reading *r, uint64_t at, uint8_t *bytes, uint64_t size,
                           gufo_error *error)
{
    size_t got;
    gufo_status status = source_read_fd(r->fd, at, bytes, (size_t)size, &got, error);

    if (status == GUFO_OK && got != size)
        status = fail_io(error, ESTALE, "the log has become shorter");
    return status;
}

/* Whether a whole record follows: *found. */
static gufo_status read_head(const reading *r, record *out, bool *found, gufo_error *error)
{
    uint8_t head[HEAD];
    gufo_status status;
    uint64_t end;

    *found = false;
    if (r->size - r->at < HEAD)
        return GUFO_OK;
    status = read_at(r, r->at, head, HEAD, error);
    if (status != GUFO_OK || load_little_u64(head + 32) != hash_check(head, 32, r->number))
        return status;
    *out = (record){load_little_u64(head), load_little_u64(head + 8), load_little_u64(head + 16),
                    load_little_u64(head + 24)};
    end = r->at + HEAD + (out->size > 0 ? CHECK : 0);
    *found = out->size <= MOST_CONTENT && end <= r->size && out->size <= r->size - end;
    return GUFO_OK;
}

/* The content of a record, with a NUL behind it; *found is false if it is not whole. */
static gufo_status read_content(reading *r, const record *of, bool *found, gufo_error *error)
{
    gufo_status status;

    r->content.len = 0;
    if (buffer_extend(&r->content, of->size + CHECK + 1) == NULL)
        return fail_memory(error);
    status = read_at(r, r->at + HEAD, r->content.data, of->size + CHECK, error);
    *found = status == GUFO_OK && load_little_u64(r->content.data + of->size) ==
                                      hash_check(r->content.data, of->size, r->number);
    r->content.data[of->size] = '\0';
    return status;
}

static void keep_text(const reading *r, const record *of, char out[LOG_TEXT])
{
    (void)snprintf(out, LOG_TEXT, "%s", of->size > 0 ? (const char *)r->content.data : "");
}

static gufo_status check_begin(const reading *r, const record *of, gufo_error *error)
{
    return of->kind == RECORD_BEGIN && of->first == r->of->plan && of->count == r->part
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "the log belongs to another plan");
}

static bool is_of_units(const reading *r, const record *of)
{
    uint64_t size, end;

    return checked_mul(of->count, r->of->result_size, &size) && size == of->size &&
           checked_add(of->first, of->count, &end);
}

/* Other records than those that we write say nothing. */
static void take_end(reading *r, const record *of)
{
    static const gufo_part_state ends[] = {GUFO_PART_WAITING, GUFO_PART_FAILED, GUFO_PART_COMPLETE};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (of->kind != (uint64_t)RECORD_ENDED + (uint64_t)ends[i])
            continue;
        r->out->state = ends[i];
        r->out->reason[0] = '\0';
        if (ends[i] == GUFO_PART_FAILED)
            keep_text(r, of, r->out->reason);
    }
}

static gufo_status take(reading *r, const record *of, gufo_error *error)
{
    part_logs *out = r->out;

    if (r->number == 0) {
        out->state = GUFO_PART_RUNNING;
        keep_text(r, of, out->worker);
        return check_begin(r, of, error);
    }
    if (of->kind == RECORD_PASSED)
        r->visit(r->context, of->first, of->count, NULL);
    if (of->kind == RECORD_UNITS && !is_of_units(r, of))
        return refuse(error, GUFO_E_MALFORMED,
                      "a record of the log has another size than its units");
    if (of->kind == RECORD_UNITS)
        r->visit(r->context, of->first, of->count, r->with_results ? r->content.data : NULL);
    if (of->kind > RECORD_BEAT)
        take_end(r, of);
    return GUFO_OK;
}

static gufo_status read_records(reading *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    bool found = true;
    record of;

    while (status == GUFO_OK && found) {
        status = read_head(r, &of, &found, error);
        if (status == GUFO_OK && found && of.size > 0 &&
            (of.kind != RECORD_UNITS || r->with_results))
            status = read_content(r, &of, &found, error);
        if (status != GUFO_OK || !found)
            break;
        status = take(r, &of, error);
        r->at += HEAD + (of.size > 0 ? of.size + CHECK : 0);
        r->number++;
    }
    return status;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static gufo_status read_log(reading *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    struct stat info;

    if (fstat(r->fd, &info) != 0)
        status = fail_io(error, errno, "cannot examine the log");
    else if (!S_ISREG(info.st_mode))
        status = refuse(error, GUFO_E_ARGUMENT, "it is not a regular file");
    if (status != GUFO_OK)
        return status;
    r->at = r->number = 0;
    r->size = (uint64_t)info.st_size;
    if (is_later(&info.st_mtim, &r->out->changed))
        r->out->changed = info.st_mtim;
    r->out->state = GUFO_PART_RUNNING;
    r->out->reason[0] = r->out->worker[0] = '\0';
    return read_records(r, error);
}

gufo_status logs_read(const logs *of, uint64_t part, bool with_results, log_visit *visit,
                      void *context, part_logs *out, gufo_error *error)
{
    reading r = {.of = of,
                 .part = part,
                 .with_results = with_results,
                 .visit = visit,
                 .context = context,
                 .out = out,
                 .content.allocator = of->allocator};
    gufo_status status = GUFO_OK;

    *out = (part_logs){.state = GUFO_PART_WAITING};
    for (bool complete = false; status == GUFO_OK;) {
        char *path = path_of(of, part, out->attempts + 1);

        if (path == NULL) {
            status = fail_memory(error);
            break;
        }
        r.fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
        if (r.fd < 0) {
            if (errno != ENOENT)
                status = fail_log(path, fail_io(error, errno, "cannot open the log"), error);
            mem_free(of->allocator, path);
            break;
        }
        status = fail_log(path, read_log(&r, error), error);
        (void)close(r.fd);
        mem_free(of->allocator, path);
        out->attempts++;
        complete = complete || out->state == GUFO_PART_COMPLETE;
        if (complete) {
            out->state = GUFO_PART_COMPLETE;
            out->reason[0] = '\0';
        }
    }
    buffer_free(&r.content);
    return status;
}

/* ---- removing ------------------------------------------------------------------------------- */

/* Whether a name in the folder is of a log, N.log or N.M.log, or of what begins with a point for a moment. */
static bool is_left_by_workers(const char *name)
{
    static const char *const beginnings[] = {".clock-", ".maker-", ".plan-"};
    gufo_str text = gufo_str_of(name);
    size_t at = str_digits(text, 0);

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (str_begins(text, beginnings[i]))
            return true;
    if (at == 0)
        return false;
    if (name[at] == '.' && is_digit(name[at + 1]))
        at = str_digits(text, at + 1) + at + 1;
    return strcmp(name + at, ".log") == 0;
}

gufo_status logs_remove_file(const logs *of, const char *name, gufo_error *error)
{
    char *path = logs_path(of, name);
    gufo_status status = GUFO_OK;

    if (path == NULL)
        return fail_memory(error);
    if (disk_unlink(path) != 0 && errno != ENOENT)
        status = fail_log(path, fail_io(error, errno, "cannot remove it"), error);
    mem_free(of->allocator, path);
    return status;
}

gufo_status logs_remove(const logs *of, gufo_error *error)
{
    DIR *folder = opendir(of->folder);
    gufo_status status = GUFO_OK;
    const struct dirent *entry;

    if (folder == NULL)
        return fail_log(of->folder, fail_io(error, errno, "cannot list the folder of parts"),
                        error);
    while (status == GUFO_OK && (entry = readdir(folder)) != NULL)
        if (is_left_by_workers(entry->d_name))
            status = logs_remove_file(of, entry->d_name, error);
    (void)closedir(folder);
    return status;
}
