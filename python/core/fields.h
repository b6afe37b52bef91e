/* Structs of the library as dicts, by tables. */
#ifndef GUFO_PYTHON_FIELDS_H
#define GUFO_PYTHON_FIELDS_H

#include "core.h"

#include <stddef.h>

typedef enum field_kind {
    FIELD_BOOL = 1, /* bool */
    FIELD_UINT,     /* unsigned, and enums */
    FIELD_U32,      /* uint32_t */
    FIELD_U64,      /* uint64_t; GUFO_NO_OFFSET is None */
    FIELD_F32,      /* float */
    FIELD_F64,      /* double */
    FIELD_TEXT,     /* const char *: str, or bytes of a path; NULL is None */
    FIELD_BYTES,    /* gufo_str: bytes; an option may be str */
    FIELD_TYPE,     /* const gufo_element_type *: its name; NULL is None */
    FIELD_TYPE_ID,  /* uint32_t: the name of the type, or the number */
} field_kind;

/* A row of a table, which ends with {0}. */
typedef struct field {
    const char *name;
    field_kind kind;
    size_t at; /* offsetof */
} field;

/* A new dict with these fields of a struct; NULL with an exception. */
PyObject *fields_dict(const field *fields, const void *record);
/* Adds a dict of fields to a list.  0, or -1 with an exception. */
int fields_append(PyObject *list, const field *fields, const void *record);
/* Sets the fields that a dict has in a struct; those that are None stay as they are.  Texts are views into
 * the objects of the dict.  0, or -1 with an exception. */
int fields_read(PyObject *options, const field *fields, void *record);

/* The list or dict of this name in a dict, and zeros for its elements, which the caller frees (PyMem_Free);
 * *count is 0 without one.  False with an exception. */
bool fields_list(PyObject *options, const char *name, size_t size, PyObject **list, size_t *count,
                 void **elements);

/* These take over `value`, a new reference, which may be NULL with an exception.  0, or -1 with one. */
int fields_add(PyObject *list, PyObject *value);
int fields_set(PyObject *dict, const char *name, PyObject *value);

/* The text of a str, or of bytes, which is a view of it; false with an exception, for one with a NUL, too. */
bool fields_text(PyObject *value, const char **out);

/* The name of an element type, or its number; a new reference. */
PyObject *fields_type_name(uint32_t id);
/* The type with this name; NULL with a ValueError. */
const gufo_element_type *fields_type(PyObject *name);

#endif
