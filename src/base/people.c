/* Numbers and characters for people: decimals, units, escapes. */
#include "gufo/print.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

enum { MOST_DECIMALS = 9 };

/* printf writes the point of the locale, which may be several bytes. */
size_t gufo_number_fixed(char *out, double value, unsigned decimals)
{
    char text[400]; /* 1.8e308 has 309 digits */
    size_t len = 0;

    if (decimals > MOST_DECIMALS)
        decimals = MOST_DECIMALS;
    if (!(value > -1e15 && value < 1e15)) /* the shortest form of large numbers, infinite, NaN */
        return gufo_number_f64(out, value);
    (void)snprintf(text, sizeof text, "%.*f", (int)decimals, value);
    for (const char *c = text; *c != '\0'; c++) {
        if (is_digit(*c) || *c == '-')
            out[len++] = *c;
        else if (len == 0 || out[len - 1] != '.')
            out[len++] = '.';
    }
    out[len] = '\0';
    return len;
}

typedef struct unit_scale {
    double step; /* from one unit to the next one */
    double half; /* of the last digit: 999.6 K would round to 1000 K, and is 1.00 M instead */
    const char *units[9];
} unit_scale;

/* The first unit is that of 1. */
static const char *put_in_units(char *out, uint64_t value, const unit_scale *scale)
{
    double scaled = (double)value;
    size_t first = value != 1, unit = first, len;
    unsigned decimals = 1;

    for (; scaled >= scale->step - scale->half && scale->units[unit + 1] != NULL; unit++)
        scaled /= scale->step;
    if (scale->step == 1000) /* three digits that count */
        decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    len = gufo_number_fixed(out, scaled, unit == first ? 0 : decimals);
    memcpy(out + len, scale->units[unit], strlen(scale->units[unit]) + 1);
    return out;
}

const char *gufo_number_count(char out[GUFO_NUMBER_SIZE], uint64_t value)
{
    static const unit_scale scale = {1000, 0.5, {"", "", " K", " M", " B", " T", " Q"}};

    return put_in_units(out, value, &scale);
}

const char *gufo_number_size(char out[GUFO_NUMBER_SIZE], uint64_t bytes)
{
    static const unit_scale scale = {
        1000, 0.5, {" byte", " bytes", " KB", " MB", " GB", " TB", " PB", " EB"}};

    return put_in_units(out, bytes, &scale);
}

const char *gufo_number_memory(char out[GUFO_NUMBER_SIZE], uint64_t bytes)
{
    static const unit_scale scale = {
        1024, 0.05, {" byte", " bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}};

    return put_in_units(out, bytes, &scale);
}

/* ---- characters ------------------------------------------------------------------------------ */

/* START, the number in at least `digits` hexadecimal digits, END: by hand, because a text may be escapes
 * alone. */
static size_t put_escape(char *out, const char *start, uint32_t number, unsigned digits,
                         const char *end)
{
    size_t len = strlen(start), end_len = strlen(end);

    while (digits < 8 && number >> (4 * digits) != 0)
        digits++;
    memcpy(out, start, len);
    while (digits-- > 0)
        out[len++] = digit_letter(number >> (4 * digits) & 0xf, false);
    memcpy(out + len, end, end_len);
    return len + end_len;
}

static size_t put_control(char *out, uint32_t code_point)
{
    static const char names[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r'};

    if (code_point >= sizeof names || names[code_point] == 0)
        return put_escape(out, "\\u{", code_point, 1, "}");
    out[0] = '\\';
    out[1] = names[code_point];
    return 2;
}

size_t gufo_utf8_show(gufo_str text, char out[GUFO_SHOWN_SIZE], size_t *taken)
{
    uint32_t code_point = 0;
    size_t len = gufo_utf8_decode(text, &code_point);

    *taken = len > 0 ? len : 1;
    if (len == 0)
        return put_escape(out, "\\x", (unsigned char)text.data[0], 2, "");
    if (gufo_utf8_is_hidden(text))
        return put_control(out, code_point);
    memcpy(out, text.data, len);
    return len;
}
