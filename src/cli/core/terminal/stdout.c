/* Standard output. */
#include "cli/core/terminal/stdout.h"

#include "cli/core/terminal/report.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t columns; /* 0: not a terminal */
static bool colored;

/* The next file that is opened would get a closed descriptor, and reports would end up in it.
 * Opens the descriptor for the wrong direction, so that using it still fails. */
static void occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool stdout_is_terminal(void)
{
    return columns > 0;
}

size_t stdout_columns(void)
{
    return columns;
}

void stdout_resized(void)
{
    if (columns > 0)
        columns = terminal_width(STDOUT_FILENO);
}

void stdout_set_color(bool color)
{
    colored = color;
}

bool stdout_color(void)
{
    return colored;
}

void stdout_start(void)
{
    static char buffer[1 << 16];

    occupy_standard_descriptors();
    columns = isatty(STDOUT_FILENO) ? terminal_width(STDOUT_FILENO) : 0;
    if (columns == 0)
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    setvbuf(stderr, NULL, _IOLBF, 0); /* a report arrives in one piece */
}

bool stdout_broken(void)
{
    return ferror(stdout) != 0;
}

int stdout_finish(int code)
{
    bool failed = ferror(stdout) != 0;

    errno = 0;
    if (fflush(stdout) == 0 && !failed)
        return code;
    if (signals_pipe_closed())
        return code;
    report_message(NULL, "standard output: %s",
                   errno != 0 ? strerror(errno) : "not everything could be written");
    return worst_code(code, CODE_FAILED);
}
