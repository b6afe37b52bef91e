/* Numbers as text, the shortest decimal that reads back to the same value; and back. */
#ifndef CLI_CORE_VALUES_NUMBER_H
#define CLI_CORE_VALUES_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for every number below and its terminator. */
#define NUMBER_SIZE 32

/* Write `value` into `out` (NUMBER_SIZE bytes) and return the length without the terminator.
 *
 * Floats: the fewest digits that read back to the same value in their own width, and of those the
 * closest one; "nan", "inf" and "-inf" where there are no digits.  Decimal exponents from -5 to 15
 * are written out (0.00001, 1000000000000000), all others as 1.5e-7.  Whole numbers have no ".0",
 * but negative zero is "-0.0", so that its sign survives readers that see an integer.
 * Independent of the locale. */
size_t number_f32(char *out, float value);
size_t number_f64(char *out, double value);
size_t number_u64(char *out, uint64_t value);
size_t number_i64(char *out, int64_t value);

/* Reads the digits at *text and moves past them.  False without digits, or with too many. */
bool number_read(const char **text, uint64_t *out);

#endif
