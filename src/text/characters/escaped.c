/* Spaces become U+2581. */
#include "text/characters/escaped.h"

#include <string.h>

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
