/* The options of a run, as llama.cpp completes, rounds or refuses them, and the layers of each device. */
#include "estimate/estimator.h"

#include <inttypes.h>

#include "base/error.h"

gufo_status amount_refuse(gufo_error *error)
{
    return refuse(error, GUFO_E_RANGE, "the memory that it takes does not fit into 64 bits");
}

#define CELL_ALIGNMENT 256 /* of a cache, in tokens */
#define MOST_CONTEXT (UINT32_MAX / CELL_ALIGNMENT * CELL_ALIGNMENT)

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static gufo_status check_limits(const gufo_estimate_options *o, const model_values *v,
                                gufo_error *error)
{
    const struct {
        const char *name;
        uint64_t value, limit;
    } limits[] = {
        {"sequences", o->n_seq, GUFO_ESTIMATE_MAX_SEQUENCES},
        {"devices", o->n_devices, GUFO_ESTIMATE_MAX_DEVICES},
        {"tokens of context", or_default(o->n_ctx, v->context), MOST_CONTEXT},
        {"tokens in a batch", o->n_batch, INT32_MAX},
        {"tokens in a physical batch", o->n_ubatch, INT32_MAX},
        {"rows of output", o->n_outputs, INT32_MAX},
        {"snapshots of state", o->n_rs_seq, INT32_MAX},
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].value > limits[i].limit)
            return refuse(error, GUFO_E_ARGUMENT, "%s %s are too many: at most %s",
                          GROUPED(limits[i].value), limits[i].name, GROUPED(limits[i].limit));
    }
    return GUFO_OK;
}

static bool is_quantized(const gufo_element_type *type)
{
    return (type->flags & GUFO_ELEMENT_QUANTIZED) != 0;
}

static gufo_status check_blocks(const char *what, const gufo_element_type *type, uint64_t length,
                                gufo_error *error)
{
    return !is_quantized(type) || length % type->block_elements == 0
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "the cache of %s cannot be %s: its blocks of %" PRIu32
                        " elements do not divide a head of %" PRIu64,
                        what, type->name, type->block_elements, length);
}

static gufo_status check_type(const char *what, const gufo_element_type *type, gufo_error *error)
{
    return type->block_elements > 0 && (type->flags & GUFO_ELEMENT_REMOVED) == 0
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "the cache of %s cannot be %s", what, type->name);
}

static gufo_status check_cache_types(const settings *s, const model_values *v, gufo_error *error)
{
    const gufo_estimate_options *o = &s->o;
    gufo_status status = check_type("keys", o->type_k, error);

    if (status == GUFO_OK)
        status = check_type("values", o->type_v, error);
    if (status != GUFO_OK)
        return status;
    if (is_quantized(o->type_v) && !s->flash)
        return refuse(error, GUFO_E_ARGUMENT, "a quantized cache of values needs flash attention");
    if (v->is_latent && o->type_k != o->type_v)
        return refuse(error, GUFO_E_ARGUMENT,
                      "keys and values share a cache in this model: its types cannot be %s and %s",
                      o->type_k->name, o->type_v->name);
    for (uint64_t i = 0; status == GUFO_OK && i < v->layers; i++) {
        const layer_values *l = &v->layer[i];

        if (!l->has_cache || l->kv_heads == 0)
            continue;
        status = check_blocks("keys", o->type_k,
                              s->flash ? l->key_length : l->key_length * l->kv_heads, error);
        if (status == GUFO_OK && !v->is_latent)
            status = check_blocks("values", o->type_v, l->value_length, error);
    }
    return status;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static void find_shapes(settings *s, const model_values *v)
{
    bool large = false; /* numbers are below 2^33 here */
    uint64_t asked = or_default(s->o.n_ctx, v->context);

    s->n_batch = v->is_causal ? smaller(asked, s->o.n_batch) : s->o.n_batch;
    s->n_ubatch = smaller(s->n_batch, s->o.n_ubatch);
    s->n_ctx = s->n_ctx_seq = amount_align(&large, asked, CELL_ALIGNMENT);
    s->n_streams = 1;
    if (!s->o.kv_unified) {
        s->n_ctx_seq = amount_align(&large, s->n_ctx / s->o.n_seq, CELL_ALIGNMENT);
        s->n_streams = s->o.n_seq;
        s->n_ctx = s->n_ctx_seq * s->o.n_seq;
    }
    s->reserve = amount_align(&large, s->n_ubatch, s->o.n_seq);
    s->n_outputs = smaller(s->n_ubatch, or_default(s->o.n_outputs, s->n_batch));
    s->window_cells = s->n_ctx_seq;
    if (!s->o.swa_full)
        s->window_cells = amount_align(
            &large,
            smaller(s->n_ctx_seq, v->window * (s->o.kv_unified ? s->o.n_seq : 1) + s->n_ubatch),
            CELL_ALIGNMENT);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* Shares are added up and divided in single precision, as llama.cpp does: a layer at the border of two
 * devices is then where it puts it. */
static gufo_status find_split(settings *s, gufo_error *error)
{
    float sum = 0;

    for (uint32_t d = 0; d < s->o.n_devices; d++) {
        double share = s->o.tensor_split != NULL ? s->o.tensor_split[d] : 1;

        if (!(share >= 0 && share <= 1e30))
            return refuse(error, GUFO_E_ARGUMENT, "the share of device %" PRIu32 " is not a number",
                          d);
        sum += (float)share;
        s->split[d] = sum;
    }
    if (s->o.n_devices > 0 && !(sum > 0))
        return refuse(error, GUFO_E_ARGUMENT, "no device has a share");
    for (uint32_t d = 0; d < s->o.n_devices; d++)
        s->split[d] /= sum;
    return GUFO_OK;
}

static void find_layers(settings *s, const model_values *v)
{
    uint64_t all = v->layers + 1;

    s->on_devices = s->o.n_devices == 0   ? 0
                    : s->o.has_gpu_layers ? smaller(s->o.n_gpu_layers, all)
                                          : all;
    s->first = all - s->on_devices;
}

uint32_t settings_device(const settings *s, uint64_t layer)
{
    if (layer < s->first || s->on_devices == 0)
        return 0;
    for (uint32_t d = 0; d < s->o.n_devices; d++)
        if (s->split[d] > (float)(layer - s->first) / (float)s->on_devices)
            return d + 1;
    return s->o.n_devices;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status check_reserved(const gufo_estimate_options *o, gufo_error *error)
{
    gufo_status status = reserved_check(o->reserved, "gufo_estimate_options", error);

    return status == GUFO_OK ? reserved_check(o->reserved + 4, "gufo_estimate_options", error)
                             : status;
}

gufo_status settings_make(settings *s, const model_values *v, const gufo_estimate_options *options,
                          gufo_error *error)
{
    gufo_status status;

    *s = (settings){.o = options != NULL ? *options : (gufo_estimate_options){0}};
    status = check_reserved(&s->o, error);
    if (status == GUFO_OK)
        status = check_limits(&s->o, v, error);
    if (status != GUFO_OK)
        return status;
    s->o.n_batch = or_default(s->o.n_batch, 2048);
    s->o.n_ubatch = or_default(s->o.n_ubatch, 512);
    s->o.n_seq = or_default(s->o.n_seq, 1);
    if (s->o.type_k == NULL)
        s->o.type_k = gufo_element_type_by_id(GUFO_TYPE_F16);
    if (s->o.type_v == NULL)
        s->o.type_v = gufo_element_type_by_id(GUFO_TYPE_F16);
    s->flash = s->o.flash_attention != GUFO_FLASH_ATTENTION_OFF && !v->rule.has[RULE_NO_FLASH];
    find_shapes(s, v);
    find_layers(s, v);
    status = check_cache_types(s, v, error);
    return status == GUFO_OK ? find_split(s, error) : status;
}

uint64_t settings_row(bool *is_too_large, const gufo_element_type *type, uint64_t elements)
{
    return amount_times(is_too_large, elements / type->block_elements, type->block_bytes);
}
