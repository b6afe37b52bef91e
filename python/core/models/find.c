/* Models on this machine. */
#include "fields.h"

#include <gufo/find.h>

#ifdef CORE_HAS_IMPORT
#include <gufo/import.h>
#endif

#include <stdlib.h>

typedef struct finding {
    gufo_find *find;
    const char *path; /* NULL: none */
    uint32_t flags;
    bool caches;
    gufo_error *faults; /* of folders */
    size_t fault_count;
} finding;

static const char *variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

/* Without memory there are fewer. */
static void keep_fault(void *context, const gufo_error *error)
{
    finding *f = context;
    gufo_error *faults = realloc(f->faults, (f->fault_count + 1) * sizeof *faults);

    if (faults == NULL)
        return;
    f->faults = faults;
    faults[f->fault_count++] = *error;
}

#ifdef CORE_HAS_IMPORT

static gufo_find_kind kind_of(void *context, const char *path)
{
    (void)context;
    return gufo_import_kind(path, NULL);
}

static gufo_model *open_other(void *context, const char *path, gufo_error *error)
{
    gufo_import *import = gufo_import_outline(path, 0, error);

    (void)context;
    return import != NULL ? gufo_import_take_model(import, path, error) : NULL;
}

static const char *part_of(void *context, const gufo_model *model, uint32_t index)
{
    const gufo_import *import = gufo_model_import(model);

    (void)context;
    return import != NULL ? gufo_import_part_at(import, index) : NULL;
}

#else
#define kind_of NULL
#define open_other NULL
#define part_of NULL
#endif

static gufo_status find_models(void *context, const gufo_run *run, gufo_error *error)
{
    finding *f = context;
    const gufo_find_options options = {.variable = variable,
                                       .fault = keep_fault,
                                       .kind = kind_of,
                                       .open = open_other,
                                       .part = part_of,
                                       .context = f};
    gufo_status status = GUFO_OK;

    f->find = gufo_find_new(&options, error);
    if (f->find == NULL)
        return GUFO_E_MEMORY;
    if (f->path != NULL)
        status = gufo_find_add(f->find, f->path, f->flags, error);
    if (status == GUFO_OK && f->caches)
        status = gufo_find_add_caches(f->find, error);
    return status == GUFO_OK ? gufo_find_read(f->find, run, error) : status;
}

/* (file, message, offset or None) */
static PyObject *fault_row(const gufo_error *fault)
{
    PyObject *message, *offset;

    if (fault == NULL)
        Py_RETURN_NONE;
    message = core_message(fault->message);
    offset = fault->offset == GUFO_NO_OFFSET ? Py_NewRef(Py_None)
                                             : PyLong_FromUnsignedLongLong(fault->offset);
    if (message == NULL || offset == NULL) {
        Py_XDECREF(message);
        Py_XDECREF(offset);
        return NULL;
    }
    return Py_BuildValue("(yNN)", fault->file, message, offset);
}

static PyObject *model_row(const gufo_found *m)
{
    PyObject *fault = fault_row(m->fault);

    if (fault == NULL)
        return NULL;
    return Py_BuildValue("(yyzIKLyyzKKN)", m->path, m->name, m->cache, (unsigned)m->shards,
                         (unsigned long long)m->size, (long long)m->date, m->title, m->architecture,
                         m->quantization, (unsigned long long)m->parameters,
                         (unsigned long long)m->context, fault);
}

static PyObject *rows_of(const finding *f)
{
    PyObject *models = PyList_New(0), *faults = PyList_New(0);
    bool good = models != NULL && faults != NULL;
    gufo_found model;

    for (uint64_t i = 0; good && gufo_find_at(f->find, i, &model); i++)
        good = fields_add(models, model_row(&model)) == 0;
    for (size_t i = 0; good && i < f->fault_count; i++)
        good = fields_add(faults, fault_row(&f->faults[i])) == 0;
    if (good)
        return Py_BuildValue("(NN)", models, faults);
    Py_XDECREF(models);
    Py_XDECREF(faults);
    return NULL;
}

static PyObject *find(PyObject *module, PyObject *args)
{
    core_call call = {0};
    finding f = {0};
    int recursive, caches;
    PyObject *path, *result = NULL;

    if (!PyArg_ParseTuple(args, "OppO&O:find", &path, &recursive, &caches, core_threads,
                          &call.threads, &call.progress))
        return NULL;
    if (path != Py_None && !fields_text(path, &f.path))
        return NULL;
    f.flags = recursive ? GUFO_FIND_RECURSIVE : 0;
    f.caches = caches;
    if (core_do(module, &call, find_models, &f))
        result = rows_of(&f);
    gufo_find_free(f.find);
    free(f.faults);
    return result;
}

static PyMethodDef functions[] = {
    {"find", find, METH_VARARGS,
     "find(path or None, recursive, caches, threads, progress) -> (models, faults of folders)"},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_find = {functions, NULL};
