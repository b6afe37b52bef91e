/* Metadata values that Python gives. */
#include "given.h"

#include <math.h>
#include <string.h>

/* ---- bytes ---------------------------------------------------------------------------------- */

void given_free(given_bytes *bytes)
{
    PyMem_Free(bytes->data);
    *bytes = (given_bytes){0};
}

static bool put(given_bytes *b, const void *data, size_t size)
{
    if (size > b->room - b->len) {
        const size_t room = (b->len + size) * 2;
        unsigned char *grown = room > b->len ? PyMem_Realloc(b->data, room) : NULL;

        if (grown == NULL) {
            PyErr_NoMemory();
            return false;
        }
        b->data = grown;
        b->room = room;
    }
    if (size > 0)
        memcpy(b->data + b->len, data, size);
    b->len += size;
    return true;
}

static gufo_byte_order machine_order(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first == 1 ? GUFO_LITTLE_ENDIAN : GUFO_BIG_ENDIAN;
}

enum { DEPTHS = sizeof((given_bytes *)0)->place / sizeof(Py_ssize_t) };

/* ---- one value ------------------------------------------------------------------------------ */

static bool does_not_fit(PyObject *object, const char *what)
{
    PyErr_Format(PyExc_TypeError, "%.100R is not %s", object, what);
    return false;
}

static bool read_string(PyObject *object, gufo_str *out)
{
    Py_ssize_t size = 0;

    if (PyBytes_Check(object)) {
        *out = (gufo_str){PyBytes_AsString(object), (size_t)PyBytes_Size(object)};
        return true;
    }
    if (!PyUnicode_Check(object))
        return does_not_fit(object, "a text");
    out->data = PyUnicode_AsUTF8AndSize(object, &size);
    out->len = (size_t)size;
    return out->data != NULL;
}

static bool is_out_of_range(gufo_value_type type, PyObject *object)
{
    PyErr_Format(PyExc_OverflowError, "%.100R does not fit into %s", object,
                 gufo_value_type_name(type));
    return false;
}

/* Any object with __index__, but no bool: that is another type. */
static PyObject *whole_number(gufo_value_type type, PyObject *object)
{
    if (PyBool_Check(object))
        return PyErr_Format(PyExc_TypeError, "%R is a bool, not %s", object,
                            gufo_value_type_name(type));
    if (!PyIndex_Check(object)) {
        (void)does_not_fit(object, "a whole number");
        return NULL;
    }
    return PyNumber_Index(object);
}

static bool read_unsigned(gufo_value_type type, PyObject *object, uint64_t *out)
{
    PyObject *number = whole_number(type, object);
    const size_t bits = gufo_value_type_size(type) * 8;

    if (number == NULL)
        return false;
    *out = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred() || (bits < 64 && *out >> bits != 0)) {
        PyErr_Clear();
        return is_out_of_range(type, object);
    }
    return true;
}

static bool read_signed(gufo_value_type type, PyObject *object, int64_t *out)
{
    PyObject *number = whole_number(type, object);
    const size_t bits = gufo_value_type_size(type) * 8;
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));

    if (number == NULL)
        return false;
    *out = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred() || *out > most || *out < -most - 1) {
        PyErr_Clear();
        return is_out_of_range(type, object);
    }
    return true;
}

/* Whether a number, which is finite, is not one as float32. */
static bool is_too_large(gufo_value_type type, double number)
{
    return type == GUFO_VALUE_FLOAT32 && isfinite(number) && !isfinite((float)number);
}

static bool read_float(gufo_value_type type, PyObject *object, double *out)
{
    if (!PyNumber_Check(object))
        return does_not_fit(object, "a number");
    *out = PyFloat_AsDouble(object);
    if (*out == -1.0 && PyErr_Occurred())
        return false;
    return !is_too_large(type, *out) || is_out_of_range(type, object);
}

static bool read_bool(PyObject *object, bool *out)
{
    *out = object == Py_True;
    return PyBool_Check(object) ? true : does_not_fit(object, "a bool");
}

static bool read_one(gufo_value_type type, PyObject *object, gufo_value *out)
{
    out->type = type;
    switch (type) {
    case GUFO_VALUE_UINT8:
    case GUFO_VALUE_UINT16:
    case GUFO_VALUE_UINT32:
    case GUFO_VALUE_UINT64:
        return read_unsigned(type, object, &out->as.u);
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return read_signed(type, object, &out->as.i);
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return read_float(type, object, &out->as.f);
    case GUFO_VALUE_BOOL:
        return read_bool(object, &out->as.b);
    case GUFO_VALUE_STRING:
        return read_string(object, &out->as.str);
    case GUFO_VALUE_ARRAY:
        break;
    }
    PyErr_SetString(PyExc_TypeError, "the type of an array is incomplete");
    return false;
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* A number as its C type; integers of this machine begin with their low or with their high bytes. */
static bool put_integer(given_bytes *b, gufo_value_type type, uint64_t number)
{
    const size_t size = gufo_value_type_size(type);
    const char *at = (const char *)&number;

    return put(b, machine_order() == GUFO_LITTLE_ENDIAN ? at : at + sizeof number - size, size);
}

static bool put_string(given_bytes *b, gufo_str text)
{
    const uint64_t len = text.len;

    return put(b, &len, sizeof len) && put(b, text.data, text.len);
}

static bool put_one(given_bytes *b, gufo_value_type type, PyObject *object)
{
    gufo_value value;
    float single;

    if (!read_one(type, object, &value))
        return false;
    switch (type) {
    case GUFO_VALUE_FLOAT32:
        single = (float)value.as.f;
        return put(b, &single, sizeof single);
    case GUFO_VALUE_FLOAT64:
        return put(b, &value.as.f, sizeof value.as.f);
    case GUFO_VALUE_BOOL:
        return put_integer(b, type, value.as.b);
    case GUFO_VALUE_STRING:
        return put_string(b, value.as.str);
    default:
        return put_integer(b, type, value.as.u); /* signed ones have the same bits */
    }
}

static bool type_at(PyObject *types, Py_ssize_t depth, gufo_value_type *type)
{
    PyObject *number = PyTuple_GetItem(types, depth); /* IndexError past the end */
    const long id = number != NULL ? PyLong_AsLong(number) : -1;

    *type = (gufo_value_type)id;
    if (!PyErr_Occurred() && (id < 0 || id >= GUFO_VALUE_TYPE_COUNT))
        PyErr_Format(PyExc_ValueError, "%ld is not a value type", id);
    return !PyErr_Occurred();
}

static bool put_elements(given_bytes *b, PyObject *types, Py_ssize_t depth, PyObject *object,
                         uint64_t *count);

/* An array in an array begins with type and count. */
static bool put_array(given_bytes *b, PyObject *types, Py_ssize_t depth, PyObject *object)
{
    const size_t start = b->len;
    gufo_value_type type;
    uint32_t id;
    uint64_t count = 0;

    if (!type_at(types, depth, &type))
        return false;
    id = (uint32_t)type;
    if (!put(b, &id, sizeof id) || !put(b, &count, sizeof count) ||
        !put_elements(b, types, depth, object, &count))
        return false;
    memcpy(b->data + start + sizeof id, &count, sizeof count);
    return true;
}

/* Bytes are elements as C has them. */
static bool put_numbers(given_bytes *b, gufo_value_type type, PyObject *bytes, uint64_t *count)
{
    const size_t size = gufo_value_type_size(type), len = (size_t)PyBytes_Size(bytes);

    if (len % size != 0) {
        PyErr_Format(PyExc_ValueError, "%zu bytes are not elements of %s", len,
                     gufo_value_type_name(type));
        return false;
    }
    *count = len / size;
    return put(b, PyBytes_AsString(bytes), len);
}

/* Elements of types[depth]. */
static bool put_elements(given_bytes *b, PyObject *types, Py_ssize_t depth, PyObject *object,
                         uint64_t *count)
{
    PyObject *list;
    gufo_value_type type;
    bool good;

    if (!type_at(types, depth, &type))
        return false;
    if (PyBytes_Check(object) && gufo_value_type_size(type) > 0)
        return put_numbers(b, type, object, count);
    if (PyUnicode_Check(object) || PyBytes_Check(object) || !PySequence_Check(object))
        return does_not_fit(object, "a list");
    list = PySequence_List(object);
    good = list != NULL;
    *count = good ? (uint64_t)PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; good && i < (Py_ssize_t)*count; i++) {
        PyObject *element = PyList_GetItem(list, i);

        if (depth <= DEPTHS)
            b->place[depth - 1] = i;
        good = type == GUFO_VALUE_ARRAY ? put_array(b, types, depth + 1, element)
                                        : put_one(b, type, element);
        if (!good && b->depth == 0)
            b->depth = depth < DEPTHS ? depth : DEPTHS;
    }
    Py_XDECREF(list);
    return good;
}

static bool read_value(PyObject *types, PyObject *object, given_bytes *bytes, gufo_value *out)
{
    gufo_value_type type;

    if (!type_at(types, 0, &type))
        return false;
    *out = (gufo_value){.type = type};
    if (type != GUFO_VALUE_ARRAY)
        return read_one(type, object, out);
    if (!type_at(types, 1, &out->as.array.type) ||
        !put_elements(bytes, types, 1, object, &out->as.array.count))
        return false;
    out->as.array.data = bytes->data;
    out->as.array.size = bytes->len;
    out->as.array.encoding = (gufo_encoding){3, (uint8_t)machine_order()};
    return true;
}

/* "KEY[3][1]", a new reference. */
static PyObject *place_of(gufo_str key, const given_bytes *bytes)
{
    PyObject *text = PyUnicode_DecodeUTF8(key.data, (Py_ssize_t)key.len, "backslashreplace");

    for (Py_ssize_t i = 0; text != NULL && i < bytes->depth; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U[%zd]", text, bytes->place[i]);

        Py_DECREF(text);
        text = longer;
    }
    return text;
}

/* Puts the place before the text of an exception that says what does not fit. */
static void say_where(gufo_str key, const given_bytes *bytes)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    core_raise_at(place_of(key, bytes), type, value, trace);
}

bool given_value(gufo_str key, PyObject *types, PyObject *object, given_bytes *bytes,
                 gufo_value *out)
{
    const bool good = read_value(types, object, bytes, out);

    if (!good)
        say_where(key, bytes);
    return good;
}

bool given_entries(PyObject *module, PyObject *list, gufo_document *document)
{
    bool good = true;

    for (Py_ssize_t i = 0; good && i < PyList_Size(list); i++) {
        PyObject *types, *given;
        given_bytes bytes = {0};
        gufo_value value;
        gufo_error error;
        const char *key;
        Py_ssize_t size;

        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "y#OO", &key, &size, &types, &given))
            return false;
        good = given_value((gufo_str){key, (size_t)size}, types, given, &bytes, &value);
        if (good && gufo_document_set_entry(document, (gufo_str){key, (size_t)size}, &value,
                                            &error) != GUFO_OK) {
            core_raise(module, &error);
            good = false;
        }
        given_free(&bytes);
    }
    return good;
}
