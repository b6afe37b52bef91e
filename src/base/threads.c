/* The parallel loop; threads.h has the idea.
 *
 * Results wait in a ring for their turn.  A part is begun only if its place in the ring is free, so
 * that one slow part cannot make the ring grow; the ring is long enough that this hardly ever stops
 * a thread. */
#include "base/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"

enum { PLACES_PER_THREAD = 32, MOST_THREADS = 1024 };

/* Asked for once: most of it is read from files of the system, which takes longer than many a loop. */
static unsigned processor_count(void)
{
    static atomic_uint known;
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);

    if (count == 0) {
        count = processors_usable("");
        count = count > MOST_THREADS ? MOST_THREADS : count;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

unsigned thread_count(unsigned asked)
{
    return asked != 0 ? asked : processor_count();
}

/* All but `loop` is guarded by `lock`. */
typedef struct state {
    const parallel_loop *loop;
    pthread_mutex_t lock;
    pthread_cond_t place_free;
    uint64_t next; /* part to begin */
    uint64_t turn; /* the next part to pass on */
    uint64_t stop; /* no part from here on is begun or passed on */
    bool handing_over;
    uint8_t *results; /* the ring: `places` results */
    bool *finished;   /* whether the result is ready */
    uint64_t places;
    gufo_status status; /* of part `stop` */
    gufo_error error;
} state;

typedef struct member {
    state *shared;
    unsigned number;
    pthread_t id;
} member;

static void *result_of(const state *s, uint64_t index)
{
    return s->results + index % s->places * s->loop->result_size;
}

/* Remembers the failure of part `index`, unless one before it failed, too. */
static void note_failure(state *s, uint64_t index, gufo_status status, const gufo_error *error)
{
    if (index >= s->stop)
        return;
    s->stop = index;
    s->status = status;
    s->error = *error;
    (void)pthread_cond_broadcast(&s->place_free);
}

/* Passes on the results that are ready, unless another thread is doing so: that one will see
 * them. */
static void hand_over(state *s)
{
    const parallel_loop *loop = s->loop;

    if (s->handing_over)
        return;
    s->handing_over = true;
    while (s->turn < s->stop && s->turn < s->next && s->finished[s->turn % s->places]) {
        uint64_t index = s->turn;
        gufo_status status = GUFO_OK;
        gufo_error error;

        if (loop->hand_over != NULL) {
            (void)pthread_mutex_unlock(&s->lock);
            status = loop->hand_over(loop->context, index, result_of(s, index), &error);
            (void)pthread_mutex_lock(&s->lock);
        }
        if (status != GUFO_OK)
            note_failure(s, index, status, &error);
        s->finished[index % s->places] = false;
        s->turn++;
        (void)pthread_cond_broadcast(&s->place_free);
    }
    s->handing_over = false;
}

/* Takes the next part; false if there is none any more. */
static bool take(state *s, uint64_t *index)
{
    while (s->next < s->stop && s->next - s->turn >= s->places)
        (void)pthread_cond_wait(&s->place_free, &s->lock);
    if (s->next >= s->stop)
        return false;
    *index = s->next++;
    return true;
}

static void *run_member(void *argument)
{
    member *m = argument;
    state *s = m->shared;
    const parallel_loop *loop = s->loop;
    uint64_t index;

    (void)pthread_mutex_lock(&s->lock);
    while (take(s, &index)) {
        gufo_status status;
        gufo_error error;

        (void)pthread_mutex_unlock(&s->lock);
        if (loop->result_size > 0)
            memset(result_of(s, index), 0, loop->result_size);
        status = loop->work(loop->context, m->number, index, result_of(s, index), &error);
        (void)pthread_mutex_lock(&s->lock);
        if (status != GUFO_OK)
            note_failure(s, index, status, &error);
        else
            s->finished[index % s->places] = true;
        hand_over(s);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* The calling thread is member 0. */
static void run_members(member *members, unsigned count)
{
    unsigned started = 1;

    while (started < count &&
           pthread_create(&members[started].id, NULL, run_member, &members[started]) == 0)
        started++;
    (void)run_member(&members[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(members[i].id, NULL);
}

static gufo_status run_loop(state *s, member *members, unsigned count, gufo_error *error)
{
    for (unsigned i = 0; i < count; i++)
        members[i] = (member){.shared = s, .number = i};
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->place_free, NULL);
    run_members(members, count);
    for (; s->turn < s->next && s->loop->drop != NULL; s->turn++)
        if (s->finished[s->turn % s->places])
            s->loop->drop(s->loop->context, result_of(s, s->turn));
    (void)pthread_cond_destroy(&s->place_free);
    (void)pthread_mutex_destroy(&s->lock);
    if (s->status != GUFO_OK && error != NULL)
        *error = s->error;
    return s->status;
}

gufo_status parallel_run(const parallel_loop *loop, const gufo_allocator *allocator,
                         gufo_error *error)
{
    unsigned count = loop->threads == 0 ? 1 : loop->threads;
    state s = {.loop = loop, .next = loop->begin, .turn = loop->begin, .stop = loop->end};
    gufo_status status;
    uint64_t size;
    member *members;

    if (loop->begin >= loop->end)
        return GUFO_OK;
    if (count > loop->end - loop->begin)
        count = (unsigned)(loop->end - loop->begin);
    s.places = (uint64_t)PLACES_PER_THREAD * count;
    if (!checked_mul(s.places, loop->result_size + 1, &size) || size > SIZE_MAX)
        return fail_memory(error);
    s.results = mem_alloc(allocator, (size_t)size);
    s.finished = mem_zero(allocator, (size_t)s.places * sizeof *s.finished);
    members = mem_alloc(allocator, count * sizeof *members);
    status = s.results != NULL && s.finished != NULL && members != NULL
                 ? run_loop(&s, members, count, error)
                 : fail_memory(error);
    mem_free(allocator, members);
    mem_free(allocator, s.finished);
    mem_free(allocator, s.results);
    return status;
}

/* ---- a companion ---------------------------------------------------------------------------- */

void companion_start(companion *c, void *(*run)(void *context), void *context)
{
    pthread_condattr_t monotonic;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    c->running = pthread_create(&c->thread, NULL, run, context) == 0;
    if (!c->running)
        (void)pthread_cond_destroy(&c->wake);
}

bool companion_wait(companion *c, mutex *m, unsigned seconds)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    return pthread_cond_timedwait(&c->wake, m, &until) != ETIMEDOUT;
}

void companion_end(companion *c)
{
    if (!c->running)
        return;
    (void)pthread_cond_signal(&c->wake);
    (void)pthread_join(c->thread, NULL);
    (void)pthread_cond_destroy(&c->wake);
    c->running = false;
}
