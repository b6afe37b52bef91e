/* Jansson's trees of JSON values: what they take, and reading them. */
#include "text/formats/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ==== weighing a JSON text =================================================================== */

/* Jansson takes its memory from malloc, which is not ours to replace: a library does not know who else
 * uses Jansson.  So every mark is counted with the most that the value behind it takes with 64 bits
 * (Jansson 2.14: sizes of its structs, rounded by malloc), and for its place:
 *
 *     {  an object of 72 bytes and eight buckets of 16      [  an array of 40 and eight pointers
 *     :  a member of 56 and a name, and its share of buckets while they grow
 *     ,  a pointer, while the array grows                   "  a string of 32, and its bytes
 *
 * A string is read into a buffer that doubles, which counts for the longest one.
 *
 * The text need not be JSON: Jansson stops where it is not, and has taken no more until then. */
enum {
    OBJECT = 256,
    ARRAY = 128,
    MEMBER = 56, /* more than a string, as which its name is counted */
    ELEMENT = 24,
    STRING = 80,
    NUMBER = 32,
    GROWING = 4,
};

/* Behind the string that begins at `at`, or the end of the text. */
static size_t skip_string(gufo_str text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

static bool is_of_number(char c)
{
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* At most so many bytes of memory are taken by the tree of a text, whether it is JSON or not, on any
 * machine.  Takes any bytes, in linear time.  Any thread. */
static uint64_t json_tree_bytes(gufo_str text)
{
    /* Words are no values of their own. */
    static const uint16_t weights[256] = {
        ['{'] = OBJECT, ['['] = ARRAY, [':'] = MEMBER, [','] = ELEMENT};
    uint64_t bytes = 0;
    size_t longest = 0;

    for (size_t at = 0, next; at < text.len; at = next) {
        unsigned char c = (unsigned char)text.data[at];

        next = at + 1;
        if (c == '"') {
            next = skip_string(text, at);
            bytes += STRING + (next - at);
            longest = next - at > longest ? next - at : longest;
        } else if (is_digit((char)c) || c == '-') {
            next = at + str_span(text, at, is_of_number);
            bytes += NUMBER;
        } else {
            bytes += weights[c];
        }
    }
    return bytes + GROWING * longest;
}

gufo_status json_tree_check(gufo_str text, uint64_t memory, uint64_t *bytes, gufo_error *error)
{
    uint64_t taken = json_tree_bytes(text);

    if (bytes != NULL)
        *bytes = taken;
    if (taken > json_tree_allowed(text.len))
        return refuse(error, GUFO_E_LIMIT,
                      "the values of this JSON take up to %s bytes of memory, more than "
                      "%d for each of its %s bytes",
                      GROUPED(taken), JSON_TREE_FACTOR, GROUPED(text.len));
    if (taken > memory)
        return refuse(error, GUFO_E_LIMIT,
                      "the values of this JSON take up to %s bytes of memory, but only "
                      "%s may be used",
                      GROUPED(taken), GROUPED(memory));
    return GUFO_OK;
}

/* ==== values of any shape out of a text that is read from front to back ====================== */

/* A value is looked at first, as a text: whether it is JSON, how deep it is, what its tree takes.  The
 * tree is made afterwards, by functions that call one another, no deeper than that. */

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
