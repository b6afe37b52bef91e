/* Pages that show models. */
#include "core.h"

#include <gufo/findings.h>
#include <gufo/report.h>
#ifdef CORE_HAS_TEXT
#include <gufo/text.h>
#endif

#include <stdlib.h>

/* A model, and the records of it that its page shows. */
typedef struct shown {
    PyObject *object; /* the model, in use */
    gufo_report_model model;
    gufo_finding_list *found;
    gufo_report_finding *findings;
    gufo_model_numbers *numbers;
    gufo_report_curves *curves;
#ifdef CORE_HAS_TEXT
    gufo_vocab_census *census;
    gufo_chat_reviews *reviews;
#endif
} shown;

typedef struct drawing {
    shown *shown;
    gufo_report_model *models; /* those of `shown` */
    size_t count;
    bool measures;
    PyObject *original_object; /* the model, in use; NULL: they are not compared */
    const gufo_model *original;
    gufo_loss_table *losses;
    gufo_report_candidate candidates[GUFO_COMPARE_CANDIDATES];
    gufo_report_content content;
    gufo_text page;
} drawing;

static gufo_status no_memory(gufo_error *error)
{
    *error = (gufo_error){.code = GUFO_E_MEMORY, .offset = GUFO_NO_OFFSET, .message = "no memory"};
    return error->code;
}

/* ---- facts -------------------------------------------------------------------------------------- */

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

static gufo_status measure(shown *s, const gufo_run *run, gufo_error *error)
{
    s->model.numbers = s->numbers = gufo_model_numbers_new(s->model.model, NULL, run, error);
    return s->numbers != NULL ? GUFO_OK : error->code;
}

static gufo_status estimate(shown *s, gufo_error *error)
{
    s->curves = gufo_report_curves_new(s->model.model, NULL, error);
    if (s->curves == NULL)
        return error->code;
    s->model.memory = gufo_report_curves_list(s->curves, &s->model.memory_count);
    return GUFO_OK;
}

/* ---- texts ------------------------------------------------------------------------------------- */

#ifdef CORE_HAS_TEXT
/* A vocabulary that cannot be opened is not shown. */
static gufo_status describe_texts(shown *s, gufo_error *error)
{
    gufo_vocab *vocab = gufo_vocab_open(s->model.model, NULL, NULL);
    gufo_status status = GUFO_OK;

    if (vocab != NULL) {
        s->model.tokenizer = s->census = gufo_vocab_census_new(vocab, NULL, error);
        status = s->census != NULL ? GUFO_OK : error->code;
    }
    if (status == GUFO_OK) {
        s->reviews = gufo_chat_reviews_new(s->model.model, vocab, NULL, error);
        status = s->reviews != NULL ? GUFO_OK : error->code;
    }
    if (status == GUFO_OK)
        s->model.templates = gufo_chat_reviews_list(s->reviews, &s->model.template_count);
    gufo_vocab_free(vocab);
    return status;
}

static void free_texts(shown *s)
{
    gufo_vocab_census_free(s->census);
    gufo_chat_reviews_free(s->reviews);
}
#else
static gufo_status describe_texts(shown *s, gufo_error *error)
{
    (void)s;
    (void)error;
    return GUFO_OK;
}

static void free_texts(shown *s)
{
    (void)s;
}
#endif

/* ---- the page ---------------------------------------------------------------------------------- */

static gufo_status fill(drawing *d, shown *s, const gufo_run *run, gufo_error *error)
{
    gufo_status status = find_faults(s, error);

    if (status == GUFO_OK)
        status = estimate(s, error);
    if (status == GUFO_OK)
        status = describe_texts(s, error);
    return status == GUFO_OK && d->measures ? measure(s, run, error) : status;
}

static gufo_status compare(drawing *d, const gufo_run *run, gufo_error *error)
{
    const gufo_model *models[GUFO_COMPARE_CANDIDATES];
    const gufo_candidate_losses *losses;
    size_t count;

    for (size_t i = 0; i < d->count && i < GUFO_COMPARE_CANDIDATES; i++)
        models[i] = d->models[i].model;
    d->losses = gufo_loss_table_new(d->original, models, d->count, NULL, run, NULL, error);
    if (d->losses == NULL)
        return error->code;
    losses = gufo_loss_table_list(d->losses, &count);
    for (size_t i = 0; i < count; i++)
        d->candidates[i] = (gufo_report_candidate){.name = d->models[i].name, .losses = &losses[i]};
    d->content.candidates = d->candidates;
    d->content.candidate_count = count;
    return GUFO_OK;
}

static gufo_status draw(void *context, const gufo_run *run, gufo_error *error)
{
    drawing *d = context;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < d->count && status == GUFO_OK; i++) {
        status = fill(d, &d->shown[i], run, error);
        d->models[i] = d->shown[i].model;
    }
    if (status == GUFO_OK && d->original != NULL)
        status = compare(d, run, error);
    return status == GUFO_OK ? gufo_report_write(&d->content, &d->page, error) : status;
}

static void leave(drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        shown *s = &d->shown[i];

        gufo_finding_list_free(s->found);
        free(s->findings);
        gufo_model_numbers_free(s->numbers);
        gufo_report_curves_free(s->curves);
        free_texts(s);
        core_model_leave(s->object);
    }
    if (d->original_object != NULL)
        core_model_leave(d->original_object);
    gufo_loss_table_free(d->losses);
    free(d->shown);
    free(d->models);
    gufo_text_free(&d->page);
}

/* ---- arguments --------------------------------------------------------------------------------- */

/* A model and the name that it is shown with: (Model, str).  The name is a view of the tuple. */
static const gufo_model *use_pair(PyObject *module, PyObject *pair, PyObject **object,
                                  gufo_str *name)
{
    const gufo_model *model;
    const char *text;
    Py_ssize_t len;

    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "models are tuples of a Model and a name");
        return NULL;
    }
    if (!PyArg_ParseTuple(pair, "Os#", object, &text, &len))
        return NULL;
    *name = (gufo_str){text, (size_t)len};
    model = core_model_use(module, *object);
    if (model == NULL)
        *object = NULL;
    return model;
}

static bool add_model(PyObject *module, drawing *d, PyObject *pair)
{
    shown *s = &d->shown[d->count];
    gufo_error error;

    s->model.model = use_pair(module, pair, &s->object, &s->model.name);
    if (s->model.model == NULL)
        return false;
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

static bool add_original(PyObject *module, drawing *d, PyObject *pair)
{
    if (pair == Py_None)
        return true;
    d->original = use_pair(module, pair, &d->original_object, &d->content.original);
    return d->original != NULL;
}

static PyObject *report(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"models",   "stats",   "title",    "note",
                            "original", "threads", "progress", NULL};
    core_call call = {.threads = 0};
    drawing d = {.count = 0};
    const char *title = "", *note = "";
    Py_ssize_t title_len = 0, note_len = 0;
    PyObject *pairs, *original = Py_None, *page = NULL;
    int measures = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|ps#s#OO&O:report", names, &PyTuple_Type,
                                     &pairs, &measures, &title, &title_len, &note, &note_len,
                                     &original, core_threads, &call.threads, &call.progress))
        return NULL;
    d.measures = measures != 0;
    d.content.title = (gufo_str){title, (size_t)title_len};
    d.content.note = (gufo_str){note, (size_t)note_len};
    if (add_models(module, &d, pairs) && add_original(module, &d, original) &&
        core_do(module, &call, draw, &d))
        page = PyUnicode_FromStringAndSize(d.page.data, (Py_ssize_t)d.page.len);
    leave(&d);
    return page;
}

static PyMethodDef functions[] = {
    CORE_METHOD(
        "report", report,
        "report(models, stats=False, title=\"\", note=\"\", original=None, threads=0, "
        "progress=None) -> str: a page; `models` is a tuple of (Model, name), `original` one "
        "such pair."),
    {NULL, NULL, 0, NULL},
};

const core_part core_part_report = {functions, NULL};
