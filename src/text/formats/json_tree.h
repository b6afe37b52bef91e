/* Jansson's trees of JSON values: what they take, reading them, and looking at them. */
#ifndef TEXT_JSON_TREE_H
#define TEXT_JSON_TREE_H

#include <jansson.h>

#include "base/pull.h"
#include "gufo/base.h"

/* ---- what a tree takes, before it is made: of two bytes of JSON it may make a hundred ------- */

/* A tree takes at most 32 bytes for each byte of its text, or 16 MiB.  Real files of tokenizers take 5
 * to 8, lists of pairs of the shortest texts 30, lists of empty objects 80. */
enum { JSON_TREE_FACTOR = 32, JSON_TREE_ALWAYS = 16 << 20 };

static inline uint64_t json_tree_allowed(size_t text_len)
{
    uint64_t most = JSON_TREE_FACTOR * (uint64_t)text_len;

    return most > JSON_TREE_ALWAYS ? most : JSON_TREE_ALWAYS;
}

/* Bytes that trees may take where nobody says. */
#define JSON_TREE_MEMORY (UINT64_C(512) << 20)

/* GUFO_E_LIMIT, at the start of the text, if its tree would take more than `memory`, or more than is
 * allowed for so short a text.  *bytes is what it takes; may be NULL. */
gufo_status json_tree_check(gufo_str text, uint64_t memory, uint64_t *bytes, gufo_error *error);

/* ---- values of any shape out of a text that is read from front to back ---------------------- */

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
 * json_tree_check weighs it.  Of equal names in an object the last one counts; whole numbers
 * beyond 64 bits become reals.  It and its objects are added to `places`, which may be NULL.  *out is the caller's (json_decref). */
bool json_pull(pull *p, uint64_t *memory, json_places *places, json_t **out);

/* Sets a member of an object, and takes the value; without memory, and if `value` is NULL, a failure. */
bool json_pull_set(pull *p, json_t *object, gufo_str name, json_t *value);

/* ---- looking at values ---------------------------------------------------------------------- */

/* The member of an object; NULL if it is missing or null. */
static inline const json_t *json_member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_null(value) ? NULL : value;
}

/* The text of a string, a view that lives as long as it does; of any other value, and of NULL, an
 * empty one. */
static inline gufo_str json_str(const json_t *value)
{
    return json_is_string(value) ? (gufo_str){json_string_value(value), json_string_length(value)}
                                 : (gufo_str){"", 0};
}

static inline bool str_is(gufo_str text, const char *word)
{
    return gufo_str_equal(text, gufo_str_of(word));
}

#endif
