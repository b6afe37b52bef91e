/* Paths as the user writes them, and files that are read as a whole. */
#ifndef CLI_CORE_FILES_PATH_H
#define CLI_CORE_FILES_PATH_H

#include "gufo/base.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the path is "-": standard input or output. */
bool path_is_standard(const char *path);

/* The name of the file, without its folder: the end of `path`. */
const char *path_name(const char *path);

/* Whether something has this name, if only a link that leads nowhere. */
bool path_exists(const char *path);
/* Whether it is a folder, or a link to one. */
bool path_is_folder(const char *path);
/* Whether both lead to one file or folder. */
bool path_same(const char *a, const char *b);
/* Writes the folder of a file into `out`, "." where the path names none; false if it is too long. */
bool path_folder(const char *path, char out[PATH_MAX]);
/* Reads the first bytes of a regular file, at most `size`; 0 for anything else.  Any thread. */
size_t path_begin(const char *path, void *bytes, size_t size);

/* The caller frees all of these; NULL after a report.  A path put together as printf would: */
char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* one with something appended: */
char *path_with(const char *path, const char *suffix);
/* and that of a file `name` in the folder of another. */
char *path_beside(const char *path, const char *name);

/* ---- small files: manifests, keys, passwords, values of metadata ----------------------------- */

/* Reads all bytes of a file, "-" for standard input, and puts a NUL behind them; the caller frees
 * them with small_file_free.  Returns the exit code.  Reports a file with more than `most` bytes,
 * such as a device without an end, as `too_long`. */
int small_file_read(const char *path, size_t most, const char *too_long, gufo_str *bytes);
/* The same of a file that the command looks for by itself: of what is not a regular file, such as a pipe,
 * whose bytes might never come, nothing is read. */
int small_file_read_beside(const char *path, size_t most, const char *too_long, gufo_str *bytes);
/* Overwrites them, too: they may be secret. */
void small_file_free(gufo_str *bytes);
/* Overwrites bytes that were secret. */
void small_file_wipe(const void *data, size_t size);

#endif
