/* Memory of a device over the context: what charts draw. */
#include "estimate/estimator.h"

#include "base/error.h"

enum { FIRST = 2048, STEP = 256, PARTS = 4 /* of each doubling */ };

/* As `most` is less than 2^63, a doubling does not overflow. */
size_t gufo_estimate_contexts(uint64_t most, uint64_t contexts[GUFO_ESTIMATE_CONTEXTS])
{
    size_t count = 0;

    if (most > INT64_MAX)
        most = INT64_MAX;
    for (uint64_t octave = most > FIRST ? FIRST : STEP; octave < most; octave *= 2)
        for (uint64_t part = 0; part < PARTS; part++) {
            uint64_t n_ctx = octave + octave / PARTS * part;

            if (n_ctx % STEP == 0 && n_ctx < most && count < GUFO_ESTIMATE_CONTEXTS - 1)
                contexts[count++] = n_ctx;
        }
    contexts[count++] = most;
    return count;
}

static gufo_estimate_point point_of(const gufo_estimate *e, const gufo_estimate_device *d)
{
    uint64_t known = capped_add(d->model_bytes, d->context_bytes);
    uint64_t rest = capped_add(d->compute_bytes, d->output_bytes);

    rest = capped_add(rest, capped_add(d->adapter_bytes, d->projector_bytes));
    rest = capped_add(rest, d->draft_bytes);
    return (gufo_estimate_point){.n_ctx = e->n_ctx,
                                 .model_bytes = d->model_bytes,
                                 .context_bytes = d->context_bytes,
                                 .rest_bytes = rest,
                                 .total_bytes = capped_add(known, rest),
                                 .most_bytes = gufo_estimate_most_bytes(d),
                                 .is_known = d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN &&
                                             d->draft_quality != GUFO_ESTIMATE_NOT_KNOWN};
}

gufo_status gufo_estimator_curve(const gufo_estimator *estimator,
                                 const gufo_estimate_options *options, uint32_t device,
                                 gufo_estimate_point *points, size_t count, gufo_error *error)
{
    gufo_estimate_options o = options != NULL ? *options : (gufo_estimate_options){0};

    if (device > o.n_devices)
        return refuse(error, GUFO_E_ARGUMENT, "device %u does not exist", (unsigned)device);
    for (size_t i = 0; i < count; i++) {
        gufo_estimate e;
        gufo_status status;

        o.n_ctx = points[i].n_ctx;
        status = gufo_estimator_run(estimator, &o, &e, error);
        if (status != GUFO_OK)
            return status;
        points[i] = point_of(&e, &e.devices[device]);
    }
    return GUFO_OK;
}
