/* Pages that show models. */
#include "core.h"

#include <gufo/findings.h>
#include <gufo/report.h>

#include <stdlib.h>

typedef struct shown {
    PyObject *object; /* the model, in use */
    gufo_report_model model;
    gufo_finding_list *found;
    gufo_report_finding *findings;
    gufo_stats *stats;
    gufo_report_curves *curves;
} shown;

typedef struct drawing {
    shown *shown;
    gufo_report_model *models; /* those of `shown` */
    size_t count;
    bool measures;
    gufo_report_content content;
    gufo_text page;
} drawing;

static gufo_status no_memory(gufo_error *error)
{
    *error = (gufo_error){.code = GUFO_E_MEMORY, .offset = GUFO_NO_OFFSET, .message = "no memory"};
    return error->code;
}

static gufo_status find_faults(shown *s, gufo_error *error)
{
    gufo_status status =
        core_check(s->model.model, GUFO_LEVEL_DEFAULT, gufo_finding_list_add, s->found, error);
    gufo_finding f;

    if (status == GUFO_OK)
        status = gufo_finding_list_sort(s->found, error);
    if (status != GUFO_OK)
        return status;
    s->findings = calloc((size_t)gufo_finding_list_count(s->found) + 1, sizeof *s->findings);
    if (s->findings == NULL)
        return no_memory(error);
    for (size_t i = 0; gufo_finding_list_at(s->found, i, &f); i++)
        s->findings[i] = gufo_report_finding_of(&f, s->model.model);
    s->model.is_checked = true;
    s->model.findings = s->findings;
    s->model.finding_count = (size_t)gufo_finding_list_count(s->found);
    return GUFO_OK;
}

/* Types that cannot be decoded have no numbers, and the others are shown. */
static gufo_status measure(shown *s, const gufo_run *run, gufo_error *error)
{
    const gufo_model *model = s->model.model;
    uint64_t count = gufo_model_tensor_count(model);
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    s->stats = calloc((size_t)count + 1, sizeof *s->stats);
    if (s->stats == NULL)
        return no_memory(error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        /* Data that several tensors have would be read again and again. */
        if (!gufo_model_tensor_at(model, i, &tensor) || tensor.overlaps)
            continue;
        status = gufo_tensor_scan(model, &tensor, 0, run, &s->stats[i], error);
        if (status == GUFO_E_TYPE || status == GUFO_E_ARGUMENT)
            status = GUFO_OK;
    }
    s->model.stats = s->stats;
    return status;
}

static gufo_status estimate(shown *s, gufo_error *error)
{
    s->curves = gufo_report_curves_new(s->model.model, NULL, error);
    if (s->curves == NULL)
        return error->code;
    s->model.memory = gufo_report_curves_list(s->curves, &s->model.memory_count);
    return GUFO_OK;
}

static gufo_status draw(void *context, const gufo_run *run, gufo_error *error)
{
    drawing *d = context;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < d->count && status == GUFO_OK; i++) {
        status = find_faults(&d->shown[i], error);
        if (status == GUFO_OK)
            status = estimate(&d->shown[i], error);
        if (status == GUFO_OK && d->measures)
            status = measure(&d->shown[i], run, error);
        d->models[i] = d->shown[i].model;
    }
    return status == GUFO_OK ? gufo_report_write(&d->content, &d->page, error) : status;
}

static void leave(drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        gufo_finding_list_free(d->shown[i].found);
        free(d->shown[i].findings);
        free(d->shown[i].stats);
        gufo_report_curves_free(d->shown[i].curves);
        core_model_leave(d->shown[i].object);
    }
    free(d->shown);
    free(d->models);
    gufo_text_free(&d->page);
}

/* A model and the name that it is shown with: (Model, str).  Views of the tuple. */
static bool add_model(PyObject *module, drawing *d, PyObject *pair)
{
    shown *s = &d->shown[d->count];
    gufo_error error;
    PyObject *object;
    const char *name;
    Py_ssize_t len;

    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "models are tuples of a Model and a name");
        return false;
    }
    if (!PyArg_ParseTuple(pair, "Os#", &object, &name, &len))
        return false;
    s->model.model = core_model_use(module, object);
    if (s->model.model == NULL)
        return false;
    s->object = object;
    s->model.name = (gufo_str){name, (size_t)len};
    d->count++;
    s->found = gufo_finding_list_new(NULL, &error);
    if (s->found == NULL)
        core_raise(module, &error);
    return s->found != NULL;
}

static bool add_models(PyObject *module, drawing *d, PyObject *pairs)
{
    size_t count = (size_t)PyTuple_Size(pairs);
    bool well;

    d->shown = calloc(count + 1, sizeof *d->shown);
    d->models = calloc(count + 1, sizeof *d->models);
    well = d->shown != NULL && d->models != NULL;
    if (!well)
        PyErr_NoMemory();
    for (size_t i = 0; i < count && well; i++)
        well = add_model(module, d, PyTuple_GetItem(pairs, (Py_ssize_t)i));
    d->content.models = d->models;
    d->content.model_count = d->count;
    return well;
}

static PyObject *report(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"models", "stats", "title", "note", "threads", "progress", NULL};
    core_call call = {.threads = 0};
    drawing d = {.count = 0};
    const char *title = "", *note = "";
    Py_ssize_t title_len = 0, note_len = 0;
    PyObject *pairs, *page = NULL;
    int measures = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|ps#s#O&O:report", names, &PyTuple_Type,
                                     &pairs, &measures, &title, &title_len, &note, &note_len,
                                     core_threads, &call.threads, &call.progress))
        return NULL;
    d.measures = measures != 0;
    d.content.title = (gufo_str){title, (size_t)title_len};
    d.content.note = (gufo_str){note, (size_t)note_len};
    if (add_models(module, &d, pairs) && core_do(module, &call, draw, &d))
        page = PyUnicode_FromStringAndSize(d.page.data, (Py_ssize_t)d.page.len);
    leave(&d);
    return page;
}

static PyMethodDef functions[] = {
    CORE_METHOD("report", report,
                "report(models, stats=False, title=\"\", note=\"\", threads=0, progress=None) -> "
                "str: a page; `models` is a tuple of (Model, name)."),
    {NULL, NULL, 0, NULL},
};

const core_part core_part_report = {functions, NULL};
