/* The peak of buffers for computing in a transformer, step by step.
 *
 * llama.cpp gives every tensor of its graph a place before it computes anything: the smallest hole in
 * which it fits, or the end; the place is free again after the last operation that reads it.  The
 * inputs come first and stay.  A layer is always the same list of such steps, here as slots that are
 * taken and released; operations that write over what they read have none.
 *
 *     inputs | rows of the table | norm | queries | rotated queries | values | keys | ...
 *                                  ^ released after the keys: the output of attention fits there
 *
 * The words of the column `compute` choose among the steps.  What these lists do not describe (state
 * space models, delta nets) has a formula in compute.c. */
#include "estimate/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "estimate/estimator.h"

enum { ARENA_HOLES = 64 };

typedef struct hole {
    uint64_t offset, size;
} hole;

typedef struct arena {
    hole holes[ARENA_HOLES]; /* by offset; what follows `end` is free, too */
    size_t count;
    uint64_t end, peak;
    bool is_too_large;
} arena;

/* ---- holes, by offset --------------------------------------------------------------------------- */

#define ALIGNMENT 32

static void remove_hole(arena *a, size_t index)
{
    a->count--;
    memmove(&a->holes[index], &a->holes[index + 1], (a->count - index) * sizeof *a->holes);
}

/* The smallest hole that is large enough, the last one of that size, or the end. */
static hole arena_take(arena *a, uint64_t bytes)
{
    uint64_t size = amount_align(&a->is_too_large, bytes, ALIGNMENT);
    size_t best = a->count;
    hole taken;

    for (size_t i = 0; i < a->count; i++)
        if (a->holes[i].size >= size &&
            (best == a->count || a->holes[i].size <= a->holes[best].size))
            best = i;
    if (best == a->count) {
        taken = (hole){a->end, size};
        a->end = amount_plus(&a->is_too_large, a->end, size);
        a->peak = larger(a->peak, a->end);
        return taken;
    }
    taken = (hole){a->holes[best].offset, size};
    a->holes[best].offset += size;
    a->holes[best].size -= size;
    if (a->holes[best].size == 0)
        remove_hole(a, best);
    return taken;
}

/* Joins a hole with the next one, or with the end. */
static void join_hole(arena *a, size_t index)
{
    hole *one = &a->holes[index];

    if (index + 1 < a->count && one->offset + one->size == one[1].offset) {
        one->size += one[1].size;
        remove_hole(a, index + 1);
    }
    if (index + 1 == a->count && one->offset + one->size == a->end) {
        a->end = one->offset;
        a->count--;
    }
}

static void arena_release(arena *a, hole freed)
{
    size_t at = 0;

    if (freed.size == 0 || a->count == ARENA_HOLES)
        return;
    while (at < a->count && a->holes[at].offset < freed.offset)
        at++;
    memmove(&a->holes[at + 1], &a->holes[at], (a->count - at) * sizeof *a->holes);
    a->holes[at] = freed;
    a->count++;
    join_hole(a, at);
    if (at > 0 && at <= a->count)
        join_hole(a, at - 1);
}

/* ---- one graph ------------------------------------------------------------------------------ */

/* What attention reads beside a cache of one kind: of layers with a window, or without. */
typedef struct cache_inputs {
    hole key_places, value_places, mask, key_mixer, value_mixer;
    bool are_here;
    uint64_t last; /* layer that reads them */
} cache_inputs;

typedef struct graph {
    const model_values *v;
    const model_weights *w;
    const settings *s;
    uint32_t device; /* 0 is the host */
    bool are_lent;   /* experts, by the host */
    arena a;
    hole slots[SLOTS];
    cache_inputs caches[2]; /* without and with a window */
    bool has_windows;
    uint64_t widths[WIDTHS];
    unsigned is; /* which steps are made */
} graph;

static void free_slot(graph *g, slot one)
{
    arena_release(&g->a, g->slots[one]);
    g->slots[one].size = 0;
}

static void run_steps(graph *g, const step_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const step *one = &list->steps[i];

        if ((one->when & g->is) != one->when)
            continue;
        if (one->what == TAKE)
            g->slots[one->slot] = arena_take(&g->a, g->widths[one->width]);
        else
            free_slot(g, one->slot);
    }
}

static uint64_t floats(graph *g, uint64_t rows, uint64_t a, uint64_t b)
{
    bool *large = &g->a.is_too_large;

    return amount_times(large, 4 * rows, amount_times(large, a, b));
}

/* Qwen counts both halves of a gated part. */
static uint64_t feed_forward_width(const model_values *v, const layer_values *l)
{
    return v->rule.has[RULE_HALVES] ? l->feed_forward / 2 : l->feed_forward;
}

/* Widths behind attention, for so many rows. */
static void set_rows(graph *g, const layer_values *l, uint64_t rows)
{
    const model_values *v = g->v;

    g->widths[W_EMBEDDING] = floats(g, rows, v->embedding, 1);
    g->widths[W_FEED_FORWARD] = floats(g, rows, feed_forward_width(v, l), 1);
    g->widths[W_EXPERTS] = floats(g, rows, v->experts_used, v->expert_feed_forward);
    g->widths[W_PARTS] = floats(g, rows, v->experts_used, v->embedding);
    g->widths[W_ROUTES] = floats(g, rows, v->experts, 1);
    g->widths[W_SHARED] = floats(g, rows, v->shared_feed_forward, 1);
    g->widths[W_SHARES] = floats(g, rows, v->experts_used, 1);
}

static bool is_fetched(const graph *g)
{
    return g->device > 0 && g->s->o.no_kv_offload;
}

static uint64_t cache_bytes(graph *g, const gufo_element_type *type, uint64_t elements,
                            uint64_t cells)
{
    bool *large = &g->a.is_too_large;
    uint64_t rows = amount_times(large, cells, g->s->n_streams);

    return amount_times(large, rows, settings_row(large, type, elements));
}

static void set_widths(graph *g, const layer_values *l)
{
    const settings *s = g->s;
    uint64_t cells = l->has_window ? s->window_cells : s->n_ctx_seq;
    bool *large = &g->a.is_too_large;
    uint64_t halves = amount_times(large, 2 * cells, s->n_streams);

    set_rows(g, l, s->reserve);
    g->widths[W_STREAM] = g->widths[W_EMBEDDING];
    g->widths[W_QUERY] = floats(g, s->reserve, l->heads, l->key_length);
    g->widths[W_KEYS] = floats(g, s->reserve, l->kv_heads, l->key_length);
    g->widths[W_VALUES] = floats(g, s->reserve, l->kv_heads, l->value_length);
    g->widths[W_HEADS] = floats(g, s->reserve, l->heads, l->value_length);
    g->widths[W_FUSED] = amount_plus(large, g->widths[W_QUERY],
                                     amount_plus(large, g->widths[W_KEYS], g->widths[W_VALUES]));
    g->widths[W_SCORES] = floats(g, s->reserve, l->heads, cells);
    g->widths[W_KEY_COPY] = amount_times(large, halves, l->kv_heads * l->key_length);
    g->widths[W_VALUE_COPY] = amount_times(large, halves, l->kv_heads * l->value_length);
    g->widths[W_MASK] = amount_times(large, s->reserve * (s->flash ? 2 : 4), cells);
    if (is_fetched(g)) {
        g->widths[W_KEY_COPY] = cache_bytes(g, s->o.type_k, l->kv_heads * l->key_length, cells);
        g->widths[W_VALUE_COPY] = cache_bytes(g, s->o.type_v, l->kv_heads * l->value_length, cells);
    }
}

static void set_latent_widths(graph *g, const layer_values *l)
{
    const settings *s = g->s;
    const model_values *v = g->v;
    uint64_t position = l->key_length - smaller(l->key_length, l->value_length);
    uint64_t cells = amount_times(&g->a.is_too_large, 2 * s->n_ctx_seq, s->n_streams);

    g->widths[W_QUERY_RANK] = floats(g, s->reserve, v->query_rank, 1);
    g->widths[W_HEAD_QUERY] = floats(g, s->reserve, l->heads, v->latent_key_length);
    g->widths[W_ABSORBED] = floats(g, s->reserve, l->heads, l->value_length);
    g->widths[W_POSITIONED] = floats(g, s->reserve, l->heads, position);
    g->widths[W_COMPRESSED] = floats(g, s->reserve, l->value_length, 1);
    g->widths[W_COMPRESSED_KEYS] = floats(g, s->reserve, l->key_length, 1);
    g->widths[W_KEY_POSITION] = floats(g, s->reserve, position, 1);
    g->widths[W_HEAD_VALUE] = floats(g, s->reserve, l->heads, v->latent_value_length);
    g->widths[W_VALUE_CELLS] = amount_times(&g->a.is_too_large, cells, l->value_length);
}

/* The matrix that mixes the elements of a head: the largest power of two that divides it. */
static uint64_t mixing_bytes(uint64_t length)
{
    uint64_t side = 64;

    if (length == 0 || length % side != 0)
        return 0;
    while (length % (2 * side) == 0)
        side *= 2;
    return 4 * side * side;
}

static bool is_mixed(const gufo_element_type *type, uint64_t length)
{
    return (type->flags & GUFO_ELEMENT_QUANTIZED) != 0 && mixing_bytes(length) > 0;
}

static cache_inputs *cache_of(graph *g, const layer_values *l)
{
    return &g->caches[l->has_window];
}

static void add_mixer(graph *g, hole *mixer, const gufo_element_type *type, uint64_t length,
                      uint64_t bytes)
{
    if (is_mixed(type, length))
        *mixer = arena_take(&g->a, bytes);
}

/* A device that fetches its cache from the host mixes what it fetches. */
static void add_cache(graph *g, const layer_values *l)
{
    const settings *s = g->s;
    cache_inputs *c = cache_of(g, l);
    uint64_t cells = l->has_window ? s->window_cells : s->n_ctx_seq;
    uint64_t widest = s->flash ? 1 : l->value_length * l->kv_heads;
    bool *large = &g->a.is_too_large;

    c->are_here = true;
    add_mixer(g, &c->key_mixer, s->o.type_k, l->key_length, mixing_bytes(l->key_length));
    if (!is_fetched(g))
        c->key_places = arena_take(&g->a, 8 * s->reserve);
    add_mixer(g, &c->value_mixer, s->o.type_v, l->value_length, 4 * 64 * 64);
    if (is_fetched(g))
        return;
    c->value_places = arena_take(&g->a, amount_times(large, 8 * s->reserve, widest));
    c->mask = arena_take(&g->a, amount_times(large, s->reserve * (s->flash ? 2 : 4), cells));
}

static bool is_here(const graph *g, uint64_t layer)
{
    return settings_device(g->s, layer) == g->device;
}

/* Inputs of both kinds of caches that layers have, in the order of the layers that read them first: of
 * all layers on the host, where they are made, and on a device of those that are there. */
static void add_caches(graph *g)
{
    for (uint64_t i = 0; i < g->v->layers; i++) {
        const layer_values *l = &g->v->layer[i];

        if (!l->has_cache || (g->device > 0 && !is_here(g, i)))
            continue;
        cache_of(g, l)->last = i;
        if (!cache_of(g, l)->are_here)
            add_cache(g, l);
    }
}

/* GATED or UNGATED, EXPERTS or LENT. */
static unsigned feed_forward_of(const graph *g, uint64_t layer)
{
    bool has_experts = g->v->experts > 0 && g->v->experts_used > 0;

    if (g->w->is_dense[layer])
        return g->v->rule.has[RULE_PLAIN] ? UNGATED : GATED;
    return has_experts && !g->are_lent ? EXPERTS : LENT;
}

/* Whether experts have one beside them that all tokens use. */
static bool has_shared(const graph *g)
{
    return g->v->shared_feed_forward > 0 && g->v->rule.has[RULE_SHARED];
}

/* On the host: tokens, room for embeddings in their place, positions, caches, wanted rows; the rows of
 * the table are the first result. */
static void begin_host(graph *g)
{
    const settings *s = g->s;
    hole tokens = arena_take(&g->a, 4 * s->reserve);

    (void)arena_take(&g->a, floats(g, s->reserve, g->v->embedding, 1));
    g->slots[POSITIONS] = arena_take(&g->a, 4 * s->reserve);
    add_caches(g);
    g->slots[WANTED] = arena_take(&g->a, 4 * s->n_outputs);
    g->slots[STREAM] = arena_take(&g->a, floats(g, s->reserve, g->v->embedding, 1));
    arena_release(&g->a, tokens);
}

/* The results of the last layer on the host, which leaves their sums to the device. */
static void copy_parts(graph *g)
{
    uint64_t rows = g->s->reserve;

    g->slots[PARTS] = arena_take(&g->a, floats(g, rows, g->v->experts_used, g->v->embedding));
    if (g->v->rule.has[RULE_SOFTMAX_SHARES])
        g->slots[SOFT_SHARES] = arena_take(&g->a, floats(g, rows, g->v->experts_used, 1));
}

/* Whether a device selects the rows that have logits: where the last layer is, unless a host leaves that
 * to the output's device. */
static bool has_wanted(const graph *g)
{
    uint64_t last = g->v->layers - 1;
    bool is_late = g->v->rule.has[RULE_LATE_ROWS];

    return is_here(g, last) ||
           (is_late && settings_device(g->s, last) == 0 && is_here(g, g->v->layers));
}

/* On a device: copies of these inputs and of what the layer before has made.  A host leaves the sums of its
 * last layer to the device, a device before does the first norm of the next one. */
static void begin_device(graph *g, uint64_t first)
{
    uint64_t bytes = floats(g, g->s->reserve, g->v->embedding, 1);
    bool is_after_host = first > 0 && settings_device(g->s, first - 1) == 0;
    bool is_after_device = first > 0 && !is_after_host;
    bool has_parts = is_after_host && feed_forward_of(g, first - 1) == EXPERTS && !has_shared(g);

    if (has_parts)
        copy_parts(g);
    else
        g->slots[is_after_device ? NORM : STREAM] = arena_take(&g->a, bytes);
    if (is_after_host)
        g->slots[SUM] = arena_take(&g->a, bytes);
    if (first < g->v->layers)
        g->slots[POSITIONS] = arena_take(&g->a, 4 * g->s->reserve);
    add_caches(g);
    if (is_after_device)
        g->slots[STREAM] = arena_take(&g->a, bytes);
    if (has_wanted(g))
        g->slots[WANTED] = arena_take(&g->a, 4 * g->s->n_outputs);
    if (has_parts)
        g->slots[STREAM] = arena_take(&g->a, bytes);
    free_slot(g, PARTS);
    free_slot(g, SOFT_SHARES);
    free_slot(g, SUM);
}

/* Whether attention and the feed-forward part have a norm of their own. */
static bool is_renormed(const graph *g)
{
    return !g->v->is_parallel || !g->v->rule.has[RULE_ONE_NORM];
}

static unsigned find_conditions(const graph *g, uint64_t layer)
{
    const settings *s = g->s;
    const layer_values *l = &g->v->layer[layer];
    const cache_inputs *inputs = &g->caches[l->has_window];
    bool is_last = layer + 1 == g->v->layers;
    const bool *has = g->v->rule.has;
    bool is_rotated = !has[RULE_UNROTATED] && (l->has_window || !has[RULE_UNROTATED_FULL]);
    bool is_normed = !has[RULE_POST_NORM];
    const struct {
        bool holds;
        unsigned condition;
    } all[] = {
        {s->flash, FLASH},
        {!s->flash, PLAIN_ATTENTION},
        {is_rotated, ROTATED},
        {!is_rotated, UNROTATED},
        {is_mixed(s->o.type_k, l->key_length), MIXED_K},
        {is_mixed(s->o.type_v, l->value_length), MIXED_V},
        {s->o.type_k->id == GUFO_TYPE_F32 && !is_fetched(g), COPIED_K},
        {s->o.type_v->id == GUFO_TYPE_F32 && !is_fetched(g), COPIED_V},
        {g->slots[NORM].size == 0 && is_normed, NORMED},
        {is_renormed(g), ALONE},
        {is_renormed(g) && is_normed, RENORMED},
        {is_fetched(g), FETCHED},
        {is_fetched(g) && inputs->mask.size == 0, UNMASKED},
        {g->has_windows, KEYS_FIRST},
        {!g->has_windows, VALUES_FIRST},
        {is_last || (g->device > 0 && !is_here(g, layer + 1)), LAST_HERE},
        {inputs->last == layer, LAST_CACHED},
        {is_last && !has[RULE_LATE_ROWS], NARROWED},
        {has[RULE_SOFTMAX_SHARES], SOFTENED},
    };
    unsigned is = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].holds)
            is |= all[i].condition;
    return is;
}

static void move_slot(graph *g, slot to, slot from)
{
    g->slots[to] = g->slots[from];
    g->slots[from].size = 0;
}

/* Attention, up to what its heads have found. */
static void run_attention(graph *g, uint64_t layer)
{
    if (g->v->is_latent) {
        set_latent_widths(g, &g->v->layer[layer]);
        run_steps(g, &latent_steps);
        return;
    }
    if (g->w->is_fused[layer])
        run_steps(g, &fused_steps);
    else
        run_steps(g, &projection_steps);
    run_steps(g, &attention_steps);
}

static void sum_heads(graph *g)
{
    if (!g->v->is_latent)
        run_steps(g, &unmixing_steps);
    run_steps(g, &sum_steps);
}

/* The result is written over the slot ATTENDED, if that is to be kept. */
static void add_feed_forward(graph *g)
{
    run_steps(g, &feed_forward_steps);
    if (g->slots[ATTENDED].size > 0) {
        free_slot(g, STREAM);
        move_slot(g, STREAM, ATTENDED);
    }
}

/* One part after the other. */
static void run_sequential(graph *g, const layer_values *l, bool is_last)
{
    sum_heads(g);
    if (!is_last && g->v->rule.has[RULE_OVER_STREAM]) {
        free_slot(g, SUM);
        move_slot(g, SUM, STREAM);
    }
    if (is_last)
        set_rows(g, l, g->s->n_outputs);
    run_steps(g, &last_row_steps);
    if (is_last)
        move_slot(g, SUM, GATE);
    if (g->v->rule.has[RULE_OVER_SUM])
        move_slot(g, ATTENDED, SUM);
    add_feed_forward(g);
}

/* In the last layer: keeps just the rows of a slot whose logits are wanted. */
static void keep_rows(graph *g, slot one, bool is_last)
{
    hole rows;

    if (!is_last)
        return;
    rows = arena_take(&g->a, g->widths[W_EMBEDDING]);
    free_slot(g, one);
    g->slots[one] = rows;
}

/* The first part of a sum has the room of the result, the second is written over it. */
static void join_heads(graph *g, bool is_last)
{
    sum_heads(g);
    keep_rows(g, SUM, is_last);
    if (g->slots[STREAM].size == 0)
        move_slot(g, ATTENDED, SUM);
    free_slot(g, SUM);
}

static void join_feed_forward(graph *g, bool is_last)
{
    keep_rows(g, is_renormed(g) ? RESIDUAL : NORM, is_last);
    add_feed_forward(g);
}

static void join_stream(graph *g, bool is_last)
{
    keep_rows(g, RESIDUAL, is_last && !is_renormed(g));
    free_slot(g, RESIDUAL);
}

/* In which order the parts of a parallel layer are made and added. */
typedef struct parallel_order {
    rule_word word;
    void (*join[3])(graph *g, bool is_last);
} parallel_order;

static const parallel_order orders[] = {
    {RULE_PARALLEL, {join_feed_forward, join_stream, join_heads}},
    {RULE_PARALLEL_STREAM_LAST, {join_feed_forward, join_heads, join_stream}},
    {RULE_PARALLEL_HEADS_FIRST, {join_heads, join_feed_forward, join_stream}},
};

/* NULL if one part follows the other. */
static const parallel_order *find_order(const graph *g)
{
    for (size_t i = 0; g->v->is_parallel && i < sizeof orders / sizeof *orders; i++)
        if (g->v->rule.has[orders[i].word])
            return &orders[i];
    return NULL;
}

/* Attention and feed-forward part of the same stream. */
static void run_parallel(graph *g, const parallel_order *order, const layer_values *l, bool is_last)
{
    if (is_last)
        set_rows(g, l, g->s->n_outputs);
    move_slot(g, RESIDUAL, STREAM);
    for (size_t i = 0; i < sizeof order->join / sizeof *order->join; i++)
        order->join[i](g, is_last);
    if (is_last)
        free_slot(g, WANTED);
}

static void load_inputs(graph *g, const cache_inputs *c)
{
    g->slots[KEY_PLACES] = c->key_places;
    g->slots[VALUE_PLACES] = c->value_places;
    g->slots[CACHE_MASK] = c->mask;
    g->slots[KEY_MIXER] = c->key_mixer;
    g->slots[VALUE_MIXER] = c->value_mixer;
}

static void run_layer(graph *g, uint64_t layer)
{
    const layer_values *l = &g->v->layer[layer];
    const parallel_order *order = find_order(g);
    unsigned feed_forward = feed_forward_of(g, layer);
    bool is_shared = feed_forward == EXPERTS && has_shared(g);

    g->is = find_conditions(g, layer) | feed_forward | (is_shared ? SHARED : UNSHARED);
    set_widths(g, l);
    load_inputs(g, cache_of(g, l));
    run_attention(g, layer);
    run_steps(g, &input_steps);
    cache_of(g, l)->mask = g->slots[CACHE_MASK];
    if (order != NULL)
        run_parallel(g, order, l, (g->is & NARROWED) != 0);
    else
        run_sequential(g, l, (g->is & NARROWED) != 0);
}

/* A part of the fused result is copied from its first to its last element: `others` are the parts that
 * the first and the last row have beside it. */
static uint64_t part_bytes(const graph *g, uint64_t others)
{
    return g->widths[W_FUSED] - others / larger(g->s->reserve, 1);
}

/* The host writes keys and values of devices into its cache. */
static void write_cache(graph *g)
{
    const uint64_t *w = g->widths;
    bool is_fused = g->w->is_fused[0];

    set_widths(g, &g->v->layer[0]);
    free_slot(g, STREAM);
    if (is_fused && g->v->rule.has[RULE_UNROTATED])
        (void)arena_take(&g->a, part_bytes(g, w[W_QUERY] + w[W_VALUES]));
    else
        (void)arena_take(&g->a, w[W_KEYS]);
    (void)arena_take(&g->a, is_fused ? part_bytes(g, w[W_QUERY] + w[W_KEYS]) : w[W_VALUES]);
}

/* The last norm is written over what it reads, but not that of LayerNorm.  Where the last layer has all
 * rows, those that are wanted are copied, and all are kept for a draft that reads them. */
static void run_output(graph *g)
{
    const bool *has = g->v->rule.has;
    bool are_kept = has[RULE_LATE_ROWS];

    if (are_kept || has[RULE_LAYER_NORM]) {
        (void)arena_take(&g->a, floats(g, g->s->n_outputs, g->v->embedding, 1));
        free_slot(g, are_kept ? WANTED : STREAM);
    }
    (void)arena_take(&g->a, floats(g, g->s->n_outputs, g->v->vocabulary, 1));
}

static void run_graph(graph *g)
{
    const model_values *v = g->v;
    uint64_t first = 0;

    while (first < v->layers && !is_here(g, first))
        first++;
    for (uint64_t i = 0; i < v->layers; i++)
        g->has_windows |= v->layer[i].has_window;
    if (g->device == 0)
        begin_host(g);
    else
        begin_device(g, first);
    for (uint64_t i = first; i < v->layers && is_here(g, i); i++)
        run_layer(g, i);
    if (g->device == 0 && first == v->layers && g->s->o.no_kv_offload)
        write_cache(g);
    if (is_here(g, v->layers))
        run_output(g);
}

uint64_t peak_find(const model_values *v, const model_weights *w, const settings *s,
                   uint32_t device, bool are_lent, bool *is_too_large)
{
    graph g = {.v = v, .w = w, .s = s, .device = device, .are_lent = are_lent};

    run_graph(&g);
    *is_too_large |= g.a.is_too_large;
    return g.a.peak;
}
