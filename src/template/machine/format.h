/* Texts that are made by a format: '%s' % x, '{}'.format(x). */
#ifndef TEMPLATE_FORMAT_H
#define TEMPLATE_FORMAT_H

#include "template/machine/machine.h"

/* format % given: a tuple gives several values, a dict those that are named. */
value format_percent(machine *m, const string *format, value given);
/* format.format(...): arguments by position and by name. */
value format_braces(machine *m, const string *format, const arguments *in);

/* How a value is written. */
typedef struct field {
    gufo_str fill;     /* one character; empty: a blank */
    char align;        /* < > ^ = or 0 */
    char sign;         /* + - or a blank, or 0 */
    bool alternate;    /* # */
    bool zero;         /* 0 before the width */
    char group;        /* , or _, or 0 */
    int64_t width;     /* at least; 0: none */
    int64_t precision; /* -1: none */
    char type;         /* d, x, f ..., or 0 */
} field;

enum { FIELD_LARGEST = 1000 }; /* precision of a number, at most */

/* Write a value as its field says: an integer of any size, a float, a text. */
bool field_integer(machine *m, const field *f, value integer);
bool field_real(machine *m, const field *f, double real);
bool field_text(machine *m, const field *f, gufo_str text);

/* Reads digits at *at, past which it goes; false if the number is too large. */
bool field_number(machine *m, gufo_str format, size_t *at, int64_t *out);

#endif
