/* Long calls.
 *
 *     this thread               a thread of its own
 *     releases the GIL          does the work; notes its progress, asks whether to stop
 *     waits 0.1 s    <-------   says that it has ended
 *     takes the GIL: signals? progress(done, total)
 *     an exception?  ------->   stops
 *
 * Python looks at signals on its first thread alone, and the library reports progress on any thread:
 * so nothing of Python happens in the work, and Ctrl-C waits a tenth of a second at most.  The first
 * report of progress waits for an answer, so that an exception of the program stops work of any length.
 *
 * When the interpreter ends, this thread may be a daemon, which then ends where it asks for the GIL, and with
 * it the memory that the work uses.  So the interpreter stops all work before (stop_work), and a thread whose
 * work does not stop does not ask for the GIL again. */
#include "core.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000
#define TICK_NS 100000000
#define POLL_NS 5000000
#define POLLS 400 /* two seconds, for work that waits for a silent pipe */

typedef struct core_task {
    struct core_task *next, **link; /* in the list of the module */
    pid_t process;                  /* a child of fork has the list, but not the threads */
    core_work *work;
    void *context;
    gufo_run run;
    gufo_status status;
    gufo_error error;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t done, total;
    bool stop, ended;
    bool waits, reported, asks; /* for an answer: whether it is to; it has; it does */
    bool ends;                  /* the interpreter */
} task;

int core_threads(PyObject *object, void *out)
{
    PyObject *number = PyNumber_Index(object);
    const unsigned long long threads = number != NULL ? PyLong_AsUnsignedLongLong(number) : 0;

    Py_XDECREF(number);
    if (number == NULL)
        return 0;
    if (PyErr_Occurred() || threads > UINT_MAX) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "threads: %.100R is not a number of threads", object);
        return 0;
    }
    *(unsigned *)out = (unsigned)threads;
    return 1;
}

static struct timespec after(long nanoseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    if (until.tv_nsec >= SECOND_NS) {
        until.tv_nsec -= SECOND_NS;
        until.tv_sec++;
    }
    return until;
}

/* Waits until the program has seen the first report.  Not for ever: a thread that has the GIL may wait for
 * a lock of this work. */
static void wait_for_answer(task *t)
{
    const struct timespec until = after(SECOND_NS - 1);

    t->reported = t->asks = true;
    pthread_cond_broadcast(&t->changed);
    while (t->asks && pthread_cond_timedwait(&t->changed, &t->lock, &until) != ETIMEDOUT)
        ;
    t->asks = false;
}

static bool note_progress(void *context, uint64_t done, uint64_t total)
{
    task *t = context;
    bool stop;

    pthread_mutex_lock(&t->lock);
    t->done = done;
    t->total = total;
    if (t->waits && !t->reported && !t->ends && total > 0)
        wait_for_answer(t);
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
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Whether it has ended, after a tick at most; *done and *total are its progress. */
static bool wait_a_tick(task *t, uint64_t *done, uint64_t *total)
{
    const struct timespec until = after(TICK_NS);
    bool ended, late = false;

    pthread_mutex_lock(&t->lock);
    while (!t->ended && (t->ends || (!t->asks && !late))) {
        if (t->ends)
            pthread_cond_wait(&t->changed, &t->lock);
        else
            late = pthread_cond_timedwait(&t->changed, &t->lock, &until) == ETIMEDOUT;
    }
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

static void answer(task *t, bool stop)
{
    pthread_mutex_lock(&t->lock);
    t->stop = t->stop || stop;
    t->asks = false;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Whether progress() has made a process of its own, which has the call, but not the thread that works. */
static bool is_child(const task *t)
{
    return t->process != getpid();
}

static void refuse_child(void)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a child of fork cannot go on with the call");
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
        well = well && look_around(call, done, total);
        if (is_child(t)) {
            refuse_child();
            return false;
        }
        answer(t, !well);
    }
    return well;
}

static void init_task(task *t, const core_call *call, core_work *work, void *context)
{
    pthread_condattr_t monotonic;

    *t = (task){.work = work, .context = context, .process = getpid()};
    t->waits = !call->brief && call->progress != NULL && call->progress != Py_None;
    t->run = (gufo_run){.threads = call->threads, .progress = note_progress, .progress_context = t};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void end_task(task *t)
{
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}

/* The error of work that has ended, or `well`. */
static bool result_of(PyObject *module, const task *t, bool well)
{
    if (well && t->status != GUFO_OK) {
        core_raise(module, &t->error);
        return false;
    }
    return well;
}

static bool do_here(PyObject *module, task *t)
{
    PyThreadState *state;

    t->waits = false;
    state = PyEval_SaveThread();
    do_work(t);
    PyEval_RestoreThread(state);
    return result_of(module, t, true);
}

/* ---- the work that runs ----------------------------------------------------------------------- */

/* False with an exception when the interpreter ends. */
static bool add_task(core_tasks *tasks, task *t)
{
    bool ends;

    pthread_mutex_lock(&tasks->lock);
    ends = tasks->ends;
    if (!ends) {
        t->next = tasks->first;
        t->link = &tasks->first;
        if (t->next != NULL)
            t->next->link = &t->next;
        tasks->first = t;
    }
    pthread_mutex_unlock(&tasks->lock);
    if (ends)
        PyErr_SetString(PyExc_RuntimeError, "the interpreter ends");
    return !ends;
}

static void remove_task(core_tasks *tasks, task *t)
{
    pthread_mutex_lock(&tasks->lock);
    *t->link = t->next;
    if (t->next != NULL)
        t->next->link = t->link;
    pthread_mutex_unlock(&tasks->lock);
}

static bool do_beside(PyObject *module, const core_call *call, task *t)
{
    core_tasks *tasks = core_running(module);
    pthread_t thread;
    bool well;

    if (!add_task(tasks, t))
        return false;
    if (pthread_create(&thread, NULL, do_work, t) == 0) {
        well = wait_for_end(call, t);
        if (!is_child(t))
            pthread_join(thread, NULL);
        well = result_of(module, t, well);
    } else {
        well = do_here(module, t);
    }
    remove_task(tasks, t);
    return well;
}

bool core_do(PyObject *module, const core_call *call, core_work *work, void *context)
{
    task here, *t;
    bool well;

    if (call->brief) {
        init_task(&here, call, work, context);
        well = do_here(module, &here);
        end_task(&here);
        return well;
    }
    t = malloc(sizeof *t); /* it may outlive this thread */
    if (t == NULL) {
        PyErr_NoMemory();
        return false;
    }
    init_task(t, call, work, context);
    well = do_beside(module, call, t);
    if (is_child(t))
        return well; /* its lock may be held for ever */
    end_task(t);
    free(t);
    return well;
}

/* ---- the end of the interpreter --------------------------------------------------------------- */

/* Asks a task to stop; whether it still works. */
static bool stop_task(task *t)
{
    bool works;

    pthread_mutex_lock(&t->lock);
    t->stop = t->ends = true;
    t->asks = false;
    works = !t->ended;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return works;
}

static bool stop_tasks(core_tasks *tasks)
{
    const pid_t process = getpid();
    bool work = false;

    pthread_mutex_lock(&tasks->lock);
    tasks->ends = true;
    for (task *t = tasks->first; t != NULL; t = t->next)
        work = (t->process == process && stop_task(t)) || work;
    pthread_mutex_unlock(&tasks->lock);
    return work;
}

static PyObject *stop_work(PyObject *module, PyObject *none)
{
    const struct timespec poll = {.tv_nsec = POLL_NS};
    core_tasks *tasks = core_running(module);

    (void)none;
    for (int i = 0; i < POLLS && stop_tasks(tasks); i++) {
        Py_BEGIN_ALLOW_THREADS
            nanosleep(&poll, NULL);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"stop_work", stop_work, METH_NOARGS,
     "stop_work(): stops all long calls, and lets none begin; for the end of the interpreter."},
    {NULL, NULL, 0, NULL},
};

static int set_up(PyObject *module)
{
    PyObject *stop = PyObject_GetAttrString(module, "stop_work");
    PyObject *atexit = stop != NULL ? PyImport_ImportModule("atexit") : NULL;
    PyObject *done = atexit != NULL ? PyObject_CallMethod(atexit, "register", "O", stop) : NULL;

    pthread_mutex_init(&core_running(module)->lock, NULL);
    Py_XDECREF(stop);
    Py_XDECREF(atexit);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

const core_part core_part_work = {functions, set_up};
