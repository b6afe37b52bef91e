/* The inverse: which context and how many layers on devices fit into memory.  What is used rises with the
 * context, and on devices with what is there, so that all of these are found by bisection.
 *
 *     the model's context -> a smaller one -> experts on the host -> layers on the host -> a larger context */
#include "estimate/estimator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define STEP 256 /* tokens: contexts are multiples of it */
#define LEAST_CONTEXT 4096

typedef struct fitting {
    const gufo_estimator *e;
    const gufo_estimate_limits *limits;
    gufo_estimate_options *o;
    gufo_estimate made;                        /* of the last try */
    double by_size[GUFO_ESTIMATE_MAX_DEVICES]; /* shares */
    double filled[GUFO_ESTIMATE_MAX_DEVICES];  /* layers of each device */
    bool has_shares;                           /* they may be chosen */
    gufo_error *error;
} fitting;

/* ---- one try -------------------------------------------------------------------------------- */

static uint64_t limit_of(const fitting *f, uint32_t device)
{
    if (device > 0)
        return f->limits->device_bytes != NULL ? f->limits->device_bytes[device - 1] : UINT64_MAX;
    return f->limits->host_bytes > 0 ? f->limits->host_bytes : UINT64_MAX;
}

uint64_t gufo_estimate_most_bytes(const gufo_estimate_device *d)
{
    uint64_t fixed = capped_add(capped_add(d->model_bytes, d->context_bytes), d->output_bytes);

    fixed = capped_add(fixed, capped_add(d->adapter_bytes, d->projector_bytes));
    fixed = capped_add(fixed, capped_add(d->draft_bytes, d->draft_margin));
    return capped_add(fixed, capped_add(d->compute_bytes, d->compute_margin));
}

/* What the last try lacks on a device. */
static uint64_t missing_on(const fitting *f, uint32_t device)
{
    uint64_t used = gufo_estimate_most_bytes(&f->made.devices[device]), limit = limit_of(f, device);

    return used > limit ? used - limit : 0;
}

/* What lacks most, of the last try, from device `first` on. */
static gufo_estimate_shortage find_shortage(const fitting *f, uint32_t first)
{
    gufo_estimate_shortage most = {f->o->n_ctx, f->o->n_gpu_layers, f->o->n_cpu_moe, 0, 0, {0}};

    if (!f->o->has_gpu_layers)
        most.n_gpu_layers = f->e->values.layers + 1;
    for (uint32_t d = first; d < f->made.device_count; d++)
        if (missing_on(f, d) > most.missing_bytes) {
            most.missing_bytes = missing_on(f, d);
            most.device = d;
        }
    return most;
}

static gufo_status run_shares(fitting *f, const double *shares)
{
    f->o->tensor_split = shares;
    return gufo_estimator_run(f->e, f->o, &f->made, f->error);
}

/* The most layers of `left` that a device has room for; those behind it get the rest. */
static gufo_status fill_device(fitting *f, uint32_t device, uint64_t left, uint64_t *out)
{
    uint64_t good = 0, bad = left + 1;
    gufo_status status = GUFO_OK;

    while (status == GUFO_OK && bad - good > 1) {
        uint64_t middle = good + (bad - good) / 2;

        f->filled[device] = (double)middle;
        f->filled[device + 1] = (double)(left - middle);
        status = run_shares(f, f->filled);
        *(missing_on(f, device + 1) == 0 ? &good : &bad) = middle;
    }
    f->filled[device] = (double)good;
    f->filled[device + 1] = (double)(left - good);
    *out = good;
    return status;
}

/* Fills devices one after the other: if any shares fit, these do, because what a device needs depends on
 * its own layers. */
static gufo_status fill_shares(fitting *f)
{
    uint64_t left = f->e->values.layers + 1, taken = 0;
    gufo_status status = GUFO_OK;

    if (f->o->has_gpu_layers)
        left = smaller(left, f->o->n_gpu_layers);
    for (uint32_t d = 0; d < f->o->n_devices; d++)
        f->filled[d] = 0;
    for (uint32_t d = 0; status == GUFO_OK && d + 1 < f->o->n_devices; d++, left -= taken)
        status = fill_device(f, d, left, &taken);
    return status == GUFO_OK ? run_shares(f, f->filled) : status;
}

/* Whether everything fits, from device `first` on.  If no shares fit, the shortage is that of shares by
 * size. */
static gufo_status try_options(fitting *f, uint32_t first, bool *fits)
{
    gufo_status status = f->has_shares ? run_shares(f, f->by_size)
                                       : gufo_estimator_run(f->e, f->o, &f->made, f->error);

    *fits = status == GUFO_OK && find_shortage(f, first).missing_bytes == 0;
    if (status != GUFO_OK || *fits || !f->has_shares || find_shortage(f, 1).missing_bytes == 0 ||
        (f->o->has_gpu_layers && f->o->n_gpu_layers == 0))
        return status;
    status = fill_shares(f);
    *fits = status == GUFO_OK && find_shortage(f, first).missing_bytes == 0;
    return status != GUFO_OK || *fits ? status : run_shares(f, f->by_size);
}

static gufo_status try_context(fitting *f, uint64_t n_ctx, bool *fits)
{
    f->o->n_ctx = n_ctx;
    return try_options(f, 0, fits);
}

/* ---- places --------------------------------------------------------------------------------- */

/* What takes part of the model from devices to the host; a larger number puts more on devices. */
typedef struct choice {
    uint64_t *number; /* in the options */
    uint64_t all;
    bool is_host; /* *number counts what is on the host */
} choice;

static gufo_status try_devices(fitting *f, const choice *c, uint64_t number, bool *fits)
{
    *c->number = c->is_host ? c->all - number : number;
    return try_options(f, 1, fits);
}

/* The largest number with which devices have enough.  More of it needs more on devices, and less on the
 * host, whose limit is looked at in the end.  With several devices a larger number may move layers
 * between them: some are tried. */
static gufo_status fill_devices(fitting *f, const choice *c, bool *fits)
{
    uint64_t good = 0, bad = c->all + 1, most;
    gufo_status status = try_devices(f, c, good, fits);

    if (status != GUFO_OK || !*fits)
        return status;
    while (status == GUFO_OK && bad - good > 1) {
        uint64_t middle = good + (bad - good) / 2;

        status = try_devices(f, c, middle, fits);
        *(*fits ? &good : &bad) = middle;
    }
    most = f->o->tensor_split != NULL ? smaller(c->all, good + f->o->n_devices) : good;
    for (uint64_t number = good + 1; status == GUFO_OK && number <= most; number++) {
        status = try_devices(f, c, number, fits);
        if (*fits)
            good = number;
    }
    if (status == GUFO_OK)
        status = try_devices(f, c, good, fits);
    if (status == GUFO_OK)
        *fits = find_shortage(f, 0).missing_bytes == 0;
    return status;
}

/* With the least context: experts go to the host first, since a token needs few of them; then layers
 * without their experts; if the host has too little for that, whole layers. */
static gufo_status find_places(fitting *f, bool *fits)
{
    gufo_estimate_options *o = f->o;
    bool are_free = !o->has_gpu_layers && o->n_devices > 0;
    bool has_experts =
        are_free && (f->e->weights.roles & ROLE_EXPERT) != 0 && !o->has_cpu_moe && o->place == NULL;
    const choice experts = {&o->n_cpu_moe, f->e->values.layers, true};
    const choice layers = {&o->n_gpu_layers, f->e->values.layers + 1, false};
    gufo_status status = GUFO_OK;

    if (has_experts) {
        o->has_cpu_moe = true;
        status = fill_devices(f, &experts, fits);
        if (status != GUFO_OK || *fits)
            return status;
        o->has_gpu_layers = true;
        o->n_cpu_moe = f->e->values.layers;
        status = fill_devices(f, &layers, fits);
        if (status != GUFO_OK || *fits)
            return status;
        o->has_cpu_moe = false;
        o->n_cpu_moe = 0;
    }
    o->has_gpu_layers |= are_free;
    return are_free ? fill_devices(f, &layers, fits) : status;
}

/* ---- contexts ------------------------------------------------------------------------------- */

/* The largest context between one that fits and one that does not. */
static gufo_status widen_context(fitting *f, uint64_t good, uint64_t bad)
{
    gufo_status status = GUFO_OK;
    bool fits = false;

    bad = divide_up(bad, STEP) * STEP;
    while (status == GUFO_OK && bad - good > STEP) {
        uint64_t middle = good + (bad - good) / 2 / STEP * STEP;

        status = try_context(f, middle, &fits);
        *(fits ? &good : &bad) = middle;
    }
    return status == GUFO_OK ? try_context(f, good, &fits) : status;
}

static gufo_status refuse_shortage(const fitting *f)
{
    gufo_estimate_shortage s = f->made.context_shortage;
    char name[32] = "the host";

    if (s.device > 0)
        snprintf(name, sizeof name, "device %" PRIu32, s.device - 1);
    return refuse(
        f->error, GUFO_E_LIMIT, "with a context of %s %s needs %s bytes, %s more than it may have",
        GROUPED(s.n_ctx), name, GROUPED(gufo_estimate_most_bytes(&f->made.devices[s.device])),
        GROUPED(s.missing_bytes));
}

static void find_range(const fitting *f, uint64_t *least, uint64_t *most)
{
    *most = *least = f->o->n_ctx;
    if (*most != 0)
        return;
    *most = f->e->values.context;
    *least = f->limits->least_ctx > 0 ? f->limits->least_ctx : LEAST_CONTEXT;
    *least = *least < *most ? larger(*least / STEP * STEP, STEP) : *most;
    *least = smaller(*least, *most);
}

static gufo_status search(fitting *f)
{
    gufo_estimate_shortage whole, layers = {0};
    uint64_t most, least;
    gufo_status status;
    bool fits = false;

    find_range(f, &least, &most);
    status = try_context(f, most, &fits);
    whole = find_shortage(f, 0);
    if (status == GUFO_OK && !fits && least < most)
        status = try_context(f, least, &fits);
    if (status == GUFO_OK && !fits) {
        layers = find_shortage(f, 0);
        status = find_places(f, &fits);
        if (status == GUFO_OK && !fits) {
            f->made.context_shortage = find_shortage(f, 0);
            return refuse_shortage(f);
        }
        if (status == GUFO_OK && least < most)
            status = try_context(f, most, &fits);
        whole = find_shortage(f, 0);
    }
    if (status == GUFO_OK && least < most && whole.missing_bytes > 0)
        status = widen_context(f, least, most);
    f->made.context_shortage = whole;
    f->made.layers_shortage = layers;
    return status;
}

static void share_by_size(fitting *f)
{
    f->has_shares = f->o->tensor_split == NULL && f->limits->split != NULL &&
                    f->limits->device_bytes != NULL && f->o->n_devices > 1 &&
                    f->o->n_devices <= GUFO_ESTIMATE_MAX_DEVICES;
    for (uint32_t d = 0; f->has_shares && d < f->o->n_devices; d++)
        f->by_size[d] = (double)f->limits->device_bytes[d];
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
    if (!e->values.rule.is_measured)
        return refuse(error, GUFO_E_TYPE, "buffers for computing are not known for %s",
                      e->values.rule.arch);
    if (e->beside.draft != NULL && !e->beside.draft->values.rule.is_measured)
        return refuse(error, GUFO_E_TYPE, "buffers for computing are not known for the draft's %s",
                      e->beside.draft->values.rule.arch);
    tried = *options;
    share_by_size(&f);
    status = search(&f);
    if (status == GUFO_E_LIMIT && out != NULL)
        *out = f.made;
    if (status != GUFO_OK)
        return status;
    if (f.has_shares) {
        memcpy(limits->split, tried.tensor_split, tried.n_devices * sizeof *limits->split);
        tried.tensor_split = limits->split;
    }
    *options = tried;
    if (out != NULL)
        *out = f.made;
    return GUFO_OK;
}
