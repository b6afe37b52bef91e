/* Texts as parts of a name. */
#include "schema/name/suggest.h"

#include <string.h>

void name_set(name_text *out, gufo_str text)
{
    *out = (name_text){.len = text.len};
    memcpy(out->data, text.data, text.len);
}

gufo_str name_text_view(const name_text *text)
{
    return text->len > 0 ? (gufo_str){text->data, text->len} : (gufo_str){0};
}

bool name_find(gufo_str text, const char *part, size_t *at)
{
    size_t len = strlen(part);

    for (*at = 0; *at + len <= text.len; (*at)++)
        if (memcmp(text.data + *at, part, len) == 0)
            return true;
    return false;
}

static void append(name_text *out, char c)
{
    if (out->len < NAME_PART_MAX)
        out->data[out->len++] = c;
    out->data[out->len] = '\0';
}

/* A '-' that ends a text that was cut divides nothing. */
static void trim(name_text *text)
{
    while (text->len > 0 && text->data[text->len - 1] == '-')
        text->len--;
    text->data[text->len] = '\0';
}

void name_add(name_text *out, gufo_str text, bool as_base)
{
    bool first = out->len == 0, divide = !first, digits = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (!is_letter(c) && !is_digit(c)) {
            divide = out->len > 0;
            continue;
        }
        /* "4bit" has to be divided; but what the base name begins with may be "01ai". */
        if (as_base && !first && !divide && digits && is_letter(c))
            divide = true;
        if (divide) {
            append(out, '-');
            first = false;
        }
        digits = divide || i == 0 ? is_digit(c) : digits;
        divide = false;
        append(out, c);
    }
    trim(out);
}
