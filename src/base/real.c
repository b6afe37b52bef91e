/* Decimal numbers.
 *
 * Fifteen digits and a small exponent are two exact doubles and one operation, which rounds once
 * (Clinger 1990).  All other numbers are for strtod, as whole numbers with an exponent: so none needs
 * the point, which is another one in each locale. */
#include "base/real.h"

#include <float.h>
#include <stdlib.h>

#include "base/text.h"

enum {
    EXACT_DIGITS = 15,
    WHOLE_DIGITS = 19,
    EXACT_POWER = 22,
    EXPONENT_DIGITS = 5,
    MAX_EXPONENT = 99999
};

typedef struct decimal {
    bool negative;
    char digits[REAL_DIGITS + EXPONENT_DIGITS + 3]; /* without zeros before them */
    unsigned count;
    int64_t exponent;
    uint64_t whole; /* the first WHOLE_DIGITS digits */
} decimal;

static bool add_digits(decimal *d, gufo_str digits)
{
    for (size_t i = 0; i < digits.len; i++) {
        if (d->count == 0 && digits.data[i] == '0')
            continue;
        if (d->count == REAL_DIGITS)
            return false;
        d->digits[d->count++] = digits.data[i];
        if (d->count <= WHOLE_DIGITS)
            d->whole = 10 * d->whole + (uint64_t)(digits.data[i] - '0');
    }
    return true;
}

/* The exponent behind e, as far as it may make a difference behind a text of less than 4 GB. */
static int64_t exponent_of(gufo_str text)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    int64_t exponent = 0;

    for (size_t i = text.len > 0 && !is_digit(text.data[0]); i < text.len; i++)
        if (exponent < INT32_MAX)
            exponent = 10 * exponent + (text.data[i] - '0');
    return negative ? -exponent : exponent;
}

static bool read_decimal(gufo_str text, decimal *d)
{
    size_t at = text.len > 0 && text.data[0] == '-', n = str_digits(text, at);

    d->negative = at == 1;
    if (!add_digits(d, (gufo_str){text.data + at, n}))
        return false;
    at += n;
    if (at < text.len && text.data[at] == '.') {
        n = str_digits(text, ++at);
        if (!add_digits(d, (gufo_str){text.data + at, n}))
            return false;
        d->exponent = -(int64_t)n;
        at += n;
    }
    if (at < text.len)
        d->exponent += exponent_of(str_from(text, at + 1));
    return true;
}

/* The digits as a double, times or by the power of ten; false: there are too many. */
static bool read_whole(const decimal *d, unsigned most_digits, double *out)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    *out = 0;
    if (d->count == 0)
        return true;
    if (d->count > most_digits || d->exponent < -EXACT_POWER || d->exponent > EXACT_POWER)
        return false;
    *out = d->exponent < 0 ? (double)d->whole / powers[-d->exponent]
                           : (double)d->whole * powers[d->exponent];
    return true;
}

/* Where doubles are computed with more bits than they have, the result is rounded twice. */
static bool read_exactly(const decimal *d, double *out)
{
    return (FLT_EVAL_METHOD == 0 || d->count == 0) && read_whole(d, EXACT_DIGITS, out);
}

/* Far beyond the largest and the smallest double the exponent makes no difference. */
static double read_rounded(decimal *d)
{
    char *end = d->digits + d->count;
    int64_t exponent = d->exponent < -MAX_EXPONENT  ? -MAX_EXPONENT
                       : d->exponent > MAX_EXPONENT ? MAX_EXPONENT
                                                    : d->exponent;

    *end++ = 'e';
    *end++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    for (int i = EXPONENT_DIGITS; i-- > 0; exponent /= 10)
        end[i] = (char)('0' + exponent % 10);
    end[EXPONENT_DIGITS] = '\0';
    return strtod(d->digits, NULL);
}

static bool read(gufo_str text, bool twice_rounded, double *out)
{
    decimal d = {.count = 0};

    if (!read_decimal(text, &d))
        return false;
    if (!(twice_rounded && read_whole(&d, WHOLE_DIGITS, out)) && !read_exactly(&d, out))
        *out = read_rounded(&d);
    if (d.negative)
        *out = -*out;
    return true;
}

bool real_read(gufo_str text, double *out)
{
    return read(text, false, out);
}

bool real_read_twice_rounded(gufo_str text, double *out)
{
    return read(text, true, out);
}
