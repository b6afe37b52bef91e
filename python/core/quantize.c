/* Jobs: plans of files with other element types, which are looked at and then written. */
#include "fields.h"
#include "given.h"

#ifdef CORE_IMPORT
#include <gufo/import.h>
#endif

#include <stdio.h>

/* A type for tensors of one name. */
typedef struct rule {
    gufo_str name;
    const gufo_element_type *type;
} rule;

/* What the library's options point to.  Texts are views into the dict of options. */
typedef struct plan {
    gufo_quantize_options options;
    const char *type, *imatrix;
    bool pure, migrates; /* a file of a format before GGUF, as it is */
    const gufo_model *input;
    rule *rules;
    size_t rule_count;
    gufo_quantize_override *overrides;
    given_bytes *values;
    uint64_t *pruned;
    gufo_quantize_adapter *adapters;
} plan;

typedef struct job_object {
    PyObject_HEAD
    PyObject *given;  /* the dict of options */
    PyObject *models; /* list of those in use */
    plan plan;
    gufo_imatrix *importance;
    gufo_quantizer *quantizer; /* NULL: the job is an import's */
    gufo_job *job;
    bool busy;
} job_object;

static job_object *self_of(PyObject *object)
{
    return (job_object *)object;
}

static PyObject *type_of(PyObject *object)
{
    return (PyObject *)Py_TYPE(object);
}

/* The job, for a call; NULL with an exception. */
static gufo_job *job_of(PyObject *object)
{
    if (self_of(object)->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread runs the job");
    return self_of(object)->busy ? NULL : self_of(object)->job;
}

/* ---- options -------------------------------------------------------------------------------- */

static const field option_fields[] = {
    {"type", FIELD_TEXT, offsetof(plan, type)},
    {"imatrix", FIELD_TEXT, offsetof(plan, imatrix)},
    {"pure", FIELD_BOOL, offsetof(plan, pure)},
    {"migrates", FIELD_BOOL, offsetof(plan, migrates)},
    {"allow_requantize", FIELD_BOOL, offsetof(plan, options.recipe.allow_requantize)},
    {"keep_output", FIELD_BOOL, offsetof(plan, options.recipe.keep_output)},
    {"no_fallback", FIELD_BOOL, offsetof(plan, options.recipe.no_fallback)},
    {"plan_only", FIELD_BOOL, offsetof(plan, options.recipe.plan_only)},
    {"output_type", FIELD_TYPE, offsetof(plan, options.recipe.output_type)},
    {"token_embedding_type", FIELD_TYPE, offsetof(plan, options.recipe.token_embedding_type)},
    {"flags", FIELD_U32, offsetof(plan, options.flags)},
    {"effort", FIELD_UINT, offsetof(plan, options.effort)},
    {"split_size", FIELD_U64, offsetof(plan, options.split_size)},
    {"split_tensors", FIELD_U64, offsetof(plan, options.split_tensors)},
    {0}};

/* The list of this name, and zeros for its elements; *count is 0 without one.  False with an exception. */
static bool list_of(PyObject *options, const char *name, size_t size, PyObject **list,
                    size_t *count, void **elements)
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

/* "types": a dict of names, bytes, and names of types. */
static bool read_rules(PyObject *options, plan *p)
{
    PyObject *types, *name, *type;
    Py_ssize_t place = 0;
    void *rules = NULL;
    size_t count;
    bool good = list_of(options, "types", sizeof *p->rules, &types, &count, &rules);

    p->rules = rules;
    while (good && count > 0 && PyDict_Next(types, &place, &name, &type)) {
        rule *r = &p->rules[p->rule_count++];

        r->name = (gufo_str){PyBytes_AsString(name), (size_t)PyBytes_Size(name)};
        r->type = fields_type(type);
        good = r->name.data != NULL && r->type != NULL;
    }
    return good;
}

/* "metadata": a list of (key as bytes, types, value). */
static bool read_overrides(PyObject *options, plan *p)
{
    PyObject *list, *types, *value;
    void *overrides = NULL;
    size_t count;
    bool good = list_of(options, "metadata", sizeof *p->overrides, &list, &count, &overrides);

    p->overrides = overrides;
    p->values = good && count > 0 ? PyMem_Calloc(count, sizeof *p->values) : NULL;
    if (good && count > 0 && p->values == NULL)
        PyErr_NoMemory();
    good = good && (count == 0 || p->values != NULL);
    for (size_t i = 0; good && i < count; i++) {
        gufo_quantize_override *o = &p->overrides[i];

        good =
            PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "yOO", &o->key, &types, &value);
        p->options.override_count = i + 1;
        good = good && given_value(types, value, &p->values[i], &o->value);
    }
    p->options.overrides = p->overrides;
    return good;
}

static bool read_pruned(PyObject *options, plan *p)
{
    void *layers = NULL;
    PyObject *list;
    bool good = list_of(options, "prune_layers", sizeof *p->pruned, &list, &p->options.pruned_count,
                        &layers);

    p->options.pruned_layers = p->pruned = layers;
    for (size_t i = 0; good && i < p->options.pruned_count; i++) {
        p->pruned[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, (Py_ssize_t)i));
        good = !PyErr_Occurred();
    }
    return good;
}

/* Takes a model into use until the job ends. */
static const gufo_model *use(PyObject *object, PyObject *model)
{
    const gufo_model *used = core_model_use(type_of(object), model);

    if (used != NULL && PyList_Append(self_of(object)->models, model) < 0) {
        core_model_leave(model);
        used = NULL;
    }
    return used;
}

/* "adapters": a list of (model, scale). */
static bool read_adapters(PyObject *object, PyObject *options, plan *p)
{
    void *adapters = NULL;
    PyObject *list, *model;
    bool good = list_of(options, "adapters", sizeof *p->adapters, &list, &p->options.adapter_count,
                        &adapters);

    p->options.adapters = p->adapters = adapters;
    for (size_t i = 0; good && i < p->options.adapter_count; i++) {
        gufo_quantize_adapter *a = &p->adapters[i];

        good = PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "Od", &model, &a->scale) &&
               (a->model = use(object, model)) != NULL;
    }
    return good;
}

static const gufo_element_type *type_of_rule(void *context, gufo_str name)
{
    const plan *p = context;

    for (size_t i = 0; i < p->rule_count; i++)
        if (gufo_str_equal(p->rules[i].name, name))
            return p->rules[i].type;
    return NULL;
}

static bool read_options(PyObject *object, PyObject *options)
{
    plan *p = &self_of(object)->plan;

    if (fields_read(options, option_fields, p) < 0 || !read_rules(options, p) ||
        !read_overrides(options, p) || !read_pruned(options, p) ||
        !read_adapters(object, options, p))
        return false;
    if (p->rule_count > 0) {
        p->options.recipe.override_type = type_of_rule;
        p->options.recipe.override_context = p;
    }
    return true;
}

/* ---- planning ------------------------------------------------------------------------------- */

static gufo_status open_importance(job_object *self, gufo_error *error)
{
    plan *p = &self->plan;

    if (p->imatrix == NULL)
        return GUFO_OK;
    self->importance = gufo_imatrix_open(p->imatrix, NULL, error);
    if (self->importance == NULL)
        return error->code;
    if (gufo_imatrix_entry_count(self->importance) > 0) {
        p->options.importance = self->importance;
        p->options.importance_path = p->imatrix;
    }
    return GUFO_OK;
}

static gufo_status refuse_type(const char *type, gufo_error *error)
{
    *error = (gufo_error){.code = GUFO_E_ARGUMENT, .offset = GUFO_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "quantizing does not make '%.100s'", type);
    return error->code;
}

/* What training frameworks have becomes what `gufo convert` makes of it. */
static bool plan_import(job_object *self, gufo_error *error)
{
#ifdef CORE_IMPORT
    plan *p = &self->plan;
    gufo_import *import = (gufo_import *)gufo_import_of(p->input);

    if (import == NULL)
        return false;
    p->options.recipe.target.pure = p->pure;
    if (p->migrates)
        self->job = gufo_import_job(import, error);
    else
        self->quantizer = gufo_import_quantize(import, p->type, &p->options, error);
    return true;
#else
    (void)self;
    (void)error;
    return false;
#endif
}

static gufo_status plan_job(void *context, const gufo_run *run, gufo_error *error)
{
    job_object *self = context;
    plan *p = &self->plan;
    gufo_status status = open_importance(self, error);

    (void)run;
    if (status != GUFO_OK)
        return status;
    if (!plan_import(self, error)) {
        const char *type = p->type != NULL ? p->type : "COPY";

        if (!gufo_quantize_target_by_name(type, p->pure, &p->options.recipe.target))
            return refuse_type(type, error);
        self->quantizer = gufo_quantizer_new(p->input, &p->options, error);
    }
    if (self->quantizer != NULL)
        self->job = gufo_quantizer_job(self->quantizer);
    return self->job != NULL ? GUFO_OK : error->code;
}

static PyObject *job_new(PyObject *module, PyObject *args)
{
    const core_call call = {.brief = false};
    PyObject *model, *options;
    job_object *self;
    bool good;

    if (!PyArg_ParseTuple(args, "OO!:job", &model, &PyDict_Type, &options))
        return NULL;
    self = (job_object *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_JOB), 0);
    if (self == NULL)
        return NULL;
    self->given = Py_NewRef(options);
    self->models = PyList_New(0);
    good = self->models != NULL && (self->plan.input = use((PyObject *)self, model)) != NULL &&
           read_options((PyObject *)self, options) && core_do(module, &call, plan_job, self);
    if (!good)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void free_plan(plan *p)
{
    for (size_t i = 0; p->values != NULL && i < p->options.override_count; i++)
        given_free(&p->values[i]);
    PyMem_Free(p->values);
    PyMem_Free(p->overrides);
    PyMem_Free(p->rules);
    PyMem_Free(p->pruned);
    PyMem_Free(p->adapters);
}

static void job_free(PyObject *object)
{
    job_object *self = self_of(object);
    PyTypeObject *type = Py_TYPE(object);

    if (self->quantizer == NULL)
        gufo_job_free(self->job);
    gufo_quantizer_free(self->quantizer);
    gufo_imatrix_free(self->importance);
    free_plan(&self->plan);
    for (Py_ssize_t i = 0; self->models != NULL && i < PyList_Size(self->models); i++)
        core_model_leave(PyList_GetItem(self->models, i));
    Py_XDECREF(self->models);
    Py_XDECREF(self->given);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- looking -------------------------------------------------------------------------------- */

static const field tensor_fields[] = {
    {"name", FIELD_BYTES, offsetof(gufo_quantizer_tensor, name)},
    {"source", FIELD_BYTES, offsetof(gufo_quantizer_tensor, source.name)},
    {"old_type", FIELD_TYPE_ID, offsetof(gufo_quantizer_tensor, source.type)},
    {"old_size", FIELD_U64, offsetof(gufo_quantizer_tensor, source.size)},
    {"elements", FIELD_U64, offsetof(gufo_quantizer_tensor, source.elements)},
    {"type", FIELD_TYPE_ID, offsetof(gufo_quantizer_tensor, choice.type)},
    {"wanted", FIELD_TYPE_ID, offsetof(gufo_quantizer_tensor, choice.wanted)},
    {"size", FIELD_U64, offsetof(gufo_quantizer_tensor, choice.size)},
    {"rule", FIELD_TEXT, offsetof(gufo_quantizer_tensor, choice.rule)},
    {"has_importance", FIELD_BOOL, offsetof(gufo_quantizer_tensor, has_importance)},
    {"compared", FIELD_U64, offsetof(gufo_quantizer_tensor, loss.count)},
    {"largest_error", FIELD_F32, offsetof(gufo_quantizer_tensor, loss.largest_error)},
    {0}};

static PyObject *tensor_dict(const gufo_quantizer_tensor *tensor)
{
    PyObject *dict = fields_dict(tensor_fields, tensor);

    if (dict == NULL ||
        fields_set(dict, "reason", core_message(gufo_recipe_reason_text(tensor->choice.reason))) <
            0 ||
        fields_set(dict, "loss", PyFloat_FromDouble(gufo_quantize_loss_relative(&tensor->loss))) <
            0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *job_tensors(PyObject *object, PyObject *none)
{
    const gufo_quantizer *quantizer = self_of(object)->quantizer;
    PyObject *list = job_of(object) != NULL ? PyList_New(0) : NULL;
    gufo_quantizer_tensor tensor;

    (void)none;
    for (uint64_t i = 0;
         list != NULL && quantizer != NULL && gufo_quantizer_tensor_at(quantizer, i, &tensor); i++)
        if (fields_add(list, tensor_dict(&tensor)) < 0)
            Py_CLEAR(list);
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
    const gufo_job *job = job_of(object);
    PyObject *list;
    gufo_job_output output;
    const char *path;

    if (job == NULL || !PyArg_ParseTuple(args, "y:outputs", &path))
        return NULL;
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && gufo_job_output_at(job, i, &output); i++) {
        PyObject *dict = fields_dict(fields, &output);

        if (dict == NULL || fields_set(dict, "path", output_path(job, path, i)) < 0)
            Py_CLEAR(dict);
        if (fields_add(list, dict) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writing {
    gufo_job *job;
    gufo_job_options options;
    const char **read; /* paths that no output replaces */
    uint64_t memory;
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
        list_of(options, "read", sizeof *w->read, &list, &w->options.also_read_count, &paths);

    w->options.also_read = w->read = paths;
    for (size_t i = 0; good && i < w->options.also_read_count; i++) {
        w->read[i] = PyBytes_AsString(PyList_GetItem(list, (Py_ssize_t)i));
        good = w->read[i] != NULL;
    }
    return good;
}

static PyObject *job_run(PyObject *object, PyObject *args)
{
    job_object *self = self_of(object);
    writing w = {.job = job_of(object)};
    core_call call = {.threads = 0};
    PyObject *options;
    bool good;

    if (w.job == NULL ||
        !PyArg_ParseTuple(args, "O!IO:run", &PyDict_Type, &options, &call.threads, &call.progress))
        return NULL;
    self->busy = true;
    good = fields_read(options, writing_fields, &w) == 0 && read_paths(options, &w) &&
           core_do(type_of(object), &call, write_job, &w);
    self->busy = false;
    PyMem_Free(w.read);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- types ---------------------------------------------------------------------------------- */

static PyMethodDef job_methods[] = {
    {"tensors", job_tensors, METH_NOARGS,
     "tensors() -> list of dicts: what each tensor becomes, and after run() what it has lost; "
     "none where all stay."},
    {"outputs", job_outputs, METH_VARARGS, "outputs(path) -> list of dicts: the files."},
    {"run", job_run, METH_VARARGS, "run(options, threads, progress): writes them, once."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot job_slots[] = {
    {Py_tp_doc, "A plan of files: job() makes it."},
    {Py_tp_methods, job_methods},
    {Py_tp_dealloc, CORE_SLOT(job_free)},
    {0, NULL},
};

static PyType_Spec job_spec = {
    .name = "gufo._core.Job",
    .basicsize = sizeof(job_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = job_slots,
};

/* Names of types that quantizing makes, the ones people use first. */
static PyObject *target_names(PyObject *module, PyObject *none)
{
    PyObject *list = PyList_New(0);
    const char *name;

    (void)module;
    (void)none;
    for (size_t i = 0; list != NULL && (name = gufo_quantize_target_name(i)) != NULL; i++)
        if (fields_add(list, PyUnicode_FromString(name)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyMethodDef functions[] = {
    {"job", job_new, METH_VARARGS, "job(model, options) -> Job"},
    {"target_names", target_names, METH_NOARGS, "target_names() -> list of str"},
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"QUANTIZE_KEEP_SPLIT", GUFO_QUANTIZE_KEEP_SPLIT},
    {"QUANTIZE_KEEP_NONFINITE", GUFO_QUANTIZE_KEEP_NONFINITE},
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

const core_part core_part_quantize = {functions, set_up};
