/* What a model keeps of the tokens before: a cache of keys and values in layers with attention, whose
 * size grows with the context or the window, and a state of fixed size in recurrent layers. */
#include "estimate/estimator.h"

#include "base/error.h"

#define CACHE_ALIGNMENT 32

typedef struct context_work {
    const model_values *v;
    const settings *s;
    uint64_t widest; /* row of values, of all layers */
    bool is_too_large;
} context_work;

/* Bytes of one token in a tensor of the cache. */
static uint64_t key_row(context_work *w, const layer_values *l)
{
    return settings_row(&w->is_too_large, w->s->o.type_k, l->key_length * l->kv_heads);
}

/* Without flash attention values are stored transposed, and all layers have rows of the widest one. */
static uint64_t value_row(context_work *w, const layer_values *l)
{
    uint64_t elements = w->s->flash ? l->value_length * l->kv_heads : w->widest;

    return w->v->is_latent ? 0 : settings_row(&w->is_too_large, w->s->o.type_v, elements);
}

static uint64_t cache_tensor(context_work *w, const layer_values *l, uint64_t row)
{
    uint64_t cells = l->has_window ? w->s->window_cells : w->s->n_ctx_seq;
    uint64_t bytes =
        amount_times(&w->is_too_large, row, amount_times(&w->is_too_large, cells, w->s->n_streams));

    return amount_align(&w->is_too_large, bytes, CACHE_ALIGNMENT);
}

static uint64_t cache_bytes(context_work *w, const layer_values *l)
{
    return amount_plus(&w->is_too_large, cache_tensor(w, l, key_row(w, l)),
                       cache_tensor(w, l, value_row(w, l)));
}

static uint64_t state_tensor(context_work *w, uint64_t elements)
{
    uint64_t snapshots = w->v->rule.has_snapshots ? w->s->o.n_rs_seq : 0;
    uint64_t cells = amount_times(&w->is_too_large, w->s->o.n_seq, 1 + snapshots);

    return amount_align(
        &w->is_too_large,
        amount_times(&w->is_too_large, 4, amount_times(&w->is_too_large, elements, cells)),
        CACHE_ALIGNMENT);
}

static uint64_t state_bytes(context_work *w)
{
    return amount_plus(&w->is_too_large, state_tensor(w, w->v->state_r),
                       state_tensor(w, w->v->state_s));
}

static void add_layer(context_work *w, uint64_t layer, gufo_estimate *out,
                      gufo_estimate_device *device)
{
    const layer_values *l = &w->v->layer[layer];
    uint64_t cache = l->has_cache ? cache_bytes(w, l) : 0;
    uint64_t state = l->has_state ? state_bytes(w) : 0;
    bool *large = &w->is_too_large;

    device->kv_bytes = amount_plus(large, device->kv_bytes, cache);
    device->state_bytes = amount_plus(large, device->state_bytes, state);
    if (l->has_cache && !l->has_window)
        out->kv_token_bytes = amount_plus(large, out->kv_token_bytes,
                                          amount_plus(large, key_row(w, l), value_row(w, l)));
    if (speed_has_layer(w->v, layer))
        device->read_bytes = amount_plus(
            large, device->read_bytes,
            amount_plus(large, speed_cache(w->s, cache), speed_state(w->v, w->s, state)));
}

gufo_status context_sum(const model_values *v, const settings *s, gufo_estimate *out,
                        gufo_error *error)
{
    context_work w = {.v = v, .s = s};

    for (uint64_t i = 0; i < v->layers; i++)
        if (v->layer[i].has_cache)
            w.widest = larger(w.widest, v->layer[i].value_length * v->layer[i].kv_heads);
    for (uint64_t i = 0; i < v->layers; i++)
        add_layer(&w, i, out, &out->devices[s->o.no_kv_offload ? 0 : settings_device(s, i)]);
    for (uint32_t d = 0; d < out->device_count; d++) {
        gufo_estimate_device *device = &out->devices[d];

        device->context_bytes = amount_plus(&w.is_too_large, device->kv_bytes, device->state_bytes);
    }
    return w.is_too_large ? amount_refuse(error) : GUFO_OK;
}
