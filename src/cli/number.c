/* Shortest text for floats.
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
 * Numbers of a moderate size are m * 2^e with so few bits that candidates and midpoints are exact
 * in 128-bit integers.  The others go through printf and strtod, which are exact too, but slow. */
#include "cli/number.h"

#include "base/checked.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 17

/* 0.DIGITS * 10^(exponent + 1): `exponent` is that of the first digit. */
typedef struct decimal {
    char digits[MAX_DIGITS + 3]; /* rounding up may give one more */
    int count;
    int exponent;
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
static void round_to_digits(double value, int count, decimal *d)
{
    char text[64];
    const char *at = text;

    snprintf(text, sizeof text, "%.*e", count - 1, value);
    for (d->count = 0; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            d->digits[d->count++] = *at;
    d->digits[d->count] = '\0';
    d->exponent = (int)strtol(at + 1, NULL, 10);
}

static bool reads_back(const decimal *d, double value, const float_width *width)
{
    char text[64];

    /* No decimal point, so that the locale has no say. */
    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - (d->count - 1));
    if (width->single)
        return strtof(text, NULL) == (float)value;
    return strtod(text, NULL) == value;
}

/* The next decimal above, with as many digits. */
static void increment(decimal *d)
{
    int at = d->count - 1;

    while (at >= 0 && d->digits[at] == '9')
        d->digits[at--] = '0';
    if (at >= 0) {
        d->digits[at]++;
    } else {
        d->digits[0] = '1';
        d->exponent++;
    }
}

static void shortest_slow(double value, int first, const float_width *width, decimal *d)
{
    int ignored;
    bool power_of_two = frexp(value, &ignored) == 0.5;

    for (int count = first; count <= width->most_digits; count++) {
        round_to_digits(value, count, d);
        if (reads_back(d, value, width))
            return;
        if (power_of_two) {
            increment(d);
            if (reads_back(d, value, width))
                return;
        }
    }
}

/* ---- digits, the fast way ------------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

/* value = mantissa * 2^-shift; every number in the comparisons below stays under 2^127. */
typedef struct scaled {
    uint64_t mantissa;
    int shift;
} scaled;

#define FAST_SMALLEST 0x1p-16
#define FAST_LARGEST 0x1p53
#define POWERS 23

static wide power_of_ten(int exponent)
{
    wide power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Whether `digits` * 10^-decimals is in the interval of `v`.  Both sides are multiplied by
 * 10^decimals * 2^(shift + 2), so that midpoints are whole: a neighbour is 4 units of the power of
 * ten away, a midpoint 2, and 1 below a power of two.  A midpoint belongs to the even mantissa. */
static bool inside(uint64_t digits, scaled v, wide power, bool power_of_two)
{
    wide candidate = (wide)digits << (v.shift + 2);
    wide center = (wide)v.mantissa * power << 2;
    bool even = (v.mantissa & 1) == 0;

    if (candidate >= center)
        return candidate - center < 2 * power || (even && candidate - center == 2 * power);
    wide below = power_of_two ? power : 2 * power;

    return center - candidate < below || (even && center - candidate == below);
}

/* The whole number nearest to v * 10^decimals; halves go to the even one. */
static uint64_t nearest(scaled v, wide power)
{
    wide product = (wide)v.mantissa * power;
    uint64_t whole = (uint64_t)(product >> v.shift);
    wide rest = product - ((wide)whole << v.shift);
    wide half = v.shift > 0 ? (wide)1 << (v.shift - 1) : 1;

    if (v.shift > 0 && (rest > half || (rest == half && (whole & 1) != 0)))
        whole++;
    return whole;
}

static int decimal_exponent(scaled v)
{
    wide one = (wide)1 << v.shift;
    int exponent = 0;

    while ((wide)v.mantissa >= one * 10) {
        one *= 10;
        exponent++;
    }
    for (wide m = v.mantissa; m < one; m *= 10)
        exponent--;
    return exponent;
}

static void set_digits(uint64_t digits, int exponent, int count, decimal *d)
{
    d->count = snprintf(d->digits, sizeof d->digits, "%llu", (unsigned long long)digits);
    d->exponent = exponent + d->count - count; /* rounding up may have made one digit more */
}

/* False if the numbers would not fit: then the slow way has to do. */
static bool shortest_fast(double value, const float_width *width, decimal *d)
{
    int bits = width->single ? FLT_MANT_DIG : DBL_MANT_DIG;
    int binary_exponent;
    double fraction = frexp(value, &binary_exponent);
    scaled v = {(uint64_t)ldexp(fraction, bits), bits - binary_exponent};

    if (value < FAST_SMALLEST || value >= FAST_LARGEST || v.shift < 0)
        return false;
    int exponent = decimal_exponent(v);

    for (int count = width->sure_digits; count <= width->most_digits; count++) {
        int decimals = count - 1 - exponent;
        if (decimals < 0 || decimals >= POWERS)
            return false;
        wide power = power_of_ten(decimals);
        uint64_t digits = nearest(v, power);

        if (!inside(digits, v, power, fraction == 0.5)) {
            if (fraction != 0.5 || !inside(++digits, v, power, true))
                continue;
        }
        set_digits(digits, exponent, count, d);
        return true;
    }
    return false;
}

#else /* machines of 32 bits */

static bool shortest_fast(double value, const float_width *width, decimal *d)
{
    (void)value, (void)width, (void)d;
    return false;
}

#endif

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

static char *put_positional(char *to, const decimal *d)
{
    int whole = d->exponent + 1; /* digits before the point */

    if (whole <= 0) {
        to = put_digits(to, "0.", 2);
        to = put_zeros(to, -whole);
        return put_digits(to, d->digits, d->count);
    }
    if (d->count <= whole) {
        to = put_digits(to, d->digits, d->count);
        return put_zeros(to, whole - d->count);
    }
    to = put_digits(to, d->digits, whole);
    *to++ = '.';
    return put_digits(to, d->digits + whole, d->count - whole);
}

static char *put_exponential(char *to, const decimal *d)
{
    *to++ = d->digits[0];
    if (d->count > 1) {
        *to++ = '.';
        to = put_digits(to, d->digits + 1, d->count - 1);
    }
    *to++ = 'e';
    return to + number_i64(to, d->exponent);
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
    if (!shortest_fast(size, width, &d))
        shortest_slow(size, size < width->smallest_normal ? 1 : width->sure_digits, width, &d);
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    if (signbit(value))
        *to++ = '-';
    to = d.exponent >= -5 && d.exponent <= 15 ? put_positional(to, &d) : put_exponential(to, &d);
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
