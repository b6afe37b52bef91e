/* Paths as the user writes them. */
#ifndef CLI_CORE_FILES_PATH_H
#define CLI_CORE_FILES_PATH_H

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
/* Reads the first bytes of a regular file, at most `size`; 0 for anything else.  Any thread. */
size_t path_begin(const char *path, void *bytes, size_t size);

/* The caller frees all of these; NULL after a report.  A path put together as printf would: */
char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* one with something appended: */
char *path_with(const char *path, const char *suffix);
/* and that of a file `name` in the folder of another. */
char *path_beside(const char *path, const char *name);

#endif
