/* The module gufo._core: puts the parts together, and keeps what they need.
 *
 * It has no variable that outlives it, so that each interpreter has its own. */
#include "core.h"

#include <string.h>

typedef struct module_state {
    PyObject *objects[CORE_OBJECTS];
    core_tasks tasks;
} module_state;

static const core_part *const parts[] = {
#define PART(name) &core_part_##name,
#include "parts.def"
#undef PART
    NULL,
};

/* What the extension is built with, beside the reader and the codec. */
static const char *const features[] = {
#ifdef CORE_HAS_DIGEST
    "digest",
#endif
#ifdef CORE_HAS_IMPORT
    "import",
#endif
#ifdef CORE_HAS_JOBS
    "jobs",
#endif
#ifdef CORE_HAS_REPORT
    "report",
#endif
#ifdef CORE_HAS_TEMPLATE
    "template",
#endif
#ifdef CORE_HAS_TEXT
    "text",
#endif
    NULL,
};

static module_state *state_of(PyObject *module)
{
    return PyType_Check(module) ? (module_state *)PyType_GetModuleState((PyTypeObject *)module)
                                : (module_state *)PyModule_GetState(module);
}

core_tasks *core_running(PyObject *module)
{
    return &state_of(module)->tasks;
}

static PyObject **objects_of(PyObject *module)
{
    return state_of(module)->objects;
}

PyObject *core_get(PyObject *module, core_object which)
{
    return objects_of(module)[which];
}

void core_keep(PyObject *module, core_object which, PyObject *object)
{
    objects_of(module)[which] = object;
}

int core_add_type(PyObject *module, core_object which, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    if (type == NULL)
        return -1;
    core_keep(module, which, type);
    return name == NULL ? 0 : PyModule_AddObjectRef(module, name, type);
}

int core_add_constants(PyObject *module, const core_constant *constants)
{
    for (; constants->name != NULL; constants++) {
        if (PyModule_AddIntConstant(module, constants->name, constants->value) < 0)
            return -1;
    }
    return 0;
}

PyObject *core_text(gufo_str text)
{
    return PyUnicode_DecodeUTF8(text.data == NULL ? "" : text.data, (Py_ssize_t)text.len, NULL);
}

PyObject *core_message(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

bool core_take(core_lock *lock, const char *what)
{
    if (!atomic_exchange(lock, true))
        return true;
    PyErr_Format(PyExc_RuntimeError, "%s is in use", what);
    return false;
}

void core_give(core_lock *lock)
{
    atomic_store(lock, false);
}

/* ---- setting up ------------------------------------------------------------------------------- */

static int add_features(PyObject *module)
{
    PyObject *names = PyList_New(0), *set = NULL;
    int failed = names == NULL;

    for (size_t i = 0; !failed && features[i] != NULL; i++) {
        PyObject *name = PyUnicode_FromString(features[i]);

        failed = name == NULL || PyList_Append(names, name) < 0;
        Py_XDECREF(name);
    }
    if (!failed)
        set = PyFrozenSet_New(names);
    Py_XDECREF(names);
    if (set == NULL)
        return -1;
    failed = PyModule_AddObjectRef(module, "features", set);
    Py_DECREF(set);
    return failed;
}

static int set_up(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", gufo_version()) < 0 ||
        add_features(module) < 0)
        return -1;
    for (size_t i = 0; parts[i] != NULL; i++) {
        if (parts[i]->methods != NULL && PyModule_AddFunctions(module, parts[i]->methods) < 0)
            return -1;
        if (parts[i]->set_up != NULL && parts[i]->set_up(module) < 0)
            return -1;
    }
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    PyObject **objects = objects_of(module);

    for (size_t i = 0; i < CORE_OBJECTS; i++)
        Py_VISIT(objects[i]);
    return 0;
}

static int clear(PyObject *module)
{
    PyObject **objects = objects_of(module);

    for (size_t i = 0; i < CORE_OBJECTS; i++)
        Py_CLEAR(objects[i]);
    return 0;
}

static void release(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, CORE_SLOT(set_up)},
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gufo._core",
    .m_doc = "GGUF files, by libgufo: few, large calls, which gufo's modules are built on.",
    .m_size = sizeof(module_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
