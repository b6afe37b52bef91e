/* Memory over the context: all layers on one card, with three types of the cache. */
#include "cli/report/report_facts.h"

#include "gufo/print.h"

#include <stdio.h>
#include <string.h>

static const uint32_t cache_types[] = {GUFO_TYPE_F16, GUFO_TYPE_Q8_0, GUFO_TYPE_Q4_0};
enum { CACHE_TYPES = sizeof cache_types / sizeof *cache_types, WORDS = 1024 };

typedef struct memory_work {
    report_store *store;
    const gufo_estimator *estimator;
    gufo_estimate_options options;
    gufo_report_memory *memory;
    size_t count;
} memory_work;

static gufo_report_memory_point point_of(const gufo_estimate_point *p)
{
    uint64_t known = p->model_bytes + p->context_bytes;

    /* The margin of buffers counts: what is on the line fits. */
    return (gufo_report_memory_point){.context = p->n_ctx,
                                      .weights = p->model_bytes,
                                      .cache = p->context_bytes,
                                      .compute = p->most_bytes > known ? p->most_bytes - known : 0};
}

/* False: the type is refused, or a number is too large. */
static bool add_curve(memory_work *w, const uint64_t *contexts, size_t count)
{
    gufo_estimate_point points[GUFO_ESTIMATE_CONTEXTS];
    gufo_report_memory *memory = &w->memory[w->count];
    gufo_report_memory_point *shown = report_store_room(w->store, count, sizeof *shown);

    for (size_t i = 0; i < count; i++)
        points[i] = (gufo_estimate_point){.n_ctx = contexts[i]};
    if (shown == NULL ||
        gufo_estimator_curve(w->estimator, &w->options, 1, points, count, NULL) != GUFO_OK ||
        points[count - 1].most_bytes == UINT64_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        shown[i] = point_of(&points[i]);
    *memory = (gufo_report_memory){.cache_type = gufo_str_of(w->options.type_k->name),
                                   .points = shown,
                                   .count = count,
                                   .compute_known = points[count - 1].is_known};
    w->count++;
    return true;
}

/* ---- the formula in words ----------------------------------------------------------------------- */

static bool add_sentence(void *context, const char *sentence)
{
    char *words = context;
    size_t len = strlen(words);

    (void)snprintf(words + len, WORDS - len, "; %s", sentence);
    return true;
}

static void write_formula(memory_work *w, const gufo_model *model, const gufo_estimate *e)
{
    char *words = report_store_room(w->store, WORDS, 1), architecture[64], bytes[GUFO_GROUPED_SIZE];
    gufo_str name;
    gufo_entry entry;

    if (words == NULL)
        return;
    (void)snprintf(words, WORDS,
                   "Bytes of the cache = tokens × heads for keys and "
                   "values × (length of a key + length of a value) × bytes of an element, added up "
                   "over the layers: %s bytes for a token in F16%s",
                   gufo_number_grouped(bytes, e->kv_token_bytes),
                   w->options.has_gpu_layers || w->options.n_devices > 1
                       ? "; the card is the first device"
                       : "; all layers are on the card");
    if (gufo_model_find(model, "general.architecture", &entry) &&
        gufo_value_str(&entry.value, &name, NULL) == GUFO_OK && name.len < sizeof architecture) {
        memcpy(architecture, name.data, name.len);
        architecture[name.len] = '\0';
        (void)gufo_estimate_explain(architecture, add_sentence, words);
    }
    if (strlen(words) + 1 < WORDS)
        strcat(words, ".");
    for (size_t i = 0; i < w->count; i++)
        w->memory[i].formula = gufo_str_of(words);
}

/* ---- all ------------------------------------------------------------------------------------------ */

static void add_curves(memory_work *w, const gufo_model *model)
{
    uint64_t contexts[GUFO_ESTIMATE_CONTEXTS];
    gufo_estimate e;
    size_t count;

    if (gufo_estimator_run(w->estimator, &w->options, &e, NULL) != GUFO_OK || e.n_ctx == 0)
        return;
    count = gufo_estimate_contexts(e.n_ctx, contexts);
    for (size_t i = 0; i < CACHE_TYPES; i++) {
        w->options.type_k = w->options.type_v = gufo_element_type_by_id(cache_types[i]);
        if (!add_curve(w, contexts, count) && i == 0)
            return;
    }
    write_formula(w, model, &e);
}

int report_add_memory(report_store *store, const gufo_estimator *estimator,
                      const gufo_estimate_options *options, gufo_report_model *shown)
{
    memory_work w = {.store = store, .estimator = estimator};
    gufo_estimator *own = NULL;

    if (options != NULL)
        w.options = *options;
    if (w.options.n_devices == 0)
        w.options.n_devices = 1;
    w.options.n_ctx = 0;
    if (shown->model == NULL)
        return CODE_OK;
    w.memory = report_store_room(store, CACHE_TYPES, sizeof *w.memory);
    if (w.memory == NULL)
        return CODE_FAILED;
    if (estimator == NULL)
        w.estimator = own = gufo_estimator_new(shown->model, NULL, NULL);
    if (w.estimator != NULL)
        add_curves(&w, shown->model);
    gufo_estimator_free(own);
    shown->memory = w.memory;
    shown->memory_count = w.count;
    return CODE_OK;
}
