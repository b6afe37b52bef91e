/* The object that holds what is read of a model once, and the estimate for one way to run it. */
#include "estimate/estimator.h"

#include "base/error.h"
#include "base/memory.h"

gufo_estimator *gufo_estimator_new(const gufo_model *model, const gufo_estimator_options *options,
                                   gufo_error *error)
{
    static const gufo_estimator_options defaults = {0};
    const gufo_estimator_options *o = options != NULL ? options : &defaults;
    gufo_estimator *e;
    gufo_status status;

    if (model == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "no model is given");
        return NULL;
    }
    if (reserved_check(o->reserved, "gufo_estimator_options", error) != GUFO_OK)
        return NULL;
    e = mem_object(o->allocator, sizeof *e, error);
    if (e == NULL)
        return NULL;
    e->model = model;
    status = values_read(&e->values, model, error);
    if (status == GUFO_OK)
        status = estimate_weights_read(&e->weights, model, &e->values, &e->allocator, error);
    if (status == GUFO_OK)
        return e;
    fail_in(error, GUFO_FILE_INPUT, 0, gufo_model_name(model));
    gufo_estimator_free(e);
    return NULL;
}

void gufo_estimator_free(gufo_estimator *e)
{
    gufo_allocator allocator;

    if (e == NULL)
        return;
    allocator = e->allocator;
    mem_free(&allocator, e->weights.list);
    mem_free(&allocator, e->beside.list);
    mem_free(&allocator, e);
}

static void count_layers(const model_values *v, const settings *s, gufo_estimate *out)
{
    out->device_count = 1 + s->o.n_devices;
    for (uint64_t i = 0; i < v->layers; i++)
        out->devices[settings_device(s, i)].layers++;
    out->devices[settings_device(s, v->layers)].has_output = true;
}

/* A draft has no draft of its own. */
static gufo_status run_draft(const gufo_estimator *draft, const gufo_estimate_options *options,
                             gufo_estimate *out, gufo_error *error)
{
    gufo_estimate_options o = gufo_estimate_draft_options(options);
    gufo_estimate made;
    gufo_status status = gufo_estimator_run(draft, &o, &made, error);

    if (status != GUFO_OK) {
        fail_in(error, GUFO_FILE_INPUT, 0, gufo_model_name(draft->model));
        return status;
    }
    return companions_add_draft(&made, out) ? GUFO_OK : amount_refuse(error);
}

gufo_status gufo_estimator_run(const gufo_estimator *e, const gufo_estimate_options *options,
                               gufo_estimate *out, gufo_error *error)
{
    gufo_estimate made = {0};
    expert_places experts = {false, false};
    settings s;
    gufo_status status;

    if (e == NULL || out == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no estimator, or no room for the result, is given");
    status = settings_make(&s, &e->values, options, error);
    if (status != GUFO_OK)
        return status;
    made.n_ctx = s.n_ctx;
    made.n_ctx_seq = s.n_ctx_seq;
    made.n_batch = s.n_batch;
    made.n_ubatch = s.n_ubatch;
    made.n_streams = s.n_streams;
    made.flash_attention = s.flash;
    count_layers(&e->values, &s, &made);
    status = estimate_weights_sum(&e->weights, &e->values, &s, &made, &experts, error);
    if (status == GUFO_OK)
        status = context_sum(&e->values, &s, &made, error);
    if (status == GUFO_OK)
        status = compute_sum(&e->weights, &experts, &e->values, &s, &made, error);
    if (status == GUFO_OK)
        status = companions_sum(&e->beside, &e->values, &s, &made, error);
    if (status == GUFO_OK && e->beside.draft != NULL)
        status = run_draft(e->beside.draft, options, &made, error);
    if (status == GUFO_OK)
        *out = made;
    return status;
}
