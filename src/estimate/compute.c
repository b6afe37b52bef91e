/* Buffers for computing and for the output.
 *
 * llama.cpp reserves them once, for the largest batch over a full cache, by an allocator that uses
 * memory again from one operation to the next.  Its peak has no closed form.  The largest stage of a
 * layer comes near to it: floats per token and, in recurrent layers, per sequence.  registry/memory.tsv
 * names the stages that an architecture has, and how far the sum was from what was measured.
 *
 *     C = max(4 (tokens * stage + sequences * state) + masks + inputs, logits + two embeddings) */
#include "estimate/estimator.h"

#include <string.h>

#include "base/error.h"

#define ROUGH_MARGIN 20 /* percent; above, a figure is rough */
#define DEVICE_MARGIN 20

/* The largest numbers over all layers. */
typedef struct widths {
    uint64_t heads, cells;
    uint64_t output, query, keys; /* elements of all heads */
    uint64_t key_length, value_length;
    uint64_t feed_forward;
    bool has_full, has_window;
} widths;

typedef struct compute_work {
    const model_values *v;
    const settings *s;
    bool has_dense;
    widths w;
    uint64_t embeddings; /* bytes of two embeddings of every token */
    bool is_too_large;
} compute_work;

static widths find_widths(const model_values *v, const settings *s)
{
    widths w = {0};

    for (uint64_t i = 0; i < v->layers; i++) {
        const layer_values *l = &v->layer[i];
        uint64_t key = v->is_latent ? v->latent_key_length : l->key_length;
        uint64_t value = v->is_latent ? v->latent_value_length : l->value_length;

        w.feed_forward = larger(w.feed_forward, l->feed_forward);
        if (!l->has_cache && strcmp(v->rule->layers, "attention") != 0)
            continue;
        w.heads = larger(w.heads, l->heads);
        w.output = larger(w.output, l->heads * value);
        w.query = larger(w.query, l->heads * key);
        w.keys = larger(w.keys, l->kv_heads * l->key_length);
        w.key_length = larger(w.key_length, l->key_length);
        w.value_length = larger(w.value_length, l->value_length);
        w.has_full |= !l->has_window;
        w.has_window |= l->has_window;
    }
    w.cells = w.has_full ? s->n_ctx_seq : s->window_cells;
    return w;
}

/* ---- stages --------------------------------------------------------------------------------- */

/* factor[0] * of[0] + factor[1] * of[1] ... */
static uint64_t sum_of(compute_work *c, const uint64_t (*terms)[2], size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = amount_plus(&c->is_too_large, sum,
                          amount_times(&c->is_too_large, terms[i][0], terms[i][1]));
    return sum;
}

#define SUM(c, ...)                               \
    sum_of(c, (const uint64_t[][2]){__VA_ARGS__}, \
           sizeof((const uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]))

/* Floats for each token, and for each sequence. */
typedef struct stage {
    uint64_t token, sequence;
} stage;

static stage gated_stage(compute_work *c)
{
    uint64_t token = SUM(c, {3, c->w.feed_forward}, {3, c->v->embedding}, {1, c->w.output});

    return (stage){c->has_dense ? token : 0, 0};
}

static stage plain_stage(compute_work *c)
{
    uint64_t token = SUM(c, {2, c->w.feed_forward}, {3, c->v->embedding}, {1, c->w.output});

    return (stage){c->has_dense ? token : 0, 0};
}

static stage expert_stage(compute_work *c)
{
    uint64_t used = c->v->experts > 0 ? c->v->experts_used : 0;
    uint64_t wide = c->v->expert_feed_forward, e = c->v->embedding;
    uint64_t within, behind;

    if (used == 0)
        return (stage){0, 0};
    within = SUM(c, {3 * used, wide}, {3, e}, {1, c->w.output});
    behind = SUM(c, {2 * used, e}, {used, wide}, {3, e});
    return (stage){larger(within, behind), 0};
}

static stage attention_stage(compute_work *c)
{
    uint64_t token =
        SUM(c, {c->w.heads, c->w.cells}, {3, c->v->embedding}, {2, c->w.query}, {2, c->w.keys});

    return (stage){c->s->flash ? 0 : token, 0};
}

static stage latent_stage(compute_work *c)
{
    uint64_t both = 2 * (c->w.key_length + c->w.value_length);
    uint64_t token = SUM(c, {c->w.heads, both}, {4, c->v->embedding}, {1, c->w.key_length});

    return (stage){c->v->is_latent ? token : 0, 0};
}

static stage mamba_stage(compute_work *c)
{
    return (stage){SUM(c, {6, c->v->inner}, {1, c->v->embedding}),
                   SUM(c, {1, c->v->state_s}, {2, c->v->state_r})};
}

static stage mamba2_stage(compute_work *c)
{
    uint64_t mixed = SUM(c, {1, c->v->inner}, {2 * c->v->groups, c->v->state});

    return (stage){
        SUM(c, {3, c->v->inner}, {3, mixed}, {1, c->v->time_steps}, {1, c->v->embedding}),
        SUM(c, {1, c->v->state_s}, {2, c->v->state_r})};
}

static stage rwkv7_stage(compute_work *c)
{
    return (stage){SUM(c, {19, c->v->embedding}, {1, 96}),
                   SUM(c, {2, c->v->state_s}, {1, c->v->state_r})};
}

static const struct {
    const char *name;
    stage (*find)(compute_work *c);
} stages[] = {
    {"gated", gated_stage},         {"plain", plain_stage},   {"experts", expert_stage},
    {"attention", attention_stage}, {"latent", latent_stage}, {"mamba", mamba_stage},
    {"mamba2", mamba2_stage},       {"rwkv7", rwkv7_stage},
};

/* ---- sums ----------------------------------------------------------------------------------- */

/* Masks of the caches, positions and places of tokens. */
static uint64_t input_bytes(compute_work *c)
{
    uint64_t tokens = c->s->reserve;
    uint64_t caches = (uint64_t)c->w.has_full + (uint64_t)c->w.has_window;
    uint64_t cells =
        (c->w.has_full ? c->s->n_ctx_seq : 0) + (c->w.has_window ? c->s->window_cells : 0);

    return SUM(c, {tokens * (c->s->flash ? 2 : 4), cells},
               {4 * tokens, caches > 0 ? 2 + 4 * caches : 1});
}

static uint64_t largest_stage(compute_work *c)
{
    uint64_t most = 0;

    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        stage found;

        if (!rule_has(c->v->rule->compute, stages[i].name))
            continue;
        found = stages[i].find(c);
        most = larger(most, SUM(c, {c->s->reserve, found.token}, {c->s->o.n_seq, found.sequence}));
    }
    return most;
}

static uint64_t logit_bytes(compute_work *c, uint64_t width)
{
    return SUM(c, {4 * c->s->n_outputs, width});
}

/* The peak where a layer and the output are on the same device. */
static uint64_t peak_bytes(compute_work *c)
{
    uint64_t inside = SUM(c, {4, largest_stage(c)}, {1, input_bytes(c)});
    uint64_t outside = SUM(c, {1, logit_bytes(c, c->v->vocabulary)}, {1, c->embeddings});

    return larger(inside, outside);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* With all layers on devices, the host has the inputs of the graph alone, and only the first device has
 * the embeddings of all tokens. */
static uint64_t host_bytes(compute_work *c, uint64_t peak)
{
    return c->s->first > 0 ? peak : SUM(c, {1, input_bytes(c)}, {1, c->embeddings});
}

static uint64_t device_bytes(compute_work *c, const gufo_estimate_device *device, uint64_t peak,
                             bool is_first)
{
    uint64_t less;

    if (device->layers == 0)
        return device->has_output ? logit_bytes(c, c->v->vocabulary + c->v->embedding) : 0;
    if (c->s->first > 0)
        return peak;
    less = is_first ? c->embeddings / 2 : c->embeddings;
    return peak - smaller(peak, less);
}

static void set_quality(const compute_work *c, gufo_estimate_device *device, bool is_device)
{
    uint64_t percent = rule_number(c->v->rule->margin);

    if (device->compute_bytes == 0) {
        device->compute_quality = GUFO_ESTIMATE_EXACT;
        return;
    }
    device->compute_quality = percent > ROUGH_MARGIN ? GUFO_ESTIMATE_ROUGH : GUFO_ESTIMATE_FITTED;
    if (is_device)
        percent = larger(percent, DEVICE_MARGIN);
    device->compute_margin = larger(device->compute_bytes / 100 * percent, c->embeddings);
}

static uint64_t output_bytes(compute_work *c)
{
    return SUM(c, {4 * c->s->o.n_seq, c->v->vocabulary},
               {c->s->o.embeddings ? 4 * c->s->o.n_seq : 0, c->v->embedding});
}

static void add_devices(compute_work *c, gufo_estimate *out)
{
    uint64_t peak = peak_bytes(c);
    bool is_first = true;

    for (uint32_t d = 0; d < out->device_count; d++) {
        gufo_estimate_device *device = &out->devices[d];

        device->compute_bytes =
            d == 0 ? host_bytes(c, peak) : device_bytes(c, device, peak, is_first);
        if (d > 0 && device->layers > 0)
            is_first = false;
        set_quality(c, device, d > 0);
    }
}

gufo_status compute_sum(const model_weights *weights, const model_values *v, const settings *s,
                        gufo_estimate *out, gufo_error *error)
{
    compute_work c = {.v = v, .s = s, .has_dense = weights->has_dense, .w = find_widths(v, s)};

    c.embeddings = SUM(&c, {8 * s->reserve, v->embedding});
    out->devices[0].output_bytes = output_bytes(&c);
    if (strcmp(v->rule->compute, "-") != 0)
        add_devices(&c, out);
    return c.is_too_large ? amount_refuse(error) : GUFO_OK;
}
