/* Values of any shape out of a text that is read from front to back: Jansson's trees of its small parts. */
#ifndef TEXT_FORMATS_JSON_PULL_H
#define TEXT_FORMATS_JSON_PULL_H

#include <jansson.h>

#include "base/pull.h"

/* Takes a value.  *memory is how many bytes trees may still take, from which those of this one go, as
 * text/formats/json_tree.h weighs it.  Of equal names in an object the last one counts; whole numbers
 * beyond 64 bits become reals.  *out is the caller's (json_decref). */
bool json_pull(pull *p, uint64_t *memory, json_t **out);

/* Sets a member of an object, and takes the value; without memory, and if `value` is NULL, a failure. */
bool json_pull_set(pull *p, json_t *object, gufo_str name, json_t *value);

#endif
