/* Memory over the context: what a device has, with three types of the cache, the formula in words. */
#include "gufo/report.h"

#include "base/error.h"
#include "base/memory.h"

#include "gufo/print.h"

#include <stdio.h>
#include <string.h>

static const uint32_t cache_types[] = {GUFO_TYPE_F16, GUFO_TYPE_Q8_0, GUFO_TYPE_Q4_0};
enum { CACHE_TYPES = sizeof cache_types / sizeof *cache_types, WORDS = 1024 };

struct gufo_report_curves {
    gufo_allocator allocator;
    gufo_report_memory list[CACHE_TYPES];
    size_t count;
    gufo_report_memory_point points[CACHE_TYPES][GUFO_ESTIMATE_CONTEXTS];
    char formula[WORDS];
};

/* What the curves are made from. */
typedef struct curve_work {
    const gufo_estimator *estimator;
    gufo_estimate_options options;
    uint64_t contexts[GUFO_ESTIMATE_CONTEXTS];
    size_t count; /* of them */
    gufo_estimate estimate;
} curve_work;

/* ---- curves ------------------------------------------------------------------------------------- */

static gufo_report_memory_point point_of(const gufo_estimate_point *p)
{
    uint64_t known = p->model_bytes + p->context_bytes;

    /* The margin of buffers counts: what is on the line fits. */
    return (gufo_report_memory_point){.context = p->n_ctx,
                                      .weights = p->model_bytes,
                                      .cache = p->context_bytes,
                                      .compute = p->most_bytes > known ? p->most_bytes - known : 0};
}

/* Adds none where the type is refused, or a number is too large. */
static gufo_status add_curve(gufo_report_curves *c, const curve_work *w, gufo_error *error)
{
    gufo_estimate_point points[GUFO_ESTIMATE_CONTEXTS];
    gufo_report_memory_point *shown = c->points[c->count];
    const gufo_estimate_point *last = &points[w->count - 1];
    gufo_status status;

    for (size_t i = 0; i < w->count; i++)
        points[i] = (gufo_estimate_point){.n_ctx = w->contexts[i]};
    status = gufo_estimator_curve(w->estimator, &w->options, 1, points, w->count, error);
    if (status != GUFO_OK || last->most_bytes == UINT64_MAX)
        return status == GUFO_E_MEMORY ? status : GUFO_OK;
    for (size_t i = 0; i < w->count; i++)
        shown[i] = point_of(&points[i]);
    c->list[c->count++] = (gufo_report_memory){.cache_type = gufo_str_of(w->options.type_k->name),
                                               .points = shown,
                                               .count = w->count,
                                               .compute_known = last->is_known};
    return GUFO_OK;
}

/* ---- the formula in words ----------------------------------------------------------------------- */

static bool add_sentence(void *context, const char *sentence)
{
    char *words = context;
    size_t len = strlen(words);

    (void)snprintf(words + len, WORDS - len, "; %s", sentence);
    return true;
}

static void write_formula(gufo_report_curves *c, const curve_work *w, const gufo_model *model)
{
    char *words = c->formula, architecture[64], bytes[GUFO_GROUPED_SIZE];
    gufo_str name;

    (void)snprintf(words, WORDS,
                   "Bytes of the cache = tokens × heads for keys and "
                   "values × (length of a key + length of a value) × bytes of an element, added up "
                   "over the layers: %s bytes for a token in F16%s",
                   gufo_number_grouped(bytes, w->estimate.kv_token_bytes),
                   w->options.has_gpu_layers || w->options.n_devices > 1
                       ? "; the card is the first device"
                       : "; all layers are on the card");
    if (gufo_model_get_str(model, "general.architecture", &name, NULL) == GUFO_OK &&
        name.len < sizeof architecture) {
        memcpy(architecture, name.data, name.len);
        architecture[name.len] = '\0';
        (void)gufo_estimate_explain(architecture, add_sentence, words);
    }
    if (strlen(words) + 1 < WORDS)
        strcat(words, ".");
    for (size_t i = 0; i < c->count; i++)
        c->list[i].formula = gufo_str_of(words);
}

/* ---- all ---------------------------------------------------------------------------------------- */

static gufo_status add_curves(gufo_report_curves *c, curve_work *w, const gufo_model *model,
                              gufo_error *error)
{
    gufo_status status = gufo_estimator_run(w->estimator, &w->options, &w->estimate, error);

    if (status != GUFO_OK || w->estimate.n_ctx == 0)
        return status == GUFO_E_MEMORY ? status : GUFO_OK;
    w->count = gufo_estimate_contexts(w->estimate.n_ctx, w->contexts);
    for (size_t i = 0; i < CACHE_TYPES && (i == 0 || c->count > 0); i++) {
        w->options.type_k = w->options.type_v = gufo_element_type_by_id(cache_types[i]);
        status = add_curve(c, w, error);
        if (status != GUFO_OK)
            return status;
    }
    write_formula(c, w, model);
    return GUFO_OK;
}

/* A model of an unknown architecture has no curves. */
static gufo_status compute(gufo_report_curves *c, const gufo_model *model,
                           const gufo_report_curves_options *options, gufo_error *error)
{
    curve_work w = {.estimator = options->estimator};
    gufo_estimator *own = NULL;
    gufo_status status;

    if (options->run != NULL)
        w.options = *options->run;
    if (w.options.n_devices == 0)
        w.options.n_devices = 1;
    w.options.n_ctx = 0;
    if (w.estimator == NULL) {
        const gufo_estimator_options own_options = {.allocator = options->allocator};

        w.estimator = own = gufo_estimator_new(model, &own_options, error);
        if (own == NULL)
            return error->code == GUFO_E_MEMORY ? GUFO_E_MEMORY : GUFO_OK;
    }
    status = add_curves(c, &w, model, error);
    gufo_estimator_free(own);
    return status;
}

gufo_report_curves *gufo_report_curves_new(const gufo_model *model,
                                           const gufo_report_curves_options *options,
                                           gufo_error *error)
{
    static const gufo_report_curves_options none = {.estimator = NULL};
    gufo_report_curves *c;
    gufo_error why;

    if (options == NULL)
        options = &none;
    if (reserved_check(options->reserved, "gufo_report_curves_options", error) != GUFO_OK)
        return NULL;
    c = mem_object(options->allocator, sizeof *c, error);
    if (c == NULL || compute(c, model, options, &why) == GUFO_OK)
        return c;
    (void)fail_as(error, &why);
    gufo_report_curves_free(c);
    return NULL;
}

const gufo_report_memory *gufo_report_curves_list(const gufo_report_curves *curves, size_t *count)
{
    *count = curves->count;
    return curves->list;
}

void gufo_report_curves_free(gufo_report_curves *curves)
{
    if (curves != NULL)
        (void)curves->allocator.resize(curves->allocator.context, curves, 0);
}
