/* Chat templates. */
#include "fields.h"

#include "gufo/template.h"

typedef struct rendering {
    gufo_str source;
    PyObject *values; /* pairs of a name and JSON */
    gufo_template_options options;
    gufo_template *parsed;
    gufo_template_values *given;
    gufo_text text;
} rendering;

static const field rendering_fields[] = {{"source", FIELD_BYTES, offsetof(rendering, source)},
                                         {"now", FIELD_U64, offsetof(rendering, options.now)},
                                         {"steps", FIELD_U64, offsetof(rendering, options.steps)},
                                         {"output", FIELD_U64, offsetof(rendering, options.output)},
                                         {"memory", FIELD_U64, offsetof(rendering, options.memory)},
                                         {0}};

static bool set_value(rendering *r, PyObject *name, PyObject *json, gufo_error *error)
{
    Py_ssize_t json_size;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const char *value = text != NULL ? PyUnicode_AsUTF8AndSize(json, &json_size) : NULL;

    return value != NULL &&
           gufo_template_values_set(r->given, text, (gufo_str){value, (size_t)json_size}, error) ==
               GUFO_OK;
}

static bool set_values(rendering *r, gufo_error *error)
{
    const gufo_template_values_options options = {.memory = r->options.memory};
    PyObject *name, *json;
    Py_ssize_t place = 0;
    bool good;

    r->given = gufo_template_values_new(&options, error);
    good = r->given != NULL;
    while (good && PyDict_Next(r->values, &place, &name, &json))
        good = set_value(r, name, json, error);
    return good;
}

static gufo_status render(void *context, const gufo_run *run, gufo_error *error)
{
    rendering *r = context;

    (void)run;
    r->parsed = gufo_template_parse(r->source, NULL, NULL, error);
    return r->parsed != NULL
               ? gufo_template_render(r->parsed, r->given, &r->options, &r->text, NULL, error)
               : error->code;
}

static PyObject *template_render(PyObject *module, PyObject *args)
{
    gufo_error error = {.code = GUFO_OK};
    const core_call call = {.brief = true}; /* steps are limited */
    PyObject *options, *result = NULL;
    rendering r = {.values = NULL};

    if (!PyArg_ParseTuple(args, "O!O!", &PyDict_Type, &r.values, &PyDict_Type, &options) ||
        fields_read(options, rendering_fields, &r) < 0)
        return NULL;
    if (!set_values(&r, &error)) {
        if (!PyErr_Occurred())
            core_raise(module, &error);
    } else if (core_do(module, &call, render, &r)) {
        result = PyUnicode_DecodeUTF8(r.text.data, (Py_ssize_t)r.text.len, NULL);
    }
    gufo_text_free(&r.text);
    gufo_template_values_free(r.given);
    gufo_template_free(r.parsed);
    return result;
}

static bool note_finding(void *context, const gufo_template_finding *finding)
{
    static const field fields[] = {
        {"dangerous", FIELD_BOOL, offsetof(gufo_template_finding, dangerous)},
        {"offset", FIELD_U64, offsetof(gufo_template_finding, offset)},
        {"line", FIELD_U64, offsetof(gufo_template_finding, line)},
        {"column", FIELD_U64, offsetof(gufo_template_finding, column)},
        {"message", FIELD_TEXT, offsetof(gufo_template_finding, message)},
        {0}};

    return fields_append(context, fields, finding) == 0;
}

static PyObject *template_lint(PyObject *module, PyObject *argument)
{
    PyObject *list = PyList_New(0);
    gufo_error error;
    Py_buffer source;
    gufo_status status;

    if (list == NULL || PyObject_GetBuffer(argument, &source, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(list);
        return NULL;
    }
    status = gufo_template_lint((gufo_str){source.buf, (size_t)source.len}, NULL, note_finding,
                                list, &error);
    PyBuffer_Release(&source);
    if (status != GUFO_OK && !PyErr_Occurred())
        core_raise(module, &error);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

static PyMethodDef functions[] = {
    {"render", template_render, METH_VARARGS,
     "render(values, options) -> str; values are JSON texts by name."},
    {"lint", template_lint, METH_O, "lint(source) -> list of findings about a chat template."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_template = {functions, NULL};
