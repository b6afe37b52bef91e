/* Values of entries as Python objects. */
#include "core.h"

static PyObject *changed(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the file was changed while it was open");
    return NULL;
}

/* Elements [first, first + count) of an array; with count < 0 all from `first` on. */
static PyObject *elements(PyObject *module, const gufo_array *array, uint64_t first, uint64_t count)
{
    gufo_array_iter walk = gufo_array_start(array);
    PyObject *list = PyList_New((Py_ssize_t)count);
    gufo_value value;

    for (uint64_t i = 0; list != NULL && i < first + count; i++) {
        PyObject *one;

        if (!gufo_array_next(&walk, &value)) {
            Py_DECREF(list);
            return changed();
        }
        if (i < first)
            continue;
        one = core_value(module, &value);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)(i - first), one);
    }
    return list;
}

PyObject *core_value(PyObject *module, const gufo_value *value)
{
    switch (value->type) {
    case GUFO_VALUE_UINT8:
    case GUFO_VALUE_UINT16:
    case GUFO_VALUE_UINT32:
    case GUFO_VALUE_UINT64:
        return PyLong_FromUnsignedLongLong(value->as.u);
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return PyLong_FromLongLong(value->as.i);
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return PyFloat_FromDouble(value->as.f);
    case GUFO_VALUE_BOOL:
        return PyBool_FromLong(value->as.b);
    case GUFO_VALUE_STRING:
        return core_text(value->as.str);
    case GUFO_VALUE_ARRAY:
        return elements(module, &value->as.array, 0, value->as.array.count);
    }
    PyErr_Format(PyExc_ValueError, "%d is not a type of values", (int)value->type);
    return NULL;
}

PyObject *core_strings(PyObject *module, const gufo_array *array, Py_ssize_t first,
                       Py_ssize_t count)
{
    if (array->type != GUFO_VALUE_STRING) {
        PyErr_SetString(PyExc_TypeError, "the array has no strings");
        return NULL;
    }
    if (first < 0 || (uint64_t)first > array->count ||
        (count >= 0 && (uint64_t)count > array->count - (uint64_t)first)) {
        PyErr_Format(PyExc_IndexError, "the array has %llu elements",
                     (unsigned long long)array->count);
        return NULL;
    }
    return elements(module, array, (uint64_t)first,
                    count < 0 ? array->count - (uint64_t)first : (uint64_t)count);
}

/* ---- pieces of an array ----------------------------------------------------------------------- */

/* One piece: `count` numbers of `type` at `offset`. */
typedef struct piece {
    uint64_t offset, count;
    uint32_t type, leaf; /* of leaf_kind */
} piece;

typedef enum leaf_kind {
    LEAF_NONE = 0, /* a length, or the head of an inner array */
    LEAF_NUMBER = 1,
    LEAF_TEXT = 2,
} leaf_kind;

typedef struct pieces {
    piece *items;
    size_t count, room;
    const uint8_t *first; /* of the outermost array, which is at `offset` */
    uint64_t offset;
} pieces;

static bool add(pieces *p, const void *at, gufo_value_type type, uint64_t count, leaf_kind leaf)
{
    if (p->count == p->room) {
        size_t room = p->room == 0 ? 64 : p->room * 2;
        piece *items = PyMem_Realloc(p->items, room * sizeof *items);

        if (items == NULL) {
            PyErr_NoMemory();
            return false;
        }
        p->items = items;
        p->room = room;
    }
    p->items[p->count++] = (piece){p->offset + (uint64_t)((const uint8_t *)at - p->first), count,
                                   (uint32_t)type, (uint32_t)leaf};
    return true;
}

/* The bytes and the type of a length. */
static gufo_value_type length_type(const gufo_array *array)
{
    return array->encoding.version == 1 ? GUFO_VALUE_UINT32 : GUFO_VALUE_UINT64;
}

static bool add_elements(pieces *p, const gufo_array *array)
{
    gufo_array_iter walk = gufo_array_start(array);
    gufo_value_type length = length_type(array);
    const uint8_t *at = array->data;
    gufo_value value;

    for (; gufo_array_next(&walk, &value); at = array->data + walk.position) {
        if (array->type == GUFO_VALUE_STRING) {
            if (!add(p, at, length, 1, LEAF_NONE) ||
                !add(p, at + gufo_value_type_size(length), GUFO_VALUE_UINT8, value.as.str.len,
                     LEAF_TEXT))
                return false;
        } else if (array->type == GUFO_VALUE_ARRAY) {
            if (!add(p, at, GUFO_VALUE_UINT32, 1, LEAF_NONE) ||
                !add(p, at + 4, length, 1, LEAF_NONE) || !add_elements(p, &value.as.array))
                return false;
        } else if (!add(p, at, array->type, 1, LEAF_NUMBER)) {
            return false;
        }
    }
    if (walk.changed)
        changed();
    return !walk.changed;
}

PyObject *core_parts(const gufo_entry *entry)
{
    const gufo_array *array = &entry->value.as.array;
    pieces p = {.first = array->data, .offset = entry->value_offset};
    PyObject *bytes = NULL;

    if (add_elements(&p, array))
        bytes = PyBytes_FromStringAndSize((const char *)p.items,
                                          (Py_ssize_t)(p.count * sizeof *p.items));
    PyMem_Free(p.items);
    return bytes;
}
