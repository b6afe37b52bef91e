/* Files that are read as a whole: manifests, keys, passwords, values of metadata. */
#ifndef CLI_CORE_FILES_SMALL_FILE_H
#define CLI_CORE_FILES_SMALL_FILE_H

#include "gufo/base.h"

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
