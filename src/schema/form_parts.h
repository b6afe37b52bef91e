/* What the checks of strings share: classes of characters (ASCII, whatever the locale), and filling
 * in a gufo_form. */
#ifndef GUFO_SCHEMA_FORM_PARTS_H
#define GUFO_SCHEMA_FORM_PARTS_H

#include <string.h>

#include "schema/form.h"

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

static inline char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
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

/* Order without regard to case, as strcmp gives it. */
int str_compare_folded(gufo_str a, gufo_str b);

/* Whether `text` begins with `start`, in any case. */
bool str_begins_folded(gufo_str text, const char *start);

/* The result for a fault: `part` is a view into `text`, `reason` a constant. */
gufo_form form_fault(form_verdict verdict, gufo_str text, gufo_str part, const char *reason);

/* Sets the hint, one text or several pieces of one; none if it does not fit, or has characters that
 * are not plain and visible. */
void form_hint(gufo_form *form, gufo_str hint);
void form_hint_joined(gufo_form *form, const gufo_str *pieces, size_t count);

#endif
