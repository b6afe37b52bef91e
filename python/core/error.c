/* gufo_error as an exception.
 *
 * An exception is a gufo.Error, so that a program can catch all of them, and of the class that Python
 * has for what happened, so that it need not know gufo to catch it:
 *
 *     class gufo._core.ValueError(gufo.Error, ValueError)
 *
 * Such classes are made when the first error of their kind is raised. */
#include "core.h"

#include <gufo/import.h>

#include <stdio.h>

/* The class for a status; GUFO_E_IO has that of its errno. */
static PyObject *python_class(gufo_status status)
{
    switch (status) {
    case GUFO_E_MEMORY:
        return PyExc_MemoryError;
    case GUFO_E_NOT_FOUND:
        return PyExc_LookupError;
    case GUFO_E_TYPE:
        return PyExc_TypeError;
    case GUFO_E_RANGE:
        return PyExc_IndexError;
    case GUFO_E_EXISTS:
        return PyExc_FileExistsError;
    case GUFO_E_CHANGED:
    case GUFO_E_STOPPED:
        return PyExc_RuntimeError;
    default:
        return PyExc_ValueError;
    }
}

/* The class that is an Error and a `base`, a new reference.  Two threads may each make one. */
static PyObject *joint_class(PyObject *module, PyObject *base)
{
    PyObject *classes = core_get(module, CORE_ERROR_CLASSES);
    PyObject *joint = PyDict_GetItemWithError(classes, base), *name;

    if (joint != NULL || PyErr_Occurred())
        return Py_XNewRef(joint);
    name = PyObject_GetAttrString(base, "__name__");
    if (name == NULL)
        return NULL;
    joint = PyObject_CallFunction((PyObject *)&PyType_Type, "O(OO){ss}", name,
                                  core_get(module, CORE_ERROR), base, "__module__", "gufo._core");
    Py_DECREF(name);
    if (joint != NULL && PyDict_SetItem(classes, base, joint) < 0)
        Py_CLEAR(joint);
    return joint;
}

/* The exception: OSError takes (errno, text), and its class from errno. */
static PyObject *make(PyObject *module, const gufo_error *error, PyObject *text)
{
    PyObject *plain, *joint, *made = NULL;

    if (error->code != GUFO_E_IO || error->system == 0) {
        joint = joint_class(module,
                            error->code == GUFO_E_IO ? PyExc_OSError : python_class(error->code));
        if (joint != NULL)
            made = PyObject_CallFunction(joint, "O", text);
        Py_XDECREF(joint);
        return made;
    }
    plain = PyObject_CallFunction(PyExc_OSError, "iO", error->system, text);
    if (plain == NULL)
        return NULL;
    joint = joint_class(module, (PyObject *)Py_TYPE(plain));
    Py_DECREF(plain);
    if (joint != NULL)
        made = PyObject_CallFunction(joint, "iO", error->system, text);
    Py_XDECREF(joint);
    return made;
}

static int set_attribute(PyObject *object, const char *name, PyObject *value)
{
    int failed = value == NULL || PyObject_SetAttrString(object, name, value) < 0;

    Py_XDECREF(value);
    return failed ? -1 : 0;
}

static PyObject *or_none(const char *text)
{
    if (text == NULL || *text == '\0')
        Py_RETURN_NONE;
    return core_message(text);
}

/* What would let the call go on, by the name of the option; None: nothing. */
static PyObject *advice_of(const gufo_error *error)
{
    static const char *const names[] = {
        [GUFO_ADVICE_ARCH] = "arch",     [GUFO_ADVICE_GENERIC] = "generic",
        [GUFO_ADVICE_PRE] = "pre",       [GUFO_ADVICE_VOCABULARY] = "vocabulary",
        [GUFO_ADVICE_BASE] = "base",     [GUFO_ADVICE_MEMORY] = "memory",
        [GUFO_ADVICE_FOLLOW] = "follow", [GUFO_ADVICE_FORCE] = "force_config",
    };

    return or_none(error->advice < sizeof names / sizeof *names ? names[error->advice] : NULL);
}

static int set_attributes(PyObject *object, const gufo_error *error)
{
    PyObject *offset = error->offset == GUFO_NO_OFFSET ? Py_NewRef(Py_None)
                                                       : PyLong_FromUnsignedLongLong(error->offset);

    if (set_attribute(object, "offset", offset) < 0 ||
        set_attribute(object, "code", core_message(gufo_status_name(error->code))) < 0 ||
        set_attribute(object, "rule", or_none(error->rule == NULL ? NULL : error->rule->id)) < 0 ||
        set_attribute(object, "file", or_none(error->file)) < 0 ||
        set_attribute(object, "advice", advice_of(error)) < 0)
        return -1;
    return set_attribute(object, "message", core_message(error->message));
}

/* "FILE: byte OFFSET: what is wrong", as the command prints it. */
static PyObject *whole_text(const gufo_error *error)
{
    char text[sizeof error->file + sizeof error->message + 40];
    const char *colon = *error->file == '\0' ? "" : ": ";

    if (error->offset == GUFO_NO_OFFSET)
        snprintf(text, sizeof text, "%s%s%s", error->file, colon, error->message);
    else
        snprintf(text, sizeof text, "%s%sbyte %llu: %s", error->file, colon,
                 (unsigned long long)error->offset, error->message);
    return core_message(text);
}

PyObject *core_raise(PyObject *module, const gufo_error *error)
{
    PyObject *text = whole_text(error), *exception;

    if (text == NULL)
        return NULL;
    exception = make(module, error, text);
    Py_DECREF(text);
    if (exception == NULL)
        return NULL;
    if (set_attributes(exception, error) == 0)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

/* An encoding error takes more than a text. */
void core_raise_at(PyObject *place, PyObject *type, PyObject *value, PyObject *trace)
{
    if (PyErr_GivenExceptionMatches(type, PyExc_MemoryError))
        PyErr_NoMemory();
    else if (place != NULL)
        PyErr_Format(PyErr_GivenExceptionMatches(type, PyExc_UnicodeError) ? PyExc_ValueError
                                                                           : type,
                     "%U: %S", place, value != NULL ? value : Py_None);
    Py_XDECREF(place);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

void core_name_file(gufo_error *error, const char *path)
{
    if (path != NULL && *error->file == '\0')
        snprintf(error->file, sizeof error->file, "%s", path);
}

/* Attributes of an Error that Python code raises. */
static PyObject *attributes(void)
{
    return Py_BuildValue("{sOsOsOsOsOsOss}", "offset", Py_None, "code", Py_None, "rule", Py_None,
                         "file", Py_None, "message", Py_None, "advice", Py_None, "__module__",
                         "gufo");
}

static int set_up(PyObject *module)
{
    PyObject *dict = attributes(), *error, *classes = PyDict_New();

    if (dict == NULL || classes == NULL) {
        Py_XDECREF(dict);
        Py_XDECREF(classes);
        return -1;
    }
    error = PyErr_NewExceptionWithDoc("gufo.Error",
                                      "Why a call failed.\n\n"
                                      "offset: the byte of the file, or None; rule: the id of the "
                                      "rule that the file breaks, or None;\n"
                                      "file: its path, or None; code: one word, \"truncated\"; "
                                      "message: the sentence alone.",
                                      NULL, dict);
    Py_DECREF(dict);
    core_keep(module, CORE_ERROR_CLASSES, classes);
    core_keep(module, CORE_ERROR, error);
    return error == NULL ? -1 : PyModule_AddObjectRef(module, "Error", error);
}

const core_part core_part_error = {NULL, set_up};
