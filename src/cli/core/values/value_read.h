/* Metadata values from text. */
#ifndef CLI_CORE_VALUES_VALUE_READ_H
#define CLI_CORE_VALUES_VALUE_READ_H

#include "gufo/format.h"

/* Reads text, digits with or without "-", as a number of the first of these types that is an
 * integer type and holds it.  False if none does. */
bool value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                        gufo_value *out);

/* Reads text as a number, bool or string of this type; false if it is not one.  Strings are views
 * of the text. */
bool value_read(gufo_value_type type, const char *text, gufo_value *out);

/* Whether the text is a decimal number, with or without fraction and exponent. */
bool value_is_decimal(const char *text);

#endif
