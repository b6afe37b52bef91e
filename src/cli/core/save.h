/* Output files of the command. */
#ifndef CLI_CORE_SAVE_H
#define CLI_CORE_SAVE_H

#include "base/files/guard.h"

#include "gufo/produce.h"

/* Whether the path is something that takes bytes in order and cannot be replaced by a file: a
 * device, a pipe, a socket. */
bool save_is_stream(const char *path);
/* Whether it is "-", or another name of standard output, which is not a file: nothing else may be
 * printed there. */
bool save_is_stdout(const char *path);
/* Opens a stream for writing: STDOUT_FILENO for standard output, -1 with an error.  A path that has
 * become a file is refused: it would be overwritten in place; so is a pipe that another user has
 * put into a folder for all. */
int save_open_stream(const char *path, gufo_error *error);
/* Closes it, unless it is standard output, after work that ended with `status`; how all of it ends. */
gufo_status save_close_stream(int fd, gufo_status status, gufo_error *error);

/* Whether the file must not be read, or as an output be replaced, because it is being edited or such
 * an edit was interrupted: its journal would be taken for one of what is written there
 * (base/files/output.h refuses it in any case).  Says so, and what helps. */
bool save_is_pending(const char *path, bool is_output);

/* Reports why the output `path` could not be written.  Returns the exit code: CODE_USAGE where it
 * exists and --force was not given or must not be written, CODE_INTERRUPTED for a signal,
 * CODE_FAILED for anything else. */
int save_report(const char *path, const gufo_error *error);

/* Writes `bytes` to the file `path`: all of it or nothing.  A file that exists is replaced only if
 * `force` is set; what exists and is not a regular file (a pipe, /dev/null) is written directly.
 * It must not be one of the files that `guard` (may be NULL) holds.  Returns the exit code:
 * CODE_USAGE where the file exists or is such a one, CODE_FAILED for other failures, both after a
 * report. */
int save_bytes(const char *path, gufo_str bytes, bool force, const output_guard *guard);
/* The same for a secret: only a file, which nobody but us may read, whatever it replaces. */
int save_secret(const char *path, gufo_str bytes, bool force, const output_guard *guard);

/* Writes what a job makes: its files, of which nothing is left when a signal comes; or, to "-" for
 * standard output and to what save_is_stream knows, its one file.  `flags` are those of
 * gufo_job_flags. */
gufo_status save_job(const char *path, gufo_job *job, const gufo_run *how, uint32_t flags,
                     gufo_error *error);
/* Whether that would be refused; writes nothing. */
gufo_status save_check_job(const char *path, gufo_job *job, uint32_t flags, gufo_error *error);
/* The path of output `index` of a job that writes to `path`: to be freed; NULL after a report. */
char *save_output_path(const gufo_job *job, const char *path, size_t index);

/* Removes what was written to `path` before something else failed. */
void save_remove(const char *path);

/* Guards the files that these paths name (NULL is none, "-" standard input).  To be freed with
 * guard_free; false after a report. */
bool save_guard(output_guard *guard, const char *const *paths, size_t count);

/* Adds more of them to a guard, and a file that will be written at `path`: what is saved later may
 * not replace it either.  False, with the guard freed, after a report. */
bool save_guard_more(output_guard *guard, const char *const *paths, size_t count);
bool save_guard_output(output_guard *guard, const char *path);

/* Looks whether `path` may be written, before the work is done: CODE_OK, or another code after a
 * report. */
int save_check(const char *path, bool force, const output_guard *guard);

/* The same for a dry run: of an output (NULL is none) that is made from `input`. */
int save_check_dry(const char *path, const char *input, bool force);

/* Whether writing to `path` (may be NULL) would replace one of the files at `paths`; says so. */
bool save_would_replace(const char *path, const char *const *paths, size_t count);

#endif
