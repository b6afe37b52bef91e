/* Hashes of tensors, and manifests of them. */
#include "fields.h"

#include <gufo/digest.h>

#include <stdlib.h>
#include <string.h>

/* ---- hashing ---------------------------------------------------------------------------------- */

typedef struct hashing {
    const gufo_model *model;
    uint32_t algorithms;
    gufo_digests all, *tensors; /* `tensors` is NULL where they are not asked for */
} hashing;

static bool note_tensor(void *context, uint64_t index, const gufo_tensor *tensor,
                        const gufo_digests *digests)
{
    hashing *h = context;

    (void)tensor;
    h->tensors[index] = *digests;
    return true;
}

static gufo_status hash(void *context, const gufo_run *run, gufo_error *error)
{
    hashing *h = context;
    const gufo_digest_options options = {.algorithms = h->algorithms,
                                         .tensor = h->tensors != NULL ? note_tensor : NULL,
                                         .context = h};

    return gufo_model_digest(h->model, &options, run, &h->all, error);
}

/* Algorithm to text. */
static PyObject *texts_of(const gufo_digests *digests, uint32_t algorithms, bool is_tensor)
{
    PyObject *dict = PyDict_New();

    for (unsigned i = 0; dict != NULL && i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_algorithm algorithm = (gufo_digest_algorithm)i;
        const gufo_digest_kind *kind = gufo_digest_kind_of(algorithm);
        char text[GUFO_DIGEST_TEXT];

        if ((algorithms >> i & 1) == 0 || kind == NULL || (is_tensor && kind->file_only))
            continue;
        (void)gufo_digest_text(algorithm, digests->bytes[i], text);
        if (fields_set(dict, kind->name, PyUnicode_FromString(text)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *hashes_of(const hashing *h)
{
    PyObject *list = PyList_New(0);
    const uint64_t count = h->tensors != NULL ? gufo_model_tensor_count(h->model) : 0;

    for (uint64_t i = 0; list != NULL && i < count; i++)
        if (fields_add(list, texts_of(&h->tensors[i], h->algorithms, true)) < 0)
            Py_CLEAR(list);
    return list == NULL ? NULL
                        : Py_BuildValue("(NN)", texts_of(&h->all, h->algorithms, false), list);
}

/* Reads names of algorithms; false with an exception. */
static bool read_algorithms(PyObject *list, uint32_t *out)
{
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        gufo_digest_algorithm algorithm;
        const char *name;

        if (!fields_text(PyList_GetItem(list, i), &name))
            return false;
        if (!gufo_digest_by_name(name, &algorithm)) {
            PyErr_Format(PyExc_ValueError,
                         "'%s' is not a hash: xxh64, sha1, sha256, blake2b and "
                         "uuid are",
                         name);
            return false;
        }
        *out |= UINT32_C(1) << algorithm;
    }
    return true;
}

static PyObject *hash_model(PyObject *module, PyObject *args)
{
    core_call call = {.threads = 0};
    PyObject *model, *names, *result = NULL;
    hashing h = {.algorithms = 0};
    int with_tensors;

    if (!PyArg_ParseTuple(args, "OO!pO&O:hash", &model, &PyList_Type, &names, &with_tensors,
                          core_threads, &call.threads, &call.progress) ||
        !read_algorithms(names, &h.algorithms) || (h.model = core_model_use(module, model)) == NULL)
        return NULL;
    if (with_tensors)
        h.tensors = PyMem_Calloc((size_t)gufo_model_tensor_count(h.model) + 1, sizeof *h.tensors);
    if (with_tensors && h.tensors == NULL)
        PyErr_NoMemory();
    else if (core_do(module, &call, hash, &h))
        result = hashes_of(&h);
    core_model_leave(model);
    PyMem_Free(h.tensors);
    return result;
}

/* ---- verifying -------------------------------------------------------------------------------- */

typedef struct verdict {
    gufo_manifest_verdict verdict;
    bool whole;
    char *name; /* own */
    size_t len;
} verdict;

typedef struct verifying {
    const gufo_model *model;
    gufo_manifest_check check;
    gufo_manifest_summary summary;
    verdict *verdicts;
    size_t count, room;
    bool no_memory;
} verifying;

static void note_result(void *context, const gufo_manifest_result *result)
{
    verifying *v = context;
    verdict one = {.verdict = result->verdict, .whole = result->whole, .len = result->tensor.len};

    if (v->count == v->room) {
        const size_t room = v->room < 16 ? 32 : v->room * 2;
        verdict *grown = realloc(v->verdicts, room * sizeof *grown);

        v->no_memory = v->no_memory || grown == NULL;
        if (grown == NULL)
            return;
        v->verdicts = grown;
        v->room = room;
    }
    one.name = malloc(one.len + 1);
    v->no_memory = v->no_memory || one.name == NULL;
    if (one.name == NULL)
        return;
    if (one.len > 0)
        memcpy(one.name, result->tensor.data, one.len);
    v->verdicts[v->count++] = one;
}

static gufo_status verify(void *context, const gufo_run *run, gufo_error *error)
{
    verifying *v = context;

    return gufo_model_verify(v->model, &v->check, run, &v->summary, error);
}

static PyObject *verdicts_of(const verifying *v)
{
    static const char *const names[] = {"same", "differs", "missing", "new"};
    PyObject *list = v->no_memory ? PyErr_NoMemory() : PyList_New(0);

    for (size_t i = 0; list != NULL && i < v->count; i++) {
        const verdict *one = &v->verdicts[i];

        if (fields_add(list, Py_BuildValue("(sy#N)", names[one->verdict], one->name,
                                           (Py_ssize_t)one->len, PyBool_FromLong(one->whole))) < 0)
            Py_CLEAR(list);
    }
    return list == NULL
               ? NULL
               : Py_BuildValue("(NN)", PyBool_FromLong(gufo_manifest_agrees(&v->summary)), list);
}

static PyObject *verify_with(PyObject *module, verifying *v, const core_call *call, gufo_str text,
                             const char *path)
{
    PyObject *result = NULL;
    gufo_error error;
    gufo_manifest *manifest = gufo_manifest_parse(text, NULL, &error);

    if (manifest == NULL) {
        core_name_file(&error, path);
        return core_raise(module, &error);
    }
    v->check.manifest = manifest;
    v->check.result = note_result;
    v->check.context = v;
    if (core_do(module, call, verify, v))
        result = verdicts_of(v);
    for (size_t i = 0; i < v->count; i++)
        free(v->verdicts[i].name);
    free(v->verdicts);
    gufo_manifest_free(manifest);
    return result;
}

static PyObject *verify_model(PyObject *module, PyObject *args)
{
    core_call call = {.threads = 0};
    verifying v = {.model = NULL};
    PyObject *model, *result;
    Py_buffer text;
    const char *path;
    Py_ssize_t size;

    if (!PyArg_ParseTuple(args, "Oy*z#z#O&O:verify", &model, &text, &path, &size, &v.check.path,
                          &size, core_threads, &call.threads, &call.progress))
        return NULL;
    v.model = core_model_use(module, model);
    result = v.model == NULL
                 ? NULL
                 : verify_with(module, &v, &call, (gufo_str){text.buf, (size_t)text.len}, path);
    if (v.model != NULL)
        core_model_leave(model);
    PyBuffer_Release(&text);
    return result;
}

static PyMethodDef functions[] = {
    {"hash", hash_model, METH_VARARGS,
     "hash(model, algorithms, with_tensors, threads, progress) -> (dict, list of dicts): texts by "
     "algorithm."},
    {"verify", verify_model, METH_VARARGS,
     "verify(model, manifest, its path or None, path or None, threads, progress) -> (agrees, list "
     "of (verdict, "
     "tensor, whether it is about all data))."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_digest = {functions, NULL};
