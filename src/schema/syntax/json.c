/* A reader of JSON that keeps nothing: it finds where a text stops being JSON. */
#include "schema/syntax/json.h"

#include "base/pull.h"
#include "base/text.h"

typedef struct reader {
    gufo_str text;
    size_t at;
    const char *reason;
    json_member *member;
    void *context;
} reader;

static bool fail(reader *r, const char *reason)
{
    r->reason = reason;
    return false;
}

/* The next byte; 0 at the end, because no value begins with it. */
static char peek(const reader *r)
{
    return r->at < r->text.len ? r->text.data[r->at] : '\0';
}

static void skip_blanks(reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n' || peek(r) == '\r')
        r->at++;
}

static bool take(reader *r, char c)
{
    bool there = peek(r) == c && r->at < r->text.len;

    r->at += there;
    return there;
}

/* ---- strings and numbers -------------------------------------------------------------------- */

static bool read_escape(reader *r)
{
    static const char plain[] = "\"\\/bfnrt";
    char c = peek(r);

    r->at++;
    if (c == 'u') {
        size_t digits = str_span(r->text, r->at, is_hex);

        r->at += 4;
        return digits >= 4;
    }
    return c != '\0' && strchr(plain, c) != NULL;
}

/* After the opening quote; *out is the text between the quotes. */
static bool read_string(reader *r, gufo_str *out)
{
    size_t start = r->at;

    while (r->at < r->text.len) {
        unsigned char c = (unsigned char)r->text.data[r->at++];

        if (c == '"') {
            *out = (gufo_str){r->text.data + start, r->at - 1 - start};
            return true;
        }
        if (c < ' ')
            return fail(r, "has a control character in a string");
        if (c == '\\' && !read_escape(r))
            return fail(r, "has an unknown escape");
    }
    return fail(r, "ends inside a string");
}

static bool read_number(reader *r)
{
    switch (json_number_skip(r->text, &r->at)) {
    case JSON_NUMBER_NONE:
        return fail(r, "has something that is not a value");
    case JSON_NUMBER_NO_FRACTION:
        return fail(r, "has a number without digits after its point");
    case JSON_NUMBER_NO_EXPONENT:
        return fail(r, "has a number without digits in its exponent");
    default:
        return true;
    }
}

static bool read_word(reader *r)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_begins(str_from(r->text, r->at), words[i])) {
            r->at += strlen(words[i]);
            return true;
        }
    return read_number(r);
}

/* ---- objects and arrays --------------------------------------------------------------------- */

static bool read_value(reader *r, unsigned depth);

static bool read_name(reader *r, unsigned depth)
{
    gufo_str name;

    skip_blanks(r);
    if (!take(r, '"'))
        return fail(r, "has a member without a name");
    if (!read_string(r, &name))
        return false;
    skip_blanks(r);
    if (!take(r, ':'))
        return fail(r, "has a member without a value");
    skip_blanks(r);
    if (r->member != NULL)
        r->member(r->context, depth, name, peek(r));
    return true;
}

/* After the opening bracket. */
static bool read_items(reader *r, char end, unsigned depth)
{
    skip_blanks(r);
    if (take(r, end))
        return true;
    do {
        if ((end == '}' && !read_name(r, depth)) || !read_value(r, depth))
            return false;
        skip_blanks(r);
    } while (take(r, ','));
    return take(r, end) || fail(r, end == '}' ? "has an object that is not closed"
                                              : "has an array that is not closed");
}

/* `depth`: of the object or array around it. */
static bool read_value(reader *r, unsigned depth)
{
    gufo_str ignored;

    skip_blanks(r);
    if (r->at == r->text.len)
        return fail(r, "ends where a value is expected");
    if (take(r, '"'))
        return read_string(r, &ignored);
    if (peek(r) != '{' && peek(r) != '[')
        return read_word(r);
    if (depth == JSON_DEPTH)
        return fail(r, "is nested too deep");
    return take(r, '{') ? read_items(r, '}', depth + 1)
                        : take(r, '[') && read_items(r, ']', depth + 1);
}

json_fault json_check(gufo_str text, json_member *member, void *context)
{
    reader r = {.text = text, .member = member, .context = context};

    if (read_value(&r, 0)) {
        skip_blanks(&r);
        if (r.at < text.len)
            r.reason = "continues after its value";
    }
    return (json_fault){r.reason, r.at < text.len ? r.at : text.len};
}
