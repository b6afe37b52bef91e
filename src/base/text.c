/* Texts of tables and files: lists in one text, and comparison without case.  ASCII letters alone
 * have two cases, so that no locale changes what a file means. */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"

gufo_str str_piece(const char **at, char separator)
{
    gufo_str piece = {*at, 0};

    while (piece.data[piece.len] != '\0' && piece.data[piece.len] != separator)
        piece.len++;
    *at += piece.len + (piece.data[piece.len] != '\0');
    while (**at == ' ')
        ++*at;
    return piece;
}

gufo_str str_line(gufo_str text, size_t *at)
{
    const char *end = memchr(text.data + *at, '\n', text.len - *at);
    gufo_str line = {text.data + *at, (end != NULL ? (size_t)(end - text.data) : text.len) - *at};

    *at += line.len + (end != NULL);
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

void str_place(gufo_str text, size_t at, uint64_t *line, uint64_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < text.len; i++) {
        bool ends = text.data[i] == '\n';

        *line += ends;
        *column = ends ? 1 : *column + (((uint8_t)text.data[i] & 0xC0) != 0x80);
    }
}

bool str_is_word(gufo_str word, const char *words)
{
    while (*words != '\0')
        if (gufo_str_equal(str_piece(&words, ' '), word))
            return true;
    return false;
}

const char *str_search(gufo_str text, gufo_str part)
{
    const char *last;

    if (part.len == 0 || text.len < part.len)
        return part.len == 0 ? text.data : NULL;
    last = text.data + (text.len - part.len);
    for (const char *at = text.data; at <= last; at++) {
        at = memchr(at, part.data[0], (size_t)(last - at) + 1);
        if (at == NULL || memcmp(at, part.data, part.len) == 0)
            return at;
    }
    return NULL;
}

bool str_is_plain(gufo_str text, const char *marks)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_letter(text.data[i]) && !is_digit(text.data[i]) &&
            (text.data[i] == '\0' || strchr(marks, text.data[i]) == NULL))
            return false;
    return text.len > 0;
}

size_t str_span(gufo_str text, size_t at, bool (*is_in_class)(char))
{
    size_t end = at;

    while (end < text.len && is_in_class(text.data[end]))
        end++;
    return end - at;
}

size_t str_hex(gufo_str text, size_t at, size_t most, uint64_t *value)
{
    size_t count = 0;

    *value = 0;
    for (; count < most && at + count < text.len && is_hex(text.data[at + count]); count++)
        *value = *value << 4 | (uint64_t)hex_digit(text.data[at + count]);
    return count;
}

bool str_number(gufo_str text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.data[i]) || !checked_mul(*out, 10, out) ||
            !checked_add(*out, (uint64_t)(text.data[i] - '0'), out))
            return false;
    return text.len > 0;
}

const char *gufo_number_grouped(char out[GUFO_GROUPED_SIZE], uint64_t value)
{
    char digits[21];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = out;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

int str_compare_folded(gufo_str a, gufo_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        unsigned char x = (unsigned char)to_lower(a.data[i]);
        unsigned char y = (unsigned char)to_lower(b.data[i]);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

bool str_find_folded(gufo_str name, name_of_row *name_of, const void *table, size_t count,
                     size_t *index)
{
    size_t from = 0;

    while (from < count) {
        size_t middle = from + (count - from) / 2;
        int order = str_compare_folded(name, name_of(table, middle));

        *index = middle;
        if (order == 0)
            return true;
        if (order < 0)
            count = middle;
        else
            from = middle + 1;
    }
    return false;
}

bool str_begins_folded(gufo_str text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len && str_same_folded((gufo_str){text.data, len}, (gufo_str){start, len});
}
