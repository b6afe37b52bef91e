/* What is wrong with a model, or with a file that cannot be opened, as a list of dicts. */
#include "core.h"

#ifdef CORE_HAS_TEXT
#include <gufo/vocab.h>
#endif
#ifdef CORE_HAS_TEMPLATE
#include <gufo/template.h>
#endif

/* Bytes of a stranger's file, for people to read. */
static PyObject *readable(gufo_str text)
{
    return PyUnicode_DecodeUTF8(text.data == NULL ? "" : text.data, (Py_ssize_t)text.len,
                                "backslashreplace");
}

/* The value of a fix, which is text where it cannot be decoded. */
static PyObject *fix_value(PyObject *module, const gufo_value *value)
{
    return value->type == GUFO_VALUE_STRING ? readable(value->as.str) : core_value(module, value);
}

static bool has_value(gufo_fix_kind kind)
{
    gufo_fix_part part = gufo_fix_part_of(kind);

    return part == GUFO_FIX_PART_VALUE || part == GUFO_FIX_PART_TYPE;
}

static PyObject *fix_dict(PyObject *module, const gufo_fix *fix)
{
    PyObject *value;

    if (fix->kind == GUFO_FIX_NONE)
        Py_RETURN_NONE;
    value = has_value(fix->kind) ? fix_value(module, &fix->value) : Py_NewRef(Py_None);
    return Py_BuildValue("{sssNsNsNsi}", "kind", gufo_fix_name(fix->kind), "certain",
                         PyBool_FromLong(fix->certain), "key", readable(fix->key), "value", value,
                         "type", has_value(fix->kind) ? (int)fix->value.type : -1);
}

static PyObject *finding_dict(PyObject *module, const gufo_finding *f)
{
    PyObject *offset =
        f->offset == GUFO_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(f->offset);

    return Py_BuildValue("{sssssssNsNsNszsNsNsn}", "rule", f->rule->id, "name", f->rule->name,
                         "severity", gufo_severity_name(f->rule->severity), "offset", offset,
                         "subject", readable(f->subject), "message", core_message(f->message),
                         "hint", f->hint, "fix", fix_dict(module, &f->fix), "fatal",
                         PyBool_FromLong(f->rule->fatal), "shard", (Py_ssize_t)f->shard);
}

void core_add_finding(void *context, const gufo_finding *finding)
{
    core_findings *findings = context;
    PyObject *one;

    if (findings->list == NULL)
        return;
    one = finding_dict(findings->module, finding);
    if (one == NULL || PyList_Append(findings->list, one) < 0)
        Py_CLEAR(findings->list);
    Py_XDECREF(one);
}

/* The rules of what a file means, then those of the format that open leaves. */
gufo_status core_check(const gufo_model *model, gufo_level level, gufo_finding_fn *found,
                       void *context, gufo_error *error)
{
    gufo_check_options options = {.level = level};
    gufo_status status;

    options.path = gufo_model_name(model);
#ifdef CORE_HAS_TEMPLATE
    options.judge = gufo_template_lint;
#endif
#ifdef CORE_HAS_TEXT
    options.tokenizer_json = gufo_tokenizer_json_tokens;
#endif
    status =
        gufo_model_facts(model).is_made ? GUFO_OK : gufo_model_check(model, found, context, error);
    return status == GUFO_OK ? gufo_model_check_content(model, &options, found, context, error)
                             : status;
}

static bool level_of(const char *name, gufo_level *level)
{
    if (gufo_level_by_name(name, level))
        return true;
    PyErr_Format(PyExc_ValueError,
                 "no level is called \"%s\": structure, standard, model and spec exist", name);
    return false;
}

/* The list, or NULL with an exception. */
static PyObject *result_of(PyObject *module, core_findings *findings, gufo_status status,
                           const gufo_error *error)
{
    if (findings->list != NULL && status != GUFO_OK) {
        Py_CLEAR(findings->list);
        core_raise(module, error);
    }
    return findings->list;
}

static PyObject *check_model(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"model", "level", NULL};
    core_findings findings = {module, NULL};
    const gufo_model *model;
    const char *level_name = "model";
    gufo_level level;
    gufo_error error;
    gufo_status status;
    PyObject *object;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|s:check", names, &object, &level_name) ||
        !level_of(level_name, &level))
        return NULL;
    model = core_model_use(module, object);
    if (model == NULL)
        return NULL;
    findings.list = PyList_New(0);
    status = core_check(model, level, core_add_finding, &findings, &error);
    core_model_leave(object);
    return result_of(module, &findings, status, &error);
}

/* Of one file, which need not be one that opens. */
static PyObject *validate(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "name", NULL};
    gufo_open_options options = {.flags = 0};
    core_findings findings = {module, NULL};
    core_source source;
    gufo_error error;
    gufo_status status;
    PyObject *object;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|z:validate", names, &object,
                                     &options.name) ||
        core_source_get(object, &source) < 0)
        return NULL;
    findings.list = PyList_New(0);
    status = gufo_validate(&source.input, &options, core_add_finding, &findings, &error);
    core_source_release(&source);
    return result_of(module, &findings, status, &error);
}

static PyMethodDef functions[] = {
    CORE_METHOD("check", check_model,
                "check(model, level=\"model\") -> list of dict: rules that a model that is open "
                "breaks."),
    CORE_METHOD("validate", validate,
                "validate(source, name=None) -> list of dict: rules of the format that one file "
                "breaks, which may be any file."),
    {NULL, NULL, 0, NULL},
};

const core_part core_part_check = {functions, NULL};
