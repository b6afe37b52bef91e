/* The type in the name of a file that is about to be written. */
#include "schema/name/name.h"

#include <string.h>

/* The placeholder at the beginning of a text; 0: none is there. */
static size_t placeholder(const char *text, bool *upper)
{
    static const char *const names[] = {"{ftype}", "{outtype}", "{FTYPE}", "{OUTTYPE}"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0) {
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

size_t gufo_name_fill(char *out, size_t size, const char *pattern, const char *type)
{
    size_t len = 0, skip;
    bool upper;

    for (; *pattern != '\0'; pattern += skip) {
        skip = placeholder(pattern, &upper);
        for (const char *c = type; skip > 0 && *c != '\0'; c++)
            put(out, size, &len, upper ? to_upper(*c) : to_lower(*c));
        if (skip == 0) {
            put(out, size, &len, *pattern);
            skip = 1;
        }
    }
    if (size > 0)
        out[len < size ? len : size - 1] = '\0';
    return len;
}
