/* The steps of a layer of a transformer: which tensors come and go, in which order. */
#ifndef ESTIMATE_STEPS_H
#define ESTIMATE_STEPS_H

#include <stddef.h>

typedef enum slot {
    WANTED,    /* which rows have logits */
    POSITIONS, /* of tokens */
    KEY_PLACES,
    VALUE_PLACES, /* where keys and values go in the cache */
    CACHE_MASK,   /* which cells a token sees */
    KEY_MIXER,
    VALUE_MIXER, /* matrices for quantized caches */
    STREAM,      /* what goes from layer to layer */
    RESIDUAL,    /* of a parallel layer: the stream until it is added */
    ATTENDED,    /* what attention adds to it, where it comes first */
    NORM,
    FUSED_HEADS, /* queries, keys and values in one */
    QUERY,
    ROTATED_QUERY,
    MIXED_QUERY,
    KEYS,
    ROTATED_KEYS,
    MIXED_KEYS,
    VALUES,
    MIXED_VALUES,
    KEY_COPY,
    VALUE_COPY,
    SCORES,
    HEADS,
    MIXED_HEADS,
    SUM,
    GATE,
    UP,
    PRODUCT,
    ROUTES,
    CHOICE,
    SHARES,
    SOFT_SHARES, /* made of these by a softmax */
    PARTS,
    SHARED_RESULT,
    RANK, /* of compressed queries, keys and values */
    ABSORBED,
    POSITIONED,
    COMPRESSED,
    SLOTS
} slot;

typedef enum width {
    W_EMBEDDING,
    W_STREAM, /* the same for all rows */
    W_QUERY,
    W_FUSED,
    W_KEYS,
    W_VALUES,
    W_HEADS,
    W_SCORES,
    W_KEY_COPY,
    W_VALUE_COPY,
    W_MASK,
    W_FEED_FORWARD,
    W_EXPERTS, /* feed-forward parts of all experts in use */
    W_PARTS,   /* their results */
    W_ROUTES,
    W_SHARES,
    W_SHARED,
    W_QUERY_RANK, /* compressed: see latent_steps */
    W_HEAD_QUERY,
    W_ABSORBED,
    W_POSITIONED,
    W_COMPRESSED,
    W_COMPRESSED_KEYS,
    W_KEY_POSITION,
    W_HEAD_VALUE,
    W_VALUE_CELLS,
    WIDTHS
} width;

/* When a step is made; all of a mask. */
enum {
    FLASH = 1 << 0,
    PLAIN_ATTENTION = 1 << 1,
    ROTATED = 1 << 2, /* by positions, or a norm of each head: not written over what it reads */
    MIXED_K = 1 << 3,
    MIXED_V = 1 << 4, /* quantized caches: elements are mixed before they are written */
    COPIED_K = 1 << 5,
    COPIED_V = 1 << 6, /* caches of F32 */
    GATED = 1 << 7,
    UNGATED = 1 << 8,
    EXPERTS = 1 << 9,
    LAST_HERE = 1 << 10, /* on a device */
    NORMED = 1 << 11,    /* here, not on the device before */
    LENT = 1 << 12,      /* the results of experts come from the host */
    FETCHED = 1 << 13,   /* the cache comes from the host */
    UNMASKED = 1 << 14,  /* and the mask is not there yet */
    SHARED = 1 << 15,    /* experts, and one that all tokens use */
    UNSHARED = 1 << 16,
    UNROTATED = 1 << 17,
    ALONE = 1 << 18,    /* attention has a norm for itself */
    RENORMED = 1 << 19, /* so that the feed-forward part has one, too */
    KEYS_FIRST = 1 << 20,
    VALUES_FIRST = 1 << 21,
    LAST_CACHED =
        1 << 22, /* the last layer with a cache of its kind: nobody reads the inputs of it again */
    NARROWED =
        1 << 23, /* the last layer, which goes on with just the rows whose logits are wanted */
    SOFTENED = 1 << 24, /* the shares of experts are a softmax of those in use */
};

typedef struct step {
    enum { TAKE, FREE } what;
    slot slot;
    width width;
    unsigned when;
} step;

/* A part of a layer. */
typedef struct step_list {
    const step *steps;
    size_t count;
} step_list;

extern const step_list projection_steps, fused_steps, attention_steps, latent_steps, input_steps,
    unmixing_steps, sum_steps, last_row_steps, feed_forward_steps;

#endif
