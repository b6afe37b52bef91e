/* Values of any shape out of a text that is read from front to back.
 *
 * A value is looked at first, as a text: whether it is JSON, how deep it is, what its tree takes.  The
 * tree is made afterwards, by functions that call one another, no deeper than that. */
#include "text/formats/json_pull.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "text/formats/json_tree.h"

static bool take_value(pull *p, json_places *places, json_t **out);

bool json_pull_set(pull *p, json_t *object, gufo_str name, json_t *value)
{
    return value != NULL && json_object_setn_new(object, name.data, name.len, value) == 0
               ? true
               : pull_fail_memory(p);
}

static bool add_place(pull *p, json_places *places, const json_t *value, size_t at)
{
    json_place *list;

    if (places == NULL)
        return true;
    list = mem_grow(places->allocator, places->list, places->count, &places->room, sizeof *list);
    if (list == NULL)
        return pull_fail_memory(p);
    places->list = list;
    list[places->count++] = (json_place){value, at};
    return true;
}

bool json_place_next(pull *p, json_places *places, const json_t *value)
{
    return add_place(p, places, value, p->at);
}

bool json_place_of(const json_places *places, const json_t *value, uint64_t *at)
{
    uint64_t i = places != NULL && value != NULL ? places->count : 0;

    /* Of a member whose name came again the object is gone, and another one may be at its address. */
    while (i > 0 && places->list[i - 1].value != value)
        i--;
    if (i > 0)
        *at = places->list[i - 1].at;
    return i > 0;
}

static bool take_object(pull *p, json_places *places, json_t *object)
{
    gufo_str name;
    json_t *value;

    if (object == NULL)
        return pull_fail_memory(p);
    if (!json_place_next(p, places, object))
        return false;
    (void)pull_mark(p, '{');
    for (bool first = true; pull_next(p, '}', &first);)
        if (!pull_name(p, &name) || !take_value(p, places, &value) ||
            !json_pull_set(p, object, name, value))
            return false;
    return p->status == GUFO_OK;
}

static bool take_array(pull *p, json_places *places, json_t *array)
{
    json_t *value;

    if (array == NULL)
        return pull_fail_memory(p);
    (void)pull_mark(p, '[');
    for (bool first = true; pull_next(p, ']', &first);) {
        if (!take_value(p, places, &value))
            return false;
        if (json_array_append_new(array, value) != 0)
            return pull_fail_memory(p);
    }
    return p->status == GUFO_OK;
}

/* NULL: a failure, also of memory. */
static json_t *take_number(pull *p)
{
    gufo_str text, digits;
    uint64_t whole;
    double real;
    size_t begin = p->at;
    bool negative;

    if (!pull_number(p, &text))
        return NULL;
    negative = text.data[0] == '-';
    digits = str_from(text, negative);
    if (str_number(digits, &whole) && whole <= INT64_MAX)
        return json_integer(negative ? -(json_int_t)whole : (json_int_t)whole);
    p->at = begin;
    return pull_real(p, &real) ? json_real(real) : NULL;
}

static json_t *take_string(pull *p)
{
    gufo_str text;

    return pull_string(p, &text) ? json_stringn_nocheck(text.data, text.len) : NULL;
}

static json_t *take_scalar(pull *p, char first)
{
    bool flag;

    switch (first) {
    case '"':
        return take_string(p);
    case '0':
        return take_number(p);
    case 'n':
        return pull_null(p) ? json_null() : NULL;
    default:
        return pull_bool(p, &flag) ? json_boolean(flag) : NULL;
    }
}

static bool take_value(pull *p, json_places *places, json_t **out)
{
    char first = pull_peek(p);
    bool good;

    if (first == '{') {
        *out = json_object();
        good = take_object(p, places, *out);
    } else if (first == '[') {
        *out = json_array();
        good = take_array(p, places, *out);
    } else {
        *out = take_scalar(p, first);
        good = *out != NULL || pull_fail_memory(p);
    }
    if (!good) {
        json_decref(*out);
        *out = NULL;
    }
    return good;
}

bool json_pull(pull *p, uint64_t *memory, json_places *places, json_t **out)
{
    gufo_str text;
    uint64_t bytes;

    *out = NULL;
    if (!pull_skip(p, &text))
        return false;
    p->status = json_tree_check(text, *memory, &bytes, p->error);
    if (p->status != GUFO_OK)
        return false;
    *memory -= bytes;
    p->at = (size_t)(text.data - p->text);
    if (!take_value(p, places, out))
        return false;
    if (json_is_object(*out) || add_place(p, places, *out, (size_t)(text.data - p->text)))
        return true;
    json_decref(*out);
    *out = NULL;
    return false;
}
