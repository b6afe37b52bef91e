/* Ranges of a file, side by side.
 *
 *     requests   [ 0 ........ ) [ 1 ........ ) [ 2 ........ ) [ 3 ..      each takes the next gap, of a piece at most,
 *     OUT.part   ######------    ########----   ##----------               and records every half MiB what it has
 *     SHA-256    -->|                                                      follows the bytes that are there from the
 *     sync       every few seconds                                         first one on
 *
 * What is recorded but not synced survives the end of the program, not that of the machine (record.h). */
#include "remote/fetch/missing.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/source.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/run.h"

enum { SECONDS_BETWEEN_SYNCS = 5, HASH_BLOCK = 1 << 20, MOST_RESTARTS = 4 };
static const uint64_t record_step = 512 << 10, least_piece = 4 << 20, most_piece = 64 << 20;

typedef struct transfer {
    download *d;
    fetch_progress *progress;
    uint64_t piece; /* bytes of a request, at most */
    unsigned requests;
    sha256 hash;
    uint8_t *block; /* of what is hashed; NULL: nothing is */
    mutex lock;     /* for all below, d->finished, d->record and the progress */
    condition changed;
    companion syncer;
    range_set claimed; /* finished, or somebody fetches it */
    bool ended;        /* no more syncs */
    gufo_status status;
    gufo_error error; /* the first one */
} transfer;

/* A range that is being fetched. */
typedef struct part {
    transfer *t;
    byte_range range;
    uint64_t at;       /* the next byte */
    uint64_t recorded; /* up to here */
    unsigned restarts;
} part;

/* With the lock.  Only the first failure counts: others follow from it. */
static void fail_all(transfer *t, gufo_status status, const gufo_error *error)
{
    if (t->status == GUFO_OK) {
        t->status = status;
        t->error = *error;
    }
    condition_broadcast(&t->changed);
}

/* With the lock. */
static bool ask_progress(transfer *t)
{
    fetch_progress *p = t->progress;
    gufo_error error;
    gufo_status status = run_progress(p->run, p->done, p->total, &error);

    if (status != GUFO_OK)
        fail_all(t, status, &error);
    return t->status == GUFO_OK;
}

/* ---- a request ------------------------------------------------------------------------------ */

/* With the lock: notes what has come since the last time. */
static void note_range(part *p)
{
    transfer *t = p->t;
    byte_range range = {p->recorded, p->at};
    gufo_error error;
    gufo_status status = GUFO_OK;

    if (range.first == range.end)
        return;
    if (t->d->has_ranges)
        status = range_set_add(&t->d->finished, range) ? record_range(&t->d->record, range, &error)
                                                       : fail_memory(&error);
    if (status != GUFO_OK)
        fail_all(t, status, &error);
    t->progress->done += range.end - range.first;
    p->recorded = p->at;
    condition_broadcast(&t->changed);
}

static bool note_and_ask(part *p)
{
    bool good;

    mutex_lock(&p->t->lock);
    note_range(p);
    good = ask_progress(p->t);
    mutex_unlock(&p->t->lock);
    return good;
}

static bool fail_writing(part *p, gufo_status status, gufo_error *error)
{
    fail_in(error, GUFO_FILE_OUTPUT, 0, p->t->d->file->path);
    mutex_lock(&p->t->lock);
    fail_all(p->t, status, error);
    mutex_unlock(&p->t->lock);
    return false;
}

static bool take_bytes(void *context, const void *bytes, size_t size)
{
    part *p = context;
    gufo_error error;
    gufo_status status = output_write(p->t->d->out, p->at, bytes, size, &error);

    if (status != GUFO_OK)
        return fail_writing(p, status, &error);
    p->at += size;
    return p->at - p->recorded < record_step || note_and_ask(p);
}

/* An answer that cannot be continued starts over: only where it is the whole file, of which nothing is recorded
 * or hashed before all of it is there.  A connection that breaks every time never gets to its end. */
static void take_again(void *context)
{
    part *p = context;
    transfer *t = p->t;
    gufo_error error;

    mutex_lock(&t->lock);
    if (++p->restarts > MOST_RESTARTS)
        fail_all(t,
                 refuse(&error, GUFO_E_IO,
                        "the connection breaks again and again, after %s bytes now, and the server "
                        "gives the file no strong ETag, without which it cannot be continued",
                        GROUPED(p->at)),
                 &error);
    t->progress->done -= p->recorded - p->range.first;
    p->at = p->recorded = p->range.first;
    mutex_unlock(&t->lock);
}

static bool goes_on(void *context)
{
    part *p = context;
    bool good;

    mutex_lock(&p->t->lock);
    good = ask_progress(p->t);
    mutex_unlock(&p->t->lock);
    return good;
}

/* With the lock: a request has succeeded, or was told that it is enough. */
static gufo_status end_part(part *p, uint64_t size, gufo_error *error)
{
    download *d = p->t->d;

    if (p->t->status != GUFO_OK)
        return GUFO_OK;
    if (!d->has_ranges) { /* its size was not known, or what the server said of another answer */
        d->size = d->size != GUFO_NO_OFFSET ? d->size : size != GUFO_NO_OFFSET ? size : p->at;
        p->range.end = d->size;
    }
    if (p->at != p->range.end)
        return refuse(error, GUFO_E_CHANGED, "%s bytes were to come, and %s have",
                      GROUPED(p->range.end - p->range.first), GROUPED(p->at - p->range.first));
    if (!d->has_ranges && !range_set_add(&d->finished, p->range))
        return fail_memory(error);
    condition_broadcast(&p->t->changed);
    return GUFO_OK;
}

/* Without the lock, but with it at its end. */
static gufo_status fetch_part(part *p, gufo_error *error)
{
    download *d = p->t->d;
    http_request request = {.url = d->file->url,
                            .at = &d->from,
                            .version = d->has_ranges ? &d->version : NULL,
                            .first = p->range.first,
                            .count = d->has_ranges ? p->range.end - p->range.first : 0,
                            .take = take_bytes,
                            .restart = d->has_ranges ? NULL : take_again,
                            .goes_on = goes_on,
                            .context = p};
    http_answer *answer = mem_zero(d->allocator, sizeof *answer);
    gufo_status status =
        answer != NULL ? http_get(d->remote, &request, answer, error) : fail_memory(error);

    mutex_lock(&p->t->lock);
    note_range(p);
    if (status == GUFO_OK)
        status = end_part(p, answer->version.size, error);
    mem_free(d->allocator, answer);
    return status;
}

/* ---- work ----------------------------------------------------------------------------------- */

/* With the lock: the next range that nobody has or fetches; false if there is none. */
static bool claim(transfer *t, byte_range *range)
{
    gufo_error error;

    if (t->status != GUFO_OK || !range_set_gap(&t->claimed, range->first, t->d->size, range))
        return false;
    range->end = t->d->has_ranges ? smaller(range->end, range->first + t->piece) : t->d->size;
    if (range_set_add(&t->claimed, *range))
        return true;
    fail_all(t, fail_memory(&error), &error);
    return false;
}

/* One request after the other.  What has come of one that fails is recorded, too. */
static void fetch_parts(transfer *t)
{
    part p = {.t = t};
    gufo_error error;

    mutex_lock(&t->lock);
    while (claim(t, &p.range)) {
        gufo_status status;

        p.at = p.recorded = p.range.first;
        mutex_unlock(&t->lock);
        status = fetch_part(&p, &error);
        if (status != GUFO_OK)
            fail_all(t, status, &error);
        p.range.first = 0;
    }
    mutex_unlock(&t->lock);
}

/* With the lock: how far the file is there from its first byte on. */
static uint64_t prefix(const transfer *t)
{
    byte_range gap;

    return range_set_gap(&t->d->finished, 0, t->d->size, &gap) ? gap.first : t->d->size;
}

/* Hashes bytes [from, end), which are there. */
static gufo_status hash_bytes(transfer *t, uint64_t from, uint64_t end, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    while (from < end && status == GUFO_OK) {
        size_t got = 0;

        status = source_read_fd(t->d->out->fd, from, t->block,
                                (size_t)smaller(HASH_BLOCK, end - from), &got, error);
        if (status == GUFO_OK && got == 0)
            status = refuse(error, GUFO_E_CHANGED, "its .part file was shortened meanwhile");
        if (status == GUFO_OK)
            status = sha256_add(&t->hash, t->block, got, error);
        from += got;
    }
    return status;
}

/* Follows the bytes that are there, up to the end. */
static void hash_all(transfer *t)
{
    uint64_t done = 0, end;
    gufo_error error;

    mutex_lock(&t->lock);
    while (t->status == GUFO_OK && done < t->d->size) {
        gufo_status status;

        end = prefix(t);
        if (end == done) {
            condition_wait(&t->changed, &t->lock);
            continue;
        }
        mutex_unlock(&t->lock);
        status = hash_bytes(t, done, end, &error);
        mutex_lock(&t->lock);
        if (status != GUFO_OK)
            fail_all(t, status, &error);
        done = end;
    }
    mutex_unlock(&t->lock);
}

/* Parts are begun in order: the last one hashes, so that one that fetches comes before it where there is one
 * thread alone. */
static gufo_status work(void *context, unsigned thread, uint64_t index, void *result,
                        gufo_error *error)
{
    transfer *t = context;

    (void)thread;
    (void)result;
    (void)error;
    if (index < t->requests)
        fetch_parts(t);
    else
        hash_all(t);
    return GUFO_OK;
}

/* ---- syncs ---------------------------------------------------------------------------------- */

/* With the lock, but not while the disk works. */
static gufo_status sync_now(transfer *t, gufo_error *error)
{
    gufo_status status = record_fence(&t->d->record, error);
    int failure;

    if (status != GUFO_OK)
        return status;
    mutex_unlock(&t->lock);
    failure = disk_sync_data(t->d->out->fd) == 0 ? 0 : errno;
    mutex_lock(&t->lock);
    return failure == 0 ? record_synced(&t->d->record, error)
                        : fail_io(error, failure, "cannot sync");
}

static void *sync_again_and_again(void *context)
{
    transfer *t = context;
    gufo_error error;

    mutex_lock(&t->lock);
    while (!t->ended && t->status == GUFO_OK) {
        gufo_status status;

        if (companion_wait(&t->syncer, &t->lock, SECONDS_BETWEEN_SYNCS) || t->ended)
            continue;
        status = sync_now(t, &error);
        if (status != GUFO_OK)
            fail_all(t, status, &error);
    }
    mutex_unlock(&t->lock);
    return NULL;
}

static void end_syncs(transfer *t)
{
    if (!t->syncer.running)
        return;
    mutex_lock(&t->lock);
    t->ended = true;
    mutex_unlock(&t->lock);
    companion_end(&t->syncer);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status run_threads(transfer *t, gufo_error *error)
{
    parallel_loop loop = {.context = t, .work = work};
    gufo_status status;

    loop.threads = t->requests + (t->block != NULL);
    loop.end = loop.threads;
    if (t->d->has_ranges)
        companion_start(&t->syncer, sync_again_and_again, t);
    status = parallel_run(&loop, t->d->allocator, error);
    end_syncs(t);
    if (status != GUFO_OK || t->status == GUFO_OK)
        return status;
    *error = t->error;
    return t->status;
}

/* Several requests where there are several gaps to fill; claimed is what is finished. */
static gufo_status prepare(transfer *t, unsigned requests, gufo_error *error)
{
    const download *d = t->d;
    uint64_t pieces = 1;

    if (d->has_ranges) {
        t->piece = smaller(larger(d->size / 64, least_piece), most_piece);
        pieces = divide_up(d->size, t->piece);
    }
    t->requests = (unsigned)smaller(requests, larger(pieces, 1));
    for (uint64_t i = 0; i < d->finished.count; i++)
        if (!range_set_add(&t->claimed, d->finished.ranges[i]))
            return fail_memory(error);
    if (d->sha256[0] == '\0')
        return GUFO_OK;
    t->block = mem_alloc(d->allocator, HASH_BLOCK);
    return t->block != NULL ? sha256_open(&t->hash, error) : fail_memory(error);
}

gufo_status missing_fetch(download *d, unsigned requests, fetch_progress *progress,
                          gufo_error *error)
{
    transfer t = {.d = d, .progress = progress, .claimed.allocator = d->allocator};
    gufo_error ignored;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    mutex_init(&t.lock);
    condition_init(&t.changed);
    status = prepare(&t, requests, error);
    if (status == GUFO_OK)
        status = run_threads(&t, error);
    if (status == GUFO_OK && t.block != NULL)
        status = sha256_finish(&t.hash, d->found, error);
    range_set_clear(&t.claimed);
    sha256_close(&t.hash);
    mem_free(d->allocator, t.block);
    condition_destroy(&t.changed);
    mutex_destroy(&t.lock);
    return status;
}
