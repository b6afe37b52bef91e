/* Standard output: big blocks on the way, one check at the end. */
#ifndef CLI_CORE_STDOUT_H
#define CLI_CORE_STDOUT_H

#include <stdbool.h>

/* Before anything is written. */
void stdout_start(void);
/* Nothing that is written arrives any more: work that only writes may as well stop. */
bool stdout_broken(void);
/* Flushes and checks; returns the exit code: `code`, or 3 with a report if not everything could be
 * written.  A pipe whose reader went away is not an error: it has seen what it wanted. */
int stdout_finish(int code);

#endif
