/* Texts of a file: classes of characters (ASCII in every locale), pieces of texts, look-ups that
 * ignore case. */
#ifndef GUFO_BASE_TEXT_H
#define GUFO_BASE_TEXT_H

#include <string.h>

#include "gufo/print.h"

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_letter(char c)
{
    return is_upper(c) || is_lower(c);
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline char to_upper(char c)
{
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static inline char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/* The value of a digit in bases up to 36; more than any for other characters. */
static inline unsigned digit_value(char c)
{
    return is_digit(c)    ? (unsigned)(c - '0')
           : is_letter(c) ? (unsigned)(to_lower(c) - 'a') + 10
                          : 99;
}

static inline char digit_letter(unsigned digit, bool upper)
{
    return (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
}

/* The value of a hexadecimal digit; -1 for anything else. */
static inline int hex_digit(char c)
{
    return is_hex(c) ? (int)digit_value(c) : -1;
}

/* Writes the two hexadecimal digits of a byte; returns what is behind them. */
static inline char *hex_put(char *to, uint8_t byte, bool upper)
{
    *to++ = digit_letter(byte >> 4, upper);
    *to++ = digit_letter(byte & 15, upper);
    return to;
}

static inline gufo_str str_from(gufo_str text, size_t at)
{
    return at == 0 ? text : (gufo_str){text.data + at, text.len - at};
}

static inline bool str_begins(gufo_str text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len && memcmp(text.data, start, len) == 0;
}

static inline bool str_ends(gufo_str text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

/* The next piece of a list, up to `separator` or the end; *at moves behind it and blanks. */
gufo_str str_piece(const char **at, char separator);

/* The next line of a text, which ends with LF, CR LF or the text itself, without its end; *at moves
 * behind it. */
gufo_str str_line(gufo_str text, size_t *at);

/* The line and the column of a byte, both from 1; columns count characters of UTF-8. */
void str_place(gufo_str text, size_t at, uint64_t *line, uint64_t *column);

/* Whether `word` is one of those in `words`, which blanks divide. */
bool str_is_word(gufo_str word, const char *words);

/* Where `part` is in a text for the first time; NULL if it is not.  An empty part is at its start. */
const char *str_search(gufo_str text, gufo_str part);
/* Whether the text has letters, digits and these marks alone, and at least one of them. */
bool str_is_plain(gufo_str text, const char *marks);

/* How many characters from `at` on are of a class. */
size_t str_span(gufo_str text, size_t at, bool (*is_in_class)(char));

static inline size_t str_digits(gufo_str text, size_t at)
{
    return str_span(text, at, is_digit);
}

/* Reads up to `most` hexadecimal digits, of at most 16, from `at` on; returns how many there are. */
size_t str_hex(gufo_str text, size_t at, size_t most, uint64_t *value);

/* The number that a text is, in digits alone; false if 64 bits do not hold it. */
bool str_number(gufo_str text, uint64_t *out);

/* Order without regard to case, as strcmp gives it. */
int str_compare_folded(gufo_str a, gufo_str b);

static inline bool str_same_folded(gufo_str a, gufo_str b)
{
    return a.len == b.len && str_compare_folded(a, b) == 0;
}

/* The name of row `index` of a table. */
typedef gufo_str name_of_row(const void *table, size_t index);

/* Finds the row that is called `name`, in any case, of a table in the order of its names. */
bool str_find_folded(gufo_str name, name_of_row *name_of, const void *table, size_t count,
                     size_t *index);

/* Whether `text` begins with `start`, in any case. */
bool str_begins_folded(gufo_str text, const char *start);

#endif
