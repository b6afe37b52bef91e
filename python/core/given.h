/* Metadata values that Python gives. */
#ifndef GUFO_PYTHON_GIVEN_H
#define GUFO_PYTHON_GIVEN_H

#include "core.h"

#include <gufo/document.h>

/* The bytes of an array.  Begins as {0}. */
typedef struct given_bytes {
    unsigned char *data;
    size_t len, room;
    Py_ssize_t place[8]; /* of the element that is read, by depth */
    Py_ssize_t depth;    /* of the one that does not fit; 0: none, or no array */
} given_bytes;

void given_free(given_bytes *bytes);

/* Reads an object as the value of a key, of a type: a tuple of value types, as (9, 8) for an array of strings.  Strings
 * are str, or any bytes; arrays are sequences, those of numbers also bytes in the order of this machine.  Texts
 * are views into the object; elements are in `bytes`.  False with an exception, TypeError, ValueError or
 * OverflowError, that names the key and the element: "general.tags[1]: 7 is not a text". */
bool given_value(gufo_str key, PyObject *types, PyObject *object, given_bytes *bytes,
                 gufo_value *out);

/* Sets entries of a document: a list of (key as bytes, types, value).  False with an exception. */
bool given_entries(PyObject *module, PyObject *list, gufo_document *document);

#endif
