/* The memory that a model needs to run. */
#include "fields.h"

#include <gufo/estimate.h>

#include <string.h>

typedef struct estimating {
    PyObject *module;
    gufo_estimate_options options;
    gufo_estimate_limits limits;
    uint64_t device_bytes[GUFO_ESTIMATE_MAX_DEVICES];
    double split[GUFO_ESTIMATE_MAX_DEVICES];
    bool fits; /* limits are looked for */
    bool lacks_room;
    gufo_estimate estimate;
} estimating;

static const field option_fields[] = {
    {"n_ctx", FIELD_U64, offsetof(estimating, options.n_ctx)},
    {"n_batch", FIELD_U64, offsetof(estimating, options.n_batch)},
    {"n_ubatch", FIELD_U64, offsetof(estimating, options.n_ubatch)},
    {"n_seq", FIELD_U64, offsetof(estimating, options.n_seq)},
    {"type_k", FIELD_TYPE, offsetof(estimating, options.type_k)},
    {"type_v", FIELD_TYPE, offsetof(estimating, options.type_v)},
    {"flash_attention", FIELD_UINT, offsetof(estimating, options.flash_attention)},
    {"kv_unified", FIELD_BOOL, offsetof(estimating, options.kv_unified)},
    {"swa_full", FIELD_BOOL, offsetof(estimating, options.swa_full)},
    {"embeddings", FIELD_BOOL, offsetof(estimating, options.embeddings)},
    {"no_kv_offload", FIELD_BOOL, offsetof(estimating, options.no_kv_offload)},
    {"n_devices", FIELD_U32, offsetof(estimating, options.n_devices)},
    {"has_gpu_layers", FIELD_BOOL, offsetof(estimating, options.has_gpu_layers)},
    {"n_gpu_layers", FIELD_U64, offsetof(estimating, options.n_gpu_layers)},
    {"has_cpu_moe", FIELD_BOOL, offsetof(estimating, options.has_cpu_moe)},
    {"n_cpu_moe", FIELD_U64, offsetof(estimating, options.n_cpu_moe)},
    {"fits", FIELD_BOOL, offsetof(estimating, fits)},
    {"host_bytes", FIELD_U64, offsetof(estimating, limits.host_bytes)},
    {"least_ctx", FIELD_U64, offsetof(estimating, limits.least_ctx)},
    {0}};

/* ---- options -------------------------------------------------------------------------------- */

/* The member of a dict that is a list of at most as many elements as there are devices. */
static bool devices_of(PyObject *options, const char *name, PyObject **list)
{
    *list = PyDict_GetItemString(options, name);
    if (*list == NULL || PyList_Size(*list) <= GUFO_ESTIMATE_MAX_DEVICES)
        return !PyErr_Occurred();
    PyErr_Format(PyExc_ValueError, "there are at most %d devices", GUFO_ESTIMATE_MAX_DEVICES);
    return false;
}

static bool read_devices(PyObject *options, estimating *e)
{
    PyObject *bytes, *split;

    if (!devices_of(options, "device_bytes", &bytes) ||
        !devices_of(options, "tensor_split", &split))
        return false;
    for (Py_ssize_t i = 0; bytes != NULL && i < PyList_Size(bytes); i++)
        e->device_bytes[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(bytes, i));
    for (Py_ssize_t i = 0; split != NULL && i < PyList_Size(split); i++)
        e->split[i] = PyFloat_AsDouble(PyList_GetItem(split, i));
    e->limits.device_bytes = bytes != NULL ? e->device_bytes : NULL;
    e->options.tensor_split = split != NULL ? e->split : NULL;
    e->limits.split = split != NULL ? NULL : e->split;
    return !PyErr_Occurred();
}

/* ---- the result ----------------------------------------------------------------------------- */

static const char *quality(gufo_estimate_quality quality)
{
    static const char *const words[] = {"not known", "exact", "fitted", "rough"};

    return words[quality];
}

static PyObject *device_dict(const gufo_estimate_device *device)
{
    static const field fields[] = {
        {"model_bytes", FIELD_U64, offsetof(gufo_estimate_device, model_bytes)},
        {"mapped_bytes", FIELD_U64, offsetof(gufo_estimate_device, mapped_bytes)},
        {"kv_bytes", FIELD_U64, offsetof(gufo_estimate_device, kv_bytes)},
        {"state_bytes", FIELD_U64, offsetof(gufo_estimate_device, state_bytes)},
        {"compute_bytes", FIELD_U64, offsetof(gufo_estimate_device, compute_bytes)},
        {"compute_margin", FIELD_U64, offsetof(gufo_estimate_device, compute_margin)},
        {"output_bytes", FIELD_U64, offsetof(gufo_estimate_device, output_bytes)},
        {"adapter_bytes", FIELD_U64, offsetof(gufo_estimate_device, adapter_bytes)},
        {"projector_bytes", FIELD_U64, offsetof(gufo_estimate_device, projector_bytes)},
        {"draft_bytes", FIELD_U64, offsetof(gufo_estimate_device, draft_bytes)},
        {"layers", FIELD_U64, offsetof(gufo_estimate_device, layers)},
        {"read_bytes", FIELD_U64, offsetof(gufo_estimate_device, read_bytes)},
        {0}};
    PyObject *dict = fields_dict(fields, device);

    if (dict == NULL ||
        fields_set(dict, "compute_quality",
                   PyUnicode_FromString(quality(device->compute_quality))) < 0 ||
        fields_set(dict, "most_bytes",
                   PyLong_FromUnsignedLongLong(gufo_estimate_most_bytes(device))) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *result_of(const estimating *e)
{
    static const field fields[] = {
        {"n_ctx", FIELD_U64, offsetof(estimating, estimate.n_ctx)},
        {"n_batch", FIELD_U64, offsetof(estimating, estimate.n_batch)},
        {"n_ubatch", FIELD_U64, offsetof(estimating, estimate.n_ubatch)},
        {"flash_attention", FIELD_BOOL, offsetof(estimating, estimate.flash_attention)},
        {"kv_token_bytes", FIELD_U64, offsetof(estimating, estimate.kv_token_bytes)},
        {"unused_bytes", FIELD_U64, offsetof(estimating, estimate.unused_bytes)},
        {"missing_tensors", FIELD_U64, offsetof(estimating, estimate.missing_tensors)},
        {"has_gpu_layers", FIELD_BOOL, offsetof(estimating, options.has_gpu_layers)},
        {"n_gpu_layers", FIELD_U64, offsetof(estimating, options.n_gpu_layers)},
        {"n_cpu_moe", FIELD_U64, offsetof(estimating, options.n_cpu_moe)},
        {0}};
    PyObject *dict = fields_dict(fields, e), *devices = PyList_New(0);

    for (uint32_t i = 0; devices != NULL && i < e->estimate.device_count; i++)
        if (fields_add(devices, device_dict(&e->estimate.devices[i])) < 0)
            Py_CLEAR(devices);
    if (dict == NULL || fields_set(dict, "devices", devices) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* ---- the call ------------------------------------------------------------------------------- */

static bool add_beside(gufo_estimator *estimator, PyObject *module, PyObject *list,
                       gufo_status (*add)(gufo_estimator *, const gufo_model *, gufo_error *))
{
    gufo_error error;
    bool good = true;

    for (Py_ssize_t i = 0; good && i < PyList_Size(list); i++) {
        PyObject *object = PyList_GetItem(list, i);
        const gufo_model *model = core_model_use(module, object);

        if (model == NULL)
            return false;
        good = add(estimator, model, &error) == GUFO_OK;
        core_model_leave(object);
        if (!good)
            core_raise(module, &error);
    }
    return good;
}

static PyObject *run(const gufo_estimator *estimator, estimating *e)
{
    gufo_error error;
    const gufo_status status =
        e->fits ? gufo_estimator_fit(estimator, &e->limits, &e->options, &e->estimate, &error)
                : gufo_estimator_run(estimator, &e->options, &e->estimate, &error);

    return status == GUFO_OK ? result_of(e) : core_raise(e->module, &error);
}

/* A draft is an estimator of its own, which lives until the estimate is made. */
static PyObject *run_with_draft(gufo_estimator *estimator, PyObject *draft, estimating *e)
{
    const gufo_model *model;
    gufo_estimator *small;
    PyObject *result = NULL;
    gufo_error error;

    if (draft == Py_None)
        return run(estimator, e);
    model = core_model_use(e->module, draft);
    if (model == NULL)
        return NULL;
    small = gufo_estimator_new(model, NULL, &error);
    if (small == NULL || gufo_estimator_add_draft(estimator, small, &error) != GUFO_OK)
        core_raise(e->module, &error);
    else
        result = run(estimator, e);
    gufo_estimator_free(small);
    core_model_leave(draft);
    return result;
}

static PyObject *estimate_model(PyObject *module, PyObject *args)
{
    PyObject *object, *adapters, *projectors, *draft, *options, *result = NULL;
    estimating e = {.module = module};
    gufo_estimator *estimator;
    const gufo_model *model;
    gufo_error error;

    if (!PyArg_ParseTuple(args, "OO!O!OO!:estimate", &object, &PyList_Type, &adapters, &PyList_Type,
                          &projectors, &draft, &PyDict_Type, &options) ||
        fields_read(options, option_fields, &e) < 0 || !read_devices(options, &e) ||
        (model = core_model_use(module, object)) == NULL)
        return NULL;
    estimator = gufo_estimator_new(model, NULL, &error);
    if (estimator == NULL)
        core_raise(module, &error);
    else if (add_beside(estimator, module, adapters, gufo_estimator_add_adapter) &&
             add_beside(estimator, module, projectors, gufo_estimator_add_projector))
        result = run_with_draft(estimator, draft, &e);
    gufo_estimator_free(estimator);
    core_model_leave(object);
    return result;
}

static PyMethodDef functions[] = {
    {"estimate", estimate_model, METH_VARARGS,
     "estimate(model, adapters, projectors, draft or None, options) -> dict"},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_estimate = {functions, NULL};
