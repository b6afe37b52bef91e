/* --set KEY=[TYPE:]VALUE: which type a value has.
 *
 *     TYPE:VALUE         that type
 *     an existing key    its type
 *     true, false        bool
 *     7, -7              uint32, int32; uint64, int64 if they do not fit
 *     0.5, 1e-5          float32
 *     anything else      string */
#include "cli/edit.h"

#include "cli/value_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The type that a new key gets. */
static gufo_value_type guess(const char *text)
{
    /* The first that holds the value. */
    static const gufo_value_type tried[] = {GUFO_VALUE_BOOL, GUFO_VALUE_UINT32, GUFO_VALUE_INT32,
                                            GUFO_VALUE_UINT64, GUFO_VALUE_INT64};
    gufo_value value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (value_read(tried[i], text, &value))
            return tried[i];
    if (value_is_decimal(text) && isfinite(strtod(text, NULL)))
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
    return value_read(*type, text + prefix, out) ? EDIT_VALUE_GOOD : EDIT_VALUE_UNFIT;
}
