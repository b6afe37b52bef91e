/* JSON (RFC 8259) straight into values: nothing of it is held twice.  Items wait on a stack until
 * their array or object ends, because only then their number is known. */
#include "template/values/value.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"
#include "base/text.h"
#include "gufo/print.h"
#include "template/values/number.h"

enum { LEVELS = 1000 /* of arrays and objects: each takes stack */ };

typedef struct reader {
    heap *memory;
    hash_key key;
    gufo_str text;
    size_t at;
    value *waiting; /* counted as memory of the heap */
    size_t count, room;
    unsigned level;
} reader;

/* ==== Failures =============================================================================== */

static value fail(reader *r, gufo_status status, size_t at, const char *reason)
{
    uint64_t line, column;

    str_place(r->text, at, &line, &column);
    r->memory->status =
        fail_with(r->memory->error, status, at, "line %" PRIu64 ", column %" PRIu64 ": %s%s", line,
                  column, status == GUFO_E_MALFORMED ? "not JSON: " : "", reason);
    return FAILED;
}

static value fail_here(reader *r, const char *reason)
{
    return fail(r, GUFO_E_MALFORMED, r->at, r->at < r->text.len ? reason : "it ends too early");
}

/* ==== Tokens ================================================================================= */

static bool skip(reader *r, char c)
{
    bool there = r->at < r->text.len && r->text.data[r->at] == c;

    r->at += there;
    return there;
}

static void skip_blanks(reader *r)
{
    while (skip(r, ' ') || skip(r, '\t') || skip(r, '\n') || skip(r, '\r')) {}
}

/* The end of the string whose first byte is at r->at: the place of its closing quote. */
static bool find_quote(reader *r, size_t *end)
{
    for (*end = r->at; *end < r->text.len && r->text.data[*end] != '"'; ++*end) {
        if ((uint8_t)r->text.data[*end] < ' ') {
            r->at = *end;
            return !is_failed(fail_here(r, "a control character in a string"));
        }
        *end += r->text.data[*end] == '\\';
    }
    if (*end >= r->text.len)
        r->at = r->text.len;
    return *end < r->text.len || !is_failed(fail_here(r, ""));
}

/* What is behind an opening quote. */
static value read_string(reader *r)
{
    size_t end, after, len = 0;
    char *out;

    if (!find_quote(r, &end))
        return FAILED;
    out = heap_take(r->memory, end - r->at);
    if (out == NULL)
        return FAILED;
    while (r->at < end) {
        const char *escape = memchr(r->text.data + r->at, '\\', end - r->at);
        size_t plain = escape == NULL ? end - r->at : (size_t)(escape - (r->text.data + r->at));
        uint32_t point;

        memcpy(out + len, r->text.data + r->at, plain);
        len += plain;
        r->at += plain;
        if (escape == NULL)
            break;
        after = r->at;
        if (json_escape_read((gufo_str){r->text.data, end}, &after, &point) != JSON_ESCAPE)
            return fail_here(r, "an escape that is not known, or half a character");
        len += gufo_utf8_encode(point, out + len);
        r->at = after;
    }
    r->at = end + 1;
    return string_view(r->memory, (gufo_str){out, len});
}

static value read_number(reader *r)
{
    size_t from = r->at;
    json_number_form form = json_number_skip(r->text, &r->at);
    gufo_str text = {r->text.data + from, r->at - from};
    double number;
    value made = value_of(VALUE_ABSENT);

    if (form > JSON_NUMBER_REAL)
        return fail_here(r,
                         form == JSON_NUMBER_NONE ? "a value is expected" : "a digit is expected");
    if (form == JSON_NUMBER_WHOLE)
        made = integer_read(r->memory, text, 10);
    else if (number_read_real(text, &number))
        made = value_float(number);
    return is_given(made) ? made : fail(r, GUFO_E_LIMIT, from, "a number with too many digits");
}

static value read_word(reader *r)
{
    static const struct {
        const char *word;
        value means;
    } words[] = {{"null", {.kind = VALUE_NONE}},
                 {"true", {.kind = VALUE_BOOL, .as.truth = true}},
                 {"false", {.kind = VALUE_BOOL, .as.truth = false}}};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (str_begins(str_from(r->text, r->at), words[i].word)) {
            r->at += strlen(words[i].word);
            return words[i].means;
        }
    return read_number(r);
}

/* ==== Arrays and objects ===================================================================== */

static value read_value(reader *r);

static bool wait(reader *r, value v)
{
    size_t room = r->room == 0 ? 64 : r->room * 2;
    uint64_t more = (room - r->room) * sizeof(value);
    value *grown;

    if (is_failed(v))
        return false;
    if (r->count == r->room) {
        if (room > SIZE_MAX / 2 / sizeof(value) || r->memory->used > r->memory->limit ||
            more > r->memory->limit - r->memory->used)
            return !is_failed(fail(r, GUFO_E_LIMIT, r->at, "the values take too much memory"));
        grown = mem_resize(&r->memory->allocator, r->waiting, room * sizeof(value));
        if (grown == NULL) {
            r->memory->status = fail_memory(r->memory->error);
            return false;
        }
        r->memory->used += more;
        r->waiting = grown;
        r->room = room;
    }
    r->waiting[r->count++] = v;
    return true;
}

static bool read_member(reader *r)
{
    skip_blanks(r);
    if (!skip(r, '"'))
        return !is_failed(fail_here(r, "the name of a member is expected"));
    if (!wait(r, read_string(r)))
        return false;
    skip_blanks(r);
    if (!skip(r, ':'))
        return !is_failed(fail_here(r, "a colon is expected"));
    return wait(r, read_value(r));
}

/* What is behind an opening bracket: its parts wait from `first` on. */
static bool read_parts(reader *r, char end)
{
    if (r->level == LEVELS)
        return !is_failed(fail(r, GUFO_E_LIMIT, r->at, "arrays and objects are nested too deep"));
    skip_blanks(r);
    if (skip(r, end))
        return true;
    r->level++;
    do {
        if (end == '}' ? !read_member(r) : !wait(r, read_value(r)))
            return false;
        skip_blanks(r);
    } while (skip(r, ','));
    r->level--;
    return skip(r, end) || !is_failed(fail_here(r, end == '}' ? "a comma or } is expected"
                                                              : "a comma or ] is expected"));
}

static value read_array(reader *r)
{
    size_t first = r->count;
    const value *items;
    value made;

    if (!read_parts(r, ']'))
        return FAILED;
    items = r->count > first ? r->waiting + first : NULL; /* there may be no stack yet */
    made = list_new(r->memory, VALUE_LIST, items, r->count - first);
    r->count = first;
    return made;
}

static value read_object(reader *r)
{
    dict *made = dict_new(r->memory);
    size_t first = r->count;

    if (made == NULL || !read_parts(r, '}') ||
        !dict_reserve(r->memory, made, r->key, (r->count - first) / 2))
        return FAILED;
    for (size_t i = first; i < r->count; i += 2)
        if (!dict_set(r->memory, made, r->key, r->waiting[i], r->waiting[i + 1]))
            return FAILED;
    r->count = first;
    return (value){.kind = VALUE_DICT, .as.dict = made};
}

static value read_value(reader *r)
{
    skip_blanks(r);
    if (skip(r, '"'))
        return read_string(r);
    if (skip(r, '['))
        return read_array(r);
    return skip(r, '{') ? read_object(r) : read_word(r);
}

value json_read(heap *memory, hash_key key, gufo_str json)
{
    size_t valid = gufo_utf8_valid_prefix(json);
    reader r = {.memory = memory, .key = key, .text = json};
    value made;

    if (valid != json.len)
        return fail(&r, GUFO_E_MALFORMED, valid, "it is not UTF-8");
    made = read_value(&r);
    skip_blanks(&r);
    if (!is_failed(made) && r.at < json.len)
        made = fail_here(&r, "more text follows its end");
    memory->used -= r.room * sizeof(value);
    mem_free(&memory->allocator, r.waiting);
    return made;
}
