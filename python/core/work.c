/* Long calls.
 *
 *     this thread               a thread of its own
 *     releases the GIL          does the work; notes its progress, asks whether to stop
 *     waits 0.1 s    <-------   says that it has ended
 *     takes the GIL: signals? progress(done, total)
 *     an exception?  ------->   stops
 *
 * Python looks at signals on its first thread alone, and the library reports progress on any thread:
 * so nothing of Python happens in the work, and Ctrl-C waits a tenth of a second at most. */
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define TICK_NS 100000000

typedef struct task {
    core_work *work;
    void *context;
    gufo_run run;
    gufo_status status;
    gufo_error error;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t done, total;
    bool stop, ended;
} task;

static bool note_progress(void *context, uint64_t done, uint64_t total)
{
    task *t = context;
    bool stop;

    pthread_mutex_lock(&t->lock);
    t->done = done;
    t->total = total;
    stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return !stop;
}

static void *do_work(void *argument)
{
    task *t = argument;
    gufo_status status = t->work(t->context, &t->run, &t->error);

    pthread_mutex_lock(&t->lock);
    t->status = status;
    t->ended = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Whether it has ended, after a tick at most; *done and *total are its progress. */
static bool wait_a_tick(task *t, uint64_t *done, uint64_t *total)
{
    struct timespec until;
    bool ended;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&t->lock);
    while (!t->ended && pthread_cond_timedwait(&t->changed, &t->lock, &until) != ETIMEDOUT)
        ;
    ended = t->ended;
    *done = t->done;
    *total = t->total;
    pthread_mutex_unlock(&t->lock);
    return ended;
}

/* Signals and progress, with the GIL; false with an exception. */
static bool look_around(const core_call *call, uint64_t done, uint64_t total)
{
    PyObject *result;

    if (PyErr_CheckSignals() < 0)
        return false;
    if (call->progress == NULL || call->progress == Py_None || total == 0)
        return true;
    result = PyObject_CallFunction(call->progress, "KK", (unsigned long long)done,
                                   (unsigned long long)total);
    Py_XDECREF(result);
    return result != NULL;
}

static void ask_to_stop(task *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_mutex_unlock(&t->lock);
}

/* Waits for the end, even after an exception: the work uses memory of the caller. */
static bool wait_for_end(const core_call *call, task *t)
{
    uint64_t done = 0, total = 0;
    bool well = true, ended = false;

    while (!ended) {
        Py_BEGIN_ALLOW_THREADS
            ended = wait_a_tick(t, &done, &total);
        Py_END_ALLOW_THREADS
        if (well && !look_around(call, done, total)) {
            well = false;
            ask_to_stop(t);
        }
    }
    return well;
}

static void init_task(task *t, const core_call *call, core_work *work, void *context)
{
    pthread_condattr_t monotonic;

    *t = (task){.work = work, .context = context};
    t->run = (gufo_run){.threads = call->threads, .progress = note_progress, .progress_context = t};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool core_do(PyObject *module, const core_call *call, core_work *work, void *context)
{
    task t;
    pthread_t thread;
    bool well = true;

    init_task(&t, call, work, context);
    if (call->brief || pthread_create(&thread, NULL, do_work, &t) != 0) {
        Py_BEGIN_ALLOW_THREADS
            do_work(&t);
        Py_END_ALLOW_THREADS
    } else {
        well = wait_for_end(call, &t);
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    if (well && t.status != GUFO_OK) {
        core_raise(module, &t.error);
        well = false;
    }
    return well;
}
