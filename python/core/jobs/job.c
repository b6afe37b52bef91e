/* Jobs: plans of files, which are looked at and then written. */
#include "jobs/job.h"

#include "fields.h"

#ifdef CORE_HAS_IMPORT
#include <gufo/import.h>
#endif

static core_job *self_of(PyObject *object)
{
    return (core_job *)object;
}

static PyObject *type_of(PyObject *object)
{
    return (PyObject *)Py_TYPE(object);
}

/* ---- life ------------------------------------------------------------------------------------ */

core_job *core_job_new(PyObject *module, const core_job_maker *maker, void *plan)
{
    core_job *self = (core_job *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_JOB), 0);

    if (self == NULL) {
        maker->free(plan);
        return NULL;
    }
    self->maker = maker;
    self->plan = plan;
    self->keeps = PyList_New(0);
    if (self->keeps == NULL)
        Py_CLEAR(self);
    return self;
}

bool core_job_keep(core_job *self, PyObject *object)
{
    return PyList_Append(self->keeps, object) == 0;
}

const gufo_model *core_job_use_model(core_job *self, PyObject *model)
{
    const gufo_model *used = core_model_use(type_of((PyObject *)self), model);

    if (used != NULL && !core_job_keep(self, model)) {
        core_model_leave(model);
        used = NULL;
    }
    return used;
}

static void job_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    core_job *self = self_of(object);

    self->maker->free(self->plan);
    for (Py_ssize_t i = 0; self->keeps != NULL && i < PyList_Size(self->keeps); i++) {
        PyObject *kept = PyList_GetItem(self->keeps, i);

        if ((PyObject *)Py_TYPE(kept) == core_get((PyObject *)type, CORE_MODEL))
            core_model_leave(kept);
    }
    Py_XDECREF(self->keeps);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool take(PyObject *object)
{
    return core_take(&self_of(object)->lock, "the job");
}

static void give(PyObject *object)
{
    core_give(&self_of(object)->lock);
}

static PyObject *job_tensors(PyObject *object, PyObject *none)
{
    const core_job *self = self_of(object);
    PyObject *list;

    (void)none;
    if (self->maker->tensors == NULL)
        return PyList_New(0);
    if (!take(object))
        return NULL;
    list = self->maker->tensors(self->plan);
    give(object);
    return list;
}

static PyObject *job_about(PyObject *object, PyObject *none)
{
    const core_job *self = self_of(object);
    PyObject *about;

    (void)none;
    if (self->maker->about == NULL)
        return Py_NewRef(Py_None);
    if (!take(object))
        return NULL;
    about = self->maker->about(self->plan);
    give(object);
    return about;
}

/* How the files differ from what was asked for. */
static PyObject *job_notes(PyObject *object, PyObject *none)
{
    const gufo_job *job = self_of(object)->job;
    const uint32_t normalised = gufo_job_normalised(job);
    PyObject *list = PyList_New(0);

    (void)none;
    for (uint32_t bit = 1; list != NULL && bit != 0 && bit <= normalised; bit <<= 1) {
        const char *text =
            (normalised & bit) != 0 ? gufo_normalised_text((gufo_normalised)bit) : NULL;

        if (text != NULL && fields_add(list, core_message(text)) < 0)
            Py_CLEAR(list);
    }
#ifdef CORE_HAS_IMPORT
    for (uint64_t i = 0; list != NULL && gufo_export_warning_at(job, i) != NULL; i++)
        if (fields_add(list, core_message(gufo_export_warning_at(job, i))) < 0)
            Py_CLEAR(list);
#endif
    return list;
}

static PyObject *output_path(const gufo_job *job, const char *path, size_t index)
{
    const size_t size = gufo_job_output_path(job, path, index, NULL, 0) + 1;
    char *text = PyMem_Malloc(size);
    PyObject *result;

    if (text == NULL)
        return PyErr_NoMemory();
    (void)gufo_job_output_path(job, path, index, text, size);
    result = PyUnicode_DecodeFSDefault(text);
    PyMem_Free(text);
    return result;
}

static PyObject *job_outputs(PyObject *object, PyObject *args)
{
    static const field fields[] = {
        {"size", FIELD_U64, offsetof(gufo_job_output, size)},
        {"tensor_count", FIELD_U64, offsetof(gufo_job_output, tensor_count)},
        {"data_size", FIELD_U64, offsetof(gufo_job_output, data_size)},
        {0}};
    const gufo_job *job = self_of(object)->job;
    PyObject *list;
    gufo_job_output output;
    const char *path;

    if (!PyArg_ParseTuple(args, "y:outputs", &path) || !take(object))
        return NULL;
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && gufo_job_output_at(job, i, &output); i++) {
        PyObject *dict = fields_dict(fields, &output);

        if (dict == NULL || fields_set(dict, "path", output_path(job, path, i)) < 0)
            Py_CLEAR(dict);
        if (fields_add(list, dict) < 0)
            Py_CLEAR(list);
    }
    give(object);
    return list;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writing {
    gufo_job *job;
    gufo_job_options options;
    const char **read; /* paths that no output replaces */
    uint64_t memory;

    /* Of parts. */
    gufo_part part;
    gufo_plan_options plan;
    gufo_part_result result;
    uint64_t missing;
} writing;

static const field writing_fields[] = {{"path", FIELD_TEXT, offsetof(writing, options.path)},
                                       {"flags", FIELD_U32, offsetof(writing, options.flags)},
                                       {"memory", FIELD_U64, offsetof(writing, memory)},
                                       {0}};

static gufo_status write_job(void *context, const gufo_run *run, gufo_error *error)
{
    writing *w = context;
    gufo_run how = *run;

    how.memory = w->memory;
    return gufo_job_run(w->job, &w->options, &how, error);
}

/* "read": a list of paths as bytes. */
static bool read_paths(PyObject *options, writing *w)
{
    void *paths = NULL;
    PyObject *list;
    bool good =
        fields_list(options, "read", sizeof *w->read, &list, &w->options.also_read_count, &paths);

    w->options.also_read = w->read = paths;
    for (size_t i = 0; good && i < w->options.also_read_count; i++)
        good = fields_text(PyList_GetItem(list, (Py_ssize_t)i), &w->read[i]);
    return good;
}

/* What all ways of writing take: options, threads, progress. */
static PyObject *work_on(PyObject *object, PyObject *options, const core_call *call,
                         core_work *work, writing *w)
{
    const bool good = fields_read(options, writing_fields, w) == 0 && read_paths(options, w) &&
                      core_do(type_of(object), call, work, w);

    PyMem_Free(w->read);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *job_run(PyObject *object, PyObject *args)
{
    writing w = {.job = self_of(object)->job};
    core_call call = {.threads = 0};
    PyObject *options, *result;

    if (!PyArg_ParseTuple(args, "O!O&O:run", &PyDict_Type, &options, core_threads, &call.threads,
                          &call.progress) ||
        !take(object))
        return NULL;
    result = work_on(object, options, &call, write_job, &w);
    give(object);
    return result;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static const field part_fields[] = {{"part_worker", FIELD_U64, offsetof(writing, part.worker)},
                                    {"part_workers", FIELD_U64, offsetof(writing, part.workers)},
                                    {"part_next", FIELD_BOOL, offsetof(writing, part.next)},
                                    {"part_align", FIELD_U64, offsetof(writing, plan.align)},
                                    {0}};

static gufo_status make_part(void *context, const gufo_run *run, gufo_error *error)
{
    writing *w = context;
    gufo_run how = *run;

    how.memory = w->memory;
    return gufo_plan_run(w->job, &w->options, &w->part, &w->plan, &how, &w->result, error);
}

static PyObject *job_run_part(PyObject *object, PyObject *args)
{
    static const field fields[] = {{"count", FIELD_U64, offsetof(gufo_part_result, count)},
                                   {"made", FIELD_U64, offsetof(gufo_part_result, made)},
                                   {"complete", FIELD_U64, offsetof(gufo_part_result, complete)},
                                   {"size", FIELD_U64, offsetof(gufo_part_result, bytes)},
                                   {0}};
    writing w = {.job = self_of(object)->job};
    core_call call = {.threads = 0};
    PyObject *options, *result = NULL;

    if (!PyArg_ParseTuple(args, "O!O&O:run_part", &PyDict_Type, &options, core_threads,
                          &call.threads, &call.progress) ||
        !take(object))
        return NULL;
    if (fields_read(options, part_fields, &w) == 0)
        result = work_on(object, options, &call, make_part, &w);
    give(object);
    if (result == NULL)
        return NULL;
    Py_DECREF(result);
    return fields_dict(fields, &w.result);
}

/* What was measured is in the job then: the logs are not needed any more. */
static gufo_status commit_parts(void *context, const gufo_run *run, gufo_error *error)
{
    writing *w = context;
    bool done;
    gufo_status status = gufo_plan_commit(w->job, &w->options, run, &w->missing, error);

    return status == GUFO_OK && w->missing == 0 ? gufo_plan_clean(w->options.path, &done, error)
                                                : status;
}

static PyObject *job_commit(PyObject *object, PyObject *args)
{
    writing w = {.job = self_of(object)->job};
    core_call call = {.threads = 0};
    PyObject *options, *result;

    if (!PyArg_ParseTuple(args, "O!O:commit", &PyDict_Type, &options, &call.progress) ||
        !take(object))
        return NULL;
    result = work_on(object, options, &call, commit_parts, &w);
    give(object);
    if (result == NULL)
        return NULL;
    Py_DECREF(result);
    return PyLong_FromUnsignedLongLong(w.missing);
}

/* ---- types ---------------------------------------------------------------------------------- */

static PyMethodDef job_methods[] = {
    {"tensors", job_tensors, METH_NOARGS,
     "tensors() -> list of dicts: what each tensor becomes, and after run() what it has lost; "
     "none where all stay."},
    {"about", job_about, METH_NOARGS, "about() -> dict, or None: the plan for a size."},
    {"notes", job_notes, METH_NOARGS,
     "notes() -> list of str: how the files differ from the input beyond what was asked for."},
    {"outputs", job_outputs, METH_VARARGS, "outputs(path) -> list of dicts: the files."},
    {"run", job_run, METH_VARARGS, "run(options, threads, progress): writes them, once."},
    {"run_part", job_run_part, METH_VARARGS,
     "run_part(options, threads, progress) -> dict: makes parts of them, once."},
    {"commit", job_commit, METH_VARARGS,
     "commit(options, progress) -> int: names them when all parts are there; how many are "
     "missing."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot job_slots[] = {
    {Py_tp_doc, "A plan of files: quantizer(), form() ... make it."},
    {Py_tp_methods, job_methods},
    {Py_tp_dealloc, CORE_SLOT(job_free)},
    {0, NULL},
};

static PyType_Spec job_spec = {
    .name = "gufo._core.Job",
    .basicsize = sizeof(core_job),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = job_slots,
};

static const core_constant constants[] = {
    {"JOB_REPLACE", GUFO_JOB_REPLACE},
    {"JOB_RESUME", GUFO_JOB_RESUME},
    {"JOB_RESUMABLE", GUFO_JOB_RESUMABLE},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    return core_add_type(module, CORE_JOB, &job_spec, "Job") < 0
               ? -1
               : core_add_constants(module, constants);
}

const core_part core_part_job = {NULL, set_up};
