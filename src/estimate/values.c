/* The hyperparameters of a model, as llama.cpp reads them: numbers of 32 bits, and for some keys one
 * number for each layer.  Which layers have a cache, a window or a state follows from the rule of the
 * architecture. */
#include "estimate/estimator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"

typedef struct reading {
    model_values *v;
    const gufo_model *model;
    gufo_str arch;
    bool is_too_large;
    gufo_error *error;
} reading;

/* ---- keys ----------------------------------------------------------------------------------- */

/* The entry of a key of the architecture; false if the file lacks it. */
static bool find_entry(const reading *r, const char *name, gufo_entry *entry)
{
    char key[GUFO_KEY_NAME_SIZE];
    int len = snprintf(key, sizeof key, "{arch}.%s", name);

    return len > 0 && (size_t)len < sizeof key && gufo_model_key_entry(r->model, key, entry);
}

/* The value of a key of the architecture, or what readers take where the file lacks it; false: nothing
 * is known. */
static bool find_value(const reading *r, const char *name, gufo_value *out)
{
    char key[GUFO_KEY_NAME_SIZE];
    int len = snprintf(key, sizeof key, "{arch}.%s", name);

    return len > 0 && (size_t)len < sizeof key && gufo_model_key_value(r->model, key, out);
}

static gufo_status check_count(const reading *r, const char *name, const gufo_value *value,
                               uint64_t *out)
{
    gufo_status status = gufo_value_u64(value, out, NULL);

    if (status == GUFO_E_TYPE)
        return refuse(r->error, GUFO_E_RANGE, "%.*s.%s is not a whole number", (int)r->arch.len,
                      r->arch.data, name);
    if (status != GUFO_OK || *out > UINT32_MAX)
        return refuse(r->error, GUFO_E_RANGE, "%.*s.%s does not fit into 32 bits", (int)r->arch.len,
                      r->arch.data, name);
    return GUFO_OK;
}

/* A count of the whole model into *out, which keeps its value where none is known. */
static gufo_status read_count(const reading *r, const char *name, uint64_t *out)
{
    gufo_value value;

    return find_value(r, name, &value) ? check_count(r, name, &value, out) : GUFO_OK;
}

/* The count for a layer: the element of an array, which has one for each layer, or the number.
 * *out keeps its value where none is known. */
static gufo_status read_layer_count(const reading *r, const char *name, uint64_t layer,
                                    uint64_t *out)
{
    gufo_value value, element;

    if (!find_value(r, name, &value))
        return GUFO_OK;
    if (value.type != GUFO_VALUE_ARRAY)
        return check_count(r, name, &value, out);
    if (value.as.array.count != r->v->layers)
        return refuse(r->error, GUFO_E_RANGE,
                      "%.*s.%s has %s elements, but the model has %s layers", (int)r->arch.len,
                      r->arch.data, name, GROUPED(value.as.array.count), GROUPED(r->v->layers));
    if (value.as.array.type == GUFO_VALUE_STRING || value.as.array.type == GUFO_VALUE_ARRAY)
        return refuse(r->error, GUFO_E_RANGE, "%.*s.%s does not hold numbers", (int)r->arch.len,
                      r->arch.data, name);
    if (gufo_array_at(&value.as.array, layer, &element, r->error) != GUFO_OK)
        return GUFO_E_CHANGED;
    if (element.type == GUFO_VALUE_BOOL) {
        *out = element.as.b;
        return GUFO_OK;
    }
    return check_count(r, name, &element, out);
}

/* True where none is known. */
static bool read_flag(const reading *r, const char *name)
{
    gufo_value value;

    return !find_value(r, name, &value) || value.type != GUFO_VALUE_BOOL || value.as.b;
}

typedef struct count_key {
    const char *name;
    uint64_t *out;
} count_key;

static gufo_status read_counts(const reading *r, const count_key *keys, size_t count)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < count; i++)
        status = read_count(r, keys[i].name, keys[i].out);
    return status;
}

#define COUNT_OF_KEYS(keys) (sizeof(keys) / sizeof *(keys))

/* ---- the whole model ------------------------------------------------------------------------ */

static gufo_status need(const reading *r, const char *name, uint64_t value)
{
    return value > 0 ? GUFO_OK
                     : refuse(r->error, GUFO_E_NOT_FOUND, "%.*s.%s is missing or 0",
                              (int)r->arch.len, r->arch.data, name);
}

static gufo_status read_vocabulary(const reading *r)
{
    gufo_entry entry;

    if (gufo_model_key_entry(r->model, "tokenizer.ggml.tokens", &entry) &&
        entry.value.type == GUFO_VALUE_ARRAY && entry.value.as.array.count > 0) {
        r->v->vocabulary = entry.value.as.array.count;
        return r->v->vocabulary <= UINT32_MAX
                   ? GUFO_OK
                   : refuse(r->error, GUFO_E_RANGE, "too many tokens for 32 bits");
    }
    return read_count(r, "vocab_size", &r->v->vocabulary);
}

static gufo_status read_model(const reading *r)
{
    model_values *v = r->v;
    uint64_t latent_key = 0, latent_value = 0;
    const count_key keys[] = {
        {"block_count", &v->layers},
        {"embedding_length", &v->embedding},
        {"context_length", &v->context},
        {"expert_count", &v->experts},
        {"expert_used_count", &v->experts_used},
        {"embedding_length_per_layer_input", &v->layer_input},
        {"nextn_predict_layers", &v->predicting},
        {"attention.key_length_mla", &latent_key},
        {"attention.value_length_mla", &latent_value},
        {"attention.q_lora_rank", &v->query_rank},
    };
    gufo_status status = read_counts(r, keys, COUNT_OF_KEYS(keys));

    if (status == GUFO_OK)
        status = read_vocabulary(r);
    if (status == GUFO_OK)
        status = need(r, "block_count", v->layers);
    if (status == GUFO_OK)
        status = need(r, "embedding_length", v->embedding);
    if (status == GUFO_OK)
        status = need(r, "context_length", v->context);
    if (status == GUFO_OK)
        status = need(r, "vocab_size", v->vocabulary);
    if (status != GUFO_OK)
        return status;
    if (v->layers > GUFO_ESTIMATE_MAX_LAYERS)
        return refuse(r->error, GUFO_E_RANGE, "the model has %s layers, llama.cpp takes %d",
                      GROUPED(v->layers), GUFO_ESTIMATE_MAX_LAYERS);
    v->is_latent = latent_key != 0 && latent_value != 0;
    v->latent_key_length = latent_key;
    v->latent_value_length = latent_value;
    v->is_causal = read_flag(r, "attention.causal");
    v->is_parallel = read_flag(r, "use_parallel_residual");
    return GUFO_OK;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* The window, by the columns `window` and `absent_window`: that of the key, or always the same. */
static gufo_status read_window(const reading *r)
{
    const memory_rule *rule = &r->v->rule;
    uint64_t window = 0;
    gufo_entry entry;
    gufo_status status = GUFO_OK;

    if (!rule->has_windows)
        return GUFO_OK;
    if (rule->window_layers != 0 && rule->window_layers != r->v->layers)
        return GUFO_OK;
    if (!find_entry(r, "attention.sliding_window", &entry))
        window = rule->absent_window;
    else
        status = check_count(r, "attention.sliding_window", &entry.value, &window);
    if (window > 0 && rule->window > 0)
        window = rule->window;
    r->v->window = window;
    return status;
}

/* Whether a layer has a window: by the flags of the file, or by place in a period of layers, whose last
 * one (or first one) has none. */
static gufo_status read_layer_window(const reading *r, uint64_t layer)
{
    const memory_rule *rule = &r->v->rule;
    const char *name = "attention.sliding_window_pattern";
    uint64_t period = rule->period, flag = 0;
    gufo_entry entry;
    gufo_status status;

    if (r->v->window == 0)
        return GUFO_OK;
    if (find_entry(r, name, &entry) && entry.value.type == GUFO_VALUE_ARRAY) {
        if (rule->has[RULE_ARRAY]) {
            status = read_layer_count(r, name, layer, &flag);
            r->v->layer[layer].has_window = flag != 0;
            return status;
        }
    } else {
        status = read_count(r, name, &period);
        if (status != GUFO_OK)
            return status;
    }
    r->v->layer[layer].has_window =
        period == 0 ||
        (rule->has[RULE_DENSE_FIRST] ? layer % period != 0 : layer % period < period - 1);
    return GUFO_OK;
}

/* ---- layers --------------------------------------------------------------------------------- */

static gufo_status read_layer_lengths(const reading *r, layer_values *l)
{
    gufo_status status = read_count(
        r, l->has_window ? "attention.key_length_swa" : "attention.key_length", &l->key_length);

    if (status == GUFO_OK)
        status =
            read_count(r, l->has_window ? "attention.value_length_swa" : "attention.value_length",
                       &l->value_length);
    return status;
}

static gufo_status read_layer(const reading *r, uint64_t layer)
{
    layer_values *l = &r->v->layer[layer];
    gufo_status status = read_layer_count(r, "attention.head_count", layer, &l->heads);

    if (status == GUFO_OK)
        status = read_layer_count(r, "attention.head_count_kv", layer, &l->kv_heads);
    if (status == GUFO_OK)
        status = read_layer_count(r, "feed_forward_length", layer, &l->feed_forward);
    if (status == GUFO_OK)
        status = read_layer_window(r, layer);
    return status == GUFO_OK ? read_layer_lengths(r, l) : status;
}

/* Whether a layer of a hybrid by interval is recurrent. */
static gufo_status read_recurrent(const reading *r, uint64_t layer, bool *out)
{
    uint64_t interval = 0, flag = 0;
    gufo_entry entry;
    gufo_status status;

    if (find_entry(r, "attention.recurrent_layers", &entry)) {
        status = read_layer_count(r, "attention.recurrent_layers", layer, &flag);
        *out = flag != 0;
        return status;
    }
    status = read_count(r, "full_attention_interval", &interval);
    *out = interval == 0 || (layer + 1) % interval != 0;
    return status;
}

/* What a layer keeps of the tokens before: the column `layers`. */
static gufo_status find_kind(const reading *r, uint64_t layer)
{
    layers_rule kind = r->v->rule.layers;
    layer_values *l = &r->v->layer[layer];
    bool is_recurrent = false;
    gufo_status status = GUFO_OK;

    if (kind == LAYERS_INTERVAL)
        status = read_recurrent(r, layer, &is_recurrent);
    else if (kind == LAYERS_HEADS)
        is_recurrent = l->kv_heads == 0;
    else if (kind == LAYERS_FEED_FORWARD)
        is_recurrent = l->kv_heads == 0 && l->feed_forward == 0;
    else
        is_recurrent = kind == LAYERS_STATE;
    l->has_state = is_recurrent || kind == LAYERS_BOTH;
    l->has_cache = !is_recurrent && kind != LAYERS_NONE;
    if (kind == LAYERS_FEED_FORWARD && l->feed_forward > 0)
        l->has_cache = false;
    return status;
}

/* Layers at the end that use the caches of others, and layers that predict further tokens. */
static gufo_status drop_caches(const reading *r)
{
    model_values *v = r->v;
    const memory_rule *rule = &v->rule;
    uint64_t kept = v->layers, dropped = 0;
    gufo_status status = GUFO_OK;

    if (rule->shared > 0)
        kept = smaller(kept, rule->shared);
    else if (rule->shared_key != NULL)
        status = read_count(r, rule->shared_key, &dropped);
    if (status == GUFO_OK && rule->has[RULE_SKIPS_NEXTN])
        dropped = v->predicting;
    kept -= smaller(kept, dropped);
    for (uint64_t layer = kept; layer < v->layers; layer++)
        v->layer[layer].has_cache = v->layer[layer].has_state = false;
    return status;
}

/* Zero heads are an error where a layer has attention: everywhere, or where only one count is 0. */
static gufo_status check_heads(const reading *r)
{
    bool has_heads = false, has_cache = false;

    for (uint64_t i = 0; i < r->v->layers; i++) {
        const layer_values *l = &r->v->layer[i];

        has_cache |= l->has_cache;
        has_heads |= l->has_cache && l->kv_heads > 0;
        if (l->has_cache && (l->heads == 0) != (l->kv_heads == 0))
            return refuse(r->error, GUFO_E_RANGE,
                          "layer %" PRIu64 " has %s heads, and %s for keys and values", i,
                          GROUPED(l->heads), GROUPED(l->kv_heads));
    }
    return has_heads || !has_cache ? GUFO_OK
                                   : refuse(r->error, GUFO_E_RANGE, "no layer has attention heads");
}

/* ---- recurrent state ------------------------------------------------------------------------ */

static gufo_status read_space_state(reading *r)
{
    model_values *v = r->v;
    bool *large = &r->is_too_large;
    uint64_t conv = 0;
    const count_key keys[] = {
        {"ssm.conv_kernel", &conv},
        {"ssm.inner_size", &v->inner},
        {"ssm.state_size", &v->state},
        {"ssm.group_count", &v->groups},
        {"ssm.time_step_rank", &v->time_steps},
    };
    gufo_status status = read_counts(r, keys, COUNT_OF_KEYS(keys));
    uint64_t groups = amount_times(large, 2 * v->groups, v->state);

    v->state_r = amount_times(large, conv > 0 ? conv - 1 : 0, amount_plus(large, v->inner, groups));
    v->state_s = amount_times(large, v->state, v->inner);
    return status;
}

static gufo_status read_rwkv_state(reading *r)
{
    uint64_t shifts = 0, head = 0;
    const count_key keys[] = {{"token_shift_count", &shifts}, {"wkv.head_size", &head}};
    gufo_status status = read_counts(r, keys, COUNT_OF_KEYS(keys));

    r->v->state_r = amount_times(&r->is_too_large, shifts, r->v->embedding);
    r->v->state_s = amount_times(&r->is_too_large, r->v->embedding, head);
    return status;
}

static gufo_status read_shortconv_state(reading *r)
{
    uint64_t length = 0;
    gufo_status status = read_count(r, "shortconv.l_cache", &length);

    r->v->state_r = amount_times(&r->is_too_large, r->v->embedding, length > 0 ? length - 1 : 0);
    return status;
}

static gufo_status read_state(reading *r)
{
    static gufo_status (*const families[])(reading * r) = {[STATE_MAMBA] = read_space_state,
                                                           [STATE_RWKV] = read_rwkv_state,
                                                           [STATE_SHORTCONV] =
                                                               read_shortconv_state};

    return r->v->rule.state != STATE_NONE ? families[r->v->rule.state](r) : GUFO_OK;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status find_rule(reading *r)
{
    gufo_status status = gufo_model_get_str(r->model, "general.architecture", &r->arch, r->error);

    if (status == GUFO_E_TYPE)
        return refuse(r->error, GUFO_E_RANGE, "general.architecture is not a string");
    if (status != GUFO_OK)
        return status;
    return rule_read(&r->v->rule, r->arch)
               ? GUFO_OK
               : refuse(r->error, GUFO_E_TYPE, "no rule is known for the architecture %s",
                        QUOTED(r->arch));
}

static gufo_status read_experts(const reading *r)
{
    model_values *v = r->v;
    uint64_t shared = 0;
    gufo_status status;

    status = read_layer_count(r, "expert_feed_forward_length", 0, &v->expert_feed_forward);
    if (status == GUFO_OK)
        status = read_count(r, "expert_shared_count", &shared);
    v->shared_feed_forward = shared * v->expert_feed_forward;
    return status == GUFO_OK
               ? read_count(r, "expert_shared_feed_forward_length", &v->shared_feed_forward)
               : status;
}

gufo_status values_read(model_values *v, const gufo_model *model, gufo_error *error)
{
    reading r = {.v = v, .model = model, .error = error};
    gufo_status status = find_rule(&r);

    if (status == GUFO_OK)
        status = read_model(&r);
    if (status == GUFO_OK)
        status = read_window(&r);
    for (uint64_t layer = 0; status == GUFO_OK && layer < v->layers; layer++) {
        status = read_layer(&r, layer);
        if (status == GUFO_OK)
            status = find_kind(&r, layer);
    }
    if (status == GUFO_OK)
        status = drop_caches(&r);
    if (status == GUFO_OK)
        status = check_heads(&r);
    if (status == GUFO_OK)
        status = read_experts(&r);
    if (status == GUFO_OK)
        status = read_state(&r);
    return status == GUFO_OK && r.is_too_large ? amount_refuse(error) : status;
}
