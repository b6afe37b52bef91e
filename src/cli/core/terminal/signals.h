/* Signals: gufo cleans up and reports before it ends. */
#ifndef CLI_CORE_TERMINAL_SIGNALS_H
#define CLI_CORE_TERMINAL_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Installs the handlers:
 *     SIGBUS                     one line about the file that is being read, exit 3
 *     SIGINT, SIGTERM, SIGHUP    removes the temporary file, exit 4; stays ignored if it was
 *     SIGPIPE                    nothing but signals_pipe_closed
 *     SIGXFSZ                    ignored: what is too large fails when it is written */
void signals_install(void);

/* Names the file that is mapped from now on; NULL: none.  Reading lost bytes of a mapped file that
 * was truncated raises SIGBUS. */
void signals_reading(const char *path);

/* The list of `count` files to remove when a signal ends the command; some may be NULL.  It may
 * change meanwhile and must live on.  NULL: none. */
void signals_temporaries(const char *volatile const *paths, size_t count);

/* Between these two, signals that would end the command wait: a file is being made and not
 * registered yet. */
void signals_hold(void);
void signals_release(void);

/* Work that stops in good order by itself: from now on the first signal that would end the command
 * makes signals_stopped true and nothing more.  The next one ends it. */
void signals_defer(void);
bool signals_stopped(void);
/* Whether that was Ctrl-C.  SIGTERM and SIGHUP come from schedulers, which run the command again: what it can
 * continue is kept for them. */
bool signals_stopped_by_person(void);

/* Whether a pipe that we wrote to has been closed at the other end. */
bool signals_pipe_closed(void);

#endif
