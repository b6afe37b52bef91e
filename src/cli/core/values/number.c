/* Numbers as text, and back. */
#include "base/checked.h"
#include "base/text.h"
#include "cli/core/values/number.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- floats ---------------------------------------------------------------------------------- */

/* The shortest text of a float.
 *
 * A float represents all reals between the midpoints to its neighbours; any decimal in there reads
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

/* ---- digits, the slow way ------------------------------------------------------------------- */

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

/* ---- digits, the fast way ------------------------------------------------------------------- */

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

/* ---- text ----------------------------------------------------------------------------------- */

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

static char *put_decimal(char *to, decimal d)
{
    char digits[NUMBER_SIZE];
    int count, exponent;

    for (; d.digits % 10 == 0; d.digits /= 10)
        d.scale++;
    count = (int)number_u64(digits, d.digits);
    exponent = d.scale + count - 1;
    if (exponent >= -5 && exponent <= 15)
        return put_positional(to, digits, count, exponent + 1);
    to = put_positional(to, digits, count, 1);
    *to++ = 'e';
    return to + number_i64(to, exponent);
}

static size_t put_word(char *out, const char *word)
{
    size_t len = strlen(word);

    memcpy(out, word, len + 1);
    return len;
}

static size_t number_float(char *out, double value, const float_width *width)
{
    char *to = out;
    double size = fabs(value);
    decimal d;

    if (isnan(value))
        return put_word(out, "nan");
    if (isinf(value))
        return put_word(out, value < 0 ? "-inf" : "inf");
    if (size == 0)
        return put_word(out, signbit(value) ? "-0.0" : "0");
    /* Below 2^mantissa every whole number is a float, and no shorter decimal than itself is near.
     */
    if (size == floor(size) && size < (width->single ? 0x1p24 : 0x1p53))
        return number_i64(out, (int64_t)value);
    if (!width->single || !shortest_fast(size, &d))
        d = shortest_slow(size, width);
    if (signbit(value))
        *to++ = '-';
    to = put_decimal(to, d);
    *to = '\0';
    return (size_t)(to - out);
}

size_t number_f32(char *out, float value)
{
    return number_float(out, (double)value, &float32_width);
}

size_t number_f64(char *out, double value)
{
    return number_float(out, value, &float64_width);
}

size_t number_u64(char *out, uint64_t value)
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

size_t number_i64(char *out, int64_t value)
{
    if (value >= 0)
        return number_u64(out, (uint64_t)value);
    out[0] = '-';
    return 1 + number_u64(out + 1, 0 - (uint64_t)value);
}

bool number_read(const char **text, uint64_t *out)
{
    const char *at = *text;

    *out = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (!checked_mul(*out, 10, out) || !checked_add(*out, (uint64_t)(*at - '0'), out))
            return false;
    if (at == *text)
        return false;
    *text = at;
    return true;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Moves past a unit; 1 without a unit. */
static uint64_t read_unit(const char **text, bool binary)
{
    static const char letters[] = "KMGT";
    const char *letter = memchr(letters, toupper((unsigned char)**text), sizeof letters - 1);
    uint64_t factor = 1, step;

    if (letter != NULL) {
        ++*text;
        binary |= tolower((unsigned char)**text) == 'i';
        *text += tolower((unsigned char)**text) == 'i';
        step = binary ? 1024 : 1000;
        for (const char *each = letters; each <= letter; each++)
            factor *= step;
    }
    *text += toupper((unsigned char)**text) == 'B';
    return factor;
}

/* ".25" is 25 of 100; false if there are too many digits. */
static bool read_decimals(const char **text, uint64_t *part, uint64_t *whole)
{
    const char *at = *text + 1;

    *part = 0;
    *whole = 1;
    if (**text != '.')
        return true;
    for (; isdigit((unsigned char)*at) && *whole < 1000000; at++, *whole *= 10)
        *part = *part * 10 + (uint64_t)(*at - '0');
    *text = at;
    return *whole > 1;
}

static bool read_size(const char *text, bool binary, uint64_t *out)
{
    uint64_t number, part, whole, factor, bytes;

    if (!number_read(&text, &number) || !read_decimals(&text, &part, &whole))
        return false;
    factor = read_unit(&text, binary);
    if (*text != '\0' || (whole > 1 && factor == 1) || !checked_mul(number, factor, &bytes))
        return false;
    return checked_add(bytes, part * factor / whole, out); /* below 10^6 times 2^40 */
}

bool size_read(const char *text, uint64_t *out)
{
    return read_size(text, false, out);
}

bool size_read_memory(const char *text, uint64_t *out)
{
    return read_size(text, true, out);
}

const char *size_likely_unit(const char *text)
{
    uint64_t number;

    if (!number_read(&text, &number) || *text != '\0' || number == 0 || number >= 1 << 20)
        return NULL;
    return number <= 1024 ? "G" : "M";
}

/* ---- for people ------------------------------------------------------------------------------ */

human_text human_grouped(uint64_t value)
{
    human_text h;

    (void)str_group(h.text, value);
    return h;
}

/* Divides by `step` until the number is below it, and gives it the unit of that; the first unit is that
 * of 1.  `half` is half of the last digit that is shown: 999.6 K would round up to 1000 K, and is 1.00 M
 * instead. */
static human_text in_units(uint64_t value, double step, double half, const char *const *units)
{
    double scaled = (double)value;
    human_text h;
    size_t first = value != 1, unit = first;
    int decimals = 1;

    for (; scaled >= step - half && units[unit + 1] != NULL; unit++)
        scaled /= step;
    if (step == 1000) /* three digits that count */
        decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(h.text, sizeof h.text, "%.*f%s", unit == first ? 0 : decimals, scaled, units[unit]);
    return h;
}

human_text human_count(uint64_t value)
{
    static const char *const units[] = {"", "", " K", " M", " B", " T", " Q", NULL};

    return in_units(value, 1000, 0.5, units);
}

human_text human_memory(uint64_t value)
{
    static const char *const units[] = {" byte", " bytes", " KiB", " MiB", " GiB",
                                        " TiB",  " PiB",   " EiB", NULL};

    return in_units(value, 1024, 0.05, units);
}

human_text human_file_size(uint64_t value)
{
    static const char *const units[] = {" byte", " bytes", " KB", " MB", " GB",
                                        " TB",   " PB",    " EB", NULL};

    return in_units(value, 1000, 0.5, units);
}

human_text human_counted(uint64_t count, const char *one, const char *many)
{
    human_text h = human_grouped(count);
    size_t len = strlen(h.text);

    snprintf(h.text + len, sizeof h.text - len, " %s", count == 1 ? one : many);
    return h;
}
