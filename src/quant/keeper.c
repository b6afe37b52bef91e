/* The thread that keeps the journal; keeper.h has the idea. */
#include "quant/keeper.h"

#include <errno.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"

enum { SECONDS_BETWEEN = 2, FIRST_CAPACITY = 64 };

/* ---- saving --------------------------------------------------------------------------------- */

/* Data first, marks after it.  A mark that cannot be saved is lost: nothing is saved after it. */
static gufo_status save(keeper *k, const journal_mark *marks, size_t count, gufo_error *error)
{
    gufo_status status = outputs_sync(k->q, error);

    return status == GUFO_OK ? quant_journal_append(k->journal, marks, count, error) : status;
}

/* Saves what is noted.  Called and returns with the lock held; works without it. */
static void save_noted(keeper *k)
{
    journal_mark *marks = k->marks;
    size_t count = k->count;
    gufo_status status;
    gufo_error error;

    if (count == 0 || k->status != GUFO_OK)
        return;
    k->marks = NULL;
    k->count = k->capacity = 0;
    (void)pthread_mutex_unlock(&k->lock);
    status = save(k, marks, count, &error);
    mem_free(&k->q->allocator, marks);
    (void)pthread_mutex_lock(&k->lock);
    if (status != GUFO_OK) {
        k->status = status;
        k->error = error;
    }
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void wait_a_while(keeper *k)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SECONDS_BETWEEN;
    while (!k->stop && pthread_cond_timedwait(&k->wake, &k->lock, &until) != ETIMEDOUT)
        ;
}

static void *keep(void *argument)
{
    keeper *k = argument;

    (void)pthread_mutex_lock(&k->lock);
    for (wait_a_while(k); !k->stop; wait_a_while(k))
        save_noted(k);
    (void)pthread_mutex_unlock(&k->lock);
    return NULL;
}

void quant_keeper_start(keeper *k, const gufo_quantizer *q, journal *j)
{
    pthread_condattr_t monotonic;

    *k = (keeper){.q = q, .journal = j};
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&k->lock, NULL);
    (void)pthread_cond_init(&k->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    k->running = pthread_create(&k->thread, NULL, keep, k) == 0;
}

void quant_keeper_stop(keeper *k)
{
    if (!k->running)
        return;
    (void)pthread_mutex_lock(&k->lock);
    k->stop = true;
    (void)pthread_cond_signal(&k->wake);
    (void)pthread_mutex_unlock(&k->lock);
    (void)pthread_join(k->thread, NULL);
    k->running = false;
}

void quant_keeper_free(keeper *k)
{
    quant_keeper_stop(k);
    mem_free(&k->q->allocator, k->marks);
    (void)pthread_cond_destroy(&k->wake);
    (void)pthread_mutex_destroy(&k->lock);
}

/* ---- noting --------------------------------------------------------------------------------- */

static bool make_room(keeper *k)
{
    size_t capacity = k->capacity == 0 ? FIRST_CAPACITY : 2 * k->capacity;
    journal_mark *larger;

    if (k->count < k->capacity)
        return true;
    larger = mem_resize(&k->q->allocator, k->marks, capacity * sizeof *larger);
    if (larger == NULL)
        return false;
    k->marks = larger;
    k->capacity = capacity;
    return true;
}

static gufo_status result(const keeper *k, gufo_error *error)
{
    if (k->status != GUFO_OK && error != NULL)
        *error = k->error;
    return k->status;
}

gufo_status quant_keeper_note(keeper *k, const journal_mark *mark, gufo_error *error)
{
    gufo_status status;

    (void)pthread_mutex_lock(&k->lock);
    status = result(k, error);
    /* Of one tensor only the latest mark matters. */
    if (status == GUFO_OK && k->count > 0 && k->marks[k->count - 1].tensor == mark->tensor)
        k->marks[k->count - 1] = *mark;
    else if (status == GUFO_OK && make_room(k))
        k->marks[k->count++] = *mark;
    else if (status == GUFO_OK)
        status = fail_memory(error);
    (void)pthread_mutex_unlock(&k->lock);
    return status;
}

gufo_status quant_keeper_save(keeper *k, gufo_error *error)
{
    gufo_status status;

    (void)pthread_mutex_lock(&k->lock);
    save_noted(k);
    status = result(k, error);
    (void)pthread_mutex_unlock(&k->lock);
    return status;
}
