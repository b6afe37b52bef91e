/* Forked children. */
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

feeder feeder_start(const void *data, size_t len)
{
    const uint8_t *at = data;
    int ends[2];
    pid_t child;

    fflush(NULL);
    if (pipe(ends) != 0)
        abort();
    child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        signal(SIGPIPE, SIG_IGN);
        close(ends[0]);
        while (len > 0) {
            ssize_t done = write(ends[1], at, len < 1000 ? len : 1000);

            if (done <= 0)
                _exit(1);
            at += done;
            len -= (size_t)done;
        }
        _exit(0);
    }
    close(ends[1]);
    return (feeder){ends[0], child};
}

void feeder_end(feeder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    (void)wait_for((pid_t)f->child);
}
