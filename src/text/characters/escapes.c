/* Escapes in the texts of tokens. */
#include "text/characters/escapes.h"

#include <string.h>

#include "base/text.h"

enum { ESCAPED_SIZE = sizeof ESCAPED_SPACE - 1 };

bool add_escaped(gufo_text *out, gufo_str text)
{
    if (text.len > SIZE_MAX / ESCAPED_SIZE || !text_reserve(out, text.len * ESCAPED_SIZE))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != ' ') {
            text_put_byte(out, text.data[i]);
        } else {
            memcpy(out->data + out->len, ESCAPED_SPACE, ESCAPED_SIZE);
            out->len += ESCAPED_SIZE;
        }
    return true;
}

/* The byte that an escape "\t", "\x1f", "\'" is; *at moves from behind the backslash to its end. */
static char escaped_byte(gufo_str text, size_t *at)
{
    char c = text.data[(*at)++];
    uint64_t value;

    if (c == 'x' && str_hex(text, *at, 2, &value) == 2) {
        *at += 2;
        return (char)value;
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
