/* Lines of a World vocabulary: the id, the token as Python writes it, and its length in bytes.
 *
 *     257 b'\xe0' 1
 *     258 'on' 2
 *     259 "it's" 4 */
#include "schema/syntax/rwkv_world.h"

#include "base/text.h"

/* ---- the token ------------------------------------------------------------------------------ */

/* Adds the bytes of UTF-8 that a character takes; false for what is not a character. */
static bool add_character(uint64_t code, uint64_t *size)
{
    *size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    return code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
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

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Up to three digits. */
static uint64_t read_octal(gufo_str text, size_t *at)
{
    uint64_t code = 0;

    for (int i = 0; i < 3 && *at < text.len && is_octal(text.data[*at]); i++)
        code = code * 8 + (uint64_t)(text.data[(*at)++] - '0');
    return code;
}

/* Adds the bytes of the escape whose letter is at *at. */
static bool read_escape(gufo_str text, size_t *at, bool bytes, uint64_t *size)
{
    char c = text.data[*at];
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint64_t code;

    if (is_octal(c)) {
        code = read_octal(text, at);
    } else if (digits == 0 || (bytes && c != 'x')) {
        /* Python keeps an unknown escape as it is. */
        ++*at;
        *size += strchr("\\'\"abfnrtv", c) != NULL ? 1 : 2;
        return !bytes || is_ascii(c);
    } else {
        ++*at;
        if (!read_hex(text, at, digits, &code))
            return false;
    }
    if (!bytes)
        return add_character(code, size);
    ++*size;
    return code <= 0xff;
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
        if (bytes && !is_ascii(c))
            return false;
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
