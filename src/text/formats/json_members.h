/* Looking at the values of a JSON tree. */
#ifndef TEXT_JSON_MEMBERS_H
#define TEXT_JSON_MEMBERS_H

#include <jansson.h>

#include "gufo/base.h"

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
