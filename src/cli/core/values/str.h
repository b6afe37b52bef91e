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

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* How many bytes from `at` on are among these. */
static inline size_t span_of(gufo_str text, size_t at, const char *bytes)
{
    size_t len = 0;

    while (at + len < text.len && text.data[at + len] != '\0' &&
           strchr(bytes, text.data[at + len]) != NULL)
        len++;
    return len;
}

/* Whether the text has such bytes alone, and at least one of them. */
static inline bool is_made_of(gufo_str text, const char *bytes)
{
    return text.len > 0 && span_of(text, 0, bytes) == text.len;
}

/* The next of the words in `words`, which spaces divide; empty after the last one. */
static inline gufo_str next_word(const char **words)
{
    const char *begin = *words + strspn(*words, " ");

    *words = begin + strcspn(begin, " ");
    return (gufo_str){begin, (size_t)(*words - begin)};
}

/* The next item of a list with commas, without blanks before it; *at becomes NULL behind the last one. */
static inline gufo_str next_item(const char **at)
{
    gufo_str piece;

    *at += strspn(*at, " ");
    piece = (gufo_str){*at, strcspn(*at, ",")};
    *at = piece.data[piece.len] == ',' ? piece.data + piece.len + 1 : NULL;
    return piece;
}

#endif
