/* The way to a file: the folders in its path.
 *
 * A symlink among them leads the file to another place as one that has its name does.  The kernel's rule
 * for links in folders where everybody may create files (trust.h) is about the last name of a path alone;
 * here it holds for all of them. */
#ifndef GUFO_BASE_WAY_H
#define GUFO_BASE_WAY_H

#include <stdbool.h>

/* Whether the way to `path` goes through a symlink that may have been planted: any of its names but the
 * last, and what they lead to.  What cannot be followed to its end says nothing: opening it fails. */
bool way_is_planted(const char *path);

#endif
