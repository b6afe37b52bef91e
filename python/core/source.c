/* What Python code names to be opened. */
#include "core.h"

static int from_path(PyObject *object, core_source *out)
{
    if (!PyUnicode_FSConverter(object, &out->path))
        return -1;
    out->input.kind = GUFO_INPUT_PATH;
    out->input.path = PyBytes_AsString(out->path);
    return 0;
}

static int from_descriptor(PyObject *object, core_source *out)
{
    out->input.kind = GUFO_INPUT_FD;
    out->input.fd = PyObject_AsFileDescriptor(object);
    return out->input.fd < 0 ? -1 : 0;
}

static int from_buffer(PyObject *object, core_source *out)
{
    if (PyObject_GetBuffer(object, &out->buffer, PyBUF_SIMPLE) < 0)
        return -1;
    out->input.kind = GUFO_INPUT_MEMORY;
    out->input.data = out->buffer.buf;
    out->input.size = (size_t)out->buffer.len;
    return 0;
}

int core_source_get(PyObject *object, core_source *out)
{
    *out = (core_source){.path = NULL};
    if (PyUnicode_Check(object) || PyObject_HasAttrString(object, "__fspath__"))
        return from_path(object, out);
    if (PyObject_CheckBuffer(object))
        return from_buffer(object, out);
    if (PyLong_Check(object) || PyObject_HasAttrString(object, "fileno"))
        return from_descriptor(object, out);
    PyErr_SetString(PyExc_TypeError,
                    "expected a path (str or os.PathLike), the content (bytes or an "
                    "object with a buffer), or a file that is open");
    return -1;
}

void core_source_release(core_source *source)
{
    if (source->buffer.obj != NULL)
        PyBuffer_Release(&source->buffer);
    Py_CLEAR(source->path);
}
