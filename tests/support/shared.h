/* Real files, reference vectors and tables, which a clone of this tree does not bring along. */
#ifndef TEST_SUPPORT_SHARED_H
#define TEST_SUPPORT_SHARED_H

#include "folder.h"

/* The path of a file or folder below the folder that GUFO_SHARED names.  False with a message if it
 * is not there. */
bool find_shared(const char *name, path_text *out);
/* Skips the test unless it is there. */
path_text need_shared(const char *name);

#endif
