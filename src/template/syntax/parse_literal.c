/* Numbers and texts as a template spells them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "template/values/integer.h"
#include "template/values/number.h"
#include "template/syntax/parser.h"

static value fail_literal(parser *p, const token *literal, const char *what)
{
    (void)parse_fault(p, literal->at, "%s", what);
    return FAILED;
}

value literal_number(parser *p, const token *literal)
{
    gufo_str text = token_text(p, literal);
    double real;
    value whole;

    if (literal->kind == TOKEN_FLOAT)
        return number_read_real(text, &real) ? value_float(real)
                                             : fail_literal(p, literal, "not a number");
    whole = integer_read(&p->tree->memory, text, 0);
    return is_given(whole) ? whole : fail_literal(p, literal, "a number with too many digits");
}

/* The escape whose letter is at `at`: what it gives, and how many bytes it is long; 0 if it is
 * wrong. */
static size_t read_escape(gufo_str text, size_t at, char out[4], size_t *written)
{
    static const char letters[] = "\\'\"abfnrtv", bytes[] = "\\'\"\a\b\f\n\r\t\v";
    const char *letter = memchr(letters, text.data[at], sizeof(letters) - 1);
    size_t digits = text.data[at] == 'x' ? 2 : text.data[at] == 'u' ? 4 : 8, len = 0;
    uint64_t point = 0;

    *written = 0;
    if (text.data[at] == '\n') /* the line goes on */
        return 1;
    if (letter != NULL) {
        out[0] = bytes[letter - letters];
        *written = 1;
        return 1;
    }
    if (text.data[at] >= '0' && text.data[at] <= '7') {
        for (; len < 3 && at + len < text.len && text.data[at + len] >= '0' &&
               text.data[at + len] <= '7';
             len++)
            point = point * 8 + (uint32_t)(text.data[at + len] - '0');
        *written = utf8_put((uint32_t)point, out);
        return len;
    }
    if (memchr("xuU", text.data[at], 3) != NULL) {
        if (str_hex(text, at + 1, digits, &point) < digits || point > 0x10FFFF ||
            (point >= 0xD800 && point < 0xE000))
            return 0;
        *written = utf8_put((uint32_t)point, out);
        return 1 + digits;
    }
    if (text.data[at] == 'N')
        return 0;
    out[0] = '\\'; /* an escape that does not exist is what it looks like */
    out[1] = text.data[at];
    *written = 2;
    return 1;
}

value literal_text(parser *p, const token *literal)
{
    gufo_str text = token_text(p, literal);
    char *out = heap_take(&p->tree->memory, text.len);
    size_t len = 0, written;

    if (out == NULL)
        return FAILED;
    text = (gufo_str){text.data + 1, text.len - 2};
    for (size_t at = 0; at < text.len;) {
        char bytes[4];
        size_t escape;

        if (text.data[at] != '\\') {
            out[len++] = text.data[at++];
            continue;
        }
        escape = read_escape(text, at + 1, bytes, &written);
        if (escape == 0)
            return fail_literal(p, literal, "an escape that is not known in a text");
        memcpy(out + len, bytes, written);
        len += written;
        at += 1 + escape;
    }
    /* A character above 7F behind a backslash keeps its other bytes: they are copied as they are. */
    return string_view(&p->tree->memory, (gufo_str){out, len});
}
