/* Plans of files with other element types. */
#include "fields.h"
#include "given.h"
#include "jobs/job.h"
#include "jobs/size.h"

#ifdef CORE_HAS_IMPORT
#include <gufo/import.h>
#endif

#include <stdio.h>
#include <string.h>

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
    gufo_imatrix *importance;
    size_part size;
    gufo_quantizer *quantizer; /* NULL: the job is an import's */
    gufo_job *job;
} plan;

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

/* "types": a dict of names, bytes, and names of types. */
static bool read_rules(PyObject *options, plan *p)
{
    PyObject *types, *name, *type;
    Py_ssize_t place = 0;
    void *rules = NULL;
    size_t count;
    bool good = fields_list(options, "types", sizeof *p->rules, &types, &count, &rules);

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
    bool good = fields_list(options, "metadata", sizeof *p->overrides, &list, &count, &overrides);

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
        good = good && given_value((gufo_str){o->key, strlen(o->key)}, types, value, &p->values[i],
                                   &o->value);
    }
    p->options.overrides = p->overrides;
    return good;
}

static bool read_pruned(PyObject *options, plan *p)
{
    void *layers = NULL;
    PyObject *list;
    bool good = fields_list(options, "prune_layers", sizeof *p->pruned, &list,
                            &p->options.pruned_count, &layers);

    p->options.pruned_layers = p->pruned = layers;
    for (size_t i = 0; good && i < p->options.pruned_count; i++) {
        p->pruned[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, (Py_ssize_t)i));
        good = !PyErr_Occurred();
    }
    return good;
}

/* "adapters": a list of (model, scale). */
static bool read_adapters(core_job *self, PyObject *options, plan *p)
{
    void *adapters = NULL;
    PyObject *list, *model;
    bool good = fields_list(options, "adapters", sizeof *p->adapters, &list,
                            &p->options.adapter_count, &adapters);

    p->options.adapters = p->adapters = adapters;
    for (size_t i = 0; good && i < p->options.adapter_count; i++) {
        gufo_quantize_adapter *a = &p->adapters[i];

        good = PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "Od", &model, &a->scale) &&
               (a->model = core_job_use_model(self, model)) != NULL;
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

static bool read_options(core_job *self, PyObject *options, plan *p)
{
    if (fields_read(options, option_fields, p) < 0 || !size_read(options, &p->size) ||
        !read_rules(options, p) || !read_overrides(options, p) || !read_pruned(options, p) ||
        !read_adapters(self, options, p))
        return false;
    if (p->rule_count > 0) {
        p->options.recipe.override_type = type_of_rule;
        p->options.recipe.override_context = p;
    }
    return true;
}

/* ---- planning ------------------------------------------------------------------------------- */

static gufo_status open_importance(plan *p, gufo_error *error)
{
    if (p->imatrix == NULL)
        return GUFO_OK;
    p->importance = gufo_imatrix_open(p->imatrix, NULL, error);
    if (p->importance == NULL)
        return error->code;
    if (gufo_imatrix_entry_count(p->importance) > 0) {
        p->options.importance = p->importance;
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
static bool plan_import(plan *p, gufo_error *error)
{
#ifdef CORE_HAS_IMPORT
    gufo_import *import = (gufo_import *)gufo_model_import(p->input);

    if (import == NULL)
        return false;
    p->options.recipe.target.pure = p->pure;
    if (p->migrates)
        p->job = gufo_import_job(import, error);
    else
        p->quantizer = gufo_import_quantize(import, p->type, &p->options, error);
    return true;
#else
    (void)p;
    (void)error;
    return false;
#endif
}

static gufo_status plan_job(void *context, const gufo_run *run, gufo_error *error)
{
    plan *p = context;
    const bool has_size = p->size.is_asked;
    gufo_status status = open_importance(p, error);

    if (status == GUFO_OK && has_size)
        status = size_make_plan(&p->size, p->input, &p->options, run, error);
    if (status != GUFO_OK)
        return status;
    if (has_size || !plan_import(p, error)) {
        const char *type = p->type != NULL ? p->type : "COPY";

        if (!has_size && !gufo_quantize_target_by_name(type, p->pure, &p->options.recipe.target))
            return refuse_type(type, error);
        p->quantizer = gufo_quantizer_new(p->input, &p->options, error);
    }
    if (p->quantizer != NULL)
        p->job = gufo_quantizer_job(p->quantizer);
    return p->job != NULL ? GUFO_OK : error->code;
}

static void free_plan(void *context)
{
    plan *p = context;

    if (p->quantizer == NULL)
        gufo_job_free(p->job);
    gufo_quantizer_free(p->quantizer);
    size_free(&p->size);
    gufo_imatrix_free(p->importance);
    for (size_t i = 0; p->values != NULL && i < p->options.override_count; i++)
        given_free(&p->values[i]);
    PyMem_Free(p->values);
    PyMem_Free(p->overrides);
    PyMem_Free(p->rules);
    PyMem_Free(p->pruned);
    PyMem_Free(p->adapters);
    PyMem_Free(p);
}

static PyObject *plan_tensors(const void *context);

static PyObject *about_plan(const void *context)
{
    const plan *p = context;

    return size_dict(&p->size, p->quantizer);
}

static PyObject *quantizer(PyObject *module, PyObject *args)
{
    static const core_job_maker maker = {free_plan, plan_tensors, about_plan};
    core_call call = {.threads = 0};
    PyObject *model, *options;
    core_job *self;
    plan *p;

    if (!PyArg_ParseTuple(args, "OO!O&O:quantizer", &model, &PyDict_Type, &options, core_threads,
                          &call.threads, &call.progress))
        return NULL;
    p = PyMem_Calloc(1, sizeof *p);
    if (p == NULL)
        return PyErr_NoMemory();
    self = core_job_new(module, &maker, p);
    if (self == NULL)
        return NULL;
    if (!core_job_keep(self, options) || (p->input = core_job_use_model(self, model)) == NULL ||
        !read_options(self, options, p) || !core_do(module, &call, plan_job, p))
        Py_CLEAR(self);
    else
        self->job = p->job;
    return (PyObject *)self;
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

static PyObject *plan_tensors(const void *context)
{
    const plan *p = context;
    PyObject *list = PyList_New(0);
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0;
         list != NULL && p->quantizer != NULL && gufo_quantizer_tensor_at(p->quantizer, i, &tensor);
         i++)
        if (fields_add(list, tensor_dict(&tensor)) < 0)
            Py_CLEAR(list);
    return list;
}

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
    {"quantizer", quantizer, METH_VARARGS, "quantizer(model, options, threads, progress) -> Job"},
    {"target_names", target_names, METH_NOARGS, "target_names() -> list of str"},
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"QUANTIZE_KEEP_SPLIT", GUFO_QUANTIZE_KEEP_SPLIT},
    {"QUANTIZE_KEEP_NONFINITE", GUFO_QUANTIZE_KEEP_NONFINITE},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    return core_add_constants(module, constants);
}

const core_part core_part_quantize = {functions, set_up};
