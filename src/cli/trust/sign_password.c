/* Passwords: from a file, or typed without echo. */
#include "cli/trust/sign.h"

#include "cli/core/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define MOST_PASSWORD 1024

static bool ends_command(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

/* Reads a line without its end; the length, or -1 without a line or if a signal waits. */
static ssize_t read_line(int terminal, char *line, size_t size)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    int events;

    do {
        if (ends_command())
            return -1;
        events = poll(&ready, 1, 100); /* a signal that waits does not end it */
    } while (events == 0);
    ssize_t got = events > 0 ? read(terminal, line, size) : -1;

    if (got > 0 && line[got - 1] == '\n')
        return got - 1;
    return got > 0 ? got : -1;
}

/* Signals wait meanwhile, so that the terminal gets its echo back. */
static ssize_t ask(int terminal, const char *prompt, char *line, size_t size)
{
    struct termios before, silent;
    ssize_t got = -1;

    if (tcgetattr(terminal, &before) != 0)
        return -1;
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    signals_hold();
    if (tcsetattr(terminal, TCSAFLUSH, &silent) == 0) {
        (void)!write(terminal, prompt, strlen(prompt));
        got = read_line(terminal, line, size);
        (void)!write(terminal, "\n", 1);
        (void)tcsetattr(terminal, TCSAFLUSH, &before);
    }
    signals_release();
    return got;
}

static bool ask_all(int terminal, bool twice, gufo_str *password)
{
    char first[MOST_PASSWORD], second[MOST_PASSWORD];
    ssize_t len = ask(terminal, "Password: ", first, sizeof first), again = len;
    bool same = true;
    char *copy = NULL;

    if (len >= 0 && twice) {
        again = ask(terminal, "Repeat the password: ", second, sizeof second);
        same = again == len && memcmp(first, second, (size_t)len) == 0;
    }
    if (len < 0 || again < 0)
        report_message(NULL, "no password was given");
    else if (!same)
        report_message(NULL, "the passwords differ");
    else if ((copy = malloc((size_t)len + 1)) == NULL)
        report_memory(NULL);
    else
        *password = (gufo_str){memcpy(copy, first, (size_t)len), (size_t)len};
    small_file_wipe(first, sizeof first);
    small_file_wipe(second, sizeof second);
    return copy != NULL;
}

static bool from_terminal(bool twice, gufo_str *password)
{
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    bool taken;

    if (terminal < 0) {
        report_message(NULL,
                       "cannot ask for the password without a terminal; give --password-file");
        return false;
    }
    taken = ask_all(terminal, twice, password);
    (void)close(terminal);
    return taken;
}

bool sign_password(const char *path, bool twice, gufo_str *password)
{
    if (path == NULL)
        return from_terminal(twice, password);
    if (small_file_read(path, HASH_MOST_KEY, HASH_TOO_LONG, password) != CODE_OK)
        return false;
    for (size_t i = 0; i < password->len; i++)
        if (password->data[i] == '\n' || password->data[i] == '\r')
            password->len = i; /* the rest is not a secret */
    return true;
}
