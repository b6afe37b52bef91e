/* Values of any shape out of a text that is read from front to back: Jansson's trees of its small parts. */
#ifndef TEXT_JSON_PULL_H
#define TEXT_JSON_PULL_H

#include <jansson.h>

#include "base/pull.h"

/* Where trees and the objects in them begin in their text, for errors. */
typedef struct json_place {
    const json_t *value;
    size_t at;
} json_place;

typedef struct json_places {
    const gufo_allocator *allocator;
    json_place *list;
    uint64_t count, room;
} json_places;

/* Notes that the value begins at what comes next.  False without memory. */
bool json_place_next(pull *p, json_places *places, const json_t *value);
/* False: the value has no place.  `places` may be NULL. */
bool json_place_of(const json_places *places, const json_t *value, uint64_t *at);

/* Takes a value.  *memory is how many bytes trees may still take, from which those of this one go, as
 * text/formats/json_tree.h weighs it.  Of equal names in an object the last one counts; whole numbers
 * beyond 64 bits become reals.  It and its objects are added to `places`, which may be NULL.  *out is the caller's (json_decref). */
bool json_pull(pull *p, uint64_t *memory, json_places *places, json_t **out);

/* Sets a member of an object, and takes the value; without memory, and if `value` is NULL, a failure. */
bool json_pull_set(pull *p, json_t *object, gufo_str name, json_t *value);

#endif
