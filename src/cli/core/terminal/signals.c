/* Signal handlers.  They may call only what is safe at any moment (write, unlink, _exit): the line
 * that they write is made beforehand. */
#include "cli/core/terminal/signals.h"

#include "cli/core/terminal/report.h"
#include "cli/core/terminal/text.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Replaced as a whole, never changed in place: a handler may write it at any time. */
static char *volatile reading_line;
static const char *volatile const *volatile temporary_list;
static volatile size_t temporary_count;
static volatile sig_atomic_t pipe_closed;
/* Other threads ask, too. */
static atomic_bool deferred;
static atomic_int stopped_by; /* a signal; 0: none */

static const char unnamed_line[] =
    "gufo: a file was changed while it was being read (truncated?)\n";

static void remove_temporaries(void)
{
    const char *volatile const *list = temporary_list;

    for (size_t i = 0; list != NULL && i < temporary_count; i++)
        if (list[i] != NULL)
            unlink(list[i]);
}

static void on_bus_error(int signal_number)
{
    const char *line = reading_line != NULL ? reading_line : unnamed_line;

    (void)signal_number;
    (void)!write(STDERR_FILENO, line, strlen(line)); /* a failure cannot be reported */
    remove_temporaries();
    _exit(CODE_FAILED);
}

static void on_interrupt(int signal_number)
{
    if (deferred && stopped_by == 0) {
        stopped_by = signal_number;
        return;
    }
    remove_temporaries();
    _exit(CODE_INTERRUPTED);
}

static void on_closed_pipe(int signal_number)
{
    (void)signal_number;
    pipe_closed = 1;
}

static void install(int signal_number, void (*handler)(int), bool unless_ignored)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigfillset(&action.sa_mask);
    /* Reads and writes continue after SIGPIPE: they fail by themselves where they have to. */
    action.sa_flags = SA_RESTART;
    if (unless_ignored && sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigaction(signal_number, &action, NULL);
}

void signals_install(void)
{
    install(SIGBUS, on_bus_error, false);
    install(SIGINT, on_interrupt, true);
    install(SIGTERM, on_interrupt, true);
    install(SIGHUP, on_interrupt, true);
    install(SIGPIPE, on_closed_pipe, false);
    install(SIGXFSZ, SIG_IGN, false); /* the write fails, and is cleaned up after */
}

/* "gufo: PATH: changed while ..." with the path escaped; NULL without memory. */
static char *prepare_line(const char *path)
{
    text_stream line;

    if (!text_stream_open(&line))
        return NULL;
    fputs("gufo: ", line.out);
    text_put(line.out, gufo_str_of(path), TEXT_PLAIN);
    fputs(": changed while it was being read (truncated?)\n", line.out);
    return text_stream_close(&line);
}

void signals_reading(const char *path)
{
    char *old = reading_line;

    reading_line = path != NULL ? prepare_line(path) : NULL;
    free(old);
}

void signals_temporaries(const char *volatile const *paths, size_t count)
{
    temporary_list = NULL;
    temporary_count = count;
    temporary_list = paths;
}

static void change_mask(int how)
{
    sigset_t ending;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(how, &ending, NULL);
}

void signals_hold(void)
{
    change_mask(SIG_BLOCK);
}

void signals_release(void)
{
    change_mask(SIG_UNBLOCK);
}

void signals_defer(void)
{
    deferred = true;
}

bool signals_stopped(void)
{
    return stopped_by != 0;
}

bool signals_stopped_by_person(void)
{
    return stopped_by == SIGINT;
}

bool signals_pipe_closed(void)
{
    return pipe_closed != 0;
}
