/* Buffers for computing of models with sliding windows: what llama.cpp (August 2026) reserved for such models
 * by its simulated allocation, on the host and on one or two devices.  Equal, but for matrices that mix cells,
 * which are copied again and again where caches stay on the host. */
#include "header_model.h"

typedef struct windowed {
    const char *entries, *tensors;
    uint64_t bytes[11][3]; /* of the settings below, on the host and each device */
} windowed;

#define SHAPE(arch)                                                                           \
    "general.architecture\t" arch "\n" arch ".vocab_size\t32000\n" arch                       \
    ".context_length\t131072\n" arch ".embedding_length\t512\n" arch ".block_count\t4\n" arch \
    ".attention.head_count\t8\n" arch ".attention.key_length\t64\n" arch                      \
    ".attention.value_length\t64\n"

#define DENSE_TENSORS                      \
    "blk.0.ffn_down.weight\tF16\t1024x2\n" \
    "blk.1.ffn_down.weight\tF16\t1024x2\n" \
    "blk.2.ffn_down.weight\tF16\t1024x2\n" \
    "blk.3.ffn_down.weight\tF16\t1024x2\n"

static const windowed models[] = {
    /* All rows are kept until the output. */
    {SHAPE("gpt-oss") "gpt-oss.attention.head_count_kv\t2\ngpt-oss.attention.sliding_window\t128\n"
                      "gpt-oss.expert_count\t8\ngpt-oss.expert_used_count\t2\n"
                      "gpt-oss.feed_forward_length\t512\n",
     "",
     {{68683776},
      {83376128},
      {137367552},
      {14536736},
      {4298912},
      {27087104},
      {19683328, 69736448},
      {11294720, 76828672},
      {11292704, 18630688, 130048},
      {19681312, 12597280, 130048},
      {17404960, 39242240}}},
    {SHAPE("gemma2") "gemma2.attention.head_count_kv\t2\ngemma2.attention.sliding_window\t512\n"
                     "gemma2.feed_forward_length\t1024\n",
     DENSE_TENSORS,
     {{67635200},
      {83900416},
      {137367552},
      {14766112},
      {4229280},
      {27316480},
      {18896896, 66584576},
      {11556864, 69732352},
      {11554848, 18892832, 130048},
      {18894880, 12593184, 130048},
      {17536032, 39289344}}},
    {SHAPE("olmo2") "olmo2.attention.head_count_kv\t8\nolmo2.attention.sliding_window\t512\n"
                    "olmo2.feed_forward_length\t1024\n",
     DENSE_TENSORS,
     {{68683776},
      {82851840},
      {135270400},
      {13717536},
      {4229280},
      {37802240},
      {17848320, 66584576},
      {11556864, 66584576},
      {11554848, 18892832, 130048},
      {17846304, 12593184, 130048},
      {17798176, 103563776}}},
};

static void test_windows(void **state)
{
    const gufo_element_type *f32 = gufo_element_type_by_id(GUFO_TYPE_F32);
    const gufo_element_type *q4_0 = gufo_element_type_by_name("Q4_0");
    const gufo_element_type *q5_1 = gufo_element_type_by_name("Q5_1");
    const gufo_element_type *q8_0 = gufo_element_type_by_name("Q8_0");
    const gufo_element_type *iq4_nl = gufo_element_type_by_name("IQ4_NL");
    const double three_to_one[] = {3, 1}, halves[] = {1, 1};
    const gufo_estimate_options settings[] = {
        {.n_ctx = 4096},
        {.n_ctx = 4096, .flash_attention = GUFO_FLASH_ATTENTION_OFF},
        {.n_ctx = 8192, .n_ubatch = 1024, .type_k = q8_0},
        {.n_ctx = 4096, .n_outputs = 1, .type_k = q5_1, .type_v = iq4_nl},
        {.n_ctx = 8192, .n_ubatch = 32, .n_seq = 3},
        {.n_ctx = 16384, .n_outputs = 64, .type_k = f32, .type_v = q8_0},
        {.n_ctx = 8192, .n_devices = 1, .has_gpu_layers = true, .n_gpu_layers = 1},
        {.n_ctx = 8192, .n_devices = 1},
        {.n_ctx = 8192, .n_outputs = 1, .n_devices = 2, .tensor_split = three_to_one},
        {.n_ctx = 8192,
         .n_outputs = 1,
         .n_devices = 2,
         .tensor_split = halves,
         .has_gpu_layers = true,
         .n_gpu_layers = 2},
        {.n_ctx = 65536,
         .n_ubatch = 128,
         .n_outputs = 1,
         .n_devices = 1,
         .no_kv_offload = true,
         .type_k = q4_0},
    };

    (void)state;
    for (size_t m = 0; m < COUNT_OF(models); m++) {
        header_model header = header_model_open(models[m].entries, models[m].tensors);
        gufo_error error;
        gufo_estimator *e = gufo_estimator_new(header.model, NULL, &error);

        check(e != NULL, "%s", error.message);
        for (size_t i = 0; i < COUNT_OF(settings); i++) {
            gufo_estimate out;

            check_ok(gufo_estimator_run(e, &settings[i], &out, &error), &error, "run");
            for (uint32_t d = 0; d < out.device_count; d++) {
                uint64_t got = out.devices[d].compute_bytes, expected = models[m].bytes[i][d];
                uint64_t apart = settings[i].no_kv_offload ? 4 * 64 * 64 + 32 : 0;

                check(got <= expected + apart && expected <= got + apart,
                      "model %zu, setting %zu, device %u: %" PRIu64 " for %" PRIu64, m, i, d, got,
                      expected);
            }
        }
        gufo_estimator_free(e);
        header_model_close(&header);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
