/* Placeholders in names of outputs. */
#include "import/general/file_name.h"

#include <string.h>

#include "base/text.h"

/* The placeholder at the beginning of a text; 0: none is there. */
static size_t placeholder(gufo_str text, bool *upper)
{
    static const char *const names[] = {"{ftype}", "{outtype}", "{FTYPE}", "{OUTTYPE}"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_begins(text, names[i])) {
            *upper = i >= 2;
            return strlen(names[i]);
        }
    return 0;
}

static void put(char *out, size_t size, size_t *len, char c)
{
    if (*len + 1 < size)
        out[*len] = c;
    (*len)++;
}

size_t file_name_fill(char *out, size_t size, gufo_str pattern, const char *type)
{
    size_t len = 0, skip;
    bool upper;

    for (size_t at = 0; at < pattern.len; at += skip) {
        skip = placeholder(str_from(pattern, at), &upper);
        for (const char *c = type; skip > 0 && *c != '\0'; c++)
            put(out, size, &len, upper ? to_upper(*c) : to_lower(*c));
        if (skip == 0) {
            put(out, size, &len, pattern.data[at]);
            skip = 1;
        }
    }
    if (size > 0)
        out[len < size ? len : size - 1] = '\0';
    return len;
}
