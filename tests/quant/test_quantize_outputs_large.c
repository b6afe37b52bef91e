/* Outputs of large models, whose bytes must not change: tensors of many units, of several
 * steps, and of interleaved types. */
#include "outputs.h"

static bool is_mine(const char *name)
{
    return strncmp(name, "large ", 6) == 0 || strncmp(name, "interleaved ", 12) == 0;
}

static const test_tensor large_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 1500}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F16, 2, {512, 1033}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_BF16, 3, {COLUMNS, 700, 3}},
    {"blk.0.attn_gate.weight", GUFO_TYPE_F32, 2, {65536, 9}},
};

static void test_large(void **state)
{
    static const char *const types[] = {"COPY", "F16", "Q8_0", "Q4_K_M"};
    test_model model = MODEL_OF(large_tensors);
    place p = place_new(&model);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        expect_both(&p, &options, "large", types[i]);
    }
    place_end(&p);
}

static const test_tensor old_tensors[] = {
    {"a.weight", 31, 2, {64, 12}},    {"b.weight", 32, 2, {64, 8}},
    {"c.weight", 33, 2, {4096, 200}}, {"d.weight", 36, 2, {64, 4}},
    {"e.weight", 31, 3, {64, 8, 2}},  {"f.norm", GUFO_TYPE_F32, 1, {3}},
};

static void test_interleaved(void **state)
{
    (void)state;
    expect_encodings("interleaved", old_tensors, COUNT_OF(old_tensors));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_all_were_made),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
