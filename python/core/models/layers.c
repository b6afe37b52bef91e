/* Tensors by layer and role. */
#include "core.h"

#include <gufo/summary.h>

static bool add_name(PyObject *module, gufo_layers *layers, PyObject *list, Py_ssize_t index)
{
    uint32_t item = (uint32_t)index;
    Py_ssize_t len;
    char *text;
    gufo_error error;

    if (PyBytes_AsStringAndSize(PyList_GetItem(list, index), &text, &len) < 0)
        return false;
    if (gufo_layers_add(layers, (gufo_str){text, (size_t)len}, &item, &error) == GUFO_OK)
        return true;
    core_raise(module, &error);
    return false;
}

/* Appends an object, whose reference it takes. */
static bool append(PyObject *list, PyObject *object)
{
    bool well = object != NULL && PyList_Append(list, object) == 0;

    Py_XDECREF(object);
    return well;
}

static PyObject *bytes_of(gufo_str text)
{
    return PyBytes_FromStringAndSize(text.data, (Py_ssize_t)text.len);
}

/* [(role, {layer: item}), ...] */
static PyObject *roles_of(const gufo_layers *layers)
{
    PyObject *list = PyList_New(0);

    for (size_t role = 0; list != NULL && role < gufo_layers_role_count(layers); role++) {
        PyObject *row = PyDict_New();
        bool well = row != NULL;
        uint32_t item;

        for (uint64_t layer = 0; well && layer < gufo_layers_count(layers); layer++)
            if (gufo_layers_at(layers, layer, role, &item)) {
                PyObject *key = PyLong_FromUnsignedLongLong(layer);
                PyObject *value = PyLong_FromUnsignedLong(item);

                well = key != NULL && value != NULL && PyDict_SetItem(row, key, value) == 0;
                Py_XDECREF(key);
                Py_XDECREF(value);
            }
        if (!well)
            Py_CLEAR(row);
        if (row == NULL ||
            !append(list, Py_BuildValue("NN", bytes_of(gufo_layers_role(layers, role)), row)))
            Py_CLEAR(list);
    }
    return list;
}

/* [(role, item), ...] of those outside of layers. */
static PyObject *others_of(const gufo_layers *layers)
{
    PyObject *list = PyList_New(0);
    gufo_str role;
    uint32_t item;

    for (size_t i = 0; list != NULL && gufo_layers_other(layers, i, &role, &item); i++)
        if (!append(list, Py_BuildValue("Nk", bytes_of(role), (unsigned long)item)))
            Py_CLEAR(list);
    return list;
}

static PyObject *layers_of(PyObject *module, PyObject *list)
{
    gufo_error error;
    gufo_layers *layers;
    PyObject *result = NULL;
    bool well;

    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "names are a list");
        return NULL;
    }
    layers = gufo_layers_new(NULL, &error);
    if (layers == NULL)
        return core_raise(module, &error);
    well = true;
    for (Py_ssize_t i = 0; well && i < PyList_Size(list); i++)
        well = add_name(module, layers, list, i);
    if (well)
        result = Py_BuildValue("NNK", roles_of(layers), others_of(layers),
                               (unsigned long long)gufo_layers_left_out(layers));
    gufo_layers_free(layers);
    return result;
}

static PyMethodDef functions[] = {
    {"layers", layers_of, METH_O,
     "layers(names) -> (roles, others, left_out): which name, by its place in a list of bytes, is "
     "of "
     "which layer and role: [(role, {layer: index}), ...] and [(role, index), ...]."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_layers = {functions, NULL};
