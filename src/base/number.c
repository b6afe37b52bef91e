/* Numbers as text, and back. */
#include "base/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- whole numbers ---------------------------------------------------------------------------- */

size_t gufo_number_u64(char *out, uint64_t value)
{
    char reversed[20];
    size_t len = 0;

    do {
        reversed[len++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < len; i++)
        out[i] = reversed[len - 1 - i];
    out[len] = '\0';
    return len;
}

size_t gufo_number_i64(char *out, int64_t value)
{
    if (value >= 0)
        return gufo_number_u64(out, (uint64_t)value);
    out[0] = '-';
    return 1 + gufo_number_u64(out + 1, 0 - (uint64_t)value);
}

bool gufo_number_read(const char **text, uint64_t *out)
{
    const gufo_str digits = {*text, strspn(*text, "0123456789")};
    bool good = str_number(digits, out);

    *text += good ? digits.len : 0;
    return good;
}

/* ---- shortest texts --------------------------------------------------------------------------- */

/* A float represents all reals between the midpoints to its neighbours; any decimal in there reads
 * back to it.  For p = 1, 2, 3 ... digits the decimal closest to the value is tried until one reads
 * back.  That finds the fewest digits and the closest decimal, with one exception: below a power of
 * two the neighbours are half as far away as above it, so that the closest decimal with p digits
 * can miss (too low) while the next one above still hits.
 *
 *                  2^k
 *     |-+-|-+-|-+-|-+-|---+---|---+---|        | a float   + a midpoint
 *                   x <-- closest, misses
 *                        y <-- next above, hits
 *
 * With up to 6 digits (15 for float64) every decimal has its own float, so the search can start
 * there and drop trailing zeros; the subnormal numbers at the bottom have less precision, and start
 * at one digit.
 *
 * 32-bit floats of a moderate size have so few bits that arithmetic with doubles is exact.  All
 * others go through printf and strtod, which are exact too, but slow. */

/* digits * 10^scale */
typedef struct decimal {
    uint64_t digits;
    int scale;
} decimal;

/* One width of floats. */
typedef struct float_width {
    bool single;
    int sure_digits; /* this many always survive a round trip through the float */
    int most_digits; /* this many always suffice */
    double smallest_normal;
} float_width;

static const float_width float32_width = {true, FLT_DIG, FLT_DECIMAL_DIG, (double)FLT_MIN};
static const float_width float64_width = {false, DBL_DIG, DBL_DECIMAL_DIG, DBL_MIN};

/* `value` rounded to `count` digits.  The decimal point printf writes is the locale's: skipped. */
static decimal round_to_digits(double value, int count)
{
    char text[64];
    const char *at = text;
    decimal d = {0};

    snprintf(text, sizeof text, "%.*e", count - 1, value);
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            d.digits = d.digits * 10 + (uint64_t)(*at - '0');
    d.scale = (int)strtol(at + 1, NULL, 10) - (count - 1);
    return d;
}

static bool reads_back(decimal d, double value, const float_width *width)
{
    char text[64];

    /* No decimal point, so that the locale has no say. */
    snprintf(text, sizeof text, "%" PRIu64 "e%d", d.digits, d.scale);
    if (width->single)
        return strtof(text, NULL) == (float)value;
    return strtod(text, NULL) == value;
}

static decimal shortest_slow(double value, const float_width *width)
{
    int ignored, count = value < width->smallest_normal ? 1 : width->sure_digits;
    bool power_of_two = frexp(value, &ignored) == 0.5;
    decimal d = round_to_digits(value, count);

    while (count < width->most_digits && !reads_back(d, value, width)) {
        d.digits++;
        if (!power_of_two || !reads_back(d, value, width))
            d = round_to_digits(value, ++count);
    }
    return d;
}

/* For 32-bit floats of a moderate size.  With at most 12 decimals the product is exact in a double
 * (24 bits and the 28 of 5^12), and no quotient is so near to a midpoint, which has 25 bits, that
 * it matters whether it is rounded to double first. */
static bool shortest_fast(double value, decimal *d)
{
    static const double powers[] = {1,   1e1, 1e2, 1e3,  1e4,  1e5, 1e6,
                                    1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
    int exponent = 0, ignored;
    bool power_of_two = frexp(value, &ignored) == 0.5;

    if (value < 1e-6 || value >= 1e6)
        return false;
    while (value >= powers[exponent + 1])
        exponent++;
    while (exponent <= 0 && value * powers[-exponent] < 1)
        exponent--;
    for (int count = FLT_DIG; count <= FLT_DECIMAL_DIG && count - exponent <= 13; count++) {
        double power = powers[count - 1 - exponent], digits = nearbyint(value * power);

        if (power_of_two && (float)(digits / power) != (float)value)
            digits++;
        if ((float)(digits / power) != (float)value)
            continue;
        *d = (decimal){(uint64_t)digits, exponent - (count - 1)};
        return true;
    }
    return false;
}

static char *put_zeros(char *to, int count)
{
    for (; count > 0; count--)
        *to++ = '0';
    return to;
}

static char *put_digits(char *to, const char *digits, int count)
{
    memcpy(to, digits, (size_t)count);
    return to + count;
}

/* "123" with `whole` digits before the point: "0.00123", "1.23", "12300". */
static char *put_positional(char *to, const char *digits, int count, int whole)
{
    if (whole <= 0) {
        to = put_digits(to, "0.", 2);
        to = put_zeros(to, -whole);
        return put_digits(to, digits, count);
    }
    if (count <= whole) {
        to = put_digits(to, digits, count);
        return put_zeros(to, whole - count);
    }
    to = put_digits(to, digits, whole);
    *to++ = '.';
    return put_digits(to, digits + whole, count - whole);
}

static char *put_decimal(char *to, const char *digits, int count, int exponent)
{
    if (exponent >= -5 && exponent <= 15)
        return put_positional(to, digits, count, exponent + 1);
    to = put_positional(to, digits, count, 1);
    *to++ = 'e';
    return to + gufo_number_i64(to, exponent);
}

static size_t put_word(char *out, const char *word)
{
    size_t len = strlen(word);

    memcpy(out, word, len + 1);
    return len;
}

/* The digits of a number above 0, without zeros at their end. */
static size_t shortest_digits(double value, const float_width *width, char digits[GUFO_NUMBER_SIZE],
                              int *exponent)
{
    size_t count;
    decimal d;

    if (!width->single || !shortest_fast(value, &d))
        d = shortest_slow(value, width);
    for (; d.digits % 10 == 0; d.digits /= 10)
        d.scale++;
    count = gufo_number_u64(digits, d.digits);
    *exponent = d.scale + (int)count - 1;
    return count;
}

static size_t number_float(char *out, double value, const float_width *width)
{
    char *to = out, digits[GUFO_NUMBER_SIZE];
    double size = fabs(value);
    int count, exponent;

    if (isnan(value))
        return put_word(out, "nan");
    if (isinf(value))
        return put_word(out, value < 0 ? "-inf" : "inf");
    if (size == 0)
        return put_word(out, signbit(value) ? "-0.0" : "0");
    /* Below 2^mantissa every whole number is a float, and no shorter decimal than itself is near.
     */
    if (size == floor(size) && size < (width->single ? 0x1p24 : 0x1p53))
        return gufo_number_i64(out, (int64_t)value);
    count = (int)shortest_digits(size, width, digits, &exponent);
    if (signbit(value))
        *to++ = '-';
    to = put_decimal(to, digits, count, exponent);
    *to = '\0';
    return (size_t)(to - out);
}

size_t gufo_number_f32(char *out, float value)
{
    return number_float(out, (double)value, &float32_width);
}

size_t gufo_number_f64(char *out, double value)
{
    return number_float(out, value, &float64_width);
}

size_t number_shortest(double value, char digits[GUFO_NUMBER_SIZE], int *exponent)
{
    *exponent = 0;
    return value == 0 ? put_word(digits, "0")
                      : shortest_digits(fabs(value), &float64_width, digits, exponent);
}

/* ---- reading decimals ------------------------------------------------------------------------- */

/* Fifteen digits and a small exponent are two exact doubles and one operation, which rounds once
 * (Clinger 1990).  All other numbers are for strtod, as whole numbers with an exponent: so none needs
 * the point, which is another one in each locale. */
enum {
    EXACT_DIGITS = 15,
    WHOLE_DIGITS = 19,
    EXACT_POWER = 22,
    EXPONENT_DIGITS = 5,
    MAX_EXPONENT = 99999
};

typedef struct given_decimal {
    bool negative;
    char digits[REAL_DIGITS + EXPONENT_DIGITS + 3]; /* without zeros before them */
    unsigned count;
    int64_t exponent;
    uint64_t whole; /* the first WHOLE_DIGITS digits */
} given_decimal;

static bool add_digits(given_decimal *d, gufo_str digits)
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

static bool read_decimal(gufo_str text, given_decimal *d)
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
static bool read_whole(const given_decimal *d, unsigned most_digits, double *out)
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
static bool read_exactly(const given_decimal *d, double *out)
{
    return (FLT_EVAL_METHOD == 0 || d->count == 0) && read_whole(d, EXACT_DIGITS, out);
}

/* Far beyond the largest and the smallest double the exponent makes no difference. */
static double read_rounded(given_decimal *d)
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

static bool read_real(gufo_str text, bool twice_rounded, double *out)
{
    given_decimal d = {.count = 0};

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
    return read_real(text, false, out);
}

bool real_read_twice_rounded(gufo_str text, double *out)
{
    return read_real(text, true, out);
}
