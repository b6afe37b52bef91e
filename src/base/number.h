/* Numbers as text, the shortest decimal that reads back to the same value; and back. */
#ifndef GUFO_BASE_NUMBER_H
#define GUFO_BASE_NUMBER_H

#include "gufo/base.h"

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
/* Writes the digits of a finite double as number_f64 finds them, without trailing zeros.  The decimal point
 * follows the first digit, and *exponent is the power of ten: "15" and -7 for -1.5e-7.  Returns the number of digits. */
size_t number_shortest(double value, char digits[NUMBER_SIZE], int *exponent);

/* Reads the digits at *text and moves past them.  False without digits, or with too many. */
bool number_read(const char **text, uint64_t *out);

enum { REAL_DIGITS = 320 }; /* those of longer numbers are too many */

/* The double that is nearest to a number as JSON writes it ("-1", "0.5", "2e-3"), which was checked, in
 * every locale; infinite if it is too large.  False: it has more than REAL_DIGITS digits. */
bool real_read(gufo_str text, double *out);

/* The same with two roundings, as readers have it that are content with nearly the nearest double (Rust's
 * serde_json): its digits, up to 19, to a double first, then that times or by a power of ten, up to 22.
 * Other numbers are read as real_read does. */
bool real_read_twice_rounded(gufo_str text, double *out);

#endif
