/* Whether two values of one file, or of two shards of a set, say the same. */
#ifndef GUFO_SCHEMA_SAME_VALUE_H
#define GUFO_SCHEMA_SAME_VALUE_H

#include "gufo/format.h"

/* Numbers are the same whatever their types.  Of arrays the bytes are compared: both values are of
 * one version and byte order. */
bool schema_same_value(const gufo_value *a, const gufo_value *b);

#endif
