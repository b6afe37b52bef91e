/* Models: entries, tensors, and their bytes.
 *
 *     numpy array -> memoryview -> View -> Model -> gufo_model -> map, or the caller's buffer
 *
 * A view counts as a user of its model.  close() of a model that has users raises BufferError, as
 * that of mmap does; whoever drops the model leaves the map to its views. */
#include "core.h"

#include <stdio.h>
#include <structmember.h>
#include <sys/stat.h>

static core_model *self_of(PyObject *object)
{
    return (core_model *)object;
}

/* The module's types are final, so that each knows its module. */
static PyObject *type_of(PyObject *object)
{
    return (PyObject *)Py_TYPE(object);
}

enum { CLOSED = -1 };

/* The model, in use until core_model_leave; NULL with an exception if it is closed. */
static const gufo_model *use(PyObject *object)
{
    core_model *self = self_of(object);
    long users = atomic_load(&self->users);

    do {
        if (users == CLOSED) {
            PyErr_SetString(PyExc_ValueError, "the model is closed");
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&self->users, &users, users + 1));
    return self->model;
}

const gufo_model *core_model_use(PyObject *module, PyObject *object)
{
    if (type_of(object) != core_get(module, CORE_MODEL)) {
        PyErr_Format(PyExc_TypeError, "expected a gufo._core.Model, not %R", type_of(object));
        return NULL;
    }
    return use(object);
}

void core_model_leave(PyObject *object)
{
    atomic_fetch_sub(&self_of(object)->users, 1);
}

/* ---- opening and closing ---------------------------------------------------------------------- */

PyObject *core_model_new(PyObject *module, gufo_model *model, PyObject *keeps)
{
    core_model *self =
        (core_model *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_MODEL), 0);

    if (self == NULL) {
        gufo_model_free(model);
        return NULL;
    }
    self->model = model;
    self->keeps = Py_XNewRef(keeps);
    return (PyObject *)self;
}

/* What open() is given: one source, or the shards of a set. */
typedef struct opening {
    core_source *sources;
    gufo_input *inputs; /* those of the sources */
    size_t count;
    bool is_set;
    gufo_open_options options;
    gufo_model *model;
} opening;

static void end_sources(core_source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++)
        core_source_release(&sources[i]);
    PyMem_Free(sources);
}

/* Reads the sources; false with an exception. */
static bool read_sources(opening *o, PyObject *list)
{
    const size_t count = (size_t)PyList_Size(list);
    bool good;

    o->sources = PyMem_Calloc(count + 1, sizeof *o->sources);
    o->inputs = PyMem_Calloc(count + 1, sizeof *o->inputs);
    good = o->sources != NULL && o->inputs != NULL;
    if (!good)
        PyErr_NoMemory();
    for (size_t i = 0; good && i < count; i++) {
        good = core_source_get(PyList_GetItem(list, (Py_ssize_t)i), &o->sources[i]) == 0;
        o->inputs[i] = o->sources[i].input;
        o->count = i + 1;
    }
    return good;
}

/* "shard 2", for what has no path. */
static void name_shard(gufo_error *error)
{
    char name[32];

    snprintf(name, sizeof name, "shard %u", (unsigned)error->file_index + 1);
    if (error->role == GUFO_FILE_INPUT)
        core_name_file(error, name);
}

static gufo_status open_input(void *context, const gufo_run *run, gufo_error *error)
{
    opening *o = context;
    const gufo_input *input = o->inputs;

    o->options.run = run;
    if (o->is_set)
        o->model = gufo_model_open_shards(o->inputs, o->count, &o->options, error);
    else if (input->kind == GUFO_INPUT_PATH)
        o->model = gufo_model_open(input->path, &o->options, error);
    else if (input->kind == GUFO_INPUT_FD)
        o->model = gufo_model_open_fd(input->fd, &o->options, error);
    else
        o->model = gufo_model_open_memory(input->data, input->size, &o->options, error);
    if (o->model == NULL && o->is_set)
        name_shard(error);
    return o->model == NULL ? error->code : GUFO_OK;
}

/* Whether it is a pipe or a device, which may have no end. */
static bool may_last(const gufo_input *input)
{
    struct stat info;

    if (input->kind == GUFO_INPUT_PATH)
        return stat(input->path, &info) == 0 && !S_ISREG(info.st_mode);
    return input->kind == GUFO_INPUT_FD && fstat(input->fd, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Findings become objects as they come, so the GIL is kept. */
static bool open_with_findings(PyObject *module, opening *o, PyObject *list)
{
    core_findings findings = {module, Py_NewRef(list)};
    gufo_error error;

    o->options.on_finding = core_add_finding;
    o->options.finding_context = &findings;
    if (open_input(o, NULL, &error) != GUFO_OK && findings.list != NULL)
        core_raise(module, &error);
    if (findings.list == NULL) {
        gufo_model_free(o->model);
        o->model = NULL;
    }
    Py_XDECREF(findings.list);
    return o->model != NULL;
}

static PyObject *core_open(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "flags", "name", "findings", NULL};
    core_call call = {.brief = true};
    opening o = {.model = NULL};
    PyObject *object, *given, *model = NULL, *list = NULL;
    unsigned flags = 0;
    const char *name = NULL;
    bool well;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$IzO!:open", names, &object, &flags, &name,
                                     &PyList_Type, &list))
        return NULL;
    o.options.flags = flags;
    o.options.name = name;
    o.is_set = PyList_Check(object) != 0;
    given =
        o.is_set ? PyList_GetSlice(object, 0, PyList_Size(object)) : Py_BuildValue("[O]", object);
    well = given != NULL && read_sources(&o, given);
    Py_XDECREF(given);
    for (size_t i = 0; well && i < o.count; i++)
        call.brief = call.brief && !may_last(&o.inputs[i]);
    if (well)
        well = list == NULL ? core_do(module, &call, open_input, &o)
                            : open_with_findings(module, &o, list);
    if (well)
        model = core_model_new(module, o.model, NULL);
    PyMem_Free(o.inputs);
    if (model == NULL) {
        end_sources(o.sources, o.count);
    } else {
        self_of(model)->sources = o.sources;
        self_of(model)->source_count = o.count;
    }
    return model;
}

static void end(core_model *self)
{
    gufo_model *model = self->model;

    self->model = NULL;
    gufo_model_free(model);
    end_sources(self->sources, self->source_count);
    self->sources = NULL;
    self->source_count = 0;
    Py_CLEAR(self->keeps);
}

static PyObject *model_close(PyObject *object, PyObject *none)
{
    core_model *self = self_of(object);
    long users = 0;

    (void)none;
    if (atomic_compare_exchange_strong(&self->users, &users, CLOSED))
        end(self);
    else if (users > 0)
        return PyErr_Format(PyExc_BufferError,
                            "cannot close the model: %ld views or calls still use its data", users);
    Py_RETURN_NONE;
}

static PyObject *model_enter(PyObject *object, PyObject *none)
{
    (void)none;
    if (use(object) == NULL)
        return NULL;
    core_model_leave(object);
    return Py_NewRef(object);
}

static PyObject *model_exit(PyObject *object, PyObject *exception)
{
    (void)exception;
    return model_close(object, NULL);
}

static PyObject *model_closed(PyObject *object, void *none)
{
    (void)none;
    return PyBool_FromLong(atomic_load(&self_of(object)->users) == CLOSED);
}

static int model_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(type_of(object));
    for (size_t i = 0; i < self_of(object)->source_count; i++)
        Py_VISIT(self_of(object)->sources[i].buffer.obj);
    Py_VISIT(self_of(object)->keeps);
    return 0;
}

static void model_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    if (self_of(object)->weak != NULL)
        PyObject_ClearWeakRefs(object);
    end(self_of(object));
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* ---- facts ------------------------------------------------------------------------------------ */

/* An offset, or None. */
static PyObject *offset_object(uint64_t offset)
{
    return offset == GUFO_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(offset);
}

static PyObject *name_object(const char *name)
{
    return name == NULL ? Py_NewRef(Py_None) : PyUnicode_DecodeFSDefault(name);
}

static PyObject *model_facts(PyObject *object, PyObject *none)
{
    const gufo_model *model = use(object);
    gufo_facts facts;
    PyObject *dict;

    (void)none;
    if (model == NULL)
        return NULL;
    facts = gufo_model_facts(model);
    dict = Py_BuildValue(
        "{sIsssIsNsKsKsKsKsKsKsnsN}", "version", facts.version, "byte_order",
        facts.byte_order == GUFO_BIG_ENDIAN ? "big" : "little", "alignment", facts.alignment,
        "is_made", PyBool_FromLong(facts.is_made), "size", (unsigned long long)facts.size,
        "infos_end", (unsigned long long)facts.infos_end, "data_offset",
        (unsigned long long)facts.data_offset, "data_size", (unsigned long long)facts.data_size,
        "claimed_metadata", (unsigned long long)facts.claimed_metadata, "claimed_tensors",
        (unsigned long long)facts.claimed_tensors, "shards",
        (Py_ssize_t)gufo_model_shard_count(model), "name", name_object(gufo_model_name(model)));
    core_model_leave(object);
    return dict;
}

/* A list of what `item` makes of each index below the count.  The model is in use meanwhile: new objects
 * may start the collection of garbage, and with it code that closes models. */
static PyObject *list_of(PyObject *object, uint64_t (*count_of)(const gufo_model *model),
                         PyObject *(*item)(const gufo_model *model, uint64_t index))
{
    const gufo_model *model = use(object);
    const uint64_t count = model != NULL ? count_of(model) : 0;
    PyObject *list = model != NULL ? PyList_New((Py_ssize_t)count) : NULL;

    for (uint64_t i = 0; list != NULL && i < count; i++) {
        PyObject *one = item(model, i);

        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, one);
    }
    if (model != NULL)
        core_model_leave(object);
    return list;
}

static PyObject *entry_tuple(const gufo_model *model, uint64_t index)
{
    gufo_entry entry = {.key = {NULL, 0}};
    const gufo_value *value = &entry.value;
    int elements = -1;
    unsigned long long count = 1;

    gufo_model_entry_at(model, index, &entry);
    if (value->type == GUFO_VALUE_ARRAY) {
        elements = (int)value->as.array.type;
        count = value->as.array.count;
    } else if (value->type == GUFO_VALUE_STRING) {
        count = value->as.str.len;
    }
    return Py_BuildValue("(y#iiKNNN)", entry.key.data == NULL ? "" : entry.key.data,
                         (Py_ssize_t)entry.key.len, (int)value->type, elements, count,
                         offset_object(entry.offset), offset_object(entry.value_offset),
                         offset_object(entry.end));
}

static PyObject *model_entries(PyObject *object, PyObject *none)
{
    (void)none;
    return list_of(object, gufo_model_entry_count, entry_tuple);
}

static PyObject *dims_tuple(const gufo_tensor *tensor)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)tensor->n_dims);

    for (uint32_t i = 0; tuple != NULL && i < tensor->n_dims; i++) {
        PyObject *dim = PyLong_FromUnsignedLongLong(tensor->dims[i]);

        if (dim == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, (Py_ssize_t)i, dim);
    }
    return tuple;
}

static PyObject *tensor_tuple(const gufo_model *model, uint64_t index)
{
    gufo_tensor tensor = {.type = 0};

    gufo_model_tensor_at(model, index, &tensor);
    return Py_BuildValue("(y#INKNKNI)", tensor.name.data == NULL ? "" : tensor.name.data,
                         (Py_ssize_t)tensor.name.len, tensor.type, dims_tuple(&tensor),
                         (unsigned long long)tensor.elements, offset_object(tensor.offset),
                         (unsigned long long)tensor.size, offset_object(tensor.info_offset),
                         tensor.shard);
}

static PyObject *model_tensors(PyObject *object, PyObject *none)
{
    (void)none;
    return list_of(object, gufo_model_tensor_count, tensor_tuple);
}

/* ---- entries ---------------------------------------------------------------------------------- */

/* Entry `index`, whose model is in use then; false with an exception. */
static bool entry_of(PyObject *object, Py_ssize_t index, gufo_entry *entry)
{
    const gufo_model *model = use(object);

    if (model == NULL)
        return false;
    if (index >= 0 && gufo_model_entry_at(model, (uint64_t)index, entry))
        return true;
    core_model_leave(object);
    PyErr_Format(PyExc_IndexError, "no entry has the index %zd: the model has %llu", index,
                 (unsigned long long)gufo_model_entry_count(model));
    return false;
}

static PyObject *model_value(PyObject *object, PyObject *args)
{
    Py_ssize_t index;
    gufo_entry entry;
    PyObject *value;

    if (!PyArg_ParseTuple(args, "n:value", &index) || !entry_of(object, index, &entry))
        return NULL;
    value = core_value(type_of(object), &entry.value);
    core_model_leave(object);
    return value;
}

static bool array_of(PyObject *object, Py_ssize_t index, gufo_entry *entry)
{
    if (!entry_of(object, index, entry))
        return false;
    if (entry->value.type == GUFO_VALUE_ARRAY)
        return true;
    core_model_leave(object);
    PyErr_Format(PyExc_TypeError, "entry %zd is not an array", index);
    return false;
}

static PyObject *model_strings(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"index", "first", "count", NULL};
    Py_ssize_t index, first = 0, count = -1;
    gufo_entry entry;
    PyObject *strings;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "n|nn:strings", names, &index, &first,
                                     &count) ||
        !array_of(object, index, &entry))
        return NULL;
    strings = core_strings(type_of(object), &entry.value.as.array, first, count);
    core_model_leave(object);
    return strings;
}

static PyObject *model_numbers(PyObject *object, PyObject *args)
{
    Py_ssize_t index;
    gufo_entry entry;
    gufo_array array;
    gufo_error error;
    PyObject *bytes;

    if (!PyArg_ParseTuple(args, "n:numbers", &index) || !array_of(object, index, &entry))
        return NULL;
    array = entry.value.as.array;
    bytes = PyBytes_FromStringAndSize(NULL,
                                      (Py_ssize_t)(array.count * gufo_value_type_size(array.type)));
    if (bytes != NULL &&
        gufo_array_read(&array, 0, array.count, PyBytes_AsString(bytes), &error) != GUFO_OK) {
        Py_CLEAR(bytes);
        core_raise(type_of(object), &error);
    }
    core_model_leave(object);
    return bytes;
}

static PyObject *model_parts(PyObject *object, PyObject *args)
{
    Py_ssize_t index;
    gufo_entry entry;
    PyObject *parts;

    if (!PyArg_ParseTuple(args, "n:parts", &index) || !array_of(object, index, &entry))
        return NULL;
    parts = core_parts(&entry);
    core_model_leave(object);
    return parts;
}

/* ---- data of tensors -------------------------------------------------------------------------- */

typedef struct view {
    PyObject_HEAD
    PyObject *model;
    const void *data;
    Py_ssize_t size;
} view;

static int view_get(PyObject *object, Py_buffer *buffer, int flags)
{
    view *self = (view *)object;

    return PyBuffer_FillInfo(buffer, object, (void *)self->data, self->size, 1, flags);
}

static void view_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    core_model_leave(((view *)object)->model);
    Py_DECREF(((view *)object)->model);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* A memoryview of bytes of the model, which is in use. */
static PyObject *view_new(PyObject *model, const void *data, uint64_t size)
{
    view *self =
        (view *)PyType_GenericAlloc((PyTypeObject *)core_get(type_of(model), CORE_VIEW), 0);
    PyObject *memory;

    if (self == NULL)
        return NULL;
    atomic_fetch_add(&self_of(model)->users, 1);
    self->model = Py_NewRef(model);
    self->data = data;
    self->size = (Py_ssize_t)size;
    memory = PyMemoryView_FromObject((PyObject *)self);
    Py_DECREF(self);
    return memory;
}

/* Tensor `index`, whose model is in use then; false with an exception. */
static bool tensor_of(PyObject *object, Py_ssize_t index, gufo_tensor *tensor)
{
    const gufo_model *model = use(object);

    if (model == NULL)
        return false;
    if (index >= 0 && gufo_model_tensor_at(model, (uint64_t)index, tensor))
        return true;
    core_model_leave(object);
    PyErr_Format(PyExc_IndexError, "no tensor has the index %zd: the model has %llu", index,
                 (unsigned long long)gufo_model_tensor_count(model));
    return false;
}

typedef struct reading {
    const gufo_model *model;
    gufo_tensor tensor;
    uint64_t first_row, rows;
    void *out;
} reading;

#define READ_AT_ONCE (8u << 20)

static gufo_status read_raw(void *context, const gufo_run *run, gufo_error *error)
{
    reading *r = context;

    for (uint64_t at = 0; at < r->tensor.size; at += READ_AT_ONCE) {
        uint64_t left = r->tensor.size - at;
        gufo_status status =
            gufo_tensor_read_raw(r->model, &r->tensor, at, (char *)r->out + at,
                                 (size_t)(left < READ_AT_ONCE ? left : READ_AT_ONCE), error);

        if (status != GUFO_OK)
            return status;
        if (!run->progress(run->progress_context, at, r->tensor.size))
            return GUFO_E_STOPPED;
    }
    return GUFO_OK;
}

static gufo_status decode_rows(void *context, const gufo_run *run, gufo_error *error)
{
    reading *r = context;

    return gufo_tensor_decode(r->model, &r->tensor, r->first_row, r->rows, r->out, run, error);
}

/* Work on data of the model, which is in use. */
static bool do_reading(PyObject *object, const core_call *call, core_work *work, reading *r)
{
    r->model = self_of(object)->model;
    return core_do(type_of(object), call, work, r);
}

/* Whether all bytes of a tensor can be read, before memory for them is asked for: a damaged file may
 * announce any number. */
static bool has_data(PyObject *object, const gufo_tensor *tensor)
{
    const gufo_model *model = self_of(object)->model;
    gufo_error error;
    char last;

    if (tensor->size == 0 || (tensor->complete && gufo_model_has_data(model)) ||
        gufo_tensor_read_raw(model, tensor, tensor->size - 1, &last, 1, &error) == GUFO_OK)
        return true;
    core_raise(type_of(object), &error);
    return false;
}

static PyObject *data_bytes(PyObject *object, reading *r)
{
    const core_call call = {.brief = r->tensor.size <= READ_AT_ONCE};
    PyObject *bytes;

    if (!has_data(object, &r->tensor))
        return NULL;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)r->tensor.size);
    if (bytes == NULL)
        return NULL;
    r->out = PyBytes_AsString(bytes);
    if (!do_reading(object, &call, read_raw, r))
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *model_data(PyObject *object, PyObject *args)
{
    Py_ssize_t index;
    reading r = {.rows = 0};
    const void *raw;
    PyObject *data;

    if (!PyArg_ParseTuple(args, "n:data", &index) || !tensor_of(object, index, &r.tensor))
        return NULL;
    raw = gufo_tensor_raw(self_of(object)->model, &r.tensor);
    data = raw != NULL ? view_new(object, raw, r.tensor.size) : data_bytes(object, &r);
    core_model_leave(object);
    return data;
}

/* The rows of a tensor, and whether [first, first + count) are some of them. */
static bool rows_fit(const gufo_tensor *tensor, Py_ssize_t first, Py_ssize_t count)
{
    uint64_t rows = tensor->dims[0] == 0 ? 0 : tensor->elements / tensor->dims[0];

    if (first >= 0 && count >= 0 && (uint64_t)first <= rows &&
        (uint64_t)count <= rows - (uint64_t)first)
        return true;
    PyErr_Format(PyExc_IndexError, "rows %zd to %zd are not in the tensor, which has %llu", first,
                 first + count, (unsigned long long)rows);
    return false;
}

#define BRIEF_ELEMENTS (1u << 18)

static PyObject *model_decode(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"index", "first_row", "rows", "out", "threads", "progress", NULL};
    Py_ssize_t index, first, rows;
    core_call call = {.threads = 0};
    reading r = {.rows = 0};
    Py_buffer out;
    bool found, well;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "nnnw*|O&O:decode", names, &index, &first,
                                     &rows, &out, core_threads, &call.threads, &call.progress))
        return NULL;
    found = tensor_of(object, index, &r.tensor);
    well = found && rows_fit(&r.tensor, first, rows) &&
           core_has_room(&out, (uint64_t)rows * r.tensor.dims[0], sizeof(float));
    if (well) {
        r.first_row = (uint64_t)first;
        r.rows = (uint64_t)rows;
        r.out = out.buf;
        call.brief = r.rows * r.tensor.dims[0] <= BRIEF_ELEMENTS;
        well = do_reading(object, &call, decode_rows, &r);
    }
    if (found)
        core_model_leave(object);
    PyBuffer_Release(&out);
    return well ? Py_NewRef(Py_None) : NULL;
}

/* Where the bytes of a shard are: (path, size, descriptor, memoryview or None). */
static PyObject *model_mapping(PyObject *object, PyObject *args)
{
    PyObject *data, *found = NULL;
    const gufo_model *model;
    gufo_mapping mapping;
    Py_ssize_t shard;

    if (!PyArg_ParseTuple(args, "n:mapping", &shard) || (model = use(object)) == NULL)
        return NULL;
    if (shard >= 0 && gufo_model_mapping(model, (size_t)shard, &mapping)) {
        data = mapping.data != NULL ? view_new(object, mapping.data, mapping.size)
                                    : Py_NewRef(Py_None);
        found = Py_BuildValue("(NKiN)", name_object(mapping.path), (unsigned long long)mapping.size,
                              mapping.fd, data);
    } else {
        PyErr_Format(PyExc_IndexError, "the model has no file %zd", shard);
    }
    core_model_leave(object);
    return found;
}

/* ---- types ------------------------------------------------------------------------------------ */

static PyMethodDef model_methods[] = {
    {"close", model_close, METH_NOARGS, "Close it; BufferError if views of its data are alive."},
    {"__enter__", model_enter, METH_NOARGS, NULL},
    {"__exit__", model_exit, METH_VARARGS, NULL},
    {"facts", model_facts, METH_NOARGS, "facts() -> dict: version, byte order, sizes."},
    {"entries", model_entries, METH_NOARGS,
     "entries() -> list of (key, type, element type or -1, count, offset, value offset, end)."},
    {"value", model_value, METH_VARARGS, "value(index) -> str, int, float, bool, or list."},
    CORE_METHOD("strings", model_strings, "strings(index, first=0, count=-1) -> list of str."),
    {"numbers", model_numbers, METH_VARARGS, "numbers(index) -> bytes in machine order."},
    {"parts", model_parts, METH_VARARGS,
     "parts(index) -> bytes: offset, count (uint64), value type, kind of leaf (uint32: 0 none, 1 "
     "number, 2 text) of each "
     "piece of an array: headers of inner arrays, numbers, lengths and texts."},
    {"tensors", model_tensors, METH_NOARGS,
     "tensors() -> list of (name, type, dims, elements, offset, size, info offset, shard)."},
    {"data", model_data, METH_VARARGS,
     "data(index) -> memoryview of the map, or bytes where none exists."},
    {"mapping", model_mapping, METH_VARARGS,
     "mapping(shard) -> (path or None, size, descriptor or -1, memoryview or None)."},
    CORE_METHOD("decode", model_decode,
                "decode(index, first_row, rows, out, threads=0, progress=None): rows as float32."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef model_getset[] = {
    {"closed", model_closed, NULL, "Whether it is closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef model_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_model, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_doc, "A model that is open: open() makes it."},
    {Py_tp_methods, model_methods},
    {Py_tp_getset, model_getset},
    {Py_tp_members, model_members},
    {Py_tp_traverse, CORE_SLOT(model_traverse)},
    {Py_tp_dealloc, CORE_SLOT(model_dealloc)},
    {0, NULL},
};

static PyType_Spec model_spec = {
    .name = "gufo._core.Model",
    .basicsize = sizeof(core_model),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = model_slots,
};

static PyType_Slot view_slots[] = {
    {Py_bf_getbuffer, CORE_SLOT(view_get)},
    {Py_tp_dealloc, CORE_SLOT(view_dealloc)},
    {0, NULL},
};

static PyType_Spec view_spec = {
    .name = "gufo._core.View",
    .basicsize = sizeof(view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = view_slots,
};

static PyMethodDef functions[] = {
    CORE_METHOD(
        "open", core_open,
        "open(source, *, flags=0, name=None, findings=[]) -> Model\n\n"
        "source: a path, a file that is open, or its content in an object with a buffer; a list of "
        "the shards of a set. "
        "findings: with\nOPEN_LENIENT, the list that gets a dict for each fault."),
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"OPEN_LENIENT", GUFO_OPEN_LENIENT},
    {"OPEN_NO_MAP", GUFO_OPEN_NO_MAP},
    {"OPEN_METADATA_ONLY", GUFO_OPEN_METADATA_ONLY},
    {"OPEN_AS_GGML", GUFO_OPEN_AS_GGML},
    {"OPEN_NO_READ_AHEAD", GUFO_OPEN_NO_READ_AHEAD},
    {"OPEN_INCOMPLETE", GUFO_OPEN_INCOMPLETE},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    if (core_add_type(module, CORE_MODEL, &model_spec, "Model") < 0 ||
        core_add_type(module, CORE_VIEW, &view_spec, NULL) < 0)
        return -1;
    return core_add_constants(module, constants);
}

const core_part core_part_model = {functions, set_up};
