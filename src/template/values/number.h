/* Numbers: their texts, and arithmetic as Python does it. */
#ifndef TEMPLATE_NUMBER_H
#define TEMPLATE_NUMBER_H

#include "gufo/base.h"

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
/* The value of a digit, and the other way round: bases up to 36. */
unsigned number_digit(char c);
char number_letter(unsigned digit, bool upper);
/* Reads a float, with digits and perhaps a sign and an exponent. */
bool number_read_real(gufo_str text, double *out);
/* The shortest text that reads as this number, as repr gives it; returns its length. */
size_t number_write_real(double number, char out[NUMBER_ROOM]);
/* What printf gives for a float, with a point in every locale.  `out` has `room` bytes. */
size_t number_print_real(char *out, size_t room, char conversion, int precision, bool alternate,
                         double number);

#endif
