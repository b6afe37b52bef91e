/* Asks another program, which may hang: a driver that is broken does. */
#include "cli/core/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#ifndef MACHINE_ASK_MS /* tests are shorter */
#define MACHINE_ASK_MS 5000
#endif

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts the program with `out` as its standard output; -1 if it cannot. */
static pid_t start(const char *const *words, int out)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    int failure;

    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    failure = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (failure == 0) /* it changes no word */
        failure = posix_spawnp(&pid, words[0], &files, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&files);
    return failure == 0 ? pid : -1;
}

/* Reads to the end; false if that takes too long, or the output does not fit. */
static bool read_all(int in, char *answer, size_t size)
{
    const long end = now_ms() + MACHINE_ASK_MS;
    size_t used = 0;

    for (;;) {
        struct pollfd ready = {in, POLLIN, 0};
        long left = end - now_ms();
        ssize_t got;

        if (left <= 0 || poll(&ready, 1, (int)left) == 0)
            return false;
        got = read(in, answer + used, size - 1 - used);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return false;
        used += (size_t)got;
        answer[used] = '\0';
        if (got == 0)
            return true;
        if (used == size - 1)
            return false;
    }
}

/* Waits for the end of a program, but not for one that the kernel does not let go. */
static bool reap(pid_t pid, int *status)
{
    enum { STEPS = 100 };
    const struct timespec step = {0, 10000000};

    for (int i = 0; i < STEPS; i++) {
        pid_t ended = waitpid(pid, status, WNOHANG);

        if (ended == pid)
            return true;
        if (ended < 0 && errno != EINTR)
            return false;
        nanosleep(&step, NULL);
    }
    return false;
}

bool machine_ask(const char *const *words, char *answer, size_t size)
{
    int ends[2], status = 1;
    bool is_whole = false;
    pid_t pid;

    answer[0] = '\0';
    if (pipe(ends) != 0)
        return false;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid = start(words, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        is_whole = read_all(ends[0], answer, size);
        if (!is_whole)
            (void)kill(pid, SIGKILL);
        if (!reap(pid, &status)) {
            (void)kill(pid, SIGKILL);
            is_whole = false;
        }
    }
    close(ends[0]);
    return is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
