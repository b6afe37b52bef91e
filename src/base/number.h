/* Numbers as text, the shortest decimal that reads back to the same value; and back. */
#ifndef GUFO_BASE_NUMBER_H
#define GUFO_BASE_NUMBER_H

#include "gufo/print.h"

/* Writes the digits of a finite double as gufo_number_f64 finds them, without trailing zeros.  The decimal point
 * follows the first digit, and *exponent is the power of ten: "15" and -7 for -1.5e-7.  Returns the number of digits. */
size_t number_shortest(double value, char digits[GUFO_NUMBER_SIZE], int *exponent);

enum { REAL_DIGITS = 320 }; /* those of longer numbers are too many */

/* The double that is nearest to a number as JSON writes it ("-1", "0.5", "2e-3"), which was checked, in
 * every locale; infinite if it is too large.  False: it has more than REAL_DIGITS digits. */
bool real_read(gufo_str text, double *out);

/* The same with two roundings, as readers have it that are content with nearly the nearest double (Rust's
 * serde_json): its digits, up to 19, to a double first, then that times or by a power of ten, up to 22.
 * Other numbers are read as real_read does. */
bool real_read_twice_rounded(gufo_str text, double *out);

#endif
