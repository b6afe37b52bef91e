/* --set KEY=[TYPE:]VALUE: which type a value has.
 *
 *     TYPE:VALUE         that type
 *     an existing key    its type
 *     true, false        bool
 *     7, -7              uint32, int32; uint64, int64 if they do not fit
 *     0.5, 1e-5          float32
 *     anything else      string */
#include "cli/edit.h"

#include "base/checked.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers ------------------------------------------------------------------------------- */

/* What an integer type holds: how far below and above zero. */
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

/* Digits with or without "-". */
static bool read_integer(const char *text, bool *negative, uint64_t *size)
{
    const char *at = text + (*text == '-');

    *negative = *text == '-';
    *size = 0;
    if (*at == '\0')
        return false;
    for (; *at != '\0'; at++)
        if (!isdigit((unsigned char)*at) || !checked_mul(*size, 10, size) ||
            !checked_add(*size, (uint64_t)(*at - '0'), size))
            return false;
    return true;
}

static bool make_integer(gufo_value_type type, const char *text, gufo_value *out)
{
    bool negative;
    uint64_t size;

    if (!read_integer(text, &negative, &size))
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (ranges[i].type != type)
            continue;
        out->type = type;
        out->as.u = negative ? 0 - size : size; /* `as.i` has the same bits */
        return size <= (negative ? ranges[i].lowest : ranges[i].highest);
    }
    return false;
}

/* ---- other types ---------------------------------------------------------------------------- */

static const char *skip_digits(const char *at)
{
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

/* Whether the text is a decimal number: strtod takes more than that. */
static bool is_decimal(const char *text)
{
    const char *at = text + (*text == '-'), *digits = at, *fraction;

    at = skip_digits(at);
    fraction = at;
    if (*at == '.')
        at = skip_digits(at + 1);
    if (at - digits == (*fraction == '.')) /* nothing but the point */
        return false;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');

        at = skip_digits(exponent);
        if (at == exponent)
            return false;
    }
    return *at == '\0';
}

static bool is_named_number(const char *text)
{
    return strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
}

static bool make_float(gufo_value_type type, const char *text, gufo_value *out)
{
    bool named = is_named_number(text);

    if (!named && !is_decimal(text))
        return false;
    out->type = type;
    out->as.f = strtod(text, NULL);
    return named || !isinf(type == GUFO_VALUE_FLOAT32 ? (double)(float)out->as.f : out->as.f);
}

static bool make_bool(const char *text, gufo_value *out)
{
    *out = (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = strcmp(text, "true") == 0};
    return out->as.b || strcmp(text, "false") == 0;
}

bool edit_read_typed(gufo_value_type type, const char *text, gufo_value *out)
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
    default:
        return make_integer(type, text, out);
    }
}

/* ---- which type ----------------------------------------------------------------------------- */

/* The type that a new key gets. */
static gufo_value_type guess(const char *text)
{
    /* The first that holds the value. */
    static const gufo_value_type tried[] = {GUFO_VALUE_BOOL, GUFO_VALUE_UINT32, GUFO_VALUE_INT32,
                                            GUFO_VALUE_UINT64, GUFO_VALUE_INT64};
    gufo_value value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (edit_read_typed(tried[i], text, &value))
            return tried[i];
    if (is_decimal(text) && isfinite(strtod(text, NULL)))
        return GUFO_VALUE_FLOAT32;
    return GUFO_VALUE_STRING;
}

/* "TYPE:" at the beginning of the text; its length, 0 if there is none. */
static size_t type_prefix(const char *text, gufo_value_type *type)
{
    char name[16];
    const char *colon = strchr(text, ':');
    size_t len = colon != NULL ? (size_t)(colon - text) : sizeof name;

    if (len >= sizeof name)
        return 0;
    memcpy(name, text, len);
    name[len] = '\0';
    return gufo_value_type_by_name(name, type) ? len + 1 : 0;
}

edit_value_result edit_read_value(const char *text, const gufo_value *old, gufo_value *out,
                                  gufo_value_type *type)
{
    size_t prefix = type_prefix(text, type);

    if (prefix == 0)
        *type = old != NULL ? old->type : guess(text);
    if (*type == GUFO_VALUE_ARRAY)
        return EDIT_VALUE_ARRAY;
    return edit_read_typed(*type, text + prefix, out) ? EDIT_VALUE_GOOD : EDIT_VALUE_UNFIT;
}
