/* Parts of texts that are counted, not terminated. */
#ifndef CLI_CORE_VALUES_STR_H
#define CLI_CORE_VALUES_STR_H

#include "gufo/base.h"

#include <string.h>

static inline bool begins_with(gufo_str text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len && memcmp(text.data, start, len) == 0;
}

static inline bool ends_with(gufo_str text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

/* What is left of a text from byte `at` on. */
static inline gufo_str rest_of(gufo_str text, size_t at)
{
    return (gufo_str){text.data + at, text.len - at};
}

#endif
