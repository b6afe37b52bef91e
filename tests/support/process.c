/* Forked children and feeding threads. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(pid_t child)
{
    int state = 0;

    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            abort();
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

int run_in_child(int (*work)(void *context), void *context)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child < 0)
        abort();
    if (child == 0)
        _exit(work(context));
    return wait_for(child);
}

/* Writes in small pieces.  Whoever reads may stop early: that is not a signal here, but an
 * error. */
static void *feed(void *context)
{
    feeder *f = context;
    sigset_t pipe_signal;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
    for (size_t at = 0; at < f->len;) {
        size_t left = f->len - at;
        ssize_t done = write(f->write_end, f->data + at, left < 1000 ? left : 1000);

        if (done <= 0)
            break;
        at += (size_t)done;
    }
    close(f->write_end);
    return NULL;
}

void feeder_start(feeder *f, const void *data, size_t len)
{
    int ends[2];

    if (pipe(ends) != 0)
        abort();
    *f = (feeder){.fd = ends[0], .write_end = ends[1], .data = data, .len = len};
    if (pthread_create(&f->thread, NULL, feed, f) != 0)
        abort();
}

void feeder_end(feeder *f)
{
    close(f->fd);
    pthread_join(f->thread, NULL);
}
