/* Names of pre-tokenizers, and their steps. */
#include "support/check.h"

#include "gufo/vocab.h"
#include "text/pretokenizers/pre_rules.h"

#define QWEN2                                                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+" \
    "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static void test_shapes(void **state)
{
    const pre_step *row;

    (void)state;
    assert_string_equal(pre_of_steps(gufo_str_of("ByteLevel\n"), true), "gpt-2");
    assert_string_equal(pre_of_steps(gufo_str_of("Digits individual\nByteLevel\n"), false),
                        "starcoder");
    assert_string_equal(pre_of_steps(gufo_str_of("Split Isolated " QWEN2 "\nBytes\n"), false),
                        "qwen2");
    assert_null(pre_of_steps(gufo_str_of("ByteLevel"), false));
    assert_null(pre_of_steps(gufo_str_of("ByteLevel\nByteLevel\n"), false));
    assert_null(pre_of_steps(gufo_str_of(""), false));
    /* Every shape is found by its own steps, or by those of a row before it. */
    for (size_t i = 0; (row = pre_step_at(i)) != NULL; i++) {
        char steps[8192] = "";

        if (row->pre[0] == '\0')
            continue;
        for (size_t k = i; k == i || (pre_step_at(k) != NULL && !pre_step_at(k)->pre[0]); k++) {
            strcat(steps, pre_step_at(k)->step);
            strcat(steps, "\n");
        }
        assert_string_equal(pre_of_steps(gufo_str_of(steps), !strcmp(row->ignore_merges, "yes")),
                            row->pre);
        assert_non_null(gufo_pretokenizer_find(row->pre));
    }
    assert_string_equal(pre_steps_of("phi-2")->step, "ByteLevel");
    assert_null(pre_steps_of("kimi-k2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
