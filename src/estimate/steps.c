/* The tables of steps, as llama.cpp builds its graphs. */
#include "estimate/steps.h"

static const step projection_table[] = {
    {TAKE, NORM, W_EMBEDDING, NORMED},
    {TAKE, QUERY, W_QUERY, 0},
    {TAKE, ROTATED_QUERY, W_QUERY, ROTATED},
    {FREE, QUERY, 0, ROTATED},
    {TAKE, MIXED_QUERY, W_QUERY, MIXED_K},
    {FREE, QUERY, 0, MIXED_K},
    {FREE, ROTATED_QUERY, 0, MIXED_K},
    {TAKE, VALUES, W_VALUES, VALUES_FIRST},
    {TAKE, MIXED_VALUES, W_VALUES, VALUES_FIRST | MIXED_V},
    {FREE, VALUES, 0, VALUES_FIRST | MIXED_V},
    {TAKE, KEYS, W_KEYS, 0},
    {FREE, NORM, 0, VALUES_FIRST | ALONE},
    {TAKE, ROTATED_KEYS, W_KEYS, ROTATED},
    {FREE, KEYS, 0, ROTATED},
    {FREE, POSITIONS, 0, ROTATED | LAST_HERE},
    {TAKE, MIXED_KEYS, W_KEYS, MIXED_K},
    {FREE, KEYS, 0, MIXED_K},
    {FREE, ROTATED_KEYS, 0, MIXED_K},
    {FREE, KEY_MIXER, 0, LAST_CACHED},
    {TAKE, VALUES, W_VALUES, KEYS_FIRST},
    {FREE, NORM, 0, KEYS_FIRST | ALONE},
    {TAKE, MIXED_VALUES, W_VALUES, KEYS_FIRST | MIXED_V},
    {FREE, VALUES, 0, KEYS_FIRST | MIXED_V},
    {FREE, KEYS, 0, 0},
    {FREE, ROTATED_KEYS, 0, 0},
    {FREE, MIXED_KEYS, 0, 0},
    {FREE, KEY_PLACES, 0, LAST_CACHED},
    {FREE, VALUES, 0, 0},
    {FREE, MIXED_VALUES, 0, 0},
    {FREE, VALUE_PLACES, 0, LAST_CACHED},
};

/* One matrix for all three: what is used as it is, is a part of the result. */
static const step fused_table[] = {
    {TAKE, NORM, W_EMBEDDING, NORMED},
    {TAKE, FUSED_HEADS, W_FUSED, 0},
    {FREE, NORM, 0, ALONE},
    {TAKE, QUERY, W_QUERY, ROTATED},
    {TAKE, QUERY, W_QUERY, UNROTATED | MIXED_K},
    {TAKE, MIXED_QUERY, W_QUERY, MIXED_K},
    {FREE, QUERY, 0, MIXED_K},
    {TAKE, VALUES, W_VALUES, MIXED_V},
    {TAKE, MIXED_VALUES, W_VALUES, MIXED_V},
    {FREE, VALUES, 0, MIXED_V},
    {TAKE, KEYS, W_KEYS, ROTATED},
    {TAKE, KEYS, W_KEYS, UNROTATED | MIXED_K},
    {FREE, FUSED_HEADS, 0, ROTATED | MIXED_V},
    {FREE, FUSED_HEADS, 0, MIXED_K | MIXED_V},
    {TAKE, MIXED_KEYS, W_KEYS, MIXED_K},
    {FREE, KEYS, 0, 0},
    {FREE, MIXED_KEYS, 0, 0},
    {FREE, MIXED_VALUES, 0, 0},
    {TAKE, VALUES, W_VALUES, PLAIN_ATTENTION},
    {FREE, FUSED_HEADS, 0, ROTATED},
    {FREE, FUSED_HEADS, 0, MIXED_K},
    {FREE, VALUES, 0, 0},
};

static const step attention_table[] = {
    {TAKE, KEY_COPY, W_KEY_COPY, FLASH | COPIED_K},
    {TAKE, VALUE_COPY, W_VALUE_COPY, FLASH | COPIED_V},
    {TAKE, KEY_COPY, W_KEY_COPY, FETCHED},
    {TAKE, VALUE_COPY, W_VALUE_COPY, FETCHED},
    {TAKE, CACHE_MASK, W_MASK, UNMASKED},
    {TAKE, SCORES, W_SCORES, PLAIN_ATTENTION},
    {TAKE, HEADS, W_HEADS, FLASH},
    {FREE, FUSED_HEADS, 0, 0},
    {FREE, QUERY, 0, 0},
    {FREE, ROTATED_QUERY, 0, 0},
    {FREE, MIXED_QUERY, 0, 0},
    {FREE, KEY_COPY, 0, 0},
    {FREE, VALUE_COPY, 0, 0},
    {FREE, CACHE_MASK, 0, LAST_CACHED},
    {TAKE, HEADS, W_HEADS, PLAIN_ATTENTION},
    {FREE, SCORES, 0, 0},
    {TAKE, MIXED_HEADS, W_HEADS, PLAIN_ATTENTION},
    {FREE, HEADS, 0, PLAIN_ATTENTION},
};

static const step unmixing_table[] = {
    {TAKE, MIXED_HEADS, W_HEADS, FLASH | MIXED_V},
    {FREE, HEADS, 0, MIXED_V},
    {FREE, VALUE_MIXER, 0, LAST_CACHED},
};

/* What of these inputs other lists have left. */
static const step input_table[] = {
    {FREE, POSITIONS, 0, LAST_HERE},    {FREE, KEY_MIXER, 0, LAST_CACHED},
    {FREE, KEY_PLACES, 0, LAST_CACHED}, {FREE, VALUE_PLACES, 0, LAST_CACHED},
    {FREE, CACHE_MASK, 0, LAST_CACHED},
};

/* Keys and values are one compressed vector (MLA): queries are multiplied by the matrix that would
 * expand keys, so that they meet the vector as it is in the cache. */
static const step latent_table[] = {
    {TAKE, NORM, W_EMBEDDING, NORMED},
    {TAKE, RANK, W_QUERY_RANK, 0},
    {TAKE, QUERY, W_HEAD_QUERY, 0},
    {FREE, RANK, 0, 0},
    {TAKE, ABSORBED, W_ABSORBED, 0},
    {TAKE, POSITIONED, W_POSITIONED, 0},
    {FREE, QUERY, 0, 0},
    {TAKE, ROTATED_QUERY, W_QUERY, 0},
    {FREE, ABSORBED, 0, 0},
    {FREE, POSITIONED, 0, 0},
    {TAKE, RANK, W_COMPRESSED_KEYS, 0},
    {FREE, NORM, 0, 0},
    {TAKE, COMPRESSED, W_COMPRESSED, 0},
    {TAKE, POSITIONED, W_KEY_POSITION, 0},
    {FREE, RANK, 0, 0},
    {TAKE, KEYS, W_COMPRESSED_KEYS, 0},
    {FREE, COMPRESSED, 0, 0},
    {FREE, POSITIONED, 0, 0},
    {FREE, KEYS, 0, 0},
    {TAKE, KEY_COPY, W_KEY_COPY, FLASH | COPIED_K},
    {TAKE, VALUE_COPY, W_VALUE_COPY, FLASH | COPIED_V},
    {TAKE, KEY_COPY, W_KEY_COPY, FETCHED},
    {TAKE, CACHE_MASK, W_MASK, UNMASKED},
    {TAKE, VALUE_COPY, W_VALUE_CELLS, PLAIN_ATTENTION},
    {TAKE, SCORES, W_SCORES, PLAIN_ATTENTION},
    {TAKE, HEADS, W_HEADS, FLASH},
    {FREE, ROTATED_QUERY, 0, 0},
    {TAKE, HEADS, W_HEADS, PLAIN_ATTENTION},
    {FREE, KEY_COPY, 0, 0},
    {FREE, VALUE_COPY, 0, 0},
    {FREE, SCORES, 0, 0},
    {TAKE, MIXED_HEADS, W_HEAD_VALUE, 0},
    {FREE, HEADS, 0, 0},
    {TAKE, HEADS, W_HEAD_VALUE, 0},
    {FREE, MIXED_HEADS, 0, 0},
};

/* The last layer goes on with just the rows whose logits are wanted: widths change here. */
static const step sum_table[] = {
    {TAKE, SUM, W_STREAM, 0},
    {FREE, HEADS, 0, 0},
    {FREE, MIXED_HEADS, 0, 0},
};
static const step last_row_table[] = {
    {TAKE, GATE, W_EMBEDDING, NARROWED}, {FREE, SUM, 0, NARROWED},
    {TAKE, UP, W_EMBEDDING, NARROWED},   {FREE, STREAM, 0, 0},
    {FREE, WANTED, 0, NARROWED},         {FREE, UP, 0, NARROWED},
};

static const step feed_forward_table[] = {
    {TAKE, NORM, W_EMBEDDING, RENORMED},
    {TAKE, ROUTES, W_ROUTES, EXPERTS},
    {TAKE, CHOICE, W_ROUTES, EXPERTS},
    {TAKE, SHARES, W_SHARES, EXPERTS},
    {FREE, ROUTES, 0, EXPERTS},
    {TAKE, SOFT_SHARES, W_SHARES, EXPERTS | SOFTENED},
    {FREE, SHARES, 0, SOFTENED},
    {TAKE, GATE, W_FEED_FORWARD, GATED},
    {TAKE, UP, W_FEED_FORWARD, GATED},
    {TAKE, PRODUCT, W_FEED_FORWARD, UNGATED},
    {TAKE, GATE, W_EXPERTS, EXPERTS},
    {TAKE, UP, W_EXPERTS, EXPERTS},
    {FREE, NORM, 0, UNSHARED},
    {TAKE, PRODUCT, W_FEED_FORWARD, GATED},
    {TAKE, PRODUCT, W_EXPERTS, EXPERTS},
    {FREE, GATE, 0, 0},
    {FREE, UP, 0, 0},
    {TAKE, PARTS, W_PARTS, EXPERTS},
    {TAKE, PARTS, W_PARTS, LENT},
    {FREE, PRODUCT, 0, EXPERTS},
    {FREE, CHOICE, 0, EXPERTS},
    {FREE, SHARES, 0, EXPERTS},
    {FREE, SOFT_SHARES, 0, EXPERTS},
    {TAKE, STREAM, W_EMBEDDING, 0},
    {FREE, PRODUCT, 0, 0},
    {FREE, PARTS, 0, 0},
    {TAKE, GATE, W_SHARED, SHARED},
    {TAKE, UP, W_SHARED, SHARED},
    {FREE, NORM, 0, SHARED},
    {TAKE, PRODUCT, W_SHARED, SHARED},
    {FREE, GATE, 0, SHARED},
    {FREE, UP, 0, SHARED},
    {TAKE, SHARED_RESULT, W_EMBEDDING, SHARED},
    {FREE, PRODUCT, 0, SHARED},
    {FREE, SHARED_RESULT, 0, SHARED},
    {FREE, SUM, 0, 0},
};

#define LIST(name)                                               \
    {                                                            \
        name##_table, sizeof name##_table / sizeof *name##_table \
    }

const step_list projection_steps = LIST(projection), fused_steps = LIST(fused),
                attention_steps = LIST(attention), input_steps = LIST(input),
                unmixing_steps = LIST(unmixing), latent_steps = LIST(latent), sum_steps = LIST(sum),
                last_row_steps = LIST(last_row), feed_forward_steps = LIST(feed_forward);
