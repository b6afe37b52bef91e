/* Opening files below a folder, so that no name leads out of it: neither "..", nor an absolute path, nor
 * a symlink.
 *
 *     folder  +  "a/b/c"  -->  open a, in it b, in it c; a symlink among them is read, and its text takes
 *                              its place in what is left to walk
 *
 * What Linux does for openat2(RESOLVE_BENEATH), by openat() alone: each folder on the way is held open,
 * and no call follows a link, so that nothing can be exchanged between a check and its use. */
#ifndef GUFO_BASE_BENEATH_H
#define GUFO_BASE_BENEATH_H

#include "gufo/base.h"

/* Opens a folder to walk from, through any links; -1 with errno. */
int beneath_root(const char *path);

/* Opens what is at `name` below the folder of the descriptor `root`, for reading; -1 with errno: EXDEV
 * where the name leads out of it, ELOOP for too many links or folders, ENODEV for what is neither a
 * file nor a folder: opening a device or a pipe may have effects. */
int beneath_open(int root, const char *name);
/* The same for a folder, to list it. */
int beneath_open_folder(int root, const char *name);

#endif
