/* Metadata values that Python gives. */
#ifndef GUFO_PYTHON_GIVEN_H
#define GUFO_PYTHON_GIVEN_H

#include "core.h"

#include "gufo/format.h"

/* The bytes of an array.  Begins as {0}. */
typedef struct given_bytes {
    unsigned char *data;
    size_t len, room;
} given_bytes;

void given_free(given_bytes *bytes);

/* Reads an object as a value of a type: a tuple of value types, as (9, 8) for an array of strings.  Strings
 * are str, or any bytes; arrays are sequences, those of numbers also bytes in the order of this machine.  Texts
 * are views into the object; elements are in `bytes`.  False with an exception: TypeError, OverflowError. */
bool given_value(PyObject *types, PyObject *object, given_bytes *bytes, gufo_value *out);

#endif
