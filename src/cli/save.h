/* Output files of the command. */
#ifndef CLI_SAVE_H
#define CLI_SAVE_H

#include "gufo/base.h"

/* Writes `bytes` to the file `path`: all of it or nothing.  A file that exists is replaced only if
 * `force` is set; what exists and is no regular file (a pipe, /dev/null) is written directly.
 * Returns the exit code: CODE_USAGE where the file exists, CODE_FAILED for other failures, both
 * after a report. */
int save_bytes(const char *path, gufo_str bytes, bool force);

#endif
