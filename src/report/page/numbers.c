/* Numbers as texts. */
#include "report/page/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

number_text as_grouped(uint64_t value)
{
    number_text n;

    (void)gufo_number_grouped(n.text, value);
    return n;
}

number_text as_counted(uint64_t value, const char *one, const char *many)
{
    number_text n = as_grouped(value);
    size_t len = strlen(n.text);

    (void)snprintf(n.text + len, sizeof n.text - len, " %s", value == 1 ? one : many);
    return n;
}

number_text as_bytes(uint64_t value)
{
    return as_counted(value, "byte", "bytes");
}

number_text as_memory(uint64_t value)
{
    number_text n;

    (void)gufo_number_memory(n.text, value);
    return n;
}

number_text as_short(uint64_t value)
{
    number_text n;

    (void)gufo_number_count(n.text, value);
    return n;
}

number_text as_fixed(double value, unsigned decimals)
{
    number_text n;

    (void)gufo_number_fixed(n.text, value, decimals);
    return n;
}

number_text as_share(double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : 0;
    number_text n = as_fixed(percent, percent >= 9.95 || percent == 0 ? 0
                                      : percent >= 0.095              ? 1
                                                                      : 2);

    if (percent > 0 && percent < 0.005)
        return (number_text){"under 0.01 %"};
    (void)strcat(n.text, " %");
    return n;
}

static void drop_zeros(char *text)
{
    char *end = text + strlen(text);

    if (strchr(text, '.') == NULL)
        return;
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    *end = '\0';
}

/* A power of ten below 1e-308 is 0, or has lost digits. */
static double mantissa_of(double value, int exponent)
{
    return exponent < -300 ? value * 1e300 / pow(10, exponent + 300) : value / pow(10, exponent);
}

number_text as_measured(double value)
{
    int exponent = value != 0 && isfinite(value) ? (int)floor(log10(fabs(value))) : 0;
    number_text n;
    size_t len;

    if (exponent >= -5 && exponent < 9) {
        n = as_fixed(value, exponent > 1 ? 0 : (unsigned)(2 - exponent));
        drop_zeros(n.text);
        return n;
    }
    value = mantissa_of(value, exponent);
    if (fabs(value) >= 9.995) { /* is written as 10 */
        value /= 10;
        exponent++;
    }
    n = as_fixed(value, 2);
    drop_zeros(n.text);
    len = strlen(n.text);
    (void)snprintf(n.text + len, sizeof n.text - len, "e%d", exponent);
    return n;
}

uint64_t whole_of(double value)
{
    if (!(value > 0))
        return 0;
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

/* There are thousands of them: by hand. */
number_text as_place(double value)
{
    number_text n;
    char *out = n.text;
    uint64_t hundredths;
    size_t len;

    if (!(value > -1e9 && value < 1e9))
        value = 0;
    hundredths = (uint64_t)(fabs(value) * 100 + 0.5);
    if (value < 0 && hundredths > 0)
        *out++ = '-';
    len = gufo_number_u64(out, hundredths / 100);
    if (hundredths % 100 != 0) {
        out[len++] = '.';
        out[len++] = (char)('0' + hundredths % 100 / 10);
        if (hundredths % 10 != 0)
            out[len++] = (char)('0' + hundredths % 10);
        out[len] = '\0';
    }
    return n;
}
