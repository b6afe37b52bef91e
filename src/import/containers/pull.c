/* JSON of a fixed shape (RFC 8259), read from front to back. */
#include "import/containers/pull.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"

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

static void skip_space(pull *p)
{
    while (p->at < p->len && memchr(" \t\r\n", p->text[p->at], 4) != NULL)
        p->at++;
}

/* Fails because `what` has to be here. */
static bool fail_expected(pull *p, const char *what)
{
    if (p->at >= p->len)
        return pull_fail(p, GUFO_E_TRUNCATED, p->len, "the JSON ends where %s has to be", what);
    return pull_fail(p, GUFO_E_MALFORMED, p->at, "%s has to be here, not %s", what,
                     QUOTED(((gufo_str){p->text + p->at, 1})));
}

static bool is_next(pull *p, char mark)
{
    skip_space(p);
    return p->status == GUFO_OK && p->at < p->len && p->text[p->at] == mark;
}

bool pull_mark(pull *p, char mark)
{
    if (!is_next(p, mark))
        return fail_expected(p, (char[]){'\'', mark, '\'', '\0'});
    p->at++;
    return true;
}

bool pull_next(pull *p, char end, bool *first)
{
    const bool was_first = *first;

    *first = false;
    if (is_next(p, end)) {
        p->at++;
        return false;
    }
    return p->status == GUFO_OK && (was_first || pull_mark(p, ','));
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

/* ---- strings -------------------------------------------------------------------------------- */

static unsigned digit_of(char c)
{
    return (unsigned)(is_digit(c) ? c - '0' : to_lower(c) - 'a' + 10);
}

/* The code unit of \uXXXX at `at`; false: something else is there. */
static bool code_unit(const pull *p, size_t at, uint32_t *out)
{
    if (p->len - at < 6 || p->text[at] != '\\' || p->text[at + 1] != 'u')
        return false;
    *out = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        if (!is_hex(p->text[i]))
            return false;
        *out = *out << 4 | digit_of(p->text[i]);
    }
    return true;
}

static size_t put_utf8(char *to, uint32_t code)
{
    static const unsigned char starts[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = len; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(starts[len] | code);
    return len;
}

/* \uXXXX, or a pair of them, at p->at: never longer in UTF-8. */
static bool take_code(pull *p, char **to)
{
    uint32_t high, low;

    if (!code_unit(p, p->at, &high))
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "an escape that JSON does not have");
    if (high >= 0xD800 && high < 0xE000) {
        if (high >= 0xDC00 || !code_unit(p, p->at + 6, &low) || low < 0xDC00 || low >= 0xE000)
            return pull_fail(p, GUFO_E_MALFORMED, p->at, "half of a surrogate pair");
        high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        p->at += 6;
    }
    p->at += 6;
    *to += put_utf8(*to, high);
    return true;
}

static bool take_escape(pull *p, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;

    if (p->len - p->at < 2)
        return pull_fail(p, GUFO_E_TRUNCATED, p->len, "the JSON ends inside an escape");
    if (p->text[p->at + 1] == 'u')
        return take_code(p, to);
    letter = memchr(letters, p->text[p->at + 1], sizeof letters - 1);
    if (letter == NULL)
        return pull_fail(p, GUFO_E_MALFORMED, p->at, "an escape that JSON does not have");
    *(*to)++ = meanings[letter - letters];
    p->at += 2;
    return true;
}

/* What is taken is never longer than where it was: it goes to the same place. */
bool pull_string(pull *p, gufo_str *out)
{
    char *start, *to;
    size_t valid, begin;

    if (!is_next(p, '"'))
        return fail_expected(p, "a string");
    begin = ++p->at;
    start = to = p->text + begin;
    while (p->at < p->len && p->text[p->at] != '"') {
        if ((unsigned char)p->text[p->at] < 0x20)
            return pull_fail(p, GUFO_E_MALFORMED, p->at, "a control character in a string");
        if (p->text[p->at] != '\\')
            *to++ = p->text[p->at++];
        else if (!take_escape(p, &to))
            return false;
    }
    if (p->at == p->len)
        return fail_expected(p, "the end of a string");
    p->at++;
    *out = (gufo_str){start, (size_t)(to - start)};
    valid = gufo_utf8_valid_prefix(*out);
    if (valid < out->len)
        return pull_fail(p, GUFO_E_MALFORMED, begin + valid, "a string that is not UTF-8");
    return true;
}

bool pull_name(pull *p, gufo_str *out)
{
    return pull_string(p, out) && pull_mark(p, ':');
}
