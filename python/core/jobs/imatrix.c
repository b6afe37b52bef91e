/* Importance matrices: read, added up, written. */
#include "fields.h"
#include "jobs/job.h"

#include <gufo/quant.h>

typedef struct imatrix_object {
    PyObject_HEAD
    gufo_imatrix **inputs;
    size_t count;
    gufo_imatrix *matrix; /* one of the inputs, or their sum */
    PyObject *paths;      /* list of bytes */
} imatrix_object;

static const gufo_imatrix *matrix_of(PyObject *object)
{
    return ((imatrix_object *)object)->matrix;
}

/* ---- opening ---------------------------------------------------------------------------------- */

typedef struct opening {
    const char **paths;
    imatrix_object *self;
} opening;

static gufo_status open_inputs(void *context, const gufo_run *run, gufo_error *error)
{
    opening *o = context;
    imatrix_object *self = o->self;

    (void)run;
    for (size_t i = 0; i < self->count; i++) {
        self->inputs[i] = gufo_imatrix_open(o->paths[i], NULL, error);
        if (self->inputs[i] == NULL)
            return error->code;
    }
    self->matrix = self->count == 1 ? self->inputs[0]
                                    : gufo_imatrix_merge((const gufo_imatrix *const *)self->inputs,
                                                         self->count, NULL, error);
    return self->matrix != NULL ? GUFO_OK : error->code;
}

static void imatrix_free(PyObject *object)
{
    imatrix_object *self = (imatrix_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    if (self->count != 1)
        gufo_imatrix_free(self->matrix);
    for (size_t i = 0; self->inputs != NULL && i < self->count; i++)
        gufo_imatrix_free(self->inputs[i]);
    PyMem_Free(self->inputs);
    Py_XDECREF(self->paths);
    PyObject_Free(object);
    Py_DECREF(type);
}

static bool open_paths(PyObject *module, PyObject *list, imatrix_object *self)
{
    const core_call call = {.brief = false};
    opening o = {.self = self};
    bool good;

    self->count = (size_t)PyList_Size(list);
    self->inputs = PyMem_Calloc(self->count + 1, sizeof(void *));
    o.paths = PyMem_Calloc(self->count + 1, sizeof *o.paths);
    good = self->inputs != NULL && o.paths != NULL;
    if (!good)
        PyErr_NoMemory();
    for (size_t i = 0; good && i < self->count; i++)
        good = fields_text(PyList_GetItem(list, (Py_ssize_t)i), &o.paths[i]);
    good = good && core_do(module, &call, open_inputs, &o);
    PyMem_Free(o.paths);
    return good;
}

static PyObject *imatrix_new(PyObject *module, PyObject *args)
{
    imatrix_object *self;
    PyObject *list;

    if (!PyArg_ParseTuple(args, "O!:imatrix", &PyList_Type, &list))
        return NULL;
    list = PyList_GetSlice(list, 0, PyList_Size(list)); /* own: the paths are views of it */
    if (list == NULL)
        return NULL;
    self = (imatrix_object *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_IMATRIX), 0);
    if (self == NULL) {
        Py_DECREF(list);
        return NULL;
    }
    self->paths = list;
    if (!open_paths(module, list, self))
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* ---- looking ---------------------------------------------------------------------------------- */

static PyObject *datasets(const gufo_imatrix *matrix)
{
    PyObject *list = PyList_New(0);
    gufo_str name;

    for (uint64_t i = 0; list != NULL && gufo_imatrix_dataset_at(matrix, i, &name); i++)
        if (fields_add(
                list, PyUnicode_DecodeUTF8(name.data, (Py_ssize_t)name.len, "surrogateescape")) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *imatrix_facts(PyObject *object, PyObject *none)
{
    const gufo_imatrix *matrix = matrix_of(object);

    (void)none;
    return Py_BuildValue("{sssKsIsN}", "format",
                         gufo_imatrix_format_of(matrix) == GUFO_IMATRIX_GGUF ? "gguf" : "legacy",
                         "chunks", (unsigned long long)gufo_imatrix_chunk_count(matrix),
                         "chunk_size", (unsigned)gufo_imatrix_chunk_size(matrix), "datasets",
                         datasets(matrix));
}

static PyObject *imatrix_entries(PyObject *object, PyObject *none)
{
    const gufo_imatrix *matrix = matrix_of(object);
    PyObject *list = PyList_New(0);
    gufo_imatrix_entry entry;

    (void)none;
    for (uint64_t i = 0; list != NULL && gufo_imatrix_entry_at(matrix, i, &entry); i++)
        if (fields_add(list, Py_BuildValue("(y#KK)", entry.name.data, (Py_ssize_t)entry.name.len,
                                           (unsigned long long)entry.values,
                                           (unsigned long long)entry.matrices)) < 0)
            Py_CLEAR(list);
    return list;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static gufo_status read_importance(const gufo_imatrix *matrix, uint64_t index,
                                   const gufo_imatrix_entry *entry, float *out, gufo_error *error)
{
    const uint64_t columns = entry->matrices > 0 ? entry->values / entry->matrices : 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < entry->matrices; i++)
        status = gufo_imatrix_importance(matrix, index, columns, i, out + i * columns, error);
    return status;
}

/* NULL for a sum of several files. */
static const char *only_path(PyObject *object)
{
    const imatrix_object *self = (imatrix_object *)object;

    return self->count == 1 ? PyBytes_AsString(PyList_GetItem(self->paths, 0)) : NULL;
}

/* "importance", "sums" or "counts" of an entry, as bytes of float32. */
static PyObject *imatrix_read(PyObject *object, PyObject *args)
{
    const gufo_imatrix *matrix = matrix_of(object);
    unsigned long long index;
    gufo_imatrix_entry entry;
    gufo_status status;
    gufo_error error;
    const char *what;
    PyObject *bytes;
    float *out;

    if (!PyArg_ParseTuple(args, "Ks:read", &index, &what))
        return NULL;
    if (!gufo_imatrix_entry_at(matrix, index, &entry))
        return PyErr_Format(PyExc_IndexError, "no entry has the index %llu", index);
    bytes = PyBytes_FromStringAndSize(
        NULL, (Py_ssize_t)((*what == 'c' ? entry.matrices : entry.values) * sizeof *out));
    if (bytes == NULL)
        return NULL;
    out = (float *)(void *)PyBytes_AsString(bytes);
    if (*what == 'c')
        status = gufo_imatrix_read_counts(matrix, index, 0, entry.matrices, out, &error);
    else if (*what == 's')
        status = gufo_imatrix_read_sums(matrix, index, 0, entry.values, out, &error);
    else
        status = read_importance(matrix, index, &entry, out, &error);
    if (status != GUFO_OK) {
        Py_DECREF(bytes);
        core_name_file(&error, only_path(object));
        return core_raise((PyObject *)Py_TYPE(object), &error);
    }
    return bytes;
}

/* ---- writing ---------------------------------------------------------------------------------- */

typedef struct planning {
    const gufo_imatrix *matrix;
    gufo_imatrix_format format;
    gufo_job *job;
} planning;

static gufo_status plan_job(void *context, const gufo_run *run, gufo_error *error)
{
    planning *p = context;

    (void)run;
    p->job = gufo_job_imatrix(p->matrix, p->format, NULL, error);
    return p->job != NULL ? GUFO_OK : error->code;
}

static void free_planning(void *context)
{
    gufo_job_free(((planning *)context)->job);
    PyMem_Free(context);
}

static PyObject *imatrix_job(PyObject *object, PyObject *args)
{
    static const core_job_maker maker = {free_planning, NULL, NULL};
    const core_call call = {.brief = false};
    PyObject *module = (PyObject *)Py_TYPE(object);
    core_job *self;
    planning *p;
    int is_legacy;

    if (!PyArg_ParseTuple(args, "p:job", &is_legacy))
        return NULL;
    p = PyMem_Calloc(1, sizeof *p);
    if (p == NULL)
        return PyErr_NoMemory();
    p->matrix = matrix_of(object);
    p->format = is_legacy ? GUFO_IMATRIX_LEGACY : GUFO_IMATRIX_GGUF;
    self = core_job_new(module, &maker, p);
    if (self == NULL)
        return NULL;
    if (!core_job_keep(self, object) || !core_do(module, &call, plan_job, p))
        Py_CLEAR(self);
    else
        self->job = p->job;
    return (PyObject *)self;
}

/* ---- types ------------------------------------------------------------------------------------ */

static PyMethodDef imatrix_methods[] = {
    {"facts", imatrix_facts, METH_NOARGS, "facts() -> dict: format, chunks, datasets."},
    {"entries", imatrix_entries, METH_NOARGS, "entries() -> list of (name, values, matrices)."},
    {"read", imatrix_read, METH_VARARGS,
     "read(index, \"importance\", \"sums\" or \"counts\") -> bytes of float32."},
    {"job", imatrix_job, METH_VARARGS, "job(is_legacy) -> Job"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot imatrix_slots[] = {
    {Py_tp_doc, "An importance matrix: imatrix() makes it."},
    {Py_tp_methods, imatrix_methods},
    {Py_tp_dealloc, CORE_SLOT(imatrix_free)},
    {0, NULL},
};

static PyType_Spec imatrix_spec = {
    .name = "gufo._core.Imatrix",
    .basicsize = sizeof(imatrix_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = imatrix_slots,
};

static PyMethodDef functions[] = {
    {"imatrix", imatrix_new, METH_VARARGS,
     "imatrix(paths) -> Imatrix: that of a file, or the sum of several."},
    {NULL, NULL, 0, NULL},
};

static int set_up(PyObject *module)
{
    return core_add_type(module, CORE_IMATRIX, &imatrix_spec, "Imatrix");
}

const core_part core_part_imatrix = {functions, set_up};
