/* Escapes in the texts of tokens. */
#include "text/vocabulary/escapes.h"

#include "base/text.h"

int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : is_hex(c) ? to_lower(c) - 'a' + 10 : -1;
}

/* The byte that an escape "\t", "\x1f", "\'" is; *at moves from behind the backslash to its end. */
static char escaped_byte(gufo_str text, size_t *at)
{
    char c = text.data[(*at)++];

    if (c == 'x' && *at + 2 <= text.len && hex_digit(text.data[*at]) >= 0 &&
        hex_digit(text.data[*at + 1]) >= 0) {
        *at += 2;
        return (char)(16 * hex_digit(text.data[*at - 2]) + hex_digit(text.data[*at - 1]));
    }
    return (char)(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
}

bool add_unescaped(gufo_str text, gufo_text *out)
{
    if (!text_reserve(out, text.len))
        return false;
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at++];

        text_put_byte(out, c == '\\' && at < text.len ? escaped_byte(text, &at) : c);
    }
    return true;
}
