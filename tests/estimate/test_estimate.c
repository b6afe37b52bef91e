/* Memory of small models, with numbers that are worked out by hand; what is refused; hostile values;
 * the inverse. */
#include "../support/allocator.h"
#include "../support/folder.h"

#include "estimate/estimator.h"
#include "header_model.h"

#include <math.h>

/* Two layers; heads of 32 elements, 4 of them, 2 for keys and values. */
#define PLAIN                          \
    "general.architecture\tllama\n"    \
    "llama.vocab_size\t1000\n"         \
    "llama.context_length\t8192\n"     \
    "llama.embedding_length\t128\n"    \
    "llama.block_count\t2\n"           \
    "llama.feed_forward_length\t256\n" \
    "llama.attention.head_count\t4\n"  \
    "llama.attention.head_count_kv\t2\n"

#define FOUR                                                                            \
    "general.architecture\tllama\nllama.vocab_size\t1000\nllama.context_length\t8192\n" \
    "llama.embedding_length\t128\nllama.block_count\t4\n"                               \
    "llama.attention.head_count\t4\nllama.attention.head_count_kv\t2\n"

#define PLAIN_TENSORS                       \
    "token_embd.weight\tF16\t128x1000\n"    \
    "output_norm.weight\tF32\t128\n"        \
    "rope_freqs.weight\tF32\t16\n"          \
    "blk.0.attn_norm.weight\tF32\t128\n"    \
    "blk.0.ffn_down.weight\tF16\t256x128\n" \
    "blk.1.attn_norm.weight\tF32\t128\n"    \
    "blk.1.ffn_down.weight\tF16\t256x128\n" \
    "blk.1.surprise.weight\tF16\t256\n"

/* Four experts, two of them in use. */
#define EXPERTS PLAIN "llama.expert_count\t4\nllama.expert_used_count\t2\n"

#define EXPERT_TENSORS                             \
    "token_embd.weight\tF16\t128x1000\n"           \
    "output.weight\tF16\t128x1000\n"               \
    "blk.0.ffn_down_exps.weight\tF16\t256x128x4\n" \
    "blk.1.ffn_down_exps.weight\tF16\t256x128x4\n" \
    "blk.1.attn_norm.weight\tF32\t128\n"

enum { TABLE = 128 * 1000 * 2, NORM = 512, FREQS = 64, DOWN = 256 * 128 * 2, ROW = 2 * 32 * 2 };

typedef struct open_estimate {
    header_model header;
    gufo_estimator *e;
} open_estimate;

static open_estimate open_header(const char *entries, const char *tensors)
{
    open_estimate o = {.header = header_model_open(entries, tensors)};
    gufo_error error;

    o.e = gufo_estimator_new(o.header.model, NULL, &error);
    check(o.e != NULL, "%s", error.message);
    return o;
}

static void close_header(open_estimate *o)
{
    gufo_estimator_free(o->e);
    header_model_close(&o->header);
}

static gufo_estimate run(const gufo_estimator *e, const gufo_estimate_options *options)
{
    gufo_estimate out;
    gufo_error error;

    check_ok(gufo_estimator_run(e, options, &out, &error), &error, "run");
    return out;
}

/* ---- the curve ------------------------------------------------------------------------------ */

static void test_contexts(void **state)
{
    static const uint64_t most[] = {0,    1,     256,     257,        2048,      2049,
                                    4096, 40960, 1048576, UINT32_MAX, UINT64_MAX};
    static const uint64_t plain[] = {2048, 2560, 3072, 3584, 4096};
    uint64_t contexts[GUFO_ESTIMATE_CONTEXTS];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(most); i++) {
        size_t count = gufo_estimate_contexts(most[i], contexts);

        check(count >= 1 && count <= GUFO_ESTIMATE_CONTEXTS, "%zu of them", count);
        check_u64(contexts[count - 1], most[i] < INT64_MAX ? most[i] : INT64_MAX, "the last");
        for (size_t k = 1; k < count; k++)
            check(contexts[k - 1] < contexts[k] && contexts[k - 1] % 256 == 0,
                  "%" PRIu64 " of %" PRIu64, contexts[k - 1], most[i]);
    }
    check_u64(gufo_estimate_contexts(4096, contexts), 5, "an octave");
    for (size_t k = 0; k < 5; k++)
        check_u64(contexts[k], plain[k], "context %zu", k);
}

/* Each point is an estimate of its own. */
static void test_curve(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_devices = 1, .n_ctx = 99};
    gufo_estimate_point points[] = {
        {.n_ctx = 256}, {.n_ctx = 4000}, {.n_ctx = 0}, {.n_ctx = UINT64_MAX}};
    gufo_error error;

    (void)state;
    for (uint32_t device = 0; device < 2; device++) {
        points[0].n_ctx = 256;
        points[1].n_ctx = 4000;
        points[2].n_ctx = 0;
        check_ok(gufo_estimator_curve(o.e, &options, device, points, 3, &error), &error, "curve");
        check_u64(points[1].n_ctx, 4096, "rounded");
        check_u64(points[2].n_ctx, 8192, "the model's");
        for (size_t i = 0; i < 3; i++) {
            gufo_estimate_options alone = {.n_devices = 1, .n_ctx = points[i].n_ctx};
            gufo_estimate e = run(o.e, &alone);
            const gufo_estimate_device *d = &e.devices[device];

            check_u64(points[i].model_bytes, d->model_bytes, "weights %zu", i);
            check_u64(points[i].context_bytes, d->kv_bytes + d->state_bytes, "context %zu", i);
            check_u64(points[i].rest_bytes, d->compute_bytes + d->output_bytes, "rest %zu", i);
            check_u64(points[i].total_bytes,
                      d->model_bytes + d->context_bytes + d->compute_bytes + d->output_bytes,
                      "total %zu", i);
            check_u64(points[i].most_bytes, gufo_estimate_most_bytes(d), "most %zu", i);
            check(points[i].is_known, "known %zu", i);
        }
    }
    check_status(gufo_estimator_curve(o.e, &options, 2, points, 3, &error), GUFO_E_ARGUMENT, &error,
                 "no such device");
    check_status(gufo_estimator_curve(o.e, NULL, 1, points, 3, &error), GUFO_E_ARGUMENT, &error,
                 "no device");
    points[0].n_ctx = 256;
    check_status(gufo_estimator_curve(o.e, NULL, 0, points, 4, &error), GUFO_E_ARGUMENT, &error,
                 "too many tokens");
    check_u64(points[0].context_bytes, 2 * 2 * ROW * 256, "a point before");
    close_header(&o);
}

/* ---- plain ---------------------------------------------------------------------------------- */

static void test_host(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate e = run(o.e, NULL);

    (void)state;
    check_u64(e.n_ctx, 8192, "the model's context");
    check_u64(e.n_batch, 2048, "batch");
    check_u64(e.n_ubatch, 512, "physical batch");
    check(e.flash_attention, "on by default");
    check_u64(e.device_count, 1, "the host");
    check_u64(e.devices[0].model_bytes, TABLE + 3 * NORM + FREQS + 2 * DOWN, "weights");
    check_u64(e.devices[0].mapped_bytes, TABLE + 3 * NORM + FREQS + 2 * DOWN, "mapped");
    check_u64(e.unused_bytes, 512, "not used");
    check_u64(e.devices[0].kv_bytes, 2 * 2 * ROW * 8192, "K and V of two layers");
    check_u64(e.kv_token_bytes, 2 * 2 * ROW, "a token");
    check_u64(e.devices[0].output_bytes, 4 * 1000, "output");
    check(e.devices[0].compute_quality == GUFO_ESTIMATE_FITTED, "compute");
    close_header(&o);
}

/* c = 1000, np = 3: 1024, for each pad(341) = 512, 1536 in all. */
static void test_streams(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate e = run(o.e, &(gufo_estimate_options){.n_ctx = 1000, .n_seq = 3});

    (void)state;
    check_u64(e.n_ctx, 1536, "rounded");
    check_u64(e.n_ctx_seq, 512, "rounded");
    check_u64(e.n_batch, 1000, "not above the context");
    check_u64(e.devices[0].kv_bytes, 4 * ROW * 1536, "all streams");
    e = run(o.e, &(gufo_estimate_options){.n_ctx = 1000, .n_seq = 3, .kv_unified = true});
    check_u64(e.n_ctx, 1024, "unified");
    check_u64(e.devices[0].kv_bytes, 4 * ROW * 1024, "unified");
    close_header(&o);
}

/* The output layer's device gets a copy of the table; each device with layers has the factors. */
static void test_devices(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_devices = 2, .has_gpu_layers = true, .n_gpu_layers = 2};
    gufo_estimate e = run(o.e, &options);

    (void)state;
    check_u64(e.devices[0].model_bytes, TABLE + NORM + DOWN + FREQS, "layer 0");
    check_u64(e.devices[1].model_bytes, NORM + DOWN + FREQS, "layer 1");
    check_u64(e.devices[2].model_bytes, NORM + TABLE, "output");
    check_u64(e.devices[1].kv_bytes, 2 * ROW * 8192, "layer 1");
    check_u64(e.devices[2].kv_bytes, 0, "output");
    options.tensor_split = (double[]){0, 1};
    options.has_gpu_layers = false;
    e = run(o.e, &options);
    check_u64(e.devices[1].model_bytes, 0, "no share");
    check_u64(e.devices[2].model_bytes, TABLE + 3 * NORM + 2 * DOWN + FREQS, "all");
    check_u64(e.devices[0].model_bytes, TABLE, "the table stays");
    options.no_kv_offload = true;
    e = run(o.e, &options);
    check_u64(e.devices[0].kv_bytes, 4 * ROW * 8192, "the cache stays");
    close_header(&o);
}

static int place_down(void *context, gufo_str name)
{
    return name.len > 6 && memcmp(name.data + 6, "ffn_down", 8) == 0 ? *(const int *)context
                                                                     : GUFO_ESTIMATE_BY_RULE;
}

static void test_place(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    int where = GUFO_ESTIMATE_HOST;
    gufo_estimate_options options = {.n_devices = 1, .place = place_down, .place_context = &where};
    gufo_estimate e = run(o.e, &options);
    gufo_error error;

    (void)state;
    check_u64(e.devices[0].model_bytes, TABLE + 2 * DOWN, "moved to the host");
    where = 1;
    check_status(gufo_estimator_run(o.e, &options, &e, &error), GUFO_E_ARGUMENT, &error,
                 "no such device");
    close_header(&o);
}

/* ---- windows, states ------------------------------------------------------------------------ */

/* Layers 0 to 4 of 6 have a window of 512: pad(512 + 512) cells. */
static void test_window(void **state)
{
    open_estimate o = open_header("general.architecture\tgemma3\n"
                                  "gemma3.vocab_size\t1000\n"
                                  "gemma3.context_length\t8192\n"
                                  "gemma3.embedding_length\t128\n"
                                  "gemma3.block_count\t6\n"
                                  "gemma3.attention.head_count\t4\n"
                                  "gemma3.attention.head_count_kv\t2\n"
                                  "gemma3.attention.sliding_window\t512\n",
                                  "");
    gufo_estimate e = run(o.e, NULL);

    (void)state;
    check_u64(e.devices[0].kv_bytes, 2 * ROW * (8192 + 5 * 1024), "window");
    e = run(o.e, &(gufo_estimate_options){.n_seq = 2, .n_ctx = 8192, .kv_unified = true});
    check_u64(e.devices[0].kv_bytes, 2 * ROW * (8192 + 5 * 1536), "two windows");
    e = run(o.e, &(gufo_estimate_options){.swa_full = true});
    check_u64(e.devices[0].kv_bytes, 2 * ROW * 6 * 8192, "full");
    close_header(&o);
}

static void test_state(void **state)
{
    open_estimate o = open_header("general.architecture\tmamba\n"
                                  "mamba.vocab_size\t1000\n"
                                  "mamba.context_length\t8192\n"
                                  "mamba.embedding_length\t128\n"
                                  "mamba.block_count\t2\n"
                                  "mamba.attention.head_count\t0\n"
                                  "mamba.ssm.conv_kernel\t4\n"
                                  "mamba.ssm.inner_size\t256\n"
                                  "mamba.ssm.state_size\t16\n"
                                  "mamba.ssm.time_step_rank\t8\n",
                                  "");
    gufo_estimate e = run(o.e, &(gufo_estimate_options){.n_seq = 2});

    (void)state;
    check_u64(e.devices[0].kv_bytes, 0, "no cache");
    check_u64(e.devices[0].state_bytes, 2 * 2 * 4 * (3 * 256 + 16 * 256), "state");
    close_header(&o);
}

/* An array of heads: without flash attention all rows of values are as wide as the widest. */
static void test_layers(void **state)
{
    open_estimate o = open_header("general.architecture\topenelm\n"
                                  "openelm.vocab_size\t1000\n"
                                  "openelm.context_length\t1024\n"
                                  "openelm.embedding_length\t128\n"
                                  "openelm.block_count\t2\n"
                                  "openelm.attention.key_length\t32\n"
                                  "openelm.attention.value_length\t32\n"
                                  "openelm.attention.head_count\t4,8\n"
                                  "openelm.attention.head_count_kv\t1,2\n",
                                  "");
    gufo_estimate e = run(o.e, NULL);

    (void)state;
    check_u64(e.devices[0].kv_bytes, 1024 * 64 * (1 + 2 + 1 + 2), "on");
    e = run(o.e, &(gufo_estimate_options){.flash_attention = GUFO_FLASH_ATTENTION_OFF});
    check_u64(e.devices[0].kv_bytes, 1024 * 64 * (1 + 2 + 2 + 2), "off");
    close_header(&o);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void test_refused_options(void **state)
{
    const gufo_element_type *q8 = gufo_element_type_by_id(GUFO_TYPE_Q8_0);
    const gufo_element_type *q4_k = gufo_element_type_by_id(GUFO_TYPE_Q4_K);
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    const gufo_estimate_options refused[] = {
        {.type_v = q8, .flash_attention = GUFO_FLASH_ATTENTION_OFF},
        {.type_k = q4_k},
        {.type_v = q4_k},
        {.n_seq = 257},
        {.n_devices = 17},
        {.n_ctx = UINT64_MAX},
        {.n_batch = UINT64_MAX},
        {.n_devices = 1, .tensor_split = (double[]){-1}},
        {.n_devices = 1, .tensor_split = (double[]){0}},
        {.reserved = {0, 0, 0, 0, 0, 1}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        gufo_estimate e;
        gufo_error error = no_error();

        check_status(gufo_estimator_run(o.e, &refused[i], &e, &error), GUFO_E_ARGUMENT, &error,
                     "row %zu", i);
    }
    close_header(&o);
}

static void test_refused_models(void **state)
{
    static const struct {
        const char *entries;
        gufo_status status;
    } rows[] = {
        {"general.name\tnothing\n", GUFO_E_NOT_FOUND},
        {"general.architecture\tno_such\n", GUFO_E_TYPE},
        {"general.architecture\tllama\n", GUFO_E_NOT_FOUND},
        {PLAIN "llama.x\t1\n", GUFO_OK},
        {"general.architecture\tllama\nllama.vocab_size\t10\nllama.context_length\t10\n"
         "llama.embedding_length\t128\nllama.block_count\t1000000000000000000\n",
         GUFO_E_RANGE},
        {"general.architecture\tllama\nllama.vocab_size\t10\nllama.context_length\t10\n"
         "llama.embedding_length\t128\nllama.block_count\t513\n",
         GUFO_E_RANGE},
        {"general.architecture\tllama\nllama.vocab_size\t10\nllama.context_length\t10\n"
         "llama.embedding_length\t128\nllama.block_count\t2\nllama.attention.head_count\t0\n",
         GUFO_E_RANGE},
        {"general.architecture\tllama\nllama.vocab_size\t10\nllama.context_length\t10\n"
         "llama.embedding_length\t128\nllama.block_count\t2\nllama.attention.head_count\t1,2,3\n",
         GUFO_E_RANGE},
        {"general.architecture\tllama\nllama.vocab_size\t10\nllama.context_length\t10\n"
         "llama.embedding_length\t128\nllama.block_count\tmany\n",
         GUFO_E_RANGE},
        {"general.architecture\tmamba\nmamba.vocab_size\t10\nmamba.context_length\t10\n"
         "mamba.embedding_length\t128\nmamba.block_count\t1\nmamba.ssm.conv_kernel\t4294967295\n"
         "mamba.ssm.inner_size\t4294967295\nmamba.ssm.state_size\t4294967295\n"
         "mamba.ssm.group_count\t4294967295\n",
         GUFO_E_RANGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        header_model m = header_model_open(rows[i].entries, "");
        gufo_error error = no_error();
        gufo_estimator *e = gufo_estimator_new(m.model, NULL, &error);

        check_status(e != NULL ? GUFO_OK : error.code, rows[i].status, &error, "row %zu", i);
        gufo_estimator_free(e);
        header_model_close(&m);
    }
}

/* Sums above 64 bits are refused, whatever the options. */
static void test_too_large(void **state)
{
    open_estimate o = open_header("general.architecture\tllama\nllama.vocab_size\t10\n"
                                  "llama.context_length\t4000000000\n"
                                  "llama.embedding_length\t4294967295\nllama.block_count\t2\n"
                                  "llama.attention.key_length\t4294967295\n"
                                  "llama.attention.head_count\t4294967295\n",
                                  "");
    gufo_estimate e;
    gufo_error error;

    (void)state;
    check_status(gufo_estimator_run(o.e, NULL, &e, &error), GUFO_E_RANGE, &error, "too large");
    close_header(&o);
}

/* ---- the inverse ---------------------------------------------------------------------------- */

static uint64_t used_on(const open_estimate *o, const gufo_estimate_options *options, size_t device)
{
    gufo_estimate e = run(o->e, options);

    return gufo_estimate_most_bytes(&e.devices[device]);
}

/* The result fits, and 256 tokens more do not. */
static void test_fit_context(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_ubatch = 64}, more;
    uint64_t limit = used_on(&o, &(gufo_estimate_options){.n_ctx = 5000, .n_ubatch = 64}, 0);
    gufo_estimate_limits limits = {.host_bytes = limit + 1000};
    gufo_estimate e;
    gufo_error error;

    (void)state;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "fit");
    check_u64(options.n_ctx, 5120, "context");
    check(gufo_estimate_most_bytes(&e.devices[0]) <= limits.host_bytes, "it fits");
    more = options;
    more.n_ctx += 256;
    check(used_on(&o, &more, 0) > limits.host_bytes, "the largest");
    limits.host_bytes = 1000;
    options.n_ctx = 0;
    check_status(gufo_estimator_fit(o.e, &limits, &options, &e, &error), GUFO_E_LIMIT, &error,
                 "nothing fits");
    limits.host_bytes = 0;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, NULL, &error), &error, "no limit");
    check_u64(options.n_ctx, 8192, "all");
    close_header(&o);
}

/* To the byte, from both sides; the shortage says what is missing. */
static void test_fit_byte(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_limits limits = {.host_bytes =
                                       used_on(&o, &(gufo_estimate_options){.n_ctx = 8192}, 0)};
    gufo_estimate_options options = {0};
    gufo_estimate e;
    gufo_error error;

    (void)state;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "exactly");
    check_u64(options.n_ctx, 8192, "exactly");
    check_u64(e.context_shortage.missing_bytes, 0, "nothing is missing");
    limits.host_bytes--;
    options.n_ctx = 0;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "a byte less");
    check_u64(options.n_ctx, 8192 - 256, "a byte less");
    check_u64(e.context_shortage.missing_bytes, 1, "a byte");
    check_u64(e.context_shortage.n_ctx, 8192, "all");
    check_u64(e.context_shortage.device, 0, "host");
    options.n_ctx = 8192;
    check_status(gufo_estimator_fit(o.e, &limits, &options, &e, &error), GUFO_E_LIMIT, &error,
                 "a context that the user has chosen stays");
    check_u64(options.n_ctx, 8192, "options stay after a failure");
    check_u64(e.context_shortage.missing_bytes, 1, "the last try");
    close_header(&o);
}

static void test_fit_layers(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options one = {
        .n_ctx = 4096, .n_ubatch = 64, .n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 2};
    uint64_t room = used_on(&o, &one, 1);
    gufo_estimate_options options = {.n_ubatch = 64, .n_devices = 1};
    gufo_estimate_limits limits = {.device_bytes = &room};
    gufo_estimate e;
    gufo_error error;

    (void)state;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "fit");
    check(options.has_gpu_layers, "layers");
    check_u64(options.n_gpu_layers, 2, "layers");
    check_u64(options.n_ctx, 4096, "context");
    check_u64(e.devices[1].layers, 1, "layers");
    check_u64(e.layers_shortage.n_gpu_layers, 3, "why not all");
    check_u64(e.layers_shortage.device, 1, "why not all");
    check(e.layers_shortage.missing_bytes > 0, "why not all");
    options = (gufo_estimate_options){
        .n_ubatch = 64, .n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 3};
    check_status(gufo_estimator_fit(o.e, &limits, &options, &e, &error), GUFO_E_LIMIT, &error,
                 "layers that the user has chosen stay");
    room = 1;
    options.has_gpu_layers = false;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "nothing on devices");
    check_u64(options.n_gpu_layers, 0, "nothing on devices");
    check_u64(options.n_ctx, 8192, "the host has no limit");
    limits.host_bytes = 1;
    options = (gufo_estimate_options){.n_devices = 1};
    check_status(gufo_estimator_fit(o.e, &limits, &options, &e, &error), GUFO_E_LIMIT, &error,
                 "nothing fits anywhere");
    room = UINT64_MAX;
    options = (gufo_estimate_options){.n_devices = 1, .tensor_split = &(double){1}};
    check_status(gufo_estimator_fit(o.e, &limits, &options, &e, &error), GUFO_E_LIMIT, &error,
                 "the host has too little");
    check_u64(e.context_shortage.n_gpu_layers, 3, "all layers, and no more than there are");
    check_u64(e.context_shortage.device, 0, "the host has too little");
    close_header(&o);
}

/* The most layers on two devices of the same size, of all numbers of layers and all shares. */
static uint64_t try_all(const open_estimate *o, const gufo_estimate_options *options, uint64_t room)
{
    uint64_t most = 0;

    for (uint64_t n = 1; n <= 5; n++)
        for (uint64_t first = 0; first <= n; first++) {
            gufo_estimate_options tried = *options;
            gufo_estimate e;

            tried.has_gpu_layers = true;
            tried.n_gpu_layers = n;
            tried.tensor_split = (double[]){(double)first, (double)(n - first)};
            e = run(o->e, &tried);
            if (gufo_estimate_most_bytes(&e.devices[1]) <= room &&
                gufo_estimate_most_bytes(&e.devices[2]) <= room)
                most = n;
        }
    return most;
}

/* What bisection finds is what trying all numbers finds. */
static void test_fit_most(void **state)
{
    open_estimate o = open_header(FOUR, "token_embd.weight\tF16\t128x1000\n");
    gufo_error error;

    (void)state;
    for (uint64_t room = 100000; room < 6000000; room += 50000) {
        uint64_t rooms[] = {room, room}, most;
        double split[2];
        gufo_estimate_limits limits = {.device_bytes = rooms, .split = split};
        gufo_estimate_options options = {.n_ctx = 8192, .n_ubatch = 64, .n_devices = 2};

        most = try_all(&o, &options, room);
        check_ok(gufo_estimator_fit(o.e, &limits, &options, NULL, &error), &error, "fit");
        check_u64(options.has_gpu_layers ? options.n_gpu_layers : 5, most, "room %" PRIu64, room);
        check(options.tensor_split == split, "shares");
    }
    close_header(&o);
}

/* Experts of the first layer go to the host before layers do; all of them, before layers without
 * their experts do. */
static void test_fit_experts(void **state)
{
    open_estimate o = open_header(EXPERTS, EXPERT_TENSORS);
    gufo_estimate_options asked = {.n_ubatch = 64, .n_devices = 1, .n_ctx = 4096}, options = asked;
    uint64_t room;
    gufo_estimate_limits limits = {.device_bytes = &room};
    gufo_estimate e;
    gufo_error error;

    (void)state;
    options.n_cpu_moe = 1;
    room = used_on(&o, &options, 1);
    options = asked;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "fit");
    check_u64(options.n_cpu_moe, 1, "experts");
    check(!options.has_gpu_layers, "all layers");
    check_u64(e.devices[0].model_bytes, TABLE + 4 * DOWN, "experts of a layer on the host");
    room = e.devices[1].model_bytes - 4 * DOWN;
    options = asked;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "fit");
    check_u64(options.n_cpu_moe, 2, "all experts");
    check(options.has_gpu_layers, "some layers");
    options = asked;
    options.has_cpu_moe = true;
    check_ok(gufo_estimator_fit(o.e, &limits, &options, &e, &error), &error, "fit");
    check_u64(options.n_cpu_moe, 0, "what the user has chosen stays");
    close_header(&o);
}

/* ---- speed ---------------------------------------------------------------------------------- */

/* A row of the table, which is also the output; norms, cache. */
static void test_read(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_ctx = 512, .n_seq = 2, .n_devices = 1};
    uint64_t bandwidth = 1000000;
    gufo_estimate e = run(o.e, &(gufo_estimate_options){.n_ctx = 256});
    uint64_t all = 256 + TABLE + 3 * NORM + FREQS + 2 * DOWN + 4 * ROW * 256;

    (void)state;
    check_u64(e.devices[0].read_bytes, all, "host");
    check(fabs(gufo_estimate_speed(&e, 2 * all, NULL) - 2) < 1e-9, "two tokens per second");
    check(gufo_estimate_speed(&e, 0, NULL) == 0, "not known");
    e = run(o.e, &options);
    check_u64(e.devices[0].read_bytes, 256, "a row");
    check_u64(e.devices[1].read_bytes, all - 256, "the cache of one sequence");
    check(fabs(gufo_estimate_speed(&e, 256, &bandwidth) * (1 + (double)(all - 256) / 1e6) - 1) <
              1e-9,
          "one after the other");
    close_header(&o);
    o = open_header(EXPERTS, EXPERT_TENSORS);
    e = run(o.e, &(gufo_estimate_options){.n_ctx = 256});
    check_u64(e.devices[0].read_bytes, 256 + TABLE + 2 * 2 * DOWN + NORM + 4 * ROW * 256,
              "two of four experts");
    close_header(&o);
    o = open_header(PLAIN "llama.nextn_predict_layers\t1\n", PLAIN_TENSORS);
    e = run(o.e, &(gufo_estimate_options){.n_ctx = 256});
    check_u64(e.devices[0].read_bytes, 256 + TABLE + 2 * NORM + FREQS + DOWN + 2 * ROW * 256,
              "layers that predict further tokens");
    close_header(&o);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void test_without_memory(void **state)
{
    header_model m = header_model_open(PLAIN, PLAIN_TENSORS);

    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        counter c;
        gufo_allocator allocator;
        gufo_error error = no_error();

        counter_init(&c);
        c.fail_at = n;
        allocator = counter_allocator(&c);
        check(gufo_estimator_new(m.model, &(gufo_estimator_options){.allocator = &allocator},
                                 &error) == NULL,
              "request %zu", n);
        check_u64(error.code, GUFO_E_MEMORY, "request %zu", n);
        check_u64(c.in_use, 0, "request %zu", n);
    }
    header_model_close(&m);
}

/* ---- buffers for computing ------------------------------------------------------------------ */

#define ODD                             \
    "general.architecture\tllama\n"     \
    "llama.vocab_size\t1000\n"          \
    "llama.context_length\t2048\n"      \
    "llama.embedding_length\t1152\n"    \
    "llama.block_count\t6\n"            \
    "llama.feed_forward_length\t2880\n" \
    "llama.attention.head_count\t9\n"   \
    "llama.attention.head_count_kv\t3\n"

#define ODD_TENSORS                        \
    "blk.0.ffn_down.weight\tF16\t2880x2\n" \
    "blk.1.ffn_down.weight\tF16\t2880x2\n" \
    "blk.2.ffn_down.weight\tF16\t2880x2\n" \
    "blk.3.ffn_down.weight\tF16\t2880x2\n" \
    "blk.4.ffn_down.weight\tF16\t2880x2\n" \
    "blk.5.ffn_down.weight\tF16\t2880x2\n"

/* What llama.cpp (August 2026) reserved for such a model, by its simulated allocation. */
static void test_steps(void **state)
{
    const gufo_element_type *f32 = gufo_element_type_by_id(GUFO_TYPE_F32);
    const gufo_element_type *q5_1 = gufo_element_type_by_name("Q5_1");
    const gufo_element_type *iq4_nl = gufo_element_type_by_name("IQ4_NL");
    const struct {
        gufo_estimate_options options;
        uint64_t bytes[3];
    } rows[] = {
        {{.n_ctx = 4096, .n_outputs = 1}, {31338528}},
        {{.n_ctx = 4096, .n_outputs = 1, .flash_attention = GUFO_FLASH_ATTENTION_OFF}, {97263648}},
        {{.n_ctx = 8192, .n_outputs = 4, .n_seq = 4}, {29241376}},
        {{.n_ctx = 300, .n_outputs = 1, .type_k = f32, .type_v = f32}, {14829664}},
        {{.n_ctx = 4096, .n_outputs = 1, .type_k = q5_1, .type_v = iq4_nl}, {29061152}},
        {{.n_ctx = 8192, .n_outputs = 1, .n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 2},
         {35532832, 17836064}},
        {{.n_ctx = 8192, .n_outputs = 1, .n_devices = 2}, {13119520, 33171456, 30812192}},
        {{.n_ctx = 8192, .n_outputs = 1, .n_devices = 1, .no_kv_offload = true},
         {13119520, 36308992}},
    };
    open_estimate o = open_header(ODD, ODD_TENSORS);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_estimate e = run(o.e, &rows[i].options);

        for (uint32_t d = 0; d < e.device_count; d++) {
            uint64_t got = e.devices[d].compute_bytes, expected = rows[i].bytes[d];

            check(got <= expected + 8192 && expected <= got + 8192,
                  "row %zu, device %u: %" PRIu64 " for %" PRIu64, i, d, got, expected);
        }
    }
    close_header(&o);
}

/* Experts; and compressed keys and values, with plain layers before those with experts. */
static void test_expert_steps(void **state)
{
    const struct {
        const char *entries, *tensors;
        uint64_t bytes;
    } rows[] = {
        {"general.architecture\tllama\nllama.vocab_size\t32000\nllama.context_length\t4096\n"
         "llama.embedding_length\t2048\nllama.block_count\t8\nllama.feed_forward_length\t1024\n"
         "llama.attention.head_count\t16\nllama.expert_count\t64\nllama.expert_used_count\t8\n",
         "", 71315488},
        {"general.architecture\tdeepseek2\ndeepseek2.vocab_size\t102400\n"
         "deepseek2.context_length\t163840\ndeepseek2.embedding_length\t2048\n"
         "deepseek2.block_count\t27\ndeepseek2.feed_forward_length\t10944\n"
         "deepseek2.attention.head_count\t16\ndeepseek2.attention.head_count_kv\t1\n"
         "deepseek2.attention.key_length\t576\ndeepseek2.attention.value_length\t512\n"
         "deepseek2.attention.key_length_mla\t192\ndeepseek2.attention.value_length_mla\t128\n"
         "deepseek2.expert_count\t64\ndeepseek2.expert_used_count\t6\n"
         "deepseek2.expert_shared_count\t2\ndeepseek2.expert_feed_forward_length\t1408\n",
         "blk.0.ffn_down.weight\tF16\t10944x2\n", 97525792},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        open_estimate o = open_header(rows[i].entries, rows[i].tensors);
        gufo_estimate e = run(o.e, &(gufo_estimate_options){.n_ctx = 4096, .n_outputs = 1});
        uint64_t got = e.devices[0].compute_bytes;

        check(got <= rows[i].bytes + 8192 && rows[i].bytes <= got + 8192,
              "row %zu: %" PRIu64 " for %" PRIu64, i, got, rows[i].bytes);
        close_header(&o);
    }
}

/* An architecture whose layers have steps of their own; the numbers are embedding, heads, heads for keys
 * and values, feed-forward part, vocabulary. */
typedef struct stepped {
    const char *arch, *more;
    unsigned embedding, heads, kv_heads, feed_forward, vocabulary;
    bool is_fused;
    uint64_t flash, plain, all; /* bytes: with flash attention, without, with logits of all rows */
} stepped;

static open_estimate open_stepped(const stepped *m)
{
    char entries[1024], tensors[2048];
    size_t used = 0;

    snprintf(entries, sizeof entries,
             "general.architecture\t%s\n%s.vocab_size\t%u\n%s.context_length\t8192\n"
             "%s.embedding_length\t%u\n%s.block_count\t8\n%s.feed_forward_length\t%u\n"
             "%s.attention.head_count\t%u\n%s.attention.head_count_kv\t%u\n%s",
             m->arch, m->arch, m->vocabulary, m->arch, m->arch, m->embedding, m->arch, m->arch,
             m->feed_forward, m->arch, m->heads, m->arch, m->kv_heads, m->more);
    for (unsigned i = 0; i < 8; i++) {
        used += (size_t)snprintf(tensors + used, sizeof tensors - used,
                                 "blk.%u.ffn_down.weight\tF16\t32x2\n", i);
        if (m->is_fused)
            used += (size_t)snprintf(tensors + used, sizeof tensors - used,
                                     "blk.%u.attn_qkv.weight\tF16\t32x2\n", i);
    }
    return open_header(entries, tensors);
}

static void check_near(uint64_t got, uint64_t expected, const char *label)
{
    check(got <= expected + 8192 && expected <= got + 8192, "%s: %" PRIu64 " for %" PRIu64, label,
          got, expected);
}

/* What llama.cpp reserved for them with 4096 tokens. */
static void test_layers_in_steps(void **state)
{
    const char *window = "cohere2.attention.sliding_window\t4096\n";
    const stepped rows[] = {
        {"command-r", "", 8192, 64, 64, 22528, 256000, false, 209727520, 662708256, 578828288},
        {"cohere2", window, 4096, 32, 8, 14336, 256000, false, 138432544, 335556640, 549455872},
        {"falcon", "", 4544, 71, 1, 18176, 65024, true, 78655520, 651042848, 151783424},
        {"plamo", "", 5120, 40, 5, 13824, 50432, false, 131084320, 398991392, 141572096},
        {"phi2", "", 2560, 32, 32, 10240, 51200, false, 51392544, 313532448, 115345408},
        {"gptneox", "", 4096, 32, 32, 16384, 50432, true, 71315488, 318775328, 120064000},
        {"qwen", "", 4096, 32, 32, 22016, 151936, true, 97005600, 318775328, 327944192},
        {"bloom", "", 4096, 32, 32, 16384, 250880, true, 71313440, 343939104, 538970112},
        {"olmo2", "", 4096, 32, 32, 11008, 100352, false, 105394208, 327163936, 222300160},
        {"phi3", "", 3072, 32, 32, 8192, 32064, false, 79704096, 320872480, 82458624},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        open_estimate o = open_stepped(&rows[i]);
        gufo_estimate_options options = {.n_ctx = 4096, .n_outputs = 1};

        check_near(run(o.e, &options).devices[0].compute_bytes, rows[i].flash, rows[i].arch);
        options.n_outputs = 0;
        check_near(run(o.e, &options).devices[0].compute_bytes, rows[i].all, rows[i].arch);
        options = (gufo_estimate_options){
            .n_ctx = 4096, .n_outputs = 1, .flash_attention = GUFO_FLASH_ATTENTION_OFF};
        check_near(run(o.e, &options).devices[0].compute_bytes, rows[i].plain, rows[i].arch);
        close_header(&o);
    }
}

/* ---- tensors that are copied ---------------------------------------------------------------- */

/* An encoder has no output, so that its table is not copied. */
static void test_encoder(void **state)
{
    open_estimate o = open_header("general.architecture\tbert\nbert.vocab_size\t1000\n"
                                  "bert.context_length\t512\nbert.embedding_length\t128\n"
                                  "bert.block_count\t2\nbert.attention.head_count\t4\n",
                                  "token_embd.weight\tF16\t128x1000\n"
                                  "blk.0.ffn_down.weight\tF16\t256x128\n"
                                  "blk.1.ffn_down.weight\tF16\t256x128\n");
    gufo_estimate e = run(o.e, &(gufo_estimate_options){.n_devices = 1});

    (void)state;
    check_u64(e.devices[0].model_bytes, TABLE, "the table");
    check_u64(e.devices[1].model_bytes, 2 * DOWN, "layers");
    close_header(&o);
}

/* Factors that layers with a window do not use: layer 0 has one. */
static void test_unwindowed(void **state)
{
    open_estimate o =
        open_header("general.architecture\tgemma4\ngemma4.vocab_size\t1000\n"
                    "gemma4.context_length\t512\ngemma4.embedding_length\t128\n"
                    "gemma4.block_count\t2\ngemma4.attention.head_count\t4\n"
                    "gemma4.attention.key_length\t32\ngemma4.attention.value_length\t32\n"
                    "gemma4.attention.key_length_swa\t32\ngemma4.attention.value_length_swa\t32\n"
                    "gemma4.attention.sliding_window\t256\n"
                    "gemma4.attention.sliding_window_pattern\t1,0\n",
                    "output.weight\tF16\t128x1000\nrope_freqs.weight\tF32\t16\n");
    gufo_estimate e = run(
        o.e, &(gufo_estimate_options){.n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 2});

    (void)state;
    check_u64(e.devices[0].model_bytes, 0, "layer 0");
    check_u64(e.devices[1].model_bytes, TABLE + FREQS, "layer 1 and the output");
    close_header(&o);
}

/* ---- what is loaded beside the model -------------------------------------------------------- */

#define ADAPTER                     \
    "general.architecture\tllama\n" \
    "general.type\tadapter\n"       \
    "adapter.type\tlora\n"

static gufo_status add_adapter(open_estimate *o, const char *entries, const char *tensors)
{
    header_model m = header_model_open(entries, tensors);
    gufo_error error;
    gufo_status status = gufo_estimator_add_adapter(o->e, m.model, &error);

    header_model_close(&m);
    return status;
}

/* An adapter's tensors are where those of the model are that they change. */
static void test_adapter(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 2};
    gufo_estimate e;

    (void)state;
    check(add_adapter(&o, ADAPTER,
                      "blk.0.ffn_down.weight.lora_a\tF32\t256x9\n"
                      "blk.0.ffn_down.weight.lora_b\tF32\t9x128\n"
                      "blk.1.ffn_down.weight.lora_a\tF16\t256x1\n"
                      "blk.1.ffn_down.weight.lora_b\tF16\t1x128\n"
                      "output_norm.weight\tF32\t128\n") == GUFO_OK,
          "adapter");
    check(add_adapter(&o, ADAPTER, "token_embd.weight.lora_a\tF16\t1x1000\n") == GUFO_OK, "more");
    e = run(o.e, &options);
    check_u64(e.devices[0].adapter_bytes, 9216 + 4608 + 2016, "layer 0, and the table");
    check_u64(e.devices[1].adapter_bytes, 512 + 256, "layer 1");
    check_u64(gufo_estimate_most_bytes(&e.devices[1]),
              e.devices[1].model_bytes + e.devices[1].context_bytes + e.devices[1].compute_bytes +
                  e.devices[1].compute_margin + 768,
              "counted");
    close_header(&o);
}

static void test_refused_adapters(void **state)
{
    static const struct {
        const char *entries, *tensors;
    } rows[] = {
        {"general.architecture\tllama\n", ""},
        {"general.architecture\tqwen2\ngeneral.type\tadapter\nadapter.type\tlora\n", ""},
        {ADAPTER, "blk.0.ffn_down.weight\tF32\t256x9\n"},
        {ADAPTER, "blk.0.ffn_up.weight.lora_a\tF32\t256x9\n"},
        {ADAPTER, "blk.1.surprise.weight.lora_a\tF32\t256x9\n"},
    };
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_u64(add_adapter(&o, rows[i].entries, rows[i].tensors), GUFO_E_ARGUMENT, "row %zu", i);
    check_u64(run(o.e, NULL).devices[0].adapter_bytes, 0, "nothing is left of them");
    close_header(&o);
}

static void test_projector(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS);
    header_model m =
        header_model_open("general.architecture\tclip\n",
                          "v.patch_embd.weight\tF16\t14x14x3x5\nmm.0.weight\tF32\t9\n");
    gufo_error error;

    (void)state;
    check_ok(gufo_estimator_add_projector(o.e, m.model, &error), &error, "projector");
    check_u64(run(o.e, NULL).devices[0].projector_bytes, 5888 + 64, "the host");
    check_u64(run(o.e, &(gufo_estimate_options){.n_devices = 2}).devices[1].projector_bytes,
              5888 + 64, "the first device");
    check_status(gufo_estimator_add_projector(o.e, o.header.model, &error), GUFO_E_ARGUMENT, &error,
                 "a model");
    header_model_close(&m);
    close_header(&o);
}

/* A draft has the context of the model, and options of its own. */
static void test_draft(void **state)
{
    open_estimate o = open_header(PLAIN, PLAIN_TENSORS), draft = open_header(PLAIN, PLAIN_TENSORS);
    gufo_estimate_options options = {.n_ctx = 1024,
                                     .n_seq = 2,
                                     .n_devices = 1,
                                     .has_gpu_layers = true,
                                     .n_gpu_layers = 1,
                                     .type_k = gufo_element_type_by_id(GUFO_TYPE_F32)};
    gufo_estimate_options own = {.n_ctx = 1024, .n_seq = 2, .n_outputs = 2, .n_devices = 1};
    gufo_estimate e, alone = run(draft.e, &own);
    gufo_error error;

    (void)state;
    check_u64(run(o.e, &options).devices[0].draft_quality, GUFO_ESTIMATE_EXACT, "without a draft");
    check_ok(gufo_estimator_add_draft(o.e, draft.e, &error), &error, "draft");
    e = run(o.e, &options);
    for (size_t d = 0; d < 2; d++) {
        const gufo_estimate_device *one = &alone.devices[d];

        check_u64(e.devices[d].draft_bytes,
                  one->model_bytes + one->context_bytes + one->compute_bytes + one->output_bytes,
                  "device %zu", d);
        check_u64(e.devices[d].draft_margin, one->compute_margin, "device %zu", d);
    }
    check_status(gufo_estimator_add_draft(draft.e, o.e, &error), GUFO_E_ARGUMENT, &error, "a ring");
    check_status(gufo_estimator_add_draft(o.e, o.e, &error), GUFO_E_ARGUMENT, &error, "itself");
    close_header(&draft);
    close_header(&o);
}

/* All words of the table have a meaning: without one an architecture would have no rule. */
static void test_rules(void **state)
{
    const char *tables = getenv("GUFO_TABLES");
    path_text path = path_join(tables != NULL ? tables : ".", "memory.tsv");
    FILE *file = fopen(path.text, "r");
    char line[1024];
    unsigned count = 0;
    memory_rule rule;

    (void)state;
    check(file != NULL, "%s", path.text);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\t\n")] = '\0';
        if (line[0] == '#')
            continue;
        check(rule_read(&rule, gufo_str_of(line)), "%s", line);
        count++;
    }
    check(count > 100, "%u rows", count);
    check(!rule_read(&rule, gufo_str_of("none")), "no such architecture");
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts),       cmocka_unit_test(test_curve),
        cmocka_unit_test(test_host),           cmocka_unit_test(test_streams),
        cmocka_unit_test(test_devices),        cmocka_unit_test(test_place),
        cmocka_unit_test(test_window),         cmocka_unit_test(test_state),
        cmocka_unit_test(test_layers),         cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_refused_models), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_fit_context),    cmocka_unit_test(test_fit_layers),
        cmocka_unit_test(test_fit_byte),       cmocka_unit_test(test_fit_most),
        cmocka_unit_test(test_fit_experts),    cmocka_unit_test(test_read),
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_expert_steps),   cmocka_unit_test(test_layers_in_steps),
        cmocka_unit_test(test_encoder),        cmocka_unit_test(test_unwindowed),
        cmocka_unit_test(test_adapter),        cmocka_unit_test(test_refused_adapters),
        cmocka_unit_test(test_projector),      cmocka_unit_test(test_draft),
        cmocka_unit_test(test_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
