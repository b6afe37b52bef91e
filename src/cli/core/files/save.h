/* Output files of the command. */
#ifndef CLI_CORE_FILES_SAVE_H
#define CLI_CORE_FILES_SAVE_H

#include "gufo/files.h"
#include "cli/core/options/options.h"

/* Whether the path takes bytes in order and cannot be replaced by a file: a device, a pipe, a
 * socket. */
bool save_is_stream(const char *path);
/* Whether it is "-", or another name of a standard output that is not a file: then nothing else may
 * be printed there. */
bool save_is_stdout(const char *path);
/* Opens a stream for writing: STDOUT_FILENO for standard output, -1 with an error.  Refuses a path
 * that became a file, which would be overwritten in place, and a pipe of another user in a folder
 * for all. */
int save_open_stream(const char *path, gufo_error *error);
/* Closes the stream, unless it is standard output, after work that ended with `status`.  Returns
 * the status of all of it. */
gufo_status save_close_stream(int fd, gufo_status status, gufo_error *error);

/* Whether an edit of the file is running or was interrupted, so that it must not be read, nor
 * replaced as an output: its journal would be taken for one of the new file (gufo_save refuses it
 * in any case).  Reports that with advice. */
bool save_is_pending(const char *path, bool is_output);

/* Reports why the output `path` could not be written.  Returns the exit code: CODE_USAGE where it
 * exists without --force or must not be written, CODE_INTERRUPTED for a signal, CODE_FAILED for
 * anything else. */
int save_report(const char *path, const gufo_error *error);

/* Writes `bytes` to the file `path`: all of it or nothing.  Replaces a file only with `force`;
 * writes directly to what exists and is not a regular file (a pipe, /dev/null).  Refuses the files
 * that `guard` (may be NULL) holds.  Returns the exit code: CODE_USAGE for a file that exists or is
 * guarded, CODE_FAILED for other failures, both after a report. */
int save_bytes(const char *path, gufo_str bytes, bool force, const gufo_guard *guard);
/* The same for a secret: to a file only, which other users cannot read, whatever it replaces. */
int save_secret(const char *path, gufo_str bytes, bool force, const gufo_guard *guard);

/* Removes what was written to `path` before something else failed. */
void save_remove(const char *path);

/* Guards the files that these paths name (NULL is none, "-" standard input); the caller frees the
 * guard with gufo_guard_free.  False after a report. */
bool save_guard(gufo_guard *guard, const char *const *paths, size_t count);

/* Adds more of them to a guard, or a file that will be written at `path`: later outputs may not
 * replace it either.  False, with the guard freed, after a report. */
bool save_guard_more(gufo_guard *guard, const char *const *paths, size_t count);
bool save_guard_output(gufo_guard *guard, const char *path);

/* Checks before the work whether `path` may be written: CODE_OK, or another code after a report. */
int save_check(const char *path, bool force, const gufo_guard *guard);
/* The same before work that takes long: the folder has to be there, and writable. */
int save_check_later(const char *path, bool force, const gufo_guard *guard);

/* The same for an output (may be NULL) that is made from `input`; a dry run does not mind that it
 * exists, and gives `force`. */
int save_check_dry(const char *path, const char *input, bool force);

/* Whether writing to `path` (may be NULL) would replace one of the files at `paths`; reports
 * that. */
bool save_would_replace(const char *path, const char *const *paths, size_t count);

#endif
