/* How two models differ. */
#include "fields.h"

#include <gufo/compare.h>

#include <stdlib.h>

typedef struct comparing {
    const gufo_model *a, *b;
    gufo_compare_options options;
    gufo_comparison result;
    PyObject *module;
    gufo_entry_difference *entry_rows;
    gufo_tensor_difference *tensor_rows;
    size_t entry_count, entry_room, tensor_count, tensor_room;
    bool no_memory;
} comparing;

/* ---- rows: without Python ------------------------------------------------------------------- */

/* Room for one more; NULL without memory. */
static void *more(void *rows, size_t count, size_t *room, size_t size)
{
    const size_t wanted = count < 16 ? 32 : count * 2;
    void *grown;

    if (count < *room)
        return rows;
    grown = realloc(rows, wanted * size);
    if (grown != NULL)
        *room = wanted;
    return grown;
}

static void note_entry(void *context, const gufo_entry_difference *difference)
{
    comparing *c = context;
    gufo_entry_difference *rows = more(c->entry_rows, c->entry_count, &c->entry_room, sizeof *rows);

    c->no_memory = c->no_memory || rows == NULL;
    if (rows == NULL)
        return;
    c->entry_rows = rows;
    rows[c->entry_count++] = *difference;
}

static void note_tensor(void *context, const gufo_tensor_difference *difference)
{
    comparing *c = context;
    gufo_tensor_difference *rows =
        more(c->tensor_rows, c->tensor_count, &c->tensor_room, sizeof *rows);

    c->no_memory = c->no_memory || rows == NULL;
    if (rows == NULL)
        return;
    c->tensor_rows = rows;
    rows[c->tensor_count++] = *difference;
}

static gufo_status compare(void *context, const gufo_run *run, gufo_error *error)
{
    comparing *c = context;

    return gufo_compare(c->a, c->b, &c->options, run, &c->result, error);
}

/* ---- rows as dicts -------------------------------------------------------------------------- */

static const char *const kinds[] = {"none", "added", "removed", "changed"};

static PyObject *value_of(PyObject *module, const gufo_entry *entry)
{
    PyObject *value =
        entry->key.data != NULL ? core_value(module, &entry->value) : Py_NewRef(Py_None);

    if (value == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        value = Py_NewRef(Py_None);
    }
    return value;
}

static PyObject *entry_dict(PyObject *module, const gufo_entry_difference *d)
{
    const gufo_str key = d->kind == GUFO_DIFFERENCE_ADDED ? d->b.key : d->a.key;

    return Py_BuildValue("{sssy#sNsNsN}", "kind", kinds[d->kind], "key", key.data,
                         (Py_ssize_t)key.len, "a", value_of(module, &d->a), "b",
                         value_of(module, &d->b), "first",
                         d->has_first ? PyLong_FromUnsignedLongLong(d->first) : Py_NewRef(Py_None));
}

static PyObject *values_dict(const gufo_tensor_difference *d)
{
    static const field fields[] = {
        {"compared", FIELD_U64, offsetof(gufo_value_difference, compared)},
        {"unequal", FIELD_U64, offsetof(gufo_value_difference, unequal)},
        {"nonfinite", FIELD_U64, offsetof(gufo_value_difference, nonfinite)},
        {"largest", FIELD_F64, offsetof(gufo_value_difference, largest)},
        {"largest_at", FIELD_U64, offsetof(gufo_value_difference, largest_at)},
        {"rmse", FIELD_F64, offsetof(gufo_value_difference, rmse)},
        {"relative", FIELD_F64, offsetof(gufo_value_difference, relative)},
        {"cosine", FIELD_F64, offsetof(gufo_value_difference, cosine)},
        {0}};

    return d->has_values ? fields_dict(fields, &d->values) : Py_NewRef(Py_None);
}

/* None where the model lacks the tensor. */
static PyObject *type_of(const gufo_tensor *tensor)
{
    return tensor->name.data != NULL ? fields_type_name(tensor->type) : Py_NewRef(Py_None);
}

static PyObject *tensor_dict(const gufo_tensor_difference *d)
{
    static const field fields[] = {{"type", FIELD_BOOL, offsetof(gufo_tensor_difference, type)},
                                   {"shape", FIELD_BOOL, offsetof(gufo_tensor_difference, shape)},
                                   {"data", FIELD_BOOL, offsetof(gufo_tensor_difference, data)},
                                   {0}};
    const gufo_str name = d->kind == GUFO_DIFFERENCE_ADDED ? d->b.name : d->a.name;
    PyObject *dict = fields_dict(fields, d);

    if (dict == NULL || fields_set(dict, "kind", PyUnicode_FromString(kinds[d->kind])) < 0 ||
        fields_set(dict, "name", PyBytes_FromStringAndSize(name.data, (Py_ssize_t)name.len)) < 0 ||
        fields_set(dict, "old_type", type_of(&d->a)) < 0 ||
        fields_set(dict, "new_type", type_of(&d->b)) < 0 ||
        fields_set(dict, "values", values_dict(d)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *result_of(comparing *c)
{
    PyObject *entries = PyList_New(0), *tensors = PyList_New(0);
    bool good = entries != NULL && tensors != NULL && !c->no_memory;

    for (size_t i = 0; good && i < c->entry_count; i++)
        good = fields_add(entries, entry_dict(c->module, &c->entry_rows[i])) == 0;
    for (size_t i = 0; good && i < c->tensor_count; i++)
        good = fields_add(tensors, tensor_dict(&c->tensor_rows[i])) == 0;
    if (c->no_memory)
        PyErr_NoMemory();
    if (good)
        return Py_BuildValue("(NNIN)", entries, tensors, (unsigned)c->result.notes,
                             PyBool_FromLong(c->result.same));
    Py_XDECREF(entries);
    Py_XDECREF(tensors);
    return NULL;
}

/* compare(a, b, flags, threads, progress): the second model is in use as the first one. */
static PyObject *compare_with(PyObject *second, comparing *c, const core_call *call)
{
    PyObject *result = NULL;

    c->b = core_model_use(c->module, second);
    if (c->b == NULL)
        return NULL;
    if (core_do(c->module, call, compare, c))
        result = result_of(c);
    core_model_leave(second);
    return result;
}

static PyObject *compare_models(PyObject *module, PyObject *args)
{
    comparing c = {.options = {.entry = note_entry, .tensor = note_tensor, .context = &c},
                   .module = module};
    core_call call = {.threads = 0};
    PyObject *a, *b, *result;
    unsigned flags;

    if (!PyArg_ParseTuple(args, "OOIO&O:compare", &a, &b, &flags, core_threads, &call.threads,
                          &call.progress) ||
        (c.a = core_model_use(module, a)) == NULL)
        return NULL;
    c.options.flags = flags;
    result = compare_with(b, &c, &call);
    core_model_leave(a);
    free(c.entry_rows);
    free(c.tensor_rows);
    return result;
}

static PyMethodDef functions[] = {
    {"compare", compare_models, METH_VARARGS,
     "compare(a, b, flags, threads, progress) -> (entries, tensors, notes, same)."},
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"COMPARE_VALUES", GUFO_COMPARE_VALUES},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    return core_add_constants(module, constants);
}

const core_part core_part_compare = {functions, set_up};
