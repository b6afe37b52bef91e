/* Lines of a World vocabulary: the id, the token as Python writes it, and its length in bytes.
 *
 *     257 b'\xe0' 1
 *     258 'on' 2
 *     259 "it's" 4 */
#include "schema/syntax/rwkv_world.h"

#include "base/text.h"

/* ---- the token ------------------------------------------------------------------------------ */

/* The bytes of UTF-8 that a character takes. */
static uint64_t utf8_size(uint64_t code)
{
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* The value of `digits` hexadecimal digits at *at, which moves past them; false if they are
 * missing. */
static bool read_hex(gufo_str text, size_t *at, size_t digits, uint64_t *code)
{
    *code = 0;
    if (str_span(text, *at, is_hex) < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        char c = to_lower(text.data[(*at)++]);

        *code = *code * 16 + (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* Adds the bytes of the escape whose letter is at *at. */
static bool read_escape(gufo_str text, size_t *at, bool bytes, uint64_t *size)
{
    char c = text.data[(*at)++];
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint64_t code;

    if (digits == 0 || (bytes && c != 'x')) {
        /* Python keeps an unknown escape as it is. */
        *size += strchr("\\'\"abfnrtv0", c) != NULL ? 1 : 2;
        return true;
    }
    if (!read_hex(text, at, digits, &code))
        return false;
    *size += bytes ? 1 : utf8_size(code);
    return true;
}

/* The number of bytes that the literal at *at means; *at moves past it. */
static bool read_literal(gufo_str text, size_t *at, uint64_t *size)
{
    bool bytes = *at < text.len && text.data[*at] == 'b';
    char quote;

    *at += bytes;
    if (*at == text.len || (text.data[*at] != '\'' && text.data[*at] != '"'))
        return false;
    quote = text.data[(*at)++];
    for (*size = 0; *at < text.len;) {
        char c = text.data[(*at)++];

        if (c == quote)
            return true;
        if (c != '\\')
            ++*size;
        else if (*at == text.len || text.data[*at] == '\0' || !read_escape(text, at, bytes, size))
            return false;
    }
    return false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* What is wrong with a line, or NULL. */
static const char *check_line(gufo_str line)
{
    size_t digits = str_digits(line, 0), at = digits + 1;
    uint64_t size, claimed;

    if (digits == 0 || digits == line.len || line.data[digits] != ' ')
        return "does not begin with the number of a token";
    if (!read_literal(line, &at, &size))
        return "has no token in quotes";
    if (at == line.len || line.data[at] != ' ' || !str_number(str_from(line, at + 1), &claimed))
        return "does not end with a length";
    return claimed == size ? NULL : "gives another length than the token has";
}

world_fault rwkv_world_check(gufo_str text)
{
    world_fault fault = {.line = 1};

    if (text.len == 0)
        return (world_fault){"is missing", 1, 0};
    for (size_t at = 0; at < text.len; fault.line++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end != NULL ? (size_t)(end - text.data) - at : text.len - at;
        gufo_str line = {text.data + at, len};

        if (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        fault.at = at;
        fault.reason = check_line(line);
        if (fault.reason != NULL)
            return fault;
        at += len + 1;
    }
    return (world_fault){NULL, fault.line, 0};
}
