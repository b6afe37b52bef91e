/* Terminals. */
#include "cli/core/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define USUAL_COLUMNS 80 /* of a terminal that does not report its width */

size_t terminal_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

size_t terminal_width(int fd)
{
    const char *wanted = getenv("COLUMNS");
    long given = wanted != NULL ? strtol(wanted, NULL, 10) : 0;

    return given > 0 ? (size_t)given : terminal_columns(fd);
}

bool terminal_is_dumb(void)
{
    const char *terminal = getenv("TERM");

    return terminal != NULL && strcmp(terminal, "dumb") == 0;
}
