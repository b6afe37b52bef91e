/* Standard output: big blocks on the way, one check at the end. */
#ifndef CLI_CORE_STDOUT_H
#define CLI_CORE_STDOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything is written. */
void stdout_start(void);
/* Whether it was a terminal then, and how wide: 0 columns if it was none.  A pager may be in
 * between since. */
bool stdout_is_terminal(void);
size_t stdout_columns(void);
/* How wide a terminal is now. */
size_t terminal_columns(int fd);
/* Nothing that is written arrives any more: work that only writes may as well stop. */
bool stdout_broken(void);
/* Flushes and checks; returns the exit code: `code`, or 3 with a report if not everything could be
 * written.  A pipe whose reader went away is not an error: it has seen what it wanted. */
int stdout_finish(int code);

#endif
