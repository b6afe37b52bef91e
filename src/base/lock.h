/* What threads wait for: a mutex, a condition, and the thread of a companion.
 *
 * Those of POSIX, or with -DGUFO_THREADS=OFF nothing at all: one thread waits for nobody.  base/threads.h begins
 * threads, and has two forms as well (threads.c, threads_none.c); no other file knows which it gets. */
#ifndef GUFO_BASE_LOCK_H
#define GUFO_BASE_LOCK_H

#include <stdbool.h>

#ifndef GUFO_NO_THREADS

#include <pthread.h>

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;
typedef struct companion {
    pthread_t thread;
    pthread_cond_t wake;
    bool running;
} companion;

static inline void mutex_init(mutex *m)
{
    (void)pthread_mutex_init(m, NULL);
}

static inline void mutex_destroy(mutex *m)
{
    (void)pthread_mutex_destroy(m);
}

static inline void mutex_lock(mutex *m)
{
    (void)pthread_mutex_lock(m);
}

static inline void mutex_unlock(mutex *m)
{
    (void)pthread_mutex_unlock(m);
}

static inline void condition_init(condition *c)
{
    (void)pthread_cond_init(c, NULL);
}

static inline void condition_destroy(condition *c)
{
    (void)pthread_cond_destroy(c);
}

static inline void condition_wait(condition *c, mutex *m)
{
    (void)pthread_cond_wait(c, m);
}

static inline void condition_broadcast(condition *c)
{
    (void)pthread_cond_broadcast(c);
}

#else

typedef struct mutex {
    char unused;
} mutex;
typedef struct condition {
    char unused;
} condition;
typedef struct companion {
    bool running; /* never */
} companion;

static inline void mutex_init(mutex *m)
{
    m->unused = 0;
}

static inline void mutex_destroy(mutex *m)
{
    (void)m;
}

static inline void mutex_lock(mutex *m)
{
    (void)m;
}

static inline void mutex_unlock(mutex *m)
{
    (void)m;
}

static inline void condition_init(condition *c)
{
    c->unused = 0;
}

static inline void condition_destroy(condition *c)
{
    (void)c;
}

static inline void condition_wait(condition *c, mutex *m)
{
    (void)c, (void)m;
}

static inline void condition_broadcast(condition *c)
{
    (void)c;
}

#endif

/* A thread beside the work, which wakes now and then.
 *
 *     companion_start   begins `run`; `running` is false where no thread can be started
 *     companion_wait    by that thread, which holds the mutex: until `seconds` have passed (false), or it is woken
 *     companion_end     wakes it, and returns when `run` has; nothing to do unless it is running */
void companion_start(companion *c, void *(*run)(void *context), void *context);
bool companion_wait(companion *c, mutex *m, unsigned seconds);
void companion_end(companion *c);

#endif
