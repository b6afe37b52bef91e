/* The thread that keeps a journal or a log; run.h has the idea. */
#include "produce/run/run.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A sync makes writers wait: there has to be something to lose. */
enum { SECONDS_BETWEEN = 2, PATIENCE = 5 };
#define BYTES_BETWEEN (UINT64_C(256) << 20)

static const gufo_allocator *allocator_of(const keeper *k)
{
    return &k->targets->job->allocator;
}

/* ---- saving --------------------------------------------------------------------------------- */

static size_t result_size(const keeper *k)
{
    return k->targets->job->hooks.result_size;
}

static gufo_status append_to_journal(void *context, const journal_mark *marks, size_t count,
                                     gufo_error *error)
{
    journal *j = context;
    gufo_status status = journal_append(j, marks, count, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, j->path);
    return status;
}

keeper_sink keeper_to_journal(journal *j)
{
    return (keeper_sink){.append = append_to_journal, .context = j};
}

/* Data first, marks after it.  A mark that cannot be saved is lost: nothing is saved after it. */
static gufo_status save(keeper *k, journal_mark *marks, const uint8_t *results, size_t count,
                        gufo_error *error)
{
    gufo_status status = count > 0 ? targets_sync(k->targets, error) : GUFO_OK;

    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        marks[i].result = results + i * result_size(k);
    return k->sink.append(k->sink.context, marks, count, error);
}

/* Saves what is noted.  Called and returns with the lock held; works without it. */
static void save_noted(keeper *k)
{
    journal_mark *marks = k->marks;
    uint8_t *results = k->results;
    size_t count = k->count;
    gufo_status status;
    gufo_error error;

    if ((count == 0 && !k->sink.beats) || k->status != GUFO_OK)
        return;
    k->marks = NULL;
    k->results = NULL;
    k->capacity = k->result_capacity = k->count = 0;
    k->bytes = 0;
    mutex_unlock(&k->lock);
    status = save(k, marks, results, count, &error);
    mem_free(allocator_of(k), marks);
    mem_free(allocator_of(k), results);
    mutex_lock(&k->lock);
    if (status != GUFO_OK) {
        k->status = status;
        k->error = error;
    }
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void wait_a_while(keeper *k)
{
    while (!k->stop && companion_wait(&k->thread, &k->lock, SECONDS_BETWEEN))
        ;
}

static void *keep(void *argument)
{
    keeper *k = argument;
    unsigned waited = 0;

    mutex_lock(&k->lock);
    for (wait_a_while(k); !k->stop; wait_a_while(k)) {
        if (k->bytes < BYTES_BETWEEN && ++waited < PATIENCE)
            continue;
        save_noted(k);
        waited = 0;
    }
    mutex_unlock(&k->lock);
    return NULL;
}

void keeper_start(keeper *k, targets *t, const keeper_sink *where, bool thread)
{
    *k = (keeper){.targets = t, .sink = *where};
    mutex_init(&k->lock);
    if (thread)
        companion_start(&k->thread, keep, k);
}

void keeper_stop(keeper *k)
{
    if (!k->thread.running)
        return;
    mutex_lock(&k->lock);
    k->stop = true;
    mutex_unlock(&k->lock);
    companion_end(&k->thread);
}

void keeper_free(keeper *k)
{
    keeper_stop(k);
    mem_free(allocator_of(k), k->marks);
    mem_free(allocator_of(k), k->results);
    mutex_destroy(&k->lock);
}

/* ---- noting --------------------------------------------------------------------------------- */

/* For one mark more. */
static bool make_room(keeper *k, size_t size)
{
    journal_mark *marks =
        mem_grow(allocator_of(k), k->marks, k->count, &k->capacity, sizeof *marks);
    uint8_t *results;

    if (marks == NULL)
        return false;
    k->marks = marks;
    results = mem_grow(allocator_of(k), k->results, k->count, &k->result_capacity, size + 1);
    if (results == NULL)
        return false;
    k->results = results;
    return true;
}

/* Only the latest mark of a piece matters, and only the last one of pieces without a result: where these are
 * sums. */
static bool replaces(const keeper *k, const journal_mark *mark)
{
    const journal_mark *last = k->count > 0 ? &k->marks[k->count - 1] : NULL;

    if (k->sink.keeps_results && result_size(k) > 0)
        return false;
    return last != NULL && (last->piece == mark->piece ||
                            (last->result == NULL && mark->piece < k->targets->job->piece_count &&
                             last->piece < k->targets->job->piece_count));
}

static gufo_status add_mark(keeper *k, const journal_mark *mark, gufo_error *error)
{
    bool again = replaces(k, mark);
    size_t index = again ? k->count - 1 : k->count, size = result_size(k);

    if (!again && !make_room(k, size))
        return fail_memory(error);
    k->marks[index] = *mark;
    if (mark->result != NULL && size > 0)
        memcpy(k->results + index * size, mark->result, size);
    else
        memset(k->results + index * size, 0, size);
    k->count = index + 1;
    return GUFO_OK;
}

static gufo_status result(const keeper *k, gufo_error *error)
{
    if (k->status != GUFO_OK && error != NULL)
        *error = k->error;
    return k->status;
}

gufo_status keeper_note(keeper *k, const journal_mark *mark, uint64_t bytes, gufo_error *error)
{
    gufo_status status;

    mutex_lock(&k->lock);
    status = result(k, error);
    k->bytes += bytes;
    if (status == GUFO_OK)
        status = add_mark(k, mark, error);
    mutex_unlock(&k->lock);
    return status;
}

gufo_status keeper_save(keeper *k, gufo_error *error)
{
    gufo_status status;

    mutex_lock(&k->lock);
    save_noted(k);
    status = result(k, error);
    mutex_unlock(&k->lock);
    return status;
}
