/* A file of metadata and tensors that the program has. */
#include "fields.h"
#include "given.h"

#include <gufo/produce.h>

typedef struct writing {
    gufo_document *document;
    const char *path;
    const gufo_model *source; /* whose entries are taken; NULL: none */
    Py_buffer *buffers;
    const void **data; /* of the buffers */
    size_t count;
    unsigned flags;
} writing;

static gufo_status write_document(void *context, const gufo_run *run, gufo_error *error)
{
    writing *w = context;

    return gufo_write(w->document, w->path, w->flags, w->data, run, error);
}

/* ---- the document ----------------------------------------------------------------------------- */

static bool read_dims(PyObject *tuple, uint64_t dims[GUFO_MAX_DIMS], uint32_t *count)
{
    const Py_ssize_t size = PyTuple_Size(tuple);

    if (size > (Py_ssize_t)GUFO_MAX_DIMS)
        PyErr_Format(PyExc_ValueError, "a tensor has at most %u dimensions, not %zd", GUFO_MAX_DIMS,
                     size);
    for (Py_ssize_t i = 0; i < size && !PyErr_Occurred(); i++)
        dims[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(tuple, i));
    *count = size > 0 ? (uint32_t)size : 0;
    return !PyErr_Occurred();
}

/* Adds tensor i, whose data is in buffer i; what comes from a file may be of any type. */
static bool add_tensor(PyObject *module, writing *w, PyObject *row)
{
    uint64_t dims[GUFO_MAX_DIMS] = {0};
    const gufo_element_type *type;
    gufo_document_tensor added;
    PyObject *tuple, *buffer;
    uint32_t n_dims;
    gufo_status status;
    gufo_error error;
    gufo_str name;
    Py_ssize_t size;
    unsigned id;

    if (!PyArg_ParseTuple(row, "y#IO!O", &name.data, &size, &id, &PyTuple_Type, &tuple, &buffer) ||
        !read_dims(tuple, dims, &n_dims) ||
        PyObject_GetBuffer(buffer, &w->buffers[w->count], PyBUF_SIMPLE) < 0)
        return false;
    name.len = (size_t)size;
    w->data[w->count] = w->buffers[w->count].buf;
    size = w->buffers[w->count++].len;
    type = gufo_element_type_by_id(id);
    status = type != NULL && (type->flags & GUFO_ELEMENT_REMOVED) == 0
                 ? gufo_document_add_tensor_str(w->document, name, type, n_dims, dims, &error)
                 : gufo_document_add_raw_tensor_str(w->document, name, id, n_dims, dims,
                                                    (uint64_t)size, &error);
    if (status != GUFO_OK) {
        core_raise(module, &error);
        return false;
    }
    if (gufo_document_tensor_at(w->document, w->count - 1, &added) && added.size == (uint64_t)size)
        return true;
    PyErr_Format(PyExc_ValueError, "tensor %.200R has %zd bytes of data, not %llu",
                 PyTuple_GetItem(row, 0), size, (unsigned long long)added.size);
    return false;
}

static bool add_tensors(PyObject *module, writing *w, PyObject *tensors)
{
    const Py_ssize_t count = PyList_Size(tensors);
    bool good;

    w->buffers = PyMem_Calloc((size_t)count + 1, sizeof *w->buffers);
    w->data = PyMem_Calloc((size_t)count + 1, sizeof *w->data);
    good = w->buffers != NULL && w->data != NULL;
    if (!good)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = add_tensor(module, w, PyList_GetItem(tensors, i));
    return good;
}

/* Entries of the source, and those that are given, but none that says which shard it is: it is one file. */
static bool add_entries(PyObject *module, writing *w, PyObject *entries)
{
    gufo_error error;

    if (w->source != NULL &&
        gufo_document_copy_entries(w->document, w->source, NULL, NULL, NULL, &error) != GUFO_OK) {
        core_raise(module, &error);
        return false;
    }
    if (!given_entries(module, entries, w->document))
        return false;
    gufo_document_remove_shard_keys(w->document);
    return true;
}

static bool write_with(PyObject *module, writing *w, const core_call *call, PyObject *entries,
                       PyObject *tensors)
{
    gufo_error error;
    bool good;

    w->document = gufo_document_new(NULL, &error);
    if (w->document == NULL) {
        core_raise(module, &error);
        return false;
    }
    good = add_entries(module, w, entries) && add_tensors(module, w, tensors) &&
           core_do(module, call, write_document, w);
    gufo_document_free(w->document);
    for (size_t i = 0; i < w->count; i++)
        PyBuffer_Release(&w->buffers[i]);
    PyMem_Free(w->buffers);
    PyMem_Free(w->data);
    return good;
}

static PyObject *write_file(PyObject *module, PyObject *args)
{
    PyObject *model, *entries, *tensors;
    core_call call = {.threads = 0};
    writing w = {.document = NULL};
    bool good;

    if (!PyArg_ParseTuple(args, "yOO!O!IO&O:write", &w.path, &model, &PyList_Type, &entries,
                          &PyList_Type, &tensors, &w.flags, core_threads, &call.threads,
                          &call.progress) ||
        (model != Py_None && (w.source = core_model_use(module, model)) == NULL))
        return NULL;
    good = write_with(module, &w, &call, entries, tensors);
    if (w.source != NULL)
        core_model_leave(model);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
    {"write", write_file, METH_VARARGS,
     "write(path, model or None, entries, tensors, flags, threads, progress): entries are (key, "
     "types, value), tensors (name, type, dims, buffer)."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_write = {functions, NULL};
