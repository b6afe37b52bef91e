/* What training frameworks save, and formats before GGUF, opened as the models that they become. */
#include "fields.h"
#include "given.h"

#include <gufo/import.h>

#include <fcntl.h>
#include <unistd.h>

/* ---- recognising ---------------------------------------------------------------------------- */

static const char *legacy_name(const char *path)
{
    char begin[32];
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t size = file >= 0 ? read(file, begin, sizeof begin) : -1;

    if (file >= 0)
        close(file);
    return size > 0 ? gufo_legacy_recognise(begin, (size_t)size) : NULL;
}

static PyObject *recognise(PyObject *module, PyObject *args)
{
    const char *path, *legacy, *checkpoint;

    (void)module;
    if (!PyArg_ParseTuple(args, "y:recognise", &path))
        return NULL;
    legacy = legacy_name(path);
    checkpoint = legacy == NULL ? gufo_checkpoint_recognise(path) : NULL;
    if (legacy == NULL && checkpoint == NULL)
        Py_RETURN_NONE;
    return Py_BuildValue("(ss)", legacy != NULL ? "legacy" : "checkpoint",
                         legacy != NULL ? legacy : checkpoint);
}

/* ---- opening -------------------------------------------------------------------------------- */

typedef struct importing {
    const char *path;
    bool is_legacy;
    gufo_document *known;
    gufo_checkpoint_options checkpoint;
    gufo_legacy_options legacy;
    gufo_model *model;
} importing;

static const field checkpoint_fields[] = {
    {"flags", FIELD_U32, offsetof(importing, checkpoint.flags)},
    {"arch", FIELD_TEXT, offsetof(importing, checkpoint.arch)},
    {"pre", FIELD_TEXT, offsetof(importing, checkpoint.pre)},
    {"metadata", FIELD_TEXT, offsetof(importing, checkpoint.metadata)},
    {"base", FIELD_TEXT, offsetof(importing, checkpoint.base)},
    {"memory", FIELD_U64, offsetof(importing, checkpoint.memory)},
    {0}};

static const field legacy_fields[] = {{"flags", FIELD_U32, offsetof(importing, legacy.flags)},
                                      {"arch", FIELD_TEXT, offsetof(importing, legacy.arch)},
                                      {"keep", FIELD_UINT, offsetof(importing, legacy.keep)},
                                      {0}};

static gufo_status open_import(void *context, const gufo_run *run, gufo_error *error)
{
    importing *i = context;
    gufo_import *import;

    i->legacy.run = i->checkpoint.run = run;
    import = i->is_legacy ? gufo_import_legacy(i->path, &i->legacy, error)
                          : gufo_import_checkpoint(i->path, &i->checkpoint, error);
    if (import != NULL)
        i->model = gufo_import_take_model(import, i->path, error);
    return i->model != NULL ? GUFO_OK : error->code;
}

/* The model whose vocabulary is taken is in use as long as the one that has it. */
static void end_use(PyObject *capsule)
{
    PyObject *model = PyCapsule_GetPointer(capsule, NULL);

    core_model_leave(model);
    Py_DECREF(model);
}

static PyObject *start_use(PyObject *module, PyObject *model, importing *i)
{
    PyObject *capsule;

    if (model == Py_None)
        return Py_NewRef(Py_None);
    i->checkpoint.vocabulary = i->legacy.vocabulary = core_model_use(module, model);
    if (i->checkpoint.vocabulary == NULL)
        return NULL;
    capsule = PyCapsule_New(Py_NewRef(model), NULL, end_use);
    if (capsule == NULL) {
        core_model_leave(model);
        Py_DECREF(model);
    }
    return capsule;
}

/* "known": a list of entries.  False with an exception. */
static bool read_known(PyObject *module, PyObject *options, importing *i)
{
    PyObject *list = PyDict_GetItemString(options, "known");
    gufo_error error;

    if (list == NULL || PyObject_Length(list) == 0)
        return true;
    i->known = gufo_document_new(NULL, &error);
    if (i->known == NULL) {
        core_raise(module, &error);
        return false;
    }
    i->checkpoint.known = i->legacy.known = i->known;
    return given_entries(module, list, i->known);
}

static PyObject *import_model(PyObject *module, PyObject *args)
{
    PyObject *options, *vocabulary, *use, *model = NULL;
    importing i = {.model = NULL};
    core_call call = {.threads = 0};
    int is_legacy;

    if (!PyArg_ParseTuple(args, "ypOO!O:import_model", &i.path, &is_legacy, &vocabulary,
                          &PyDict_Type, &options, &call.progress))
        return NULL;
    i.is_legacy = is_legacy != 0;
    if (fields_read(options, i.is_legacy ? legacy_fields : checkpoint_fields, &i) < 0 ||
        (use = start_use(module, vocabulary, &i)) == NULL)
        return NULL;
    if (read_known(module, options, &i) && core_do(module, &call, open_import, &i))
        model = core_model_new(module, i.model, use);
    gufo_document_free(i.known);
    Py_DECREF(use);
    return model;
}

/* ---- looking -------------------------------------------------------------------------------- */

static PyObject *texts_of(const gufo_import *import,
                          const char *(*text_at)(const gufo_import *, uint64_t))
{
    PyObject *list = PyList_New(0);
    const char *text;

    for (uint64_t i = 0; list != NULL && (text = text_at(import, i)) != NULL; i++)
        if (fields_add(list, core_message(text)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *parts_of(const gufo_import *import)
{
    PyObject *list = PyList_New(0);
    const char *path;

    for (uint32_t i = 0; list != NULL && (path = gufo_import_part_at(import, i)) != NULL; i++)
        if (fields_add(list, PyUnicode_DecodeFSDefault(path)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *settings_of(const gufo_import *import)
{
    static const char *const origins[] = {"file", "known", "assumed", "missing"};
    PyObject *list = PyList_New(0);
    gufo_import_setting s;

    for (uint64_t i = 0; list != NULL && gufo_import_setting_at(import, i, &s); i++)
        if (fields_add(list, Py_BuildValue("(y#sNs)", s.key.data, (Py_ssize_t)s.key.len,
                                           origins[s.origin], PyBool_FromLong(s.required), s.why)) <
            0)
            Py_CLEAR(list);
    return list;
}

static PyObject *import_dict(const gufo_import *import)
{
    static const field fields[] = {
        {"family", FIELD_TEXT, offsetof(gufo_import_facts, family)},
        {"container", FIELD_TEXT, offsetof(gufo_import_facts, container)},
        {"size", FIELD_U64, offsetof(gufo_import_facts, size)},
        {"doubt", FIELD_TEXT, offsetof(gufo_import_facts, doubt)},
        {"quantized", FIELD_TEXT, offsetof(gufo_import_facts, quantized)},
        {"packed", FIELD_U64, offsetof(gufo_import_facts, packed)},
        {"repacked", FIELD_U64, offsetof(gufo_import_facts, repacked)},
        {0}};
    const gufo_import_facts facts = gufo_import_describe(import);
    PyObject *dict = fields_dict(fields, &facts);

    if (dict == NULL ||
        fields_set(dict, "warnings", texts_of(import, gufo_import_warning_at)) < 0 ||
        fields_set(dict, "parts", parts_of(import)) < 0 ||
        fields_set(dict, "settings", settings_of(import)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *import_facts(PyObject *module, PyObject *object)
{
    const gufo_model *model = core_model_use(module, object);
    const gufo_import *import = model != NULL ? gufo_model_import(model) : NULL;
    PyObject *dict;

    if (model == NULL)
        return NULL;
    dict = import != NULL ? import_dict(import) : Py_NewRef(Py_None);
    core_model_leave(object);
    return dict;
}

static PyObject *tokenizer_files(PyObject *module, PyObject *args)
{
    gufo_text json = {0}, config = {0};
    PyObject *result = NULL;
    gufo_error error;
    const char *path;

    if (!PyArg_ParseTuple(args, "y:tokenizer_files", &path))
        return NULL;
    if (!gufo_import_has_tokenizer(path))
        Py_RETURN_NONE;
    if (gufo_import_tokenizer(path, &json, &config, &error) == GUFO_OK)
        result = Py_BuildValue("(y#y#)", json.data, (Py_ssize_t)json.len,
                               config.data != NULL ? config.data : "", (Py_ssize_t)config.len);
    else
        core_raise(module, &error);
    gufo_text_free(&json);
    gufo_text_free(&config);
    return result;
}

static PyMethodDef functions[] = {
    {"recognise", recognise, METH_VARARGS,
     "recognise(path) -> (\"legacy\" or \"checkpoint\", what it is), or None."},
    {"import_model", import_model, METH_VARARGS,
     "import_model(path, is_legacy, vocabulary or None, options, progress) -> Model"},
    {"import_facts", import_facts, METH_O, "import_facts(model) -> dict, or None for any other."},
    {"tokenizer_files", tokenizer_files, METH_VARARGS,
     "tokenizer_files(path) -> (tokenizer.json, tokenizer_config.json), or None."},
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"CHECKPOINT_GENERIC", GUFO_CHECKPOINT_GENERIC},
    {"CHECKPOINT_NO_VOCABULARY", GUFO_CHECKPOINT_NO_VOCABULARY},
    {"CHECKPOINT_VOCABULARY_ONLY", GUFO_CHECKPOINT_VOCABULARY_ONLY},
    {"CHECKPOINT_KEEP_TOKENIZER", GUFO_CHECKPOINT_KEEP_TOKENIZER},
    {"CHECKPOINT_FOLLOW", GUFO_CHECKPOINT_FOLLOW},
    {"CHECKPOINT_FORCE_CONFIG", GUFO_CHECKPOINT_FORCE_CONFIG},
    {"CHECKPOINT_NO_CHECK", GUFO_CHECKPOINT_NO_CHECK},
    {"CHECKPOINT_TOWER", GUFO_CHECKPOINT_TOWER},
    {"LEGACY_MEASURE", GUFO_LEGACY_MEASURE},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    return core_add_constants(module, constants);
}

const core_part core_part_convert = {functions, set_up};
