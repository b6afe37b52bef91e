/* What the checks ask of the table of keys beyond what is public. */
#ifndef GUFO_SCHEMA_KEY_H
#define GUFO_SCHEMA_KEY_H

#include "gufo/schema.h"

/* The keys that `info` is the name of today of, one for each call; NULL behind the last one.  *from
 * is 0 at first. */
const gufo_key_info *key_old_name(const gufo_key_info *info, size_t *from);

#endif
