/* Edits: a file that is locked, and what it is to become. */
#include "fields.h"
#include "given.h"

#include <gufo/edit.h>

#include <string.h>

typedef struct edit_object {
    PyObject_HEAD
    gufo_edit *edit; /* NULL when it is closed */
    core_lock lock;
} edit_object;

static PyObject *type_of(PyObject *object)
{
    return (PyObject *)Py_TYPE(object);
}

/* Takes the edit for a call, which ends with leave(); NULL with an exception. */
static gufo_edit *use(PyObject *object)
{
    edit_object *self = (edit_object *)object;

    if (!core_take(&self->lock, "the edit"))
        return NULL;
    if (self->edit != NULL)
        return self->edit;
    core_give(&self->lock);
    PyErr_SetString(PyExc_ValueError, "the edit is closed");
    return NULL;
}

static gufo_document *use_document(PyObject *object)
{
    gufo_edit *edit = use(object);

    return edit != NULL ? gufo_edit_document(edit) : NULL;
}

static void leave(PyObject *object)
{
    core_give(&((edit_object *)object)->lock);
}

/* ---- opening -------------------------------------------------------------------------------- */

typedef struct opening {
    const char *path;
    gufo_edit_options options;
    gufo_edit *edit;
} opening;

static gufo_status open_edit(void *context, const gufo_run *run, gufo_error *error)
{
    opening *o = context;

    (void)run;
    o->edit = gufo_edit_open(o->path, &o->options, error);
    return o->edit != NULL ? GUFO_OK : error->code;
}

static PyObject *edit_new(PyObject *module, PyObject *args)
{
    const core_call call = {.brief = true};
    opening o = {.edit = NULL};
    edit_object *self;
    unsigned flags;

    if (!PyArg_ParseTuple(args, "yI:edit", &o.path, &flags))
        return NULL;
    o.options.flags = flags;
    if (!core_do(module, &call, open_edit, &o))
        return NULL;
    self = (edit_object *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_EDIT), 0);
    if (self == NULL)
        gufo_edit_free(o.edit);
    else
        self->edit = o.edit;
    return (PyObject *)self;
}

static PyObject *edit_close(PyObject *object, PyObject *none)
{
    edit_object *self = (edit_object *)object;

    (void)none;
    if (!core_take(&self->lock, "the edit"))
        return NULL;
    gufo_edit_free(self->edit);
    self->edit = NULL;
    core_give(&self->lock);
    Py_RETURN_NONE;
}

static void edit_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gufo_edit_free(((edit_object *)object)->edit);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- entries -------------------------------------------------------------------------------- */

static PyObject *entry_tuple(const gufo_document_entry *entry)
{
    const gufo_value *value = &entry->value;
    const bool is_array = value->type == GUFO_VALUE_ARRAY;

    return Py_BuildValue("(y#iiK)", entry->key.data, (Py_ssize_t)entry->key.len, (int)value->type,
                         is_array ? (int)value->as.array.type : -1,
                         (unsigned long long)(is_array ? value->as.array.count : 1));
}

static PyObject *edit_entries(PyObject *object, PyObject *none)
{
    const gufo_document *document = use_document(object);
    gufo_document_entry entry;
    PyObject *list;

    (void)none;
    if (document == NULL)
        return NULL;
    list = PyList_New(0);
    for (uint64_t i = 0; list != NULL && gufo_document_entry_at(document, i, &entry); i++)
        if (fields_add(list, entry_tuple(&entry)) < 0)
            Py_CLEAR(list);
    leave(object);
    return list;
}

/* The types of a value: (9, 8) for an array of strings. */
static PyObject *types_of(const gufo_value *value)
{
    gufo_value inner = *value;
    PyObject *list = PyList_New(0), *tuple;

    while (list != NULL && fields_add(list, PyLong_FromLong((long)inner.type)) == 0 &&
           inner.type == GUFO_VALUE_ARRAY) {
        const gufo_array array = inner.as.array;

        if (array.type == GUFO_VALUE_ARRAY &&
            (array.count == 0 || gufo_array_at(&array, 0, &inner, NULL) != GUFO_OK)) {
            (void)fields_add(list, PyLong_FromLong(GUFO_VALUE_ARRAY)); /* and nothing is in it */
            break;
        }
        if (array.type != GUFO_VALUE_ARRAY)
            inner.type = array.type;
    }
    if (list == NULL || PyErr_Occurred()) {
        Py_XDECREF(list);
        return NULL;
    }
    tuple = PyList_AsTuple(list);
    Py_DECREF(list);
    return tuple;
}

/* The entry of a key, as `make` makes an object of it; None if there is none. */
static PyObject *entry_object(PyObject *object, PyObject *args,
                              PyObject *(*make)(PyObject *module, const gufo_value *value))
{
    const gufo_document *document;
    gufo_document_entry entry;
    PyObject *made;
    const char *key;
    Py_ssize_t size;

    if (!PyArg_ParseTuple(args, "y#", &key, &size) || (document = use_document(object)) == NULL)
        return NULL;
    made = gufo_document_find_str(document, (gufo_str){key, (size_t)size}, &entry)
               ? make(type_of(object), &entry.value)
               : Py_NewRef(Py_None);
    leave(object);
    return made;
}

static PyObject *types_and_value(PyObject *module, const gufo_value *value)
{
    return Py_BuildValue("(NN)", types_of(value), core_value(module, value));
}

static PyObject *types_alone(PyObject *module, const gufo_value *value)
{
    (void)module;
    return types_of(value);
}

static PyObject *edit_find(PyObject *object, PyObject *args)
{
    return entry_object(object, args, types_and_value);
}

static PyObject *edit_types(PyObject *object, PyObject *args)
{
    return entry_object(object, args, types_alone);
}

/* What a call of the document has given. */
static PyObject *result_of(PyObject *object, gufo_status status, const gufo_error *error)
{
    if (status != GUFO_OK)
        return core_raise(type_of(object), error);
    Py_RETURN_NONE;
}

static PyObject *edit_set(PyObject *object, PyObject *args)
{
    gufo_document *document;
    PyObject *types, *given, *result;
    gufo_error error;
    given_bytes bytes = {0};
    gufo_value value;
    const char *key;
    Py_ssize_t size;

    if (!PyArg_ParseTuple(args, "y#OO:set", &key, &size, &types, &given) ||
        (document = use_document(object)) == NULL)
        return NULL;
    if (given_value((gufo_str){key, (size_t)size}, types, given, &bytes, &value)) {
        const gufo_status status =
            gufo_document_set_entry(document, (gufo_str){key, (size_t)size}, &value, &error);

        result = result_of(object, status, &error);
    } else {
        result = NULL;
    }
    given_free(&bytes);
    leave(object);
    return result;
}

static PyObject *edit_remove(PyObject *object, PyObject *args)
{
    gufo_document *document;
    const char *name;
    Py_ssize_t size;
    bool removed;
    int tensor;

    if (!PyArg_ParseTuple(args, "y#p:remove", &name, &size, &tensor) ||
        (document = use_document(object)) == NULL)
        return NULL;
    removed = tensor ? gufo_document_drop_tensor_str(document, (gufo_str){name, (size_t)size})
                     : gufo_document_remove_key_str(document, (gufo_str){name, (size_t)size});
    leave(object);
    return PyBool_FromLong(removed);
}

static PyObject *edit_rename(PyObject *object, PyObject *args)
{
    gufo_document *document;
    Py_ssize_t from_size, to_size;
    const char *from, *to;
    gufo_status status;
    gufo_error error;
    int tensor;

    if (!PyArg_ParseTuple(args, "y#y#p:rename", &from, &from_size, &to, &to_size, &tensor) ||
        (document = use_document(object)) == NULL)
        return NULL;
    status = (tensor ? gufo_document_rename_tensor_str : gufo_document_rename_str)(
        document, (gufo_str){from, (size_t)from_size}, (gufo_str){to, (size_t)to_size}, &error);
    leave(object);
    return result_of(object, status, &error);
}

static PyObject *edit_tensors(PyObject *object, PyObject *none)
{
    const gufo_document *document = use_document(object);
    gufo_document_tensor tensor;
    PyObject *list;

    (void)none;
    if (document == NULL)
        return NULL;
    list = PyList_New(0);
    for (uint64_t i = 0; list != NULL && gufo_document_tensor_at(document, i, &tensor); i++)
        if (fields_add(
                list, PyBytes_FromStringAndSize(tensor.name.data, (Py_ssize_t)tensor.name.len)) < 0)
            Py_CLEAR(list);
    leave(object);
    return list;
}

/* ---- findings and fixes --------------------------------------------------------------------- */

static PyObject *findings_of(core_findings *findings, gufo_status status, const gufo_error *error)
{
    if (status != GUFO_OK && findings->list != NULL) {
        Py_CLEAR(findings->list);
        core_raise(findings->module, error);
    }
    return findings->list;
}

static bool level_of(PyObject *args, gufo_level *level)
{
    const char *name;

    if (!PyArg_ParseTuple(args, "s", &name))
        return false;
    if (!gufo_level_by_name(name, level))
        PyErr_Format(PyExc_ValueError, "'%s' is not a level", name);
    return !PyErr_Occurred();
}

static PyObject *edit_check(PyObject *object, PyObject *args)
{
    gufo_edit *edit;
    core_findings findings = {type_of(object), NULL};
    gufo_check_options options = {.level = GUFO_LEVEL_DEFAULT};
    gufo_error error;

    if (!level_of(args, &options.level) || (edit = use(object)) == NULL)
        return NULL;
    findings.list = PyList_New(0);
    if (findings.list != NULL) {
        const gufo_status status =
            gufo_edit_check(edit, &options, core_add_finding, &findings, &error);

        findings.list = findings_of(&findings, status, &error);
    }
    leave(object);
    return findings.list;
}

/* What the document has taken of the fixes. */
typedef struct fixing {
    core_findings fixed;
    gufo_document *document;
    bool rewrite; /* one of them asks for a new layout */
} fixing;

static void fix_finding(void *context, const gufo_finding *finding)
{
    fixing *f = context;

    if (!finding->fix.certain || finding->fix.kind == GUFO_FIX_NONE ||
        gufo_document_fix(f->document, &finding->fix, NULL) != GUFO_OK)
        return;
    f->rewrite = f->rewrite || finding->fix.kind == GUFO_FIX_REWRITE;
    core_add_finding(&f->fixed, finding);
}

static PyObject *edit_fix(PyObject *object, PyObject *args)
{
    gufo_edit *edit;
    fixing f = {.fixed = {type_of(object), NULL}};
    gufo_check_options options = {.level = GUFO_LEVEL_DEFAULT};
    gufo_error error;
    PyObject *list;

    if (!level_of(args, &options.level) || (edit = use(object)) == NULL)
        return NULL;
    list = f.fixed.list = PyList_New(0);
    if (list != NULL) {
        gufo_status status;

        f.document = gufo_edit_document(edit);
        status = gufo_model_check(gufo_edit_model(edit), fix_finding, &f, &error);
        if (status == GUFO_OK)
            status =
                gufo_model_check_content(gufo_edit_model(edit), &options, fix_finding, &f, &error);
        list = findings_of(&f.fixed, status, &error);
    }
    leave(object);
    return list != NULL ? Py_BuildValue("(NN)", list, PyBool_FromLong(f.rewrite)) : NULL;
}

/* ---- changes -------------------------------------------------------------------------------- */

typedef struct changes {
    PyObject *module, *list;
} changes;

/* None for none, and for what is not text. */
static PyObject *value_or_none(PyObject *module, const gufo_value *value)
{
    PyObject *object = value != NULL ? core_value(module, value) : Py_NewRef(Py_None);

    if (object == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        object = Py_NewRef(Py_None);
    }
    return object;
}

static void note_change(void *context, const gufo_change *change)
{
    static const char *const kinds[] = {"removed",        "renamed",        "changed",
                                        "added",          "tensor renamed", "tensor removed",
                                        "tensor retyped", "tensor added"};
    changes *c = context;

    if (!PyErr_Occurred())
        fields_add(c->list, Py_BuildValue("(sy#y#NN)", kinds[change->kind], change->old_name.data,
                                          (Py_ssize_t)change->old_name.len, change->new_name.data,
                                          (Py_ssize_t)change->new_name.len,
                                          value_or_none(c->module, change->old_value),
                                          value_or_none(c->module, change->new_value)));
}

static PyObject *edit_changes(PyObject *object, PyObject *none)
{
    const gufo_document *document = use_document(object);
    changes c = {.module = type_of(object)};
    gufo_error error;

    (void)none;
    if (document == NULL)
        return NULL;
    c.list = PyList_New(0);
    if (c.list != NULL && gufo_document_changes(document, note_change, &c, &error) != GUFO_OK &&
        !PyErr_Occurred())
        core_raise(c.module, &error);
    if (PyErr_Occurred())
        Py_CLEAR(c.list);
    leave(object);
    return c.list;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writing {
    gufo_edit *edit;
    gufo_edit_target target;
    gufo_edit_plan plan;
    bool is_plan, recover;
} writing;

static const field target_fields[] = {
    {"output", FIELD_TEXT, offsetof(writing, target.output)},
    {"replace", FIELD_BOOL, offsetof(writing, target.replace)},
    {"in_place", FIELD_UINT, offsetof(writing, target.in_place)},
    {"reserve", FIELD_U64, offsetof(writing, target.reserve)},
    {"pack", FIELD_BOOL, offsetof(writing, target.pack)},
    {"no_padding", FIELD_BOOL, offsetof(writing, target.no_padding)},
    {0}};

static gufo_status write_edit(void *context, const gufo_run *run, gufo_error *error)
{
    writing *w = context;

    return w->is_plan ? gufo_edit_plan_for(w->edit, &w->target, &w->plan, error)
                      : gufo_edit_apply(w->edit, &w->target, run, &w->plan, &w->recover, error);
}

static PyObject *plan_dict(const gufo_edit_plan *plan)
{
    static const field fields[] = {
        {"old_data_offset", FIELD_U64, offsetof(gufo_edit_plan, old_data_offset)},
        {"data_offset", FIELD_U64, offsetof(gufo_edit_plan, data_offset)},
        {"file_size", FIELD_U64, offsetof(gufo_edit_plan, file_size)},
        {"padding", FIELD_U64, offsetof(gufo_edit_plan, padding)},
        {"relaid", FIELD_BOOL, offsetof(gufo_edit_plan, relaid)},
        {0}};
    PyObject *dict = fields_dict(fields, plan);

    if (dict == NULL ||
        fields_set(dict, "way", PyUnicode_FromString(gufo_edit_way_name(plan->way))) < 0 ||
        fields_set(dict, "not_overwritten", core_message(plan->not_overwritten)) < 0 ||
        fields_set(dict, "not_inserted", core_message(plan->not_inserted)) < 0 ||
        fields_set(dict, "warning", core_message(plan->warning)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *edit_write(PyObject *object, PyObject *args)
{
    writing w = {.edit = NULL};
    core_call call = {.threads = 0};
    PyObject *options;
    int is_plan;
    bool good;

    if (!PyArg_ParseTuple(args, "O!pO&O:write", &PyDict_Type, &options, &is_plan, core_threads,
                          &call.threads, &call.progress) ||
        (w.edit = use(object)) == NULL)
        return NULL;
    w.is_plan = is_plan != 0;
    call.brief = w.is_plan;
    good = fields_read(options, target_fields, &w) >= 0 &&
           core_do(type_of(object), &call, write_edit, &w);
    leave(object);
    return good ? plan_dict(&w.plan) : NULL;
}

/* ---- after an interruption ------------------------------------------------------------------ */

static PyObject *edit_pending(PyObject *module, PyObject *args)
{
    static const char *const states[] = {"settled", "live", "interrupted"};
    const char *path;

    (void)module;
    return PyArg_ParseTuple(args, "y:edit_pending", &path)
               ? PyUnicode_FromString(states[gufo_edit_pending(path)])
               : NULL;
}

static PyObject *edit_recover(PyObject *module, PyObject *args)
{
    static const char *const results[] = {"nothing", "old", "new"};
    gufo_edit_recovery recovery = GUFO_EDIT_RECOVERED_NOTHING;
    const char *path;
    gufo_error error;

    if (!PyArg_ParseTuple(args, "y:edit_recover", &path))
        return NULL;
    if (gufo_edit_recover(path, NULL, &recovery, &error) != GUFO_OK)
        return core_raise(module, &error);
    return PyUnicode_FromString(results[recovery]);
}

/* What the registry says of a key: (types, unit, summary), or None. */
static PyObject *key_info(PyObject *module, PyObject *args)
{
    Py_ssize_t key_size, arch_size;
    const gufo_key_info *info;
    const char *key, *arch;

    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#:key_info", &key, &key_size, &arch, &arch_size))
        return NULL;
    info =
        gufo_key_find_str((gufo_str){key, (size_t)key_size}, (gufo_str){arch, (size_t)arch_size});
    if (info == NULL)
        Py_RETURN_NONE;
    return Py_BuildValue("(sss)", info->type, info->unit, info->summary);
}

/* ---- types ---------------------------------------------------------------------------------- */

static PyMethodDef edit_methods[] = {
    {"close", edit_close, METH_NOARGS, "Leave the file as it is."},
    {"entries", edit_entries, METH_NOARGS,
     "entries() -> list of (key, type, element type or -1, count)."},
    {"find", edit_find, METH_VARARGS, "find(key) -> (types, value), or None."},
    {"types", edit_types, METH_VARARGS, "types(key) -> (9, 8) for an array of strings, or None."},
    {"set", edit_set, METH_VARARGS, "set(key, types, value)."},
    {"remove", edit_remove, METH_VARARGS, "remove(name, is_tensor) -> bool."},
    {"rename", edit_rename, METH_VARARGS, "rename(old, new, is_tensor)."},
    {"tensors", edit_tensors, METH_NOARGS, "tensors() -> list of names."},
    {"check", edit_check, METH_VARARGS, "check(level) -> list of findings that the edit adds."},
    {"fix", edit_fix, METH_VARARGS,
     "fix(level) -> (findings of the file that it has fixed, whether it must be packed)."},
    {"changes", edit_changes, METH_NOARGS,
     "changes() -> list of (kind, old name, new name, old value, new value)."},
    {"write", edit_write, METH_VARARGS,
     "write(options, is_plan, threads, progress) -> dict: plans the edit, or writes it, once."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot edit_slots[] = {
    {Py_tp_doc, "A file that is edited: edit() makes it."},
    {Py_tp_methods, edit_methods},
    {Py_tp_dealloc, CORE_SLOT(edit_free)},
    {0, NULL},
};

static PyType_Spec edit_spec = {
    .name = "gufo._core.Edit",
    .basicsize = sizeof(edit_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = edit_slots,
};

static PyMethodDef functions[] = {
    {"edit", edit_new, METH_VARARGS, "edit(path, flags) -> Edit"},
    {"edit_pending", edit_pending, METH_VARARGS, "edit_pending(path) -> str"},
    {"edit_recover", edit_recover, METH_VARARGS, "edit_recover(path) -> str"},
    {"key_info", key_info, METH_VARARGS, "key_info(key, architecture) -> (type, unit, summary)"},
    {NULL, NULL, 0, NULL},
};

static int set_up(PyObject *module)
{
    return core_add_type(module, CORE_EDIT, &edit_spec, "Edit");
}

const core_part core_part_edit = {functions, set_up};
