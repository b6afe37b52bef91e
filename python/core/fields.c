/* Structs of the library as dicts. */
#include "fields.h"

#include <limits.h>
#include <string.h>

/* ---- lists and dicts ------------------------------------------------------------------------ */

int fields_add(PyObject *list, PyObject *value)
{
    const int result = value != NULL ? PyList_Append(list, value) : -1;

    Py_XDECREF(value);
    return result;
}

int fields_set(PyObject *dict, const char *name, PyObject *value)
{
    const int result = value != NULL ? PyDict_SetItemString(dict, name, value) : -1;

    Py_XDECREF(value);
    return result;
}

/* ---- texts ---------------------------------------------------------------------------------- */

bool fields_text(PyObject *value, const char **out)
{
    Py_ssize_t size;

    if (PyBytes_Check(value))
        return PyBytes_AsStringAndSize(value, (char **)out, NULL) == 0; /* refuses NUL */
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%.100R is not a text", value);
        return false;
    }
    *out = PyUnicode_AsUTF8AndSize(value, &size);
    if (*out != NULL && strlen(*out) != (size_t)size)
        PyErr_SetString(PyExc_ValueError, "embedded null character");
    return *out != NULL && strlen(*out) == (size_t)size;
}

/* ---- element types -------------------------------------------------------------------------- */

PyObject *fields_type_name(uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);

    return type != NULL ? PyUnicode_FromString(type->name) : PyLong_FromUnsignedLong(id);
}

const gufo_element_type *fields_type(PyObject *name)
{
    const char *text;
    const gufo_element_type *type = NULL;

    if (fields_text(name, &text) && (type = gufo_element_type_by_name(text)) == NULL)
        PyErr_Format(PyExc_ValueError, "%R is not an element type", name);
    return type;
}

/* ---- reading a struct ----------------------------------------------------------------------- */

static PyObject *text_object(const char *text)
{
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace")
                        : Py_NewRef(Py_None);
}

static PyObject *u64_object(uint64_t number)
{
    return number != GUFO_NO_OFFSET ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static PyObject *type_object(const gufo_element_type *type)
{
    return type != NULL ? PyUnicode_FromString(type->name) : Py_NewRef(Py_None);
}

static PyObject *member(const field *f, const void *record)
{
    const void *at = (const char *)record + f->at;

    switch (f->kind) {
    case FIELD_BOOL:
        return PyBool_FromLong(*(const bool *)at);
    case FIELD_UINT:
        return PyLong_FromUnsignedLong(*(const unsigned *)at);
    case FIELD_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)at);
    case FIELD_U64:
        return u64_object(*(const uint64_t *)at);
    case FIELD_F32:
        return PyFloat_FromDouble((double)*(const float *)at);
    case FIELD_F64:
        return PyFloat_FromDouble(*(const double *)at);
    case FIELD_TEXT:
        return text_object(*(const char *const *)at);
    case FIELD_BYTES:
        return PyBytes_FromStringAndSize(((const gufo_str *)at)->data,
                                         (Py_ssize_t)((const gufo_str *)at)->len);
    case FIELD_TYPE:
        return type_object(*(const gufo_element_type *const *)at);
    case FIELD_TYPE_ID:
        return fields_type_name(*(const uint32_t *)at);
    }
    return NULL;
}

PyObject *fields_dict(const field *fields, const void *record)
{
    PyObject *dict = PyDict_New();
    bool good = dict != NULL;

    for (const field *f = fields; good && f->name != NULL; f++)
        good = fields_set(dict, f->name, member(f, record)) == 0;
    if (!good)
        Py_CLEAR(dict);
    return dict;
}

int fields_append(PyObject *list, const field *fields, const void *record)
{
    return fields_add(list, fields_dict(fields, record));
}

/* ---- filling a struct ----------------------------------------------------------------------- */

static bool read_bytes(PyObject *value, gufo_str *out)
{
    Py_ssize_t size;

    if (PyBytes_Check(value)) {
        *out = (gufo_str){PyBytes_AsString(value), (size_t)PyBytes_Size(value)};
        return true;
    }
    out->data = PyUnicode_AsUTF8AndSize(value, &size);
    out->len = out->data != NULL ? (size_t)size : 0;
    return out->data != NULL;
}

static bool read_unsigned(PyObject *value, uint64_t most, uint64_t *out)
{
    *out = PyLong_AsUnsignedLongLong(value);
    if (*out == UINT64_MAX && PyErr_Occurred())
        return false;
    if (*out > most)
        PyErr_SetString(PyExc_OverflowError, "the number is too large");
    return *out <= most;
}

static bool read_unsigned_int(PyObject *value, unsigned *out)
{
    uint64_t number;
    const bool good = read_unsigned(value, UINT_MAX, &number);

    *out = good ? (unsigned)number : 0;
    return good;
}

static bool read_u32(PyObject *value, uint32_t *out)
{
    uint64_t number;
    const bool good = read_unsigned(value, UINT32_MAX, &number);

    *out = good ? (uint32_t)number : 0;
    return good;
}

static bool read_double(PyObject *value, double *out)
{
    *out = PyFloat_AsDouble(value);
    return !(*out == -1.0 && PyErr_Occurred());
}

static bool read_bool(PyObject *value, bool *out)
{
    const int truth = PyObject_IsTrue(value);

    *out = truth > 0;
    return truth >= 0;
}

static bool take(PyObject *value, const field *f, void *record)
{
    void *at = (char *)record + f->at;
    double number;

    switch (f->kind) {
    case FIELD_BOOL:
        return read_bool(value, at);
    case FIELD_UINT:
        return read_unsigned_int(value, at);
    case FIELD_U32:
    case FIELD_TYPE_ID:
        return read_u32(value, at);
    case FIELD_U64:
        return read_unsigned(value, UINT64_MAX, at);
    case FIELD_F32:
        if (!read_double(value, &number))
            return false;
        *(float *)at = (float)number;
        return true;
    case FIELD_F64:
        return read_double(value, at);
    case FIELD_TEXT:
        return fields_text(value, at);
    case FIELD_BYTES:
        return read_bytes(value, at);
    case FIELD_TYPE:
        *(const gufo_element_type **)at = fields_type(value);
        return *(const gufo_element_type **)at != NULL;
    }
    return false;
}

/* Puts the name of an option before the text of an exception. */
static void say_which(const char *name)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    core_raise_at(PyUnicode_FromString(name), type, value, trace);
}

int fields_read(PyObject *options, const field *fields, void *record)
{
    bool good = true;

    for (const field *f = fields; good && f->name != NULL; f++) {
        PyObject *value = PyDict_GetItemString(options, f->name);

        good = value == NULL || value == Py_None || take(value, f, record);
        if (!good)
            say_which(f->name);
    }
    return good ? 0 : -1;
}

bool fields_list(PyObject *options, const char *name, size_t size, PyObject **list, size_t *count,
                 void **elements)
{
    *list = PyDict_GetItemString(options, name);
    *count = *list != NULL ? (size_t)PyObject_Length(*list) : 0;
    if (*count == 0)
        return true;
    *elements = PyMem_Calloc(*count, size);
    if (*elements == NULL)
        PyErr_NoMemory();
    return *elements != NULL;
}
