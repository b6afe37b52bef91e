/* Plans of files with the same tensors in another form: shards, byte order, parts, a checkpoint. */
#include "fields.h"
#include "jobs/job.h"

#include <gufo/edit.h>

#ifdef CORE_HAS_IMPORT
#include <gufo/import.h>
#endif

#include <stdlib.h>
#include <string.h>

typedef struct forming {
    const struct form *form;
    const gufo_model *input;
    gufo_split_options split;
    gufo_endian_options endian;
    gufo_strip_options strip;
#ifdef CORE_HAS_IMPORT
    gufo_export_options export;
#endif
    gufo_str *kept; /* names of tensors, in order */
    size_t kept_count;
    gufo_job *job;
} forming;

/* What files can become. */
typedef struct form {
    const char *name;
    gufo_job *(*plan)(const forming *f, gufo_error *error);
} form;

static const field form_fields[] = {
    {"size", FIELD_U64, offsetof(forming, split.max_size)},
    {"tensors", FIELD_U64, offsetof(forming, split.max_tensors)},
    {"metadata_alone", FIELD_BOOL, offsetof(forming, split.metadata_alone)},
    {"byte_order", FIELD_UINT, offsetof(forming, endian.order)},
    {"vocabulary_only", FIELD_BOOL, offsetof(forming, strip.vocabulary_only)},
#ifdef CORE_HAS_IMPORT
    {"format", FIELD_UINT, offsetof(forming, export.format)},
    {"dtype", FIELD_TYPE, offsetof(forming, export.dtype)},
    {"shard_size", FIELD_U64, offsetof(forming, export.shard_size)},
#endif
    {0}};

static gufo_job *split(const forming *f, gufo_error *error)
{
    return gufo_job_split(f->input, &f->split, error);
}

static gufo_job *merge(const forming *f, gufo_error *error)
{
    return gufo_job_merge(f->input, NULL, error);
}

static gufo_job *endian(const forming *f, gufo_error *error)
{
    return gufo_job_endian(f->input, &f->endian, error);
}

static gufo_job *strip(const forming *f, gufo_error *error)
{
    return gufo_job_strip(f->input, &f->strip, error);
}

#ifdef CORE_HAS_IMPORT
static gufo_job *export(const forming *f, gufo_error *error)
{
    return gufo_export_job(f->input, &f->export, error);
}
#endif

static const form forms[] = {{"split", split},
                             {"merge", merge},
                             {"endian", endian},
                             {"strip", strip},
#ifdef CORE_HAS_IMPORT
                             {"export", export},
#endif
                             {0}};

/* ---- the tensors that stay ------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const gufo_str *x = a, *y = b;
    const size_t common = x->len < y->len ? x->len : y->len;
    const int order = common > 0 ? memcmp(x->data, y->data, common) : 0;

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool is_kept(void *context, gufo_str name)
{
    const forming *f = context;

    return f->kept_count > 0 &&
           bsearch(&name, f->kept, f->kept_count, sizeof name, by_name) != NULL;
}

/* "keep": a list of names as bytes. */
static bool read_kept(PyObject *options, forming *f)
{
    void *names = NULL;
    PyObject *list;
    bool good = fields_list(options, "keep", sizeof *f->kept, &list, &f->kept_count, &names);

    f->kept = names;
    for (size_t i = 0; good && i < f->kept_count; i++) {
        PyObject *name = PyList_GetItem(list, (Py_ssize_t)i);

        f->kept[i] = (gufo_str){PyBytes_AsString(name), (size_t)PyBytes_Size(name)};
        good = f->kept[i].data != NULL;
    }
    if (good && f->kept_count > 0)
        qsort(f->kept, f->kept_count, sizeof *f->kept, by_name);
    f->strip.keeps_tensor = is_kept;
    f->strip.context = f;
    return good;
}

/* ---- planning -------------------------------------------------------------------------------- */

static void free_forming(void *context)
{
    forming *f = context;

    gufo_job_free(f->job);
    PyMem_Free(f->kept);
    PyMem_Free(f);
}

static const form *form_named(const char *name)
{
    for (const form *f = forms; f->name != NULL; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    PyErr_Format(PyExc_ValueError, "'%s' is not a form", name);
    return NULL;
}

static gufo_status plan_form(void *context, const gufo_run *run, gufo_error *error)
{
    forming *f = context;

    (void)run;
    f->job = f->form->plan(f, error);
    if (f->job != NULL)
        return GUFO_OK;
    if (error->code != GUFO_E_ARGUMENT)
        core_name_file(error, gufo_model_name(f->input));
    return error->code;
}

static PyObject *form_model(PyObject *module, PyObject *args)
{
    static const core_job_maker maker = {free_forming, NULL, NULL};
    const core_call call = {.brief = false};
    PyObject *model, *options;
    const form *wanted;
    const char *name;
    core_job *self;
    forming *f;

    if (!PyArg_ParseTuple(args, "OsO!:form", &model, &name, &PyDict_Type, &options) ||
        (wanted = form_named(name)) == NULL)
        return NULL;
    f = PyMem_Calloc(1, sizeof *f);
    if (f == NULL)
        return PyErr_NoMemory();
    f->form = wanted;
    self = core_job_new(module, &maker, f);
    if (self == NULL)
        return NULL;
    if (!core_job_keep(self, options) || (f->input = core_job_use_model(self, model)) == NULL ||
        fields_read(options, form_fields, f) < 0 || !read_kept(options, f) ||
        !core_do(module, &call, plan_form, f))
        Py_CLEAR(self);
    else
        self->job = f->job;
    return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"form", form_model, METH_VARARGS,
     "form(model, name, options) -> Job: \"split\", \"merge\", \"endian\", \"strip\", \"export\"."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_forms = {functions, NULL};
