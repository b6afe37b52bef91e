/* Numbers: their texts, and arithmetic as Python does it. */
#ifndef TEMPLATE_NUMBER_H
#define TEMPLATE_NUMBER_H

#include "gufo/base.h"

/* Room for what number_write_real writes. */
enum { NUMBER_ROOM = 40 };

/* Reads an integer in a base from 2 to 36; base 0: as its prefix says (0x, 0o, 0b), else 10.  It may
 * have a sign.  False if it is none, or 64 bits do not hold it. */
bool number_parse(gufo_str text, int base, int64_t *out);
/* Reads a float, with digits and perhaps a sign and an exponent. */
bool number_read_real(gufo_str text, double *out);
/* The shortest text that reads as this number, as repr gives it; returns its length. */
size_t number_write_real(double number, char out[NUMBER_ROOM]);
/* What printf gives for a float, with a point in every locale.  `out` has `room` bytes. */
size_t number_print_real(char *out, size_t room, char conversion, int precision, bool alternate,
                         double number);
/* Digits of a number in a base; returns their count, at most 64. */
size_t number_digits(uint64_t number, unsigned base, bool upper, char out[64]);

#endif
