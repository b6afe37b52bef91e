/* JSON (RFC 8259). */
#include "base/pull.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "gufo/print.h"

/* ---- parts of a text ------------------------------------------------------------------------ */

static const char escape_letters[] = "\"\\/bfnrt", escape_meanings[] = "\"\\/\b\f\n\r\t";

/* Reads the four digits of \uXXXX at *at and moves behind those that are there. */
static bool read_unit(gufo_str text, size_t *at, uint32_t *unit)
{
    uint64_t value;
    size_t digits = str_hex(text, *at, 4, &value);

    *at += digits;
    *unit = (uint32_t)value;
    return digits == 4;
}

json_escape_form json_escape_read(gufo_str text, size_t *at, uint32_t *code_point)
{
    const char letter = ++*at < text.len ? text.data[*at] : '\0';
    const char *known = memchr(escape_letters, letter, sizeof escape_letters - 1);
    uint32_t low;

    if (known != NULL) {
        *code_point = (uint8_t)escape_meanings[known - escape_letters];
        ++*at;
        return JSON_ESCAPE;
    }
    if (letter != 'u')
        return JSON_ESCAPE_UNKNOWN;
    ++*at;
    if (!read_unit(text, at, code_point))
        return JSON_ESCAPE_DIGITS;
    if (*code_point < 0xd800 || *code_point > 0xdfff)
        return JSON_ESCAPE;
    if (*code_point > 0xdbff || !str_begins(str_from(text, *at), "\\u"))
        return JSON_ESCAPE_HALF;
    *at += 2;
    if (!read_unit(text, at, &low) || low < 0xdc00 || low > 0xdfff)
        return JSON_ESCAPE_HALF;
    *code_point = 0x10000 + ((*code_point - 0xd800) << 10) + (low - 0xdc00);
    return JSON_ESCAPE;
}

static char *put_unit(char *to, uint32_t unit)
{
    *to++ = '\\';
    *to++ = 'u';
    return hex_put(hex_put(to, (uint8_t)(unit >> 8), false), (uint8_t)unit, false);
}

size_t json_escape_put(uint32_t code_point, char out[JSON_ESCAPE_SIZE])
{
    const char *known = code_point < 0x80 && code_point != '/'
                            ? memchr(escape_meanings, (int)code_point, sizeof escape_meanings - 1)
                            : NULL;
    char *to = out;

    if (known != NULL) {
        *to++ = '\\';
        *to++ = escape_letters[known - escape_meanings];
    } else if (code_point < 0x10000) {
        to = put_unit(to, code_point);
    } else {
        to = put_unit(to, 0xd7c0 + (code_point >> 10));
        to = put_unit(to, 0xdc00 + (code_point & 0x3ff));
    }
    return (size_t)(to - out);
}

static bool skip_digits(gufo_str text, size_t *at)
{
    size_t digits = str_digits(text, *at);

    *at += digits;
    return digits > 0;
}

static bool skip_any(gufo_str text, size_t *at, char a, char b)
{
    bool there = *at < text.len && (text.data[*at] == a || text.data[*at] == b);

    *at += there;
    return there;
}

json_number_form json_number_skip(gufo_str text, size_t *at)
{
    json_number_form form = JSON_NUMBER_WHOLE;

    (void)skip_any(text, at, '-', '-');
    if (!skip_any(text, at, '0', '0') && !skip_digits(text, at))
        return JSON_NUMBER_NONE;
    if (skip_any(text, at, '.', '.')) {
        form = JSON_NUMBER_REAL;
        if (!skip_digits(text, at))
            return JSON_NUMBER_NO_FRACTION;
    }
    if (skip_any(text, at, 'e', 'E')) {
        form = JSON_NUMBER_REAL;
        (void)skip_any(text, at, '+', '-');
        if (!skip_digits(text, at))
            return JSON_NUMBER_NO_EXPONENT;
    }
    return form;
}

/* ---- the reader ----------------------------------------------------------------------------- */

bool pull_fail(pull *p, gufo_status code, size_t at, const char *format, ...)
{
    char message[GUFO_MESSAGE_SIZE];
    va_list arguments;

    if (p->status != GUFO_OK)
        return false;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    p->status = fail_with(p->error, code, p->base + at, "%s", message);
    return false;
}

bool pull_fail_memory(pull *p)
{
    if (p->status == GUFO_OK)
        p->status = fail_memory(p->error);
    return false;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Behind the spaces at `at`: lines of long lists begin with many. */
static inline size_t skip_spaces(const pull *p, size_t at)
{
    uint64_t others;

    do {
        others = load_start(p->text + at, p->len - at) ^ 0x2020202020202020u;
        at += others == 0 ? 8 : (size_t)__builtin_ctzll(others) / 8;
    } while (others == 0);
    return at;
}

static inline void skip_space(pull *p)
{
    while (p->at < p->len && is_space(p->text[p->at]))
        p->at = p->text[p->at] == '\n' ? skip_spaces(p, p->at + 1) : p->at + 1;
}

/* Fails because `what` has to be here. */
static bool fail_expected(pull *p, const char *what)
{
    if (p->at >= p->len)
        return pull_fail(p, GUFO_E_TRUNCATED, p->len, "the JSON ends where %s is expected", what);
    return pull_fail(p, GUFO_E_MALFORMED, p->at, "%s is expected here, not %s", what,
                     QUOTED(((gufo_str){p->text + p->at, 1})));
}

char pull_peek(pull *p)
{
    char c;

    skip_space(p);
    if (p->status != GUFO_OK || p->at >= p->len)
        return '\0';
    c = p->text[p->at];
    return c == '-' || is_digit(c) ? '0' : c;
}

static inline bool is_next(pull *p, char mark)
{
    skip_space(p);
    return p->status == GUFO_OK && p->at < p->len && p->text[p->at] == mark;
}

static inline bool take_mark(pull *p, char mark)
{
    if (!is_next(p, mark))
        return fail_expected(p, (char[]){'\'', mark, '\'', '\0'});
    p->at++;
    return true;
}

bool pull_mark(pull *p, char mark)
{
    return take_mark(p, mark);
}

bool pull_next(pull *p, char end, bool *first)
{
    const bool was_first = *first;

    *first = false;
    if (is_next(p, end)) {
        p->at++;
        return false;
    }
    return p->status == GUFO_OK && (was_first || take_mark(p, ','));
}

bool pull_end(pull *p)
{
    skip_space(p);
    if (p->status == GUFO_OK && p->at < p->len)
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "%s follows the end of the JSON",
                         QUOTED(((gufo_str){p->text + p->at, 1})));
    return p->status == GUFO_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

bool pull_u64(pull *p, uint64_t *out)
{
    gufo_str digits;

    skip_space(p);
    digits = (gufo_str){p->text + p->at, str_digits((gufo_str){p->text, p->len}, p->at)};
    if (p->status != GUFO_OK || digits.len == 0)
        return fail_expected(p, "a whole number that is not negative");
    if ((digits.len > 1 && digits.data[0] == '0') ||
        (p->at + digits.len < p->len && memchr(".eE", digits.data[digits.len], 3) != NULL))
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "a number that is not written as a whole one");
    if (!str_number(digits, out))
        return pull_fail(p, GUFO_E_RANGE, p->at, "a number that 64 bits do not hold");
    p->at += digits.len;
    return true;
}

/* Whether digits go on behind the zero before `at`. */
static bool begins_with_zero(gufo_str text, size_t at)
{
    return text.data[at - 1] == '0' && str_digits(text, at) > 0;
}

bool pull_number(pull *p, gufo_str *out)
{
    const gufo_str text = {p->text, p->len};
    size_t begin, at;

    if (pull_peek(p) != '0')
        return fail_expected(p, "a number");
    begin = at = p->at;
    if (json_number_skip(text, &at) > JSON_NUMBER_REAL || begins_with_zero(text, at))
        return pull_fail(p, GUFO_E_MALFORMED, begin, "a number that JSON does not have");
    *out = (gufo_str){p->text + begin, at - begin};
    p->at = at;
    return true;
}

bool pull_real(pull *p, double *out)
{
    gufo_str number;
    size_t begin;

    if (!pull_number(p, &number))
        return false;
    begin = p->at - number.len;
    if (!real_read(number, out))
        return pull_fail(p, GUFO_E_LIMIT, begin, "a number of more than %d digits", REAL_DIGITS);
    if (isinf(*out))
        return pull_fail(p, GUFO_E_RANGE, begin, "a number that a double does not hold");
    return true;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool take_word(pull *p, const char *word)
{
    if (!str_begins((gufo_str){p->text + p->at, p->len - p->at}, word))
        return false;
    p->at += strlen(word);
    return true;
}

bool pull_bool(pull *p, bool *out)
{
    *out = pull_peek(p) == 't';
    return (p->status == GUFO_OK && take_word(p, *out ? "true" : "false")) ||
           fail_expected(p, "true or false");
}

bool pull_null(pull *p)
{
    return (pull_peek(p) == 'n' && take_word(p, "null")) || fail_expected(p, "null");
}

/* ---- strings -------------------------------------------------------------------------------- */

static bool take_escape(pull *p, char **to)
{
    const gufo_str text = {p->text, p->len};
    size_t at = p->at;
    uint32_t code_point;
    json_escape_form form;

    if (p->len - p->at < 2)
        return pull_fail(p, GUFO_E_TRUNCATED, p->len, "the JSON ends inside an escape");
    form = json_escape_read(text, &at, &code_point);
    if (form != JSON_ESCAPE)
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "%s",
                         form == JSON_ESCAPE_HALF ? "half of a surrogate pair"
                                                  : "an escape that JSON does not have");
    *to += gufo_utf8_encode(code_point, *to);
    p->at = at;
    return true;
}

/* The high bit of each byte that is zero, and of no byte before the first of them. */
static uint64_t zero_bytes(uint64_t bytes)
{
    return (bytes - 0x0101010101010101u) & ~bytes & 0x8080808080808080u;
}

/* How many bytes from `at` on are of a string and are what they mean; *others: bits of those beyond ASCII. */
static size_t plain_run(const pull *p, size_t at, uint64_t *others)
{
    for (size_t done = at; done < p->len; done += 8) {
        uint64_t bytes = load_start(p->text + done, p->len - done),
                 marks = zero_bytes(bytes ^ 0x2222222222222222u) |
                         zero_bytes(bytes ^ 0x5c5c5c5c5c5c5c5cu) |
                         zero_bytes(bytes & 0xe0e0e0e0e0e0e0e0u),
                 before = (marks - 1) & ~marks;

        *others |= bytes & before & 0x8080808080808080u;
        if (marks != 0)
            return (size_t)smaller(done + (size_t)__builtin_ctzll(marks) / 8, p->len) - at;
    }
    return p->len - at;
}

static bool is_escape(const pull *p)
{
    return p->at < p->len && p->text[p->at] == '\\';
}

/* Takes what is left of a string from its first escape on; *out is what comes before it. */
static bool take_rest(pull *p, bool decode, gufo_str *out, uint64_t *others)
{
    const bool in_place = p->decoded == p->text;
    char *begin = p->decoded + (in_place ? (size_t)(out->data - p->text) : p->decoded_len),
         *to = begin + out->len, skipped[4];

    if (decode)
        memmove(begin, out->data, out->len);
    while (is_escape(p)) {
        char *sink = skipped;
        size_t n;

        if (!take_escape(p, decode ? &to : &sink))
            return false;
        n = plain_run(p, p->at, others);
        if (decode)
            memmove(to, p->text + p->at, n);
        to += n;
        p->at += n;
    }
    if (decode)
        *out = (gufo_str){begin, (size_t)(to - begin)};
    else
        out->len = (size_t)(p->text + p->at - out->data);
    p->decoded_len += decode ? out->len : 0;
    return true;
}

/* Takes a string, which is decoded, or, if it is only skipped, stays as it is. */
static bool take_string(pull *p, bool decode, gufo_str *out)
{
    uint64_t others = 0;
    size_t begin, valid;

    if (!is_next(p, '"'))
        return fail_expected(p, "a string");
    begin = ++p->at;
    p->at += plain_run(p, begin, &others);
    *out = (gufo_str){p->text + begin, p->at - begin};
    if (is_escape(p) && !take_rest(p, decode, out, &others))
        return false;
    if (p->at == p->len)
        return fail_expected(p, "the end of a string");
    if (p->text[p->at] != '"')
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "a control character in a string");
    p->at++;
    valid = others == 0 ? out->len : gufo_utf8_valid_prefix(*out);
    if (valid < out->len)
        return pull_fail(p, GUFO_E_MALFORMED, begin + valid, "a string that is not UTF-8");
    return true;
}

bool pull_string(pull *p, gufo_str *out)
{
    return take_string(p, true, out);
}

bool pull_name(pull *p, gufo_str *out)
{
    return take_string(p, true, out) && take_mark(p, ':');
}

/* ---- any value ------------------------------------------------------------------------------ */

static bool skip_scalar(pull *p, char first)
{
    gufo_str text;
    bool flag;

    switch (first) {
    case '"':
        return take_string(p, false, &text);
    case '0':
        return pull_number(p, &text);
    case 't':
    case 'f':
        return pull_bool(p, &flag);
    case 'n':
        return pull_null(p);
    default:
        return fail_expected(p, "a value");
    }
}

/* Of an object the name and the colon. */
static bool skip_to_value(pull *p, char end)
{
    gufo_str name;

    return end == ']' || (take_string(p, false, &name) && pull_mark(p, ':'));
}

bool pull_skip(pull *p, gufo_str *out)
{
    char ends[PULL_MAX_DEPTH], next = pull_peek(p);
    size_t begin = p->at;
    unsigned depth = 0;

    for (;; next = pull_peek(p)) {
        bool first = next == '{' || next == '[';

        if (!first && !skip_scalar(p, next))
            return false;
        if (first && depth == PULL_MAX_DEPTH)
            return pull_fail(p, GUFO_E_LIMIT, p->at, "more than %d nested objects and arrays",
                             PULL_MAX_DEPTH);
        if (first) {
            ends[depth++] = next == '{' ? '}' : ']';
            p->at++;
        }
        while (depth > 0 && !pull_next(p, ends[depth - 1], &first) && p->status == GUFO_OK)
            depth--;
        if (depth == 0)
            break;
        if (!skip_to_value(p, ends[depth - 1]))
            return false;
    }
    if (out != NULL)
        *out = (gufo_str){p->text + begin, p->at - begin};
    return p->status == GUFO_OK;
}
