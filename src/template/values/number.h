/* Numbers: their texts, and arithmetic as Python does it. */
#ifndef TEMPLATE_NUMBER_H
#define TEMPLATE_NUMBER_H

#include "gufo/base.h"
#include "template/values/value.h"

/* Room for what number_write_real writes. */
enum { NUMBER_ROOM = 40 };

/* The text of an integer, taken apart. */
typedef struct number_text {
    bool negative;
    unsigned base;
    gufo_str digits; /* with a _ between some of them */
    size_t count;    /* of the digits alone */
} number_text;

/* Whether a text is an integer in a base from 2 to 36; base 0: as its prefix says (0x, 0o, 0b), else
 * 10.  It may have a sign. */
bool number_scan(gufo_str text, int base, number_text *out);
/* Reads one; false also if 64 bits do not hold it. */
bool number_parse(gufo_str text, int base, int64_t *out);
/* Reads a float, with digits and perhaps a sign and an exponent. */
bool number_read_real(gufo_str text, double *out);
/* The shortest text that reads as this number, as repr gives it; returns its length. */
size_t number_write_real(double number, char out[NUMBER_ROOM]);
/* What printf gives for a float, with a point in every locale.  `out` has `room` bytes. */
size_t number_print_real(char *out, size_t room, char conversion, int precision, bool alternate,
                         double number);

/* ==== integer.c =========================================================================== */

/* Integers of any size, with the exact arithmetic of Python's.
 *
 * What 64 bits hold is a VALUE_INT, everything else a VALUE_BIG: each integer has one form.  These
 * functions take and give both, and take a bool for 0 or 1.  Methods are those of school: the caller
 * counts integer_work() steps first, and so bounds them. */

/* Digits that are read and written at most: Python's own limit (since 3.11). */
enum { INTEGER_DIGITS = 4300 };

/* Steps that multiplying, dividing or comparing both takes at most, or writing one (given twice). */
uint64_t integer_work(value a, value b);
/* Bits of the size; 0 has none. */
uint64_t integer_bits(value v);
/* -1, 0 or 1. */
int integer_sign(value v);

/* FAILED without memory. */
value integer_add(heap *memory, value a, value b);
value integer_subtract(heap *memory, value a, value b);
value integer_multiply(heap *memory, value a, value b);
/* The quotient, rounded down, and the rest, which has the sign of b; b is not 0. */
value integer_divide(heap *memory, value a, value b, value *rest);

/* The float that is nearest to a number: infinite where it is too large. */
double integer_real(value v);
/* The float that is nearest to a / b (b is not 0), in *out: infinite where it is too large.  False
 * without memory. */
bool integer_ratio(heap *memory, value a, value b, double *out);
/* A finite float without what is behind its point. */
value integer_of_real(heap *memory, double real);

/* Numbers of both kinds, of any size, exactly: nothing is rounded to be compared.  Those that are equal
 * hash equal; NaN is not equal to, nor before, any. */
uint64_t number_hash(hash_key key, value v);
bool number_equal(value a, value b);
bool number_before(value a, value b);

/* Reads an integer of any size as number_parse does.  ABSENT: it is none, or has too many digits. */
value integer_read(heap *memory, gufo_str text, int base);
/* The digits of the size in a base, as a string; FAILED also where they are too many. */
value integer_digits(heap *memory, value v, unsigned base, bool upper);

#endif
