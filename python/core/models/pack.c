/* Texts as an array of a GGUF file holds them: the length of each, and its bytes.  A vocabulary has a
 * hundred thousand, which Python code would spend most of the time of writing it on. */
#include "core.h"

#include <string.h>

enum { LENGTH_BYTES = 8 };

/* The bytes of a text, borrowed from it: a str as UTF-8, bytes, or a bytearray. */
static int text_bytes(PyObject *text, const char **data, Py_ssize_t *size)
{
    char *bytes = NULL;

    if (PyUnicode_Check(text)) {
        *data = PyUnicode_AsUTF8AndSize(text, size);
        return *data == NULL ? -1 : 0;
    }
    if (PyByteArray_Check(text)) {
        *data = PyByteArray_AsString(text);
        *size = PyByteArray_Size(text);
        return 0;
    }
    if (PyBytes_AsStringAndSize(text, &bytes, size) < 0)
        return -1;
    *data = bytes;
    return 0;
}

/* How many bytes all of them take; -1 with an exception. */
static Py_ssize_t packed_size(PyObject *texts)
{
    Py_ssize_t count = PyList_Size(texts), total = 0, size = 0;
    const char *data = NULL;

    for (Py_ssize_t i = 0; i < count; i++) {
        if (text_bytes(PyList_GetItem(texts, i), &data, &size) < 0)
            return -1;
        if (size > PY_SSIZE_T_MAX - LENGTH_BYTES - total) {
            PyErr_NoMemory();
            return -1;
        }
        total += LENGTH_BYTES + size;
    }
    return total;
}

static void put_length(char *to, Py_ssize_t length, int big_endian)
{
    uint64_t left = (uint64_t)length;

    for (int i = 0; i < LENGTH_BYTES; i++, left >>= 8)
        to[big_endian ? LENGTH_BYTES - 1 - i : i] = (char)(unsigned char)(left & 0xFF);
}

static int pack(PyObject *texts, int big_endian, char *to)
{
    Py_ssize_t count = PyList_Size(texts), size = 0;
    const char *data = NULL;

    for (Py_ssize_t i = 0; i < count; i++) {
        if (text_bytes(PyList_GetItem(texts, i), &data, &size) < 0)
            return -1;
        put_length(to, size, big_endian);
        memcpy(to + LENGTH_BYTES, data, (size_t)size);
        to += LENGTH_BYTES + size;
    }
    return 0;
}

/* No other code of Python runs between the two passes, so a bytearray keeps its size. */
static PyObject *pack_list(PyObject *texts, int big_endian)
{
    Py_ssize_t size = packed_size(texts);
    PyObject *packed = size < 0 ? NULL : PyBytes_FromStringAndSize(NULL, size);

    if (packed == NULL)
        return NULL;
    if (pack(texts, big_endian, PyBytes_AsString(packed)) < 0) {
        Py_DECREF(packed);
        return NULL;
    }
    return packed;
}

static PyObject *pack_strings(PyObject *module, PyObject *args)
{
    PyObject *texts, *list, *packed;
    int big_endian;

    (void)module;
    if (!PyArg_ParseTuple(args, "Op:pack_strings", &texts, &big_endian))
        return NULL;
    list = PySequence_List(texts); /* own: nobody changes it meanwhile */
    if (list == NULL)
        return NULL;
    packed = pack_list(list, big_endian);
    Py_DECREF(list);
    return packed;
}

static PyMethodDef functions[] = {
    {"pack_strings", pack_strings, METH_VARARGS,
     "pack_strings(texts, big_endian) -> bytes: str, bytes and bytearray as an array of strings "
     "holds them."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_pack = {functions, NULL};
