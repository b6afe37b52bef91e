/* Values from text. */
#include "base/number.h"
#include "gufo/value.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers -------------------------------------------------------------------------------- */

/* The range of an integer type: how far below and above zero. */
static const struct {
    gufo_value_type type;
    uint64_t lowest, highest;
} ranges[] = {
    {GUFO_VALUE_UINT8, 0, UINT8_MAX},
    {GUFO_VALUE_UINT16, 0, UINT16_MAX},
    {GUFO_VALUE_UINT32, 0, UINT32_MAX},
    {GUFO_VALUE_UINT64, 0, UINT64_MAX},
    {GUFO_VALUE_INT8, (uint64_t)INT8_MAX + 1, INT8_MAX},
    {GUFO_VALUE_INT16, (uint64_t)INT16_MAX + 1, INT16_MAX},
    {GUFO_VALUE_INT32, (uint64_t)INT32_MAX + 1, INT32_MAX},
    {GUFO_VALUE_INT64, (uint64_t)INT64_MAX + 1, INT64_MAX},
};

/* False for types that are not integer types. */
static bool integer_fits(gufo_value_type type, bool negative, uint64_t size)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].type == type)
            return size <= (negative ? ranges[i].lowest : ranges[i].highest);
    return false;
}

bool gufo_value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                             gufo_value *out)
{
    bool negative = *text == '-';
    const char *at = text + negative;
    uint64_t size;

    if (!gufo_number_read(&at, &size) || *at != '\0')
        return false;
    out->as.u = negative ? 0 - size : size; /* `as.i` has the same bits */
    for (size_t i = 0; i < count; i++) {
        out->type = types[i];
        if (integer_fits(types[i], negative, size))
            return true;
    }
    return false;
}

/* ---- other types ----------------------------------------------------------------------------- */

/* strtod accepts more. */
bool gufo_value_is_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, digits), fraction = 0, exponent;

    at += whole;
    if (*at == '.') {
        fraction = strspn(at + 1, digits);
        at += 1 + fraction;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        exponent = strspn(at, digits);
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return *at == '\0' && whole + fraction > 0;
}

static bool is_named_number(const char *text)
{
    return strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
}

/* More digits than real_read takes are for strtod, which wants the point of the thread's locale. */
static double read_long(const char *text)
{
    locale_t own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(own);
    double value = strtod(text, NULL);

    (void)uselocale(before);
    if (own != (locale_t)0)
        freelocale(own);
    return value;
}

/* A decimal, in every locale. */
static double read_decimal(const char *text)
{
    double value;

    return real_read(gufo_str_of(text), &value) ? value : read_long(text);
}

static bool make_float(gufo_value_type type, const char *text, gufo_value *out)
{
    bool named = is_named_number(text);
    double value;

    if (!named && !gufo_value_is_decimal(text))
        return false;
    value = named ? strtod(text, NULL) : read_decimal(text);
    out->type = type;
    out->as.f = type == GUFO_VALUE_FLOAT32 ? (double)(float)value : value;
    return named || !isinf(out->as.f);
}

static bool make_bool(const char *text, gufo_value *out)
{
    *out = (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = strcmp(text, "true") == 0};
    return out->as.b || strcmp(text, "false") == 0;
}

bool gufo_value_read(gufo_value_type type, const char *text, gufo_value *out)
{
    switch (type) {
    case GUFO_VALUE_STRING:
        *out = (gufo_value){.type = type, .as.str = gufo_str_of(text)};
        return true;
    case GUFO_VALUE_BOOL:
        return make_bool(text, out);
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return make_float(type, text, out);
    case GUFO_VALUE_ARRAY:
        return false;
    default:
        return gufo_value_read_integer(&type, 1, text, out);
    }
}

gufo_value_type gufo_value_guess(const char *text)
{
    /* The first that holds the value. */
    static const gufo_value_type tried[] = {GUFO_VALUE_BOOL, GUFO_VALUE_UINT32, GUFO_VALUE_INT32,
                                            GUFO_VALUE_UINT64, GUFO_VALUE_INT64};
    gufo_value value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (gufo_value_read(tried[i], text, &value))
            return tried[i];
    if (gufo_value_is_decimal(text) && isfinite(read_decimal(text)))
        return GUFO_VALUE_FLOAT32;
    return GUFO_VALUE_STRING;
}
