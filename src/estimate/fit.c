/* The inverse: which context and how many layers on devices fit into memory.  What is used rises with the
 * context, so that it is found by bisection; with fewer layers on devices the host needs more, so that
 * these are tried from all of them down. */
#include "estimate/estimator.h"

#include <inttypes.h>

#include "base/error.h"

#define STEP 256 /* tokens: contexts are multiples of it */
#define LEAST_CONTEXT 4096

typedef struct fitting {
    const gufo_estimator *e;
    const gufo_estimate_limits *limits;
    gufo_estimate_options *o;
    gufo_estimate made; /* of the last try */
    gufo_error *error;
} fitting;

/* ---- one try -------------------------------------------------------------------------------- */

static uint64_t limit_of(const fitting *f, uint32_t device)
{
    if (device > 0)
        return f->limits->device_bytes != NULL ? f->limits->device_bytes[device - 1] : UINT64_MAX;
    return f->limits->host_bytes > 0 ? f->limits->host_bytes : UINT64_MAX;
}

/* Everything on a device, with its margin; UINT64_MAX if it does not fit into 64 bits. */
static uint64_t used_bytes(const gufo_estimate_device *d)
{
    bool is_too_large = false;
    uint64_t sum = amount_plus(&is_too_large, d->model_bytes, d->context_bytes);

    sum = amount_plus(&is_too_large, sum, d->compute_bytes);
    sum = amount_plus(&is_too_large, sum, d->compute_margin);
    sum = amount_plus(&is_too_large, sum, d->output_bytes);
    return is_too_large ? UINT64_MAX : sum;
}

/* The first device that has too little, or device_count. */
static uint32_t find_short(const fitting *f)
{
    uint32_t d = 0;

    while (d < f->made.device_count && used_bytes(&f->made.devices[d]) <= limit_of(f, d))
        d++;
    return d;
}

static gufo_status try_context(fitting *f, uint64_t n_ctx, bool *fits)
{
    gufo_status status;

    f->o->n_ctx = n_ctx;
    status = gufo_estimator_run(f->e, f->o, &f->made, f->error);
    if (status == GUFO_OK)
        *fits = find_short(f) == f->made.device_count;
    return status;
}

/* ---- search --------------------------------------------------------------------------------- */

/* The largest context between one that fits and one that does not. */
static gufo_status widen_context(fitting *f, uint64_t good, uint64_t bad)
{
    gufo_status status = GUFO_OK;
    bool fits = false;

    while (status == GUFO_OK && bad - good > STEP) {
        uint64_t middle = good + (bad - good) / 2 / STEP * STEP;

        status = try_context(f, middle, &fits);
        if (fits)
            good = middle;
        else
            bad = middle;
    }
    return status == GUFO_OK ? try_context(f, good, &fits) : status;
}

static gufo_status refuse_device(const fitting *f)
{
    uint32_t d = find_short(f);
    uint64_t used = used_bytes(&f->made.devices[d]), limit = limit_of(f, d);

    if (d == 0)
        return refuse(f->error, GUFO_E_LIMIT,
                      "with a context of %" PRIu64 " the host needs %" PRIu64 " bytes, %" PRIu64
                      " more than it may have",
                      f->o->n_ctx, used, used - limit);
    return refuse(f->error, GUFO_E_LIMIT,
                  "with a context of %" PRIu64 " device %" PRIu32 " needs %" PRIu64
                  " bytes, %" PRIu64 " more than it may have",
                  f->o->n_ctx, d - 1, used, used - limit);
}

/* The most layers on devices with which the least context fits. */
static gufo_status drop_layers(fitting *f, uint64_t least)
{
    gufo_status status;
    bool fits = false;

    if (f->o->has_gpu_layers || f->o->n_devices == 0)
        return refuse_device(f);
    f->o->has_gpu_layers = true;
    for (uint64_t count = f->e->values.layers + 1; !fits && count-- > 0;) {
        f->o->n_gpu_layers = count;
        status = try_context(f, least, &fits);
        if (status != GUFO_OK)
            return status;
    }
    return fits ? GUFO_OK : refuse_device(f);
}

static gufo_status search(fitting *f)
{
    uint64_t most = f->o->n_ctx, least = f->o->n_ctx;
    gufo_status status;
    bool fits = false;

    if (most == 0) {
        most = larger(f->e->values.context / STEP * STEP, STEP);
        least = f->limits->least_ctx > 0 ? f->limits->least_ctx : LEAST_CONTEXT;
        least = smaller(larger(least / STEP * STEP, STEP), most);
    }
    status = try_context(f, most, &fits);
    if (status != GUFO_OK || fits)
        return status;
    status = try_context(f, least, &fits);
    if (status == GUFO_OK && !fits)
        status = drop_layers(f, least);
    if (status != GUFO_OK || least == most)
        return status;
    return widen_context(f, least, most);
}

gufo_status gufo_estimator_fit(const gufo_estimator *e, const gufo_estimate_limits *limits,
                               gufo_estimate_options *options, gufo_estimate *out,
                               gufo_error *error)
{
    gufo_estimate_options tried;
    fitting f = {.e = e, .limits = limits, .o = &tried, .error = error};
    gufo_status status;

    if (e == NULL || limits == NULL || options == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no estimator, limits or options are given");
    status = reserved_check(limits->reserved, "gufo_estimate_limits", error);
    if (status != GUFO_OK)
        return status;
    if (!rule_is_measured(e->values.rule))
        return refuse(error, GUFO_E_TYPE, "buffers for computing are not known for %s",
                      e->values.rule->arch);
    tried = *options;
    status = search(&f);
    if (status != GUFO_OK)
        return status;
    *options = tried;
    if (out != NULL)
        *out = f.made;
    return GUFO_OK;
}
