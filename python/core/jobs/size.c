/* Types of tensors for a size: measure, choose. */
#include "jobs/size.h"

#include "fields.h"

static const field size_fields[] = {
    {"size", FIELD_U64, offsetof(size_part, target.bytes)},
    {"bits_per_weight", FIELD_F64, offsetof(size_part, target.bits_per_weight)},
    {"losses", FIELD_TEXT, offsetof(size_part, losses_path)},
    {0}};

/* "size_types": a list of names. */
static bool read_types(PyObject *options, size_part *s)
{
    PyObject *list = PyDict_GetItemString(options, "size_types");
    const Py_ssize_t count = list != NULL ? PyList_Size(list) : 0;

    if (count > (Py_ssize_t)GUFO_QUANTIZE_TARGETS) {
        PyErr_Format(PyExc_ValueError, "at most %d types are tried, not %zd", GUFO_QUANTIZE_TARGETS,
                     count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        s->types[i] = fields_type(PyList_GetItem(list, i));
        if (s->types[i] == NULL)
            return false;
    }
    s->options.types = count > 0 ? s->types : NULL;
    s->options.type_count = (size_t)count;
    return count >= 0;
}

static bool has(PyObject *options, const char *name)
{
    PyObject *value = PyDict_GetItemString(options, name);

    return value != NULL && value != Py_None;
}

bool size_read(PyObject *options, size_part *s)
{
    PyObject *exact = PyDict_GetItemString(options, "exact");
    const int all_rows = exact != NULL ? PyObject_IsTrue(exact) : 0;

    s->options.flags = all_rows > 0 ? GUFO_LOSSES_ALL_ROWS : 0;
    s->is_asked = has(options, "size") || has(options, "bits_per_weight");
    return all_rows >= 0 && fields_read(options, size_fields, s) == 0 && read_types(options, s);
}

/* ---- planning -------------------------------------------------------------------------------- */

/* What was measured is kept after an interruption, too; without the file nothing but time is lost. */
static gufo_status measure(size_part *s, const gufo_run *run, gufo_error *error)
{
    const bool is_kept = s->losses_path != NULL;
    gufo_status status;

    if (is_kept)
        (void)gufo_losses_read(s->losses, s->losses_path, NULL, &s->not_read);
    if (s->not_read.code == GUFO_E_NOT_FOUND)
        s->not_read.code = GUFO_OK;
    status = gufo_losses_measure(s->losses, run, error);
    if (is_kept && (status == GUFO_OK || status == GUFO_E_STOPPED))
        (void)gufo_losses_write(s->losses, s->losses_path, &s->not_kept);
    return status;
}

gufo_status size_make_plan(size_part *s, const gufo_model *input, gufo_quantize_options *options,
                           const gufo_run *run, gufo_error *error)
{
    const gufo_size_options size = {.targets = &s->target, .target_count = 1};
    gufo_status status;

    s->losses = gufo_losses_new(input, options, &s->options, error);
    if (s->losses == NULL)
        return error->code;
    status = measure(s, run, error);
    if (status != GUFO_OK)
        return status;
    s->plan = gufo_size_plan_new(s->losses, &size, NULL, error);
    if (s->plan == NULL)
        return error->code;
    gufo_size_plan_apply(s->plan, options);
    return GUFO_OK;
}

void size_free(size_part *s)
{
    gufo_size_plan_free(s->plan);
    gufo_losses_free(s->losses);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* The loss of a run, and whether it is the one that was planned; None where it was not measured. */
static int add_actual(PyObject *dict, const gufo_size_tensor *planned,
                      const gufo_quantizer *quantizer, uint64_t index)
{
    gufo_quantizer_tensor written;
    double actual;
    bool agrees;

    if (!gufo_quantizer_tensor_at(quantizer, index, &written) ||
        !gufo_size_tensor_compare(planned, &written, &actual, &agrees))
        return fields_set(dict, "actual", Py_NewRef(Py_None)) < 0
                   ? -1
                   : fields_set(dict, "agrees", Py_NewRef(Py_None));
    return fields_set(dict, "actual", PyFloat_FromDouble(actual)) < 0
               ? -1
               : fields_set(dict, "agrees", PyBool_FromLong(agrees));
}

static PyObject *tensors_of(const gufo_size_plan *plan, const gufo_quantizer *quantizer)
{
    static const field fields[] = {
        {"name", FIELD_BYTES, offsetof(gufo_size_tensor, name)},
        {"type", FIELD_TYPE, offsetof(gufo_size_tensor, loss.type)},
        {"is_kept", FIELD_BOOL, offsetof(gufo_size_tensor, is_kept)},
        {"size", FIELD_U64, offsetof(gufo_size_tensor, loss.bytes)},
        {"loss", FIELD_F64, offsetof(gufo_size_tensor, loss.relative)},
        {"standard_error", FIELD_F64, offsetof(gufo_size_tensor, loss.standard_error)},
        {"coefficient", FIELD_F64, offsetof(gufo_size_tensor, coefficient)},
        {0}};
    PyObject *list = PyList_New(0);
    gufo_size_tensor tensor;

    for (uint64_t i = 0; list != NULL && gufo_size_plan_tensor_at(plan, 0, i, &tensor); i++) {
        PyObject *dict = fields_dict(fields, &tensor);

        if (dict != NULL && add_actual(dict, &tensor, quantizer, i) < 0)
            Py_CLEAR(dict);
        if (fields_add(list, dict) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *notes_of(const size_part *s)
{
    PyObject *list = PyList_New(0);

    if (list != NULL && s->not_read.code != GUFO_OK &&
        fields_add(list, PyUnicode_FromFormat("losses are not used: %s", s->not_read.message)) < 0)
        Py_CLEAR(list);
    if (list != NULL && s->not_kept.code != GUFO_OK &&
        fields_add(list, PyUnicode_FromFormat("losses are not kept: %s", s->not_kept.message)) < 0)
        Py_CLEAR(list);
    return list;
}

static PyObject *text_of(const gufo_size_plan *plan)
{
    PyObject *object = NULL;
    gufo_text text = {0};
    gufo_error error;

    if (gufo_size_plan_write(plan, 0, NULL, &text, &error) == GUFO_OK)
        object = PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.len, "surrogateescape");
    else
        PyErr_NoMemory();
    gufo_text_free(&text);
    return object;
}

static PyObject *file_type_name(const gufo_file_type *type)
{
    return type != NULL ? PyUnicode_FromString(type->name) : Py_NewRef(Py_None);
}

PyObject *size_dict(const size_part *s, const gufo_quantizer *quantizer)
{
    static const field fields[] = {
        {"asked", FIELD_U64, offsetof(gufo_size_result, asked)},
        {"size", FIELD_U64, offsetof(gufo_size_result, size)},
        {"data_size", FIELD_U64, offsetof(gufo_size_result, data_size)},
        {"elements", FIELD_U64, offsetof(gufo_size_result, elements)},
        {"least", FIELD_U64, offsetof(gufo_size_result, least)},
        {"loss", FIELD_F64, offsetof(gufo_size_result, loss)},
        {"bound", FIELD_F64, offsetof(gufo_size_result, bound)},
        {"is_proven", FIELD_BOOL, offsetof(gufo_size_result, is_proven)},
        {"is_best", FIELD_BOOL, offsetof(gufo_size_result, is_best)},
        {"main_type", FIELD_TYPE, offsetof(gufo_size_result, main_type)},
        {"mixture_size", FIELD_U64, offsetof(gufo_size_result, mixture_size)},
        {"mixture_loss", FIELD_F64, offsetof(gufo_size_result, mixture_loss)},
        {"target", FIELD_TEXT, offsetof(gufo_size_result, target)},
        {0}};
    gufo_size_result result;
    PyObject *dict;

    if (s->plan == NULL || !gufo_size_plan_at(s->plan, 0, &result))
        Py_RETURN_NONE;
    dict = fields_dict(fields, &result);
    if (dict == NULL || fields_set(dict, "file_type", file_type_name(result.file_type)) < 0 ||
        fields_set(dict, "mixture", file_type_name(result.mixture)) < 0 ||
        fields_set(dict, "tensors", tensors_of(s->plan, quantizer)) < 0 ||
        fields_set(dict, "rules", text_of(s->plan)) < 0 ||
        fields_set(dict, "notes", notes_of(s)) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* ---- rules, which a plan is kept as ------------------------------------------------------------ */

static gufo_status note_rule(void *context, const gufo_type_rule *rule, gufo_error *error)
{
    (void)error;
    return fields_add(context,
                      Py_BuildValue("(y#y#)", rule->pattern.data, (Py_ssize_t)rule->pattern.len,
                                    rule->type_name.data, (Py_ssize_t)rule->type_name.len)) == 0
               ? GUFO_OK
               : GUFO_E_MEMORY;
}

static PyObject *type_rules(PyObject *module, PyObject *args)
{
    PyObject *list;
    Py_buffer text;
    const char *path;
    gufo_error error = {.code = GUFO_OK};

    if (!PyArg_ParseTuple(args, "y*y:type_rules", &text, &path))
        return NULL;
    list = PyList_New(0);
    if (list != NULL && gufo_type_rules_read((gufo_str){text.buf, (size_t)text.len}, note_rule,
                                             list, &error) != GUFO_OK) {
        Py_CLEAR(list);
        core_name_file(&error, path);
        if (!PyErr_Occurred())
            core_raise(module, &error);
    }
    PyBuffer_Release(&text);
    return list;
}

static PyMethodDef functions[] = {
    {"type_rules", type_rules, METH_VARARGS, "type_rules(text, path) -> list of (pattern, type)."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_size = {functions, NULL};
