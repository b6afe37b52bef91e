/* How models of an architecture use memory, in words: what estimates are computed with. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "estimate/estimator.h"

enum { SENTENCE = 256 };

typedef struct output {
    gufo_estimate_sentence_fn *found;
    void *context;
    bool goes_on;
} output;

static __attribute__((format(printf, 2, 3))) void put(output *out, const char *format, ...)
{
    char text[SENTENCE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (out->goes_on)
        out->goes_on = out->found(out->context, text);
}

static void put_layers(const memory_rule *r, output *out)
{
    static const char *const layers[] = {
        [LAYERS_ATTENTION] = "a cache in all layers",
        [LAYERS_NONE] = "no cache",
        [LAYERS_STATE] = "a recurrent state in all layers, no cache",
        [LAYERS_BOTH] = "a cache and a recurrent state in all layers",
        [LAYERS_HEADS] =
            "a recurrent state in layers without heads for keys and values, a cache in the "
            "others",
        [LAYERS_FEED_FORWARD] =
            "a recurrent state in layers with neither heads for keys and values nor a "
            "feed-forward part, a cache in those with heads alone",
        [LAYERS_INTERVAL] =
            "a cache in every n-th layer, as the file says, a recurrent state in the others",
    };
    static const char *const families[] = {[STATE_NONE] = NULL,
                                           [STATE_MAMBA] = "Mamba's",
                                           [STATE_RWKV] = "RWKV's",
                                           [STATE_SHORTCONV] = "that of short convolutions"};

    put(out, "%s", layers[r->layers]);
    if (families[r->state] != NULL)
        put(out, "the state is %s", families[r->state]);
    if (r->shared > 0)
        put(out, "the first %" PRIu64 " layers alone have caches of their own", r->shared);
    if (r->shared_key != NULL)
        put(out, "%s: so many layers at the end have no cache of their own", r->shared_key);
    if (r->has[RULE_SKIPS_NEXTN])
        put(out, "no cache in layers that predict further tokens");
    if (r->has_snapshots)
        put(out, "snapshots of the state");
    if (r->has[RULE_NO_FLASH])
        put(out, "no flash attention");
}

static void put_windows(const memory_rule *r, output *out)
{
    char which[96] = "all layers", length[64] = "as long as the file says";

    if (!r->has_windows)
        return;
    if (r->period > 0)
        (void)snprintf(which, sizeof which, "all layers but one of %" PRIu64 "%s", r->period,
                       r->has[RULE_DENSE_FIRST] ? ", the first" : ", the last");
    if (r->window > 0)
        (void)snprintf(length, sizeof length, "of %" PRIu64 " tokens if the file has a window",
                       r->window);
    put(out, "windows in %s%s, %s",
        r->has[RULE_ARRAY] ? "the layers that the file names, else in " : "", which, length);
    if (r->absent_window > 0)
        put(out, "windows of %" PRIu64 " tokens where the file does not say", r->absent_window);
    if (r->window_layers > 0)
        put(out, "windows in models of %" PRIu64 " layers alone", r->window_layers);
}

static void put_buffers(const memory_rule *r, output *out)
{
    static const struct {
        rule_word word;
        const char *text;
    } parts[] = {
        {RULE_GATED, "a gated feed-forward part"},
        {RULE_PLAIN, "a plain feed-forward part"},
        {RULE_HALVES, "both of whose halves the file counts"},
        {RULE_SHARED, "experts that all tokens use"},
        {RULE_EXPERTS, "experts"},
        {RULE_ATTENTION, "attention"},
        {RULE_MAMBA, "Mamba"},
        {RULE_MAMBA2, "Mamba 2"},
        {RULE_RWKV7, "RWKV 7"},
        {RULE_LAYER_INPUTS, "inputs of each layer"},
        {RULE_UNROTATED, "queries and keys without rope"},
        {RULE_UNROTATED_FULL, "queries and keys without rope in layers without a window"},
        {RULE_POST_NORM, "norms after the parts alone"},
        {RULE_LATE_ROWS, "all rows in the last layer"},
        {RULE_SOFTMAX_SHARES, "shares of experts by softmax"},
        {RULE_LAYER_NORM, "a LayerNorm at the end"},
        {RULE_PARALLEL, "attention and feed-forward part side by side"},
        {RULE_PARALLEL_HEADS_FIRST, "both side by side, attention added first"},
        {RULE_PARALLEL_STREAM_LAST, "both side by side, the stream added last"},
        {RULE_ONE_NORM, "one norm for both"},
        {RULE_OVER_STREAM, "sums in the stream's place"},
        {RULE_OVER_SUM, "sums in the place of sums"},
    };
    char text[SENTENCE] = "";
    size_t len = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && len < sizeof text; i++)
        if (r->has[parts[i].word])
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? ", " : "",
                                    parts[i].text);
    if (!r->is_measured)
        put(out, "buffers for computing were not measured");
    else
        put(out, "buffers for computing by %s: %s; measured within %" PRIu64 " %%",
            r->has[RULE_STEPS] ? "steps" : "stages", text, r->margin);
    if (r->extra > 0)
        put(out, "%" PRIu64 " embedding%s per token more", r->extra, r->extra > 1 ? "s" : "");
    if (r->tail > 0)
        put(out, "%" PRIu64 " embedding%s per token where the output alone is on a device", r->tail,
            r->tail > 1 ? "s" : "");
}

bool gufo_estimate_explain(const char *architecture, gufo_estimate_sentence_fn *found,
                           void *context)
{
    output out = {found, context, true};
    memory_rule r;

    if (!rule_read(&r, gufo_str_of(architecture)))
        return false;
    put_layers(&r, &out);
    put_windows(&r, &out);
    if (r.has[RULE_TABLE_TWICE])
        put(&out, "the table of tokens once more for the output");
    if (r.has[RULE_NO_TABLE])
        put(&out, "never a second table of tokens");
    put_buffers(&r, &out);
    return true;
}
