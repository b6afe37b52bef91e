/* Buffers for computing and for the output.
 *
 * llama.cpp reserves them once, for the largest batch over a full cache, by an allocator that uses
 * memory again from one operation to the next.  Its peak has no closed form.  The largest stage of a
 * layer comes near to it: floats per token and, in recurrent layers, per sequence.  The table memory
 * names the stages that an architecture has, and how far the sum was from what was measured.
 *
 *     C = max(4 (tokens * stage + sequences * state) + masks + inputs, logits + two embeddings) */
#include "estimate/estimator.h"

#include "base/error.h"

/* Percent. */
#define DEVICE_MARGIN 20 /* where layers are on devices; a larger margin is rough */
#define APART_MARGIN 80
#define ROUGH_DEVICE_MARGIN 15 /* more than on the host alone */
#define STEPPED_DEVICE_MARGIN 15

/* The largest numbers over all layers. */
typedef struct widths {
    uint64_t heads, cells;
    uint64_t output, query, keys, values; /* elements of all heads */
    uint64_t key_length, value_length;
    uint64_t feed_forward;
    bool has_full, has_window;
} widths;

typedef struct compute_work {
    const model_values *v;
    const settings *s;
    const expert_places *experts;
    const model_weights *weights;
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
        if (!l->has_cache && v->rule.layers != LAYERS_ATTENTION)
            continue;
        w.heads = larger(w.heads, l->heads);
        w.output = larger(w.output, l->heads * value);
        w.query = larger(w.query, l->heads * key);
        w.keys = larger(w.keys, l->kv_heads * l->key_length);
        w.values = larger(w.values, l->kv_heads * l->value_length);
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

    return (stage){(c->weights->roles & ROLE_DENSE) != 0 ? token : 0, 0};
}

static stage plain_stage(compute_work *c)
{
    uint64_t token = SUM(c, {2, c->w.feed_forward}, {3, c->v->embedding}, {1, c->w.output});

    return (stage){(c->weights->roles & ROLE_DENSE) != 0 ? token : 0, 0};
}

/* Results of all experts in use: behind their parts, unless they fit where gates and ups were. */
static stage expert_stage(compute_work *c)
{
    uint64_t used = c->v->experts > 0 ? c->v->experts_used : 0;
    uint64_t wide = c->v->expert_feed_forward, e = c->v->embedding;
    uint64_t within, behind;

    if (used == 0)
        return (stage){0, 0};
    within = SUM(c, {3 * used, wide}, {3, e}, {1, c->w.output});
    behind = e > 2 * wide ? SUM(c, {used, e}, {3 * used, wide}, {3, e}) : 0;
    return (stage){larger(within, behind), 0};
}

/* Experts that the host computes for layers on devices. */
static stage lent_stage(compute_work *c)
{
    uint64_t used = c->v->experts_used, wide = c->v->expert_feed_forward, e = c->v->embedding;
    uint64_t within = SUM(c, {3 * used, wide}, {2, e});
    uint64_t behind = SUM(c, {2 * used, e}, {used, wide});

    return (stage){larger(within, behind), 0};
}

static stage attention_stage(compute_work *c)
{
    uint64_t scores = c->s->flash ? c->v->embedding : SUM(c, {c->w.heads, c->w.cells});

    return (stage){SUM(c, {1, scores}, {3, c->v->embedding}, {2, c->w.query}, {2, c->w.keys}), 0};
}

/* Of state space models: the state with its snapshots. */
static uint64_t kept_state(compute_work *c)
{
    uint64_t snapshots = c->v->rule.has_snapshots ? c->s->o.n_rs_seq : 0;

    return SUM(c, {1 + snapshots, c->v->state_s}, {2, c->v->state_r});
}

static stage mamba_stage(compute_work *c)
{
    return (stage){SUM(c, {6, c->v->inner}, {1, c->v->embedding}), kept_state(c)};
}

static uint64_t mixed_width(compute_work *c)
{
    return SUM(c, {1, c->v->inner}, {2 * c->v->groups, c->v->state});
}

static stage mamba2_stage(compute_work *c)
{
    return (stage){
        SUM(c, {3, c->v->inner}, {3, mixed_width(c)}, {1, c->v->time_steps}, {1, c->v->embedding}),
        kept_state(c)};
}

static stage rwkv7_stage(compute_work *c)
{
    return (stage){SUM(c, {19, c->v->embedding}, {1, 96}),
                   SUM(c, {2, c->v->state_s}, {1, c->v->state_r})};
}

static const struct {
    rule_word word;
    stage (*find)(compute_work *c);
} stages[] = {
    {RULE_GATED, gated_stage},         {RULE_PLAIN, plain_stage}, {RULE_EXPERTS, expert_stage},
    {RULE_ATTENTION, attention_stage}, {RULE_MAMBA, mamba_stage}, {RULE_MAMBA2, mamba2_stage},
    {RULE_RWKV7, rwkv7_stage},
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

        if (!c->v->rule.has[stages[i].word] ||
            (stages[i].find == expert_stage && c->experts->on_host && !c->experts->on_devices))
            continue;
        found = stages[i].find(c);
        most = larger(most, SUM(c, {c->s->reserve, found.token}, {c->s->o.n_seq, found.sequence}));
    }
    return SUM(c, {1, most}, {c->s->reserve * c->v->rule.extra, c->v->embedding});
}

static uint64_t logit_bytes(compute_work *c, uint64_t width)
{
    return SUM(c, {4 * c->s->n_outputs, width});
}

/* Flash attention reads a cache of F32 from a copy in F16. */
static uint64_t copy_bytes(compute_work *c)
{
    uint64_t keys = c->s->o.type_k->id == GUFO_TYPE_F32 ? c->w.keys : 0;
    uint64_t values = c->s->o.type_v->id == GUFO_TYPE_F32 ? c->w.values : 0;

    return c->s->flash ? SUM(c, {2 * c->w.cells, keys}, {2 * c->w.cells, values}) : 0;
}

/* The peak where a layer and the output are on the same device. */
static uint64_t peak_bytes(compute_work *c)
{
    uint64_t inside = SUM(c, {4, largest_stage(c)}, {1, input_bytes(c)}, {1, copy_bytes(c)});
    uint64_t outside = SUM(c, {1, logit_bytes(c, c->v->vocabulary)}, {1, c->embeddings});

    return larger(inside, outside);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* Whether recurrent layers are on devices, and their state is not. */
static bool is_state_apart(const compute_work *c)
{
    return c->s->on_devices > 0 && c->s->o.no_kv_offload && c->v->state_r > 0;
}

/* With all layers on devices the host has the inputs of the graph, experts that stay there, and
 * what updates a state. */
static uint64_t host_bytes(compute_work *c, uint64_t peak)
{
    uint64_t inputs = input_bytes(c), bytes = SUM(c, {1, inputs}, {1, c->embeddings});

    if (c->s->first > 0)
        return peak;
    if (c->v->rule.has[RULE_LAYER_INPUTS])
        bytes = SUM(c, {1, bytes}, {4 * c->s->reserve, c->v->layer_input * c->v->layers});
    if (is_state_apart(c))
        bytes = SUM(c, {1, bytes}, {1, c->embeddings});
    if (c->experts->on_host)
        bytes = larger(bytes, SUM(c, {4 * c->s->reserve, lent_stage(c).token}, {1, inputs}));
    return bytes;
}

/* A device with the output alone.  Most architectures select rows in the last layer; the output of
 * others gets the whole batch, in embeddings that the column `tail` counts, unless a device before selects. */
static uint64_t tail_bytes(compute_work *c)
{
    bool is_after_host = settings_device(c->s, c->v->layers - 1) == 0;
    uint64_t count = is_after_host ? c->v->rule.tail : 0;

    return larger(
        logit_bytes(c, c->v->vocabulary + c->v->embedding),
        SUM(c, {4 * c->s->reserve, amount_times(&c->is_too_large, count, c->v->embedding)}));
}

/* Without layers on the host, the first device needs one embedding less than C, later ones two. */
static uint64_t device_bytes(compute_work *c, const gufo_estimate_device *device, uint64_t peak,
                             bool is_first)
{
    bool is_plain = c->v->rule.layers == LAYERS_ATTENTION;

    if (device->layers == 0)
        return device->has_output ? tail_bytes(c) : 0;
    if (c->s->first > 0)
        return peak;
    return peak - smaller(peak, is_first || !is_plain ? c->embeddings / 2 : c->embeddings);
}

/* By steps, not by a formula. */
static uint64_t stepped_bytes(compute_work *c, const gufo_estimate_device *device, uint32_t index)
{
    bool are_lent = c->experts->on_host && !c->experts->on_devices;
    bool gets_all_rows =
        c->v->rule.has[RULE_LATE_ROWS] && settings_device(c->s, c->v->layers - 1) == 0;
    uint64_t bytes;

    if (index > 0 && !device->has_output && device->layers == 0)
        return 0;
    if (index > 0 && device->layers == 0 && !gets_all_rows)
        return tail_bytes(c);
    bytes = peak_find(c->v, c->weights, c->s, index, are_lent, &c->is_too_large);
    if (index == 0 && c->s->first == 0 && c->experts->on_host)
        bytes =
            larger(bytes, SUM(c, {4 * c->s->reserve, lent_stage(c).token}, {1, input_bytes(c)}));
    return bytes;
}

/* The margins of the table are those of the host alone; devices, and layers whose state is elsewhere,
 * differ more from the formula. */
static void set_quality(const compute_work *c, gufo_estimate_device *device, bool is_device)
{
    uint64_t percent = c->v->rule.margin, least = c->embeddings;
    bool is_stepped = c->v->rule.has[RULE_STEPS];

    if (is_device || c->s->on_devices > 0)
        percent = percent > DEVICE_MARGIN
                      ? percent + ROUGH_DEVICE_MARGIN
                      : larger(percent, is_stepped ? STEPPED_DEVICE_MARGIN : DEVICE_MARGIN);
    else if (is_stepped)
        least = 0;
    if (!is_stepped && is_device && device->layers == 0)
        least = device->compute_bytes;
    if (c->s->on_devices > 0 && c->s->o.no_kv_offload)
        percent = larger(percent, APART_MARGIN);
    device->compute_quality = percent > DEVICE_MARGIN ? GUFO_ESTIMATE_ROUGH : GUFO_ESTIMATE_FITTED;
    if (device->compute_bytes == 0)
        device->compute_quality = GUFO_ESTIMATE_EXACT;
    else
        device->compute_margin = larger(divide_up(device->compute_bytes, 100) * percent, least);
}

static uint64_t output_bytes(compute_work *c)
{
    return SUM(c, {4 * c->s->o.n_seq, c->v->vocabulary},
               {c->s->o.embeddings ? 4 * c->s->o.n_seq : 0, c->v->embedding});
}

static void add_devices(compute_work *c, gufo_estimate *out)
{
    bool is_stepped = c->v->rule.has[RULE_STEPS], is_first = true;
    uint64_t peak = is_stepped ? 0 : peak_bytes(c);

    for (uint32_t d = 0; d < out->device_count; d++) {
        gufo_estimate_device *device = &out->devices[d];

        if (is_stepped)
            device->compute_bytes = stepped_bytes(c, device, d);
        else
            device->compute_bytes =
                d == 0 ? host_bytes(c, peak) : device_bytes(c, device, peak, is_first);
        if (d > 0 && device->layers > 0)
            is_first = false;
        set_quality(c, device, d > 0);
    }
}

gufo_status compute_sum(const model_weights *weights, const expert_places *experts,
                        const model_values *v, const settings *s, gufo_estimate *out,
                        gufo_error *error)
{
    compute_work c = {
        .v = v, .s = s, .experts = experts, .weights = weights, .w = find_widths(v, s)};

    c.embeddings = SUM(&c, {8 * s->reserve, v->embedding});
    out->devices[0].output_bytes = output_bytes(&c);
    if (v->rule.is_measured)
        add_devices(&c, out);
    return c.is_too_large ? amount_refuse(error) : GUFO_OK;
}
