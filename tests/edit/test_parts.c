/* Copies in parts: the bytes of a copy at once. */
#include "copies.h"
#include "support/parts.h"

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F16, 2, {256, 300}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.0.attn_q.weight", GUFO_TYPE_Q4_K, 2, {256, 400}},
    {"blk.0.attn_v.weight", GUFO_TYPE_Q8_0, 2, {256, 131}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_BF16, 3, {96, 40, 5}},
    {"blk.1.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.1.empty.weight", GUFO_TYPE_F32, 2, {256, 0}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 203}},
};

static gufo_job *plan_strip(const gufo_model *set, const void *context, gufo_error *error)
{
    return gufo_job_strip(set, context, error);
}

static gufo_job *plan_numbers(const gufo_model *set, const void *context, gufo_error *error)
{
    static const uint64_t numbers[] = {2, 0, 7};

    return gufo_job_extract(set, numbers, COUNT_OF(numbers), context, error);
}

static gufo_job *plan_raw(const gufo_model *set, const void *context, gufo_error *error)
{
    static const uint64_t number = 2;

    (void)context;
    return gufo_job_extract(set, &number, 1, NULL, error);
}

static bool is_attention(void *context, gufo_str name)
{
    (void)context;
    return memmem(name.data, name.len, "attn", 4) != NULL;
}

static void test_copies(void **state)
{
    static const gufo_split_options shards = {.max_size = 150000};
    static const gufo_byte_order order = GUFO_BIG_ENDIAN;
    static const gufo_strip_options strip = {.keeps_tensor = is_attention};
    gufo_extract_options numbers = {.format = GUFO_EXTRACT_SAFETENSORS,
                                    .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    const struct {
        copy_planner *plan;
        const void *context;
        const char *in, *out;
    } copies[] = {{plan_split, &shards, "in.gguf", "s"},
                  {plan_merge, NULL, "s-00001-of-00004.gguf", "merged.gguf"},
                  {plan_endian, &order, "s-00001-of-00004.gguf", "big-00001-of-00004.gguf"},
                  {plan_endian, &order, "in.gguf", "big.gguf"},
                  {plan_strip, &strip, "in.gguf", "stripped.gguf"},
                  {plan_numbers, &numbers, "in.gguf", "some.safetensors"},
                  {plan_raw, NULL, "in.gguf", "raw"}};
    const test_model model = {.encoding = {3, false},
                              .alignment = 64,
                              .metadata = small_metadata,
                              .entries = 3,
                              .tensors = tensors,
                              .tensor_count = COUNT_OF(tensors)};
    folder f = folder_new();

    (void)state;
    write_model(folder_path(&f, "in.gguf").text, &model);
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        const path_text out = folder_path(&f, copies[i].out);
        const gufo_job_options outputs = {.path = out.text};
        gufo_error error = no_error();
        gufo_model *in = gufo_model_open(folder_path(&f, copies[i].in).text, NULL, &error);
        gufo_job *whole = copies[i].plan(in, copies[i].context, &error);
        gufo_job *parted = copies[i].plan(in, copies[i].context, &error);

        check_parts(whole, parted, &outputs, copies[i].out);
        gufo_job_free(whole);
        gufo_job_free(parted);
        gufo_model_free(in);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
