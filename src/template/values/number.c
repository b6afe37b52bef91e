/* Texts of numbers. */
#include "template/values/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/number.h"
#include "base/text.h"

/* The base that a prefix such as 0x tells; 10 without one. */
static int prefix_base(gufo_str text, size_t at)
{
    if (text.len < at + 3 || text.data[at] != '0')
        return 10;
    switch (to_lower(text.data[at + 1])) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 10;
    }
}

bool number_scan(gufo_str text, int base, number_text *out)
{
    size_t at = text.len != 0 && (*text.data == '-' || *text.data == '+');
    int prefix = prefix_base(text, at);
    bool prefixed = prefix != 10 && (base == 0 || base == prefix);
    bool after_digit = prefixed; /* a _ may follow a prefix, too */

    *out = (number_text){.negative = at == 1 && *text.data == '-',
                         .base = prefixed    ? (unsigned)prefix
                                 : base == 0 ? 10
                                             : (unsigned)base,
                         .digits = str_from(text, at + (prefixed ? 2 : 0))};
    for (size_t i = 0; i < out->digits.len; i++) {
        bool digit = digit_value(out->digits.data[i]) < out->base;

        if (!digit && !(out->digits.data[i] == '_' && after_digit))
            return false;
        out->count += digit;
        after_digit = digit;
    }
    return out->count != 0 && after_digit;
}

bool number_parse(gufo_str text, int base, int64_t *out)
{
    number_text scanned;
    uint64_t number = 0;

    if (!number_scan(text, base, &scanned))
        return false;
    for (size_t i = 0; i < scanned.digits.len; i++) {
        if (scanned.digits.data[i] == '_')
            continue;
        if (!checked_mul(number, scanned.base, &number) ||
            !checked_add(number, digit_value(scanned.digits.data[i]), &number))
            return false;
    }
    if (number > (uint64_t)INT64_MAX + scanned.negative)
        return false;
    *out = scanned.negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

/* What the locale of the process writes between a number and its fraction. */
static char decimal_point(void)
{
    char text[16] = "0.5";

    (void)snprintf(text, sizeof(text), "%.1f", 0.5);
    return text[1];
}

bool number_read_real(gufo_str text, double *out)
{
    char copy[400], *end, point = decimal_point();
    size_t len = 0;
    bool digits = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (c == '_' && i > 0 && is_digit(text.data[i - 1]) && i + 1 < text.len &&
            is_digit(text.data[i + 1]))
            continue;
        if (len == sizeof(copy) - 1 || !(is_digit(c) || memchr("+-.eE", c, 5) != NULL))
            return false;
        digits = digits || is_digit(c);
        copy[len++] = c == '.' ? point : c;
    }
    copy[len] = 0;
    *out = strtod(copy, &end);
    return digits && end == copy + len;
}

size_t number_print_real(char *out, size_t room, char conversion, int precision, bool alternate,
                         double number)
{
    char format[16], *point;
    int len;

    (void)snprintf(format, sizeof(format), alternate ? "%%#.*%c" : "%%.*%c", conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    len = snprintf(out, room, format, precision, number);
#pragma GCC diagnostic pop
    if (len < 0 || (size_t)len >= room)
        return 0;
    point = memchr(out, decimal_point(), (size_t)len);
    if (point != NULL)
        *point = '.';
    return (size_t)len;
}

size_t number_write_real(double number, char out[NUMBER_ROOM])
{
    char digits[GUFO_NUMBER_SIZE];
    size_t count, len = 0;
    int exponent;

    if (isnan(number))
        return (size_t)snprintf(out, NUMBER_ROOM, "nan");
    if (isinf(number))
        return (size_t)snprintf(out, NUMBER_ROOM, number < 0 ? "-inf" : "inf");
    if (signbit(number))
        out[len++] = '-';
    count = number_shortest(number, digits, &exponent);
    if (exponent < -4 || exponent >= 16) {
        out[len++] = digits[0];
        if (count > 1) {
            out[len++] = '.';
            memcpy(out + len, digits + 1, count - 1);
            len += count - 1;
        }
        return len + (size_t)snprintf(out + len, NUMBER_ROOM - len, "e%c%02d",
                                      exponent < 0 ? '-' : '+', abs(exponent));
    }
    if (exponent < 0) {
        out[len++] = '0';
        out[len++] = '.';
        for (int i = -1; i > exponent; i--)
            out[len++] = '0';
        memcpy(out + len, digits, count);
        return len + count;
    }
    for (size_t i = 0; i < count || i <= (size_t)exponent + 1; i++) {
        if (i == (size_t)exponent + 1)
            out[len++] = '.';
        out[len++] = i < count ? digits[i] : '0';
    }
    return len;
}
