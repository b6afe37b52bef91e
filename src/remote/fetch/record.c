/* The record of a download; record.h draws it. */
#include "remote/fetch/record.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/hash.h"

#define MARK_BEGIN UINT64_MAX
#define MARK_FENCE (UINT64_MAX - 1)
#define MARK_SYNCED (UINT64_MAX - 2)

/* Of a mark that begins a run; other marks have zeros there. */
enum { AT_ADDRESS = 0, AT_FILE = 8, AT_SIZE = 16, AT_START = 24, IDENTITY_SIZE = 32 };

/* A download has no inputs and no plan: what it is about is in its first mark, which is compared here. */
static const journal_identity no_identity = {0};

/* Which start of the machine this is; 0 where the system does not say it, and then no two are the same. */
static uint64_t machine_start(void)
{
    char text[64];
    size_t got = 0;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    if (source_read_fd(fd, 0, text, sizeof text, &got, NULL) != GUFO_OK)
        got = 0;
    (void)close(fd);
    return got > 0 ? xxh64_of((gufo_str){text, got}) : 0;
}

static void encode_identity(uint8_t bytes[IDENTITY_SIZE], const record_subject *subject)
{
    store_little_u64(bytes + AT_ADDRESS, xxh64_of(subject->address));
    store_little_u64(bytes + AT_FILE, xxh64_of(subject->version));
    store_little_u64(bytes + AT_SIZE, subject->size);
    store_little_u64(bytes + AT_START, machine_start());
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reading {
    bool begun;                      /* there is a mark that begins */
    uint8_t identity[IDENTITY_SIZE]; /* of the latest run */
    range_set written, fenced, synced;
    bool lacks_memory;
} reading;

static void merge(reading *r, range_set *into, range_set *more)
{
    r->lacks_memory = !range_set_take(into, more) || r->lacks_memory;
}

/* Ranges that no sync covers are lost where the machine was started again. */
static void begin_run(reading *r, const uint8_t *identity)
{
    uint64_t start = load_little_u64(identity + AT_START);

    if (r->begun && (start == 0 || start != load_little_u64(r->identity + AT_START))) {
        range_set_clear(&r->written);
        range_set_clear(&r->fenced);
    }
    r->begun = true;
    memcpy(r->identity, identity, IDENTITY_SIZE);
}

static void read_mark(void *context, const journal_mark *mark)
{
    reading *r = context;
    byte_range range = {mark->piece, mark->piece + mark->units_done};

    if (mark->piece == MARK_BEGIN)
        begin_run(r, mark->result);
    else if (mark->piece == MARK_FENCE)
        merge(r, &r->fenced, &r->written);
    else if (mark->piece == MARK_SYNCED)
        merge(r, &r->synced, &r->fenced);
    else if (range.end >= range.first)
        r->lacks_memory = !range_set_add(&r->written, range) || r->lacks_memory;
}

/* What was found, and which ranges are there. */
static record_found compare(reading *r, const record_subject *subject)
{
    uint8_t identity[IDENTITY_SIZE];

    encode_identity(identity, subject);
    if (!r->begun)
        return RECORD_CHANGED; /* it was stopped before it began: nothing is in OUT.part */
    if (memcmp(identity, r->identity, AT_FILE) != 0)
        return RECORD_OTHER;
    if (memcmp(identity, r->identity, AT_START) != 0)
        return RECORD_CHANGED;
    begin_run(r, identity);
    merge(r, &r->synced, &r->fenced);
    merge(r, &r->synced, &r->written);
    return RECORD_SAME;
}

static gufo_status begin(record *r, const record_subject *subject, gufo_error *error)
{
    uint8_t identity[IDENTITY_SIZE];
    journal_mark mark = {.piece = MARK_BEGIN, .result = identity};

    encode_identity(identity, subject);
    return journal_append(&r->journal, &mark, 1, error);
}

gufo_status record_open(record *r, const char *path, const record_subject *subject,
                        record_found *found, const gufo_allocator *allocator, gufo_error *error)
{
    reading read = {.written.allocator = allocator,
                    .fenced.allocator = allocator,
                    .synced.allocator = allocator};
    bool exists;
    gufo_status status;

    *found = RECORD_NONE;
    *r = (record){.journal.fd = -1, .finished.allocator = allocator};
    status = journal_open(&r->journal, path, IDENTITY_SIZE, &no_identity, read_mark, &read, &exists,
                          error);
    if (status == GUFO_OK && exists)
        *found = compare(&read, subject);
    if (status == GUFO_OK && read.lacks_memory)
        status = fail_memory(error);
    if (status == GUFO_OK && *found == RECORD_SAME)
        status = begin(r, subject, error);
    r->finished = read.synced;
    range_set_clear(&read.written);
    range_set_clear(&read.fenced);
    if (status != GUFO_OK || *found != RECORD_SAME)
        record_close(r, true);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

gufo_status record_create(record *r, const char *path, const record_subject *subject,
                          const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status;

    *r = (record){.journal.fd = -1, .finished.allocator = allocator};
    status = journal_create(&r->journal, path, IDENTITY_SIZE, &no_identity, true, error);
    if (status == GUFO_OK)
        status = begin(r, subject, error);
    if (status != GUFO_OK)
        record_close(r, false);
    return status;
}

gufo_status record_range(record *r, byte_range range, gufo_error *error)
{
    journal_mark mark = {.piece = range.first, .units_done = range.end - range.first};

    return journal_note(&r->journal, &mark, 1, error);
}

gufo_status record_fence(record *r, gufo_error *error)
{
    return journal_note(&r->journal, &(journal_mark){.piece = MARK_FENCE}, 1, error);
}

gufo_status record_synced(record *r, gufo_error *error)
{
    return journal_append(&r->journal, &(journal_mark){.piece = MARK_SYNCED}, 1, error);
}

void record_close(record *r, bool keep)
{
    journal_close(&r->journal, keep);
    range_set_clear(&r->finished);
}
