/* Metadata values from text. */
#ifndef CLI_CORE_VALUE_READ_H
#define CLI_CORE_VALUE_READ_H

#include "gufo/format.h"

/* Text as a number of the first of these types that is an integer type and holds it: digits with or
 * without "-".  False if there is none. */
bool value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                        gufo_value *out);

/* Text as a number, bool or string of this type: false if it is none.  Strings are views of it. */
bool value_read(gufo_value_type type, const char *text, gufo_value *out);

/* Whether the text is a decimal number, with or without fraction and exponent. */
bool value_is_decimal(const char *text);

#endif
