/* Opening a file that may be anything, and the paths of files in a folder. */
#ifndef IMPORT_OPEN_REGULAR_H
#define IMPORT_OPEN_REGULAR_H

#include "gufo/base.h"

/* Opens a regular file for reading; its descriptor, or -1 with a failure.  A folder is opened, too:
 * reading says what it is. */
int open_regular(const char *path, gufo_error *error);

/* Whether a name is that of a file in a folder, and of none elsewhere: nothing beyond the folder is
 * opened. */
bool is_plain_name(gufo_str name);

/* FOLDER/NAME, or NAME where `folder` is NULL; NULL without memory. */
char *path_in(const char *folder, const char *name, const gufo_allocator *allocator);

#endif
