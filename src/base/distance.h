/* How alike two names are: for "did you mean". */
#ifndef GUFO_BASE_DISTANCE_H
#define GUFO_BASE_DISTANCE_H

#include "gufo/base.h"

/* The number of edits between two texts (a byte more, less or other, two neighbours exchanged), or
 * more than `limit` if it is more than that.  Texts longer than 128 bytes are never near. */
size_t text_distance(gufo_str a, gufo_str b, size_t limit);

#endif
