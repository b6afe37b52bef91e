/* Standard output: big blocks on the way, one check at the end. */
#ifndef CLI_CORE_TERMINAL_STDOUT_H
#define CLI_CORE_TERMINAL_STDOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything is written. */
void stdout_start(void);
/* Whether it was a terminal then, and its columns: 0 if it was not.  A pager may have come in
 * between. */
bool stdout_is_terminal(void);
size_t stdout_columns(void);
/* Its columns may have changed. */
void stdout_resized(void);
/* Whether it gets colour; not before options are read. */
void stdout_set_color(bool color);
bool stdout_color(void);
/* Output does not arrive any more: work that only writes may stop. */
bool stdout_broken(void);
/* Flushes and checks; returns the exit code: `code`, or 3 with a report if not everything could be
 * written.  A reader that closed the pipe has seen what it wanted: not an error. */
int stdout_finish(int code);

#endif
