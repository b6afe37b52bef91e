/* Metadata values from text. */
#ifndef CLI_VALUE_READ_H
#define CLI_VALUE_READ_H

#include "gufo/format.h"

/* Whether an integer type holds a number that is `size` above or below zero; false for other
 * types. */
bool value_fits(gufo_value_type type, bool negative, uint64_t size);

/* Text as a number, bool or string of this type: false if it is none.  Strings are views of it. */
bool value_read(gufo_value_type type, const char *text, gufo_value *out);

/* Whether the text is a decimal number, with or without fraction and exponent. */
bool value_is_decimal(const char *text);

#endif
