/* What the checks ask of keys and their types beyond what is public. */
#ifndef GUFO_SCHEMA_KEY_H
#define GUFO_SCHEMA_KEY_H

#include "gufo/schema.h"

/* The keys that `info` is the name of today of, one for each call; NULL behind the last one.  *from
 * is 0 at first. */
const gufo_key_info *key_old_name(const gufo_key_info *info, size_t *from);

bool key_is_integer(gufo_value_type type);
/* Whether both are integers, both floats, or the same. */
bool key_same_kind(gufo_value_type a, gufo_value_type b);

/* Takes "array[" off the front and "]" off the back of a type; false if they are not there. */
bool key_strip_array(gufo_str *type);

/* The type with that name, or with the format's own (GGUF_TYPE_UINT8); false if there is none. */
bool key_type_named(gufo_str name, gufo_value_type *out);

/* The longest key that is put together, with its end. */
enum { KEY_SIZE = GUFO_KEY_NAME_SIZE };

/* The key that a row means in a file of this architecture, whose name becomes "{arch}".  False
 * where more has to be filled in, or does not fit. */
bool key_in_file(const gufo_key_info *info, gufo_str architecture, char out[KEY_SIZE]);

#endif
