/* The folder of a file, from the file's path. */
#ifndef GUFO_BASE_FOLDER_H
#define GUFO_BASE_FOLDER_H

#include <limits.h>

#include "gufo/base.h"

/* The length of "DIR/" in "DIR/NAME"; 0 for "NAME". */
size_t folder_len(const char *path);

/* Whether two paths spell their folders alike. */
bool folder_same(const char *a, const char *b);

/* Writes the folder of `path` into `out`: "." if it names none.  False, with errno, if it is longer
 * than any path that the system takes. */
bool folder_of(const char *path, char out[PATH_MAX]);

/* Writes the name of a file that is made beside others and gets another name, or none: .gufo-*.tmp.  Names
 * are as good as never the same; O_EXCL finds out. */
enum { TEMPORARY_NAME = 32 };
void temporary_name(char name[TEMPORARY_NAME]);

/* Waits until the names in the folder of `path` are on disk.  *opened: whether the folder may be
 * read.  File systems that cannot sync folders do not fail. */
gufo_status folder_sync(const char *path, bool *opened, gufo_error *error);
/* The same; a folder that we may write to but not read does not fail either. */
gufo_status folder_sync_names(const char *path, gufo_error *error);

#endif
