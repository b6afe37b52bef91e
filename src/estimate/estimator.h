/* The memory that a model needs, the interface inside the room.  Its files, in the order of the work:
 *
 *     rules.c      the tables of registry/: what holds for an architecture, and for a tensor
 *     values.c     hyperparameters of a model, for every layer
 *     weights.c    tensors: their bytes, and where they are loaded
 *     beside.c     adapters, a projector, a draft: what is loaded beside the model
 *     estimator.c  the object that holds these
 *
 *     settings.c   options, as llama.cpp changes or refuses them
 *     context.c    the cache of keys and values, the recurrent state
 *     compute.c    buffers for computing and for the output
 *     peak.c       those of transformers: steps.c has the steps of a layer and places tensors
 *     speed.c      what a token reads
 *     fit.c        the inverse: options that fit into memory
 *
 *     curve.c      memory over the context
 *     explain.c    what holds for an architecture, in words
 *     places.c     places of tensors by their names, as text
 *
 * Counts are below 2^32 each, as in llama.cpp; their sums and products go through amount_*, which note
 * in a flag that a number does not fit into 64 bits. */
#ifndef GUFO_ESTIMATE_ESTIMATOR_H
#define GUFO_ESTIMATE_ESTIMATOR_H

#include "gufo/estimate.h"

#include "base/checked.h"

/* ---- numbers that may be too large ---------------------------------------------------------- */

static inline uint64_t amount_plus(bool *is_too_large, uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    *is_too_large |= !checked_add(a, b, &sum);
    return sum;
}

static inline uint64_t amount_times(bool *is_too_large, uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    *is_too_large |= !checked_mul(a, b, &product);
    return product;
}

static inline uint64_t amount_align(bool *is_too_large, uint64_t value, uint64_t alignment)
{
    uint64_t aligned = 0;

    *is_too_large |= !checked_align(value, alignment, &aligned);
    return aligned;
}

/* ---- rules.c -------------------------------------------------------------------------------- */

/* Which layers have a cache, and which a recurrent state. */
typedef enum layers_rule {
    LAYERS_ATTENTION, /* all have a cache */
    LAYERS_NONE,
    LAYERS_STATE, /* all have a state */
    LAYERS_BOTH,
    LAYERS_HEADS,        /* a state without heads for keys and values */
    LAYERS_FEED_FORWARD, /* a state without these and a feed-forward part */
    LAYERS_INTERVAL,     /* a cache in every n-th */
} layers_rule;

typedef enum state_family { STATE_NONE, STATE_MAMBA, STATE_RWKV, STATE_SHORTCONV } state_family;

/* The words of a row of the table memory, which registry/README.md explains, by name. */
#define RULE_WORDS_BY_NAME(WORD)                       \
    WORD(ARRAY, "array")                               \
    WORD(ATTENTION, "attention")                       \
    WORD(DENSE_FIRST, "dense_first")                   \
    WORD(EXPERTS, "experts")                           \
    WORD(GATED, "gated")                               \
    WORD(HALVES, "halves")                             \
    WORD(LATE_ROWS, "late_rows")                       \
    WORD(LAYER_INPUTS, "layer_inputs")                 \
    WORD(LAYER_NORM, "layer_norm")                     \
    WORD(MAMBA, "mamba")                               \
    WORD(MAMBA2, "mamba2")                             \
    WORD(NO_TABLE, "never")                            \
    WORD(NO_FLASH, "off")                              \
    WORD(ONE_NORM, "one_norm")                         \
    WORD(OVER_STREAM, "over_stream")                   \
    WORD(OVER_SUM, "over_sum")                         \
    WORD(PARALLEL, "parallel")                         \
    WORD(PARALLEL_HEADS_FIRST, "parallel_heads_first") \
    WORD(PARALLEL_STREAM_LAST, "parallel_stream_last") \
    WORD(PLAIN, "plain")                               \
    WORD(POST_NORM, "post_norm")                       \
    WORD(RWKV7, "rwkv7")                               \
    WORD(SHARED, "shared")                             \
    WORD(SKIPS_NEXTN, "skipped")                       \
    WORD(SOFTMAX_SHARES, "softmax_shares")             \
    WORD(STEPS, "steps")                               \
    WORD(TABLE_TWICE, "twice")                         \
    WORD(UNROTATED, "unrotated")                       \
    WORD(UNROTATED_FULL, "unrotated_full")

typedef enum rule_word {
#define WORD(name, word) RULE_##name,
    RULE_WORDS_BY_NAME(WORD)
#undef WORD
        RULE_WORDS
} rule_word;

/* How a model of an architecture uses memory. */
typedef struct memory_rule {
    const char *arch;
    layers_rule layers;
    state_family state;
    bool has[RULE_WORDS];
    bool has_windows, has_snapshots;
    bool is_measured; /* buffers for computing are known */
    uint64_t period, window, absent_window, window_layers;
    uint64_t shared;        /* so many layers have caches of their own; 0: all */
    const char *shared_key; /* the key that says how many at the end have none; NULL: none */
    uint64_t extra, tail, margin;
} memory_rule;

/* False if no rule is known. */
bool rule_read(memory_rule *out, gufo_str arch);

typedef enum tensor_place {
    PLACE_HOST,
    PLACE_FIRST,      /* with layer 0 */
    PLACE_LAYER,      /* with its own layer */
    PLACE_EVERY,      /* a copy wherever layers are */
    PLACE_UNWINDOWED, /* a copy wherever layers without a window are */
    PLACE_OUTPUT,     /* with the output layer */
} tensor_place;

/* What a tensor is for; all of a mask. */
enum {
    ROLE_TABLE = 1 << 0,  /* of token embeddings */
    ROLE_HEAD = 1 << 1,   /* the output: the table is not used for it */
    ROLE_EXPERT = 1 << 2, /* of several experts, one after the other */
    ROLE_DENSE = 1 << 3,  /* of a feed-forward part without experts */
    ROLE_FUSED = 1 << 4,  /* queries, keys and values in one */
};

typedef struct tensor_rule {
    tensor_place place;
    unsigned roles;
} tensor_rule;

/* `name` is a pattern, without ".weight". */
tensor_rule rule_read_tensor(const char *arch, const char *name);

/* ---- values.c ------------------------------------------------------------------------------- */

typedef struct layer_values {
    uint64_t heads, kv_heads, feed_forward;
    uint64_t key_length, value_length; /* of one head */
    bool has_cache, has_state, has_window;
} layer_values;

typedef struct model_values {
    memory_rule rule;
    uint64_t layers, embedding, vocabulary, context, window;
    uint64_t predicting; /* layers, the last ones, that predict further tokens */
    uint64_t experts, experts_used, expert_feed_forward;
    uint64_t shared_feed_forward; /* of experts that all tokens use */
    uint64_t layer_input;         /* elements of an embedding that each layer has of its own */
    bool is_causal;
    bool is_parallel;                                /* where layers may be: see peak.c */
    bool is_latent;                                  /* keys and values are one compressed vector */
    uint64_t latent_key_length, latent_value_length; /* of one head, when computed */
    uint64_t query_rank;                             /* of compressed queries; 0: none */
    uint64_t inner, state, groups, time_steps;       /* of state space models */
    uint64_t state_r, state_s;                       /* elements for one layer and sequence */
    layer_values layer[GUFO_ESTIMATE_MAX_LAYERS];
} model_values;

gufo_status values_read(model_values *v, const gufo_model *model, gufo_error *error);

/* ---- weights.c ------------------------------------------------------------------------------ */

typedef struct weight {
    gufo_str name;
    uint64_t offset, bytes; /* offset: GUFO_NO_OFFSET if the model is made */
    uint64_t row_bytes;
    uint64_t layer; /* of PLACE_LAYER */
    tensor_place place;
    uint32_t shard;
    unsigned roles;
} weight;

typedef struct model_weights {
    weight *list;
    uint64_t count;
    uint64_t unused_bytes, missing;
    unsigned roles; /* all that tensors have */
    bool is_dense[GUFO_ESTIMATE_MAX_LAYERS], is_fused[GUFO_ESTIMATE_MAX_LAYERS]; /* each layer */
} model_weights;

/* Reads what a tensor is; false if the architecture does not use it. */
bool estimate_weight_read(weight *out, const gufo_tensor *tensor, const model_values *v);
gufo_status estimate_weights_read(model_weights *w, const gufo_model *model, const model_values *v,
                                  const gufo_allocator *allocator, gufo_error *error);

/* ---- settings.c ----------------------------------------------------------------------------- */

/* Options with all defaults, and what llama.cpp makes of them. */
typedef struct settings {
    gufo_estimate_options o;
    uint64_t n_ctx, n_ctx_seq, n_batch, n_ubatch, n_streams, n_outputs;
    uint64_t reserve; /* tokens of the graph that memory is reserved for */
    bool flash;
    uint64_t window_cells; /* of a layer with a window, and stream */
    uint64_t first;        /* layers below are on the host */
    uint64_t on_devices;   /* layers that are not, with the output */
    /* Of the host (0) and each device: up to which share of the layers on devices it has them. */
    float split[1 + GUFO_ESTIMATE_MAX_DEVICES];
} settings;

gufo_status settings_make(settings *s, const model_values *v, const gufo_estimate_options *options,
                          gufo_error *error);
/* The device, from 1, or 0 for the host, of a layer, or the output for v->layers. */
uint32_t settings_device(const settings *s, uint64_t layer);

/* Bytes of a row of the cache. */
uint64_t settings_row(bool *is_too_large, const gufo_element_type *type, uint64_t elements);

/* ---- parts of an estimate: each fills its members of *out -------------------------------------- */

/* Where the experts of layers are that are on devices. */
typedef struct expert_places {
    bool on_host, on_devices;
} expert_places;

gufo_status estimate_weights_sum(const model_weights *w, const model_values *v, const settings *s,
                                 gufo_estimate *out, expert_places *experts, gufo_error *error);
gufo_status context_sum(const model_values *v, const settings *s, gufo_estimate *out,
                        gufo_error *error);
gufo_status compute_sum(const model_weights *w, const expert_places *experts, const model_values *v,
                        const settings *s, gufo_estimate *out, gufo_error *error);

/* "a number of bytes does not fit" */
gufo_status amount_refuse(gufo_error *error);

/* The device, from 1, or 0 for the host, of a weight. */
gufo_status estimate_weight_device(const weight *w, const model_values *v, const settings *s,
                                   uint32_t *out, gufo_error *error);
/* Bytes of a weight in a buffer. */
uint64_t estimate_weight_room(bool *is_too_large, uint64_t bytes);

/* ---- beside.c ------------------------------------------------------------------------------- */

typedef struct companions {
    weight *list; /* tensors of adapters: each is where the weight of the same name is */
    uint64_t count, room;
    uint64_t projector_bytes;
    const gufo_estimator *draft; /* or NULL */
} companions;

gufo_status companions_sum(const companions *c, const model_values *v, const settings *s,
                           gufo_estimate *out, gufo_error *error);
/* Adds the estimate of a draft; false if a sum does not fit into 64 bits. */
bool companions_add_draft(const gufo_estimate *draft, gufo_estimate *out);

/* ---- peak.c --------------------------------------------------------------------------------- */

/* Bytes of the buffer in which a transformer computes the layers of one device (from 1; 0: the host).
 * `are_lent`: the host computes the experts of devices. */
uint64_t peak_find(const model_values *v, const model_weights *w, const settings *s,
                   uint32_t device, bool are_lent, bool *is_too_large);

/* ---- speed.c -------------------------------------------------------------------------------- */

/* False for layers that predict further tokens. */
bool speed_has_layer(const model_values *v, uint64_t layer);
/* Bytes that one token reads of a weight, of a cache and of a state. */
uint64_t speed_weight(const weight *w, const model_values *v);
uint64_t speed_cache(const settings *s, uint64_t bytes);
uint64_t speed_state(const model_values *v, const settings *s, uint64_t bytes);

/* ---- estimator.c ---------------------------------------------------------------------------- */

struct gufo_estimator {
    gufo_allocator allocator;
    const gufo_model *model;
    model_values values;
    model_weights weights;
    companions beside;
};

#endif
