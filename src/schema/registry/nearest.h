/* Did you mean ...?  The row of a table whose name is nearest to a misspelt one. */
#ifndef GUFO_SCHEMA_NEAREST_H
#define GUFO_SCHEMA_NEAREST_H

#include "gufo/base.h"

/* The name of row `index`; a row with an empty name is never suggested. */
typedef gufo_str nearest_name(const void *table, size_t index);

/* Stores the row whose name is nearest to `text`, the first of several, and returns true; false if
 * none is near enough to be what was meant.  Only letters and digits count, without case, so that
 * "apache2" is one step from "Apache-2.0".  A step is a letter that is missing, superfluous,
 * another one, or changed places with its neighbour; one is allowed for each four of `text`, at
 * most four. Whatever the length of `text`, the work is bounded by the table. */
bool nearest_find(gufo_str text, nearest_name *name, const void *table, size_t count,
                  size_t *index);

#endif
