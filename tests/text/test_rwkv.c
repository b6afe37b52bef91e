/* RWKV World: escapes, the longest token, unknown bytes. */
#include "encoding.h"

static const token_row rows[] = {
    {"<s>", 3, 0}, {"a", 1, 0},     {"ab", 1, 0},         {"abcd", 1, 0},
    {"c", 1, 0},   {"\\n", 1, 0},   {"\\t\\r", 1, 0},     {"\\x41", 1, 0},
    {"\\'", 1, 0}, {"\\\\", 1, 0},  {"\\xe4\\xbd", 1, 0}, {" the", 1, 0},
    {"q", 5, 0},   {"z\\x0", 1, 0}, {"ends\\", 1, 0},     {"\\x00", 1, 0},
};

static gufo_vocab *open_rows(uint32_t unknown)
{
    vocab_maker m = vocab_maker_new("rwkv");

    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    if (unknown != GUFO_NO_TOKEN)
        vocab_maker_id(&m, "unknown_token_id", unknown);
    return open_made(&m, 0);
}

static void test_longest(void **state)
{
    gufo_vocab *v = open_rows(0);

    (void)state;
    check_text(v, "", "");
    check_text(v, "abcd", "abcd");
    check_text(v, "abc", "ab|c");
    check_text(v, "aab the", "a|ab| the");
    check_text(v, "q", "q"); /* whatever its type */
    gufo_vocab_close(v);
}

static void test_escapes(void **state)
{
    gufo_vocab *v = open_rows(0);

    (void)state;
    check_text(v, "\n\t\r", "\\n|\\t\\r");
    check_text(v, "A'\\", "\\x41|\\'|\\\\");
    check_text(v, "\xe4\xbd", "\\xe4\\xbd");
    check_text(v, "zx0", "z\\x0");     /* not two digits */
    check_text(v, "ends\\", "ends\\"); /* nothing behind the backslash */
    check_tokens(v, (gufo_str){"a\0c", 3}, "a|\\x00|c");
    gufo_vocab_close(v);
}

static void test_unknown(void **state)
{
    gufo_vocab *v = open_rows(0);
    gufo_ids ids = {0};
    gufo_error error = no_error();

    (void)state;
    check_text(v, "ayc", "a|<s>|c");
    check_text(v, "\xe4", "<s>"); /* only the begin of a token */
    gufo_vocab_close(v);
    v = open_rows(GUFO_NO_TOKEN);
    check_text(v, "ac", "a|c");
    check_status(gufo_tokenize(v, gufo_str_of("ay"), NULL, &ids, &error), GUFO_E_MALFORMED, &error,
                 "no unknown token");
    check_error_shape(&error, GUFO_E_MALFORMED, "no unknown token");
    check_u64(ids.count, 1, "what was found by then");
    gufo_ids_free(&ids);
    gufo_vocab_close(v);
}

/* Control tokens are found without being asked for: they are among the others. */
static void test_control(void **state)
{
    gufo_vocab *v = open_rows(1);

    (void)state;
    check_text(v, "a<s>c", "a|<s>|c");
    gufo_vocab_close(v);
}

static void test_cuts(void **state)
{
    static const char *const stretches[] = {"a",  "b",    "c", "d",    "ab", "abcd", "\n",
                                            "\t", " the", "t", "\xe4", "q",  "\xbd", "<s>"};
    gufo_vocab *v = open_rows(1);

    (void)state;
    check(check_cuts(v, stretches, COUNT_OF(stretches), 2000) > 4000, "texts are cut");
    gufo_vocab_close(v);
}

static void test_steps(void **state)
{
    gufo_vocab *v = open_rows(0);

    (void)state;
    check_steps(v, "abc", "token ab; token c");
    gufo_vocab_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_control),
        cmocka_unit_test(test_cuts),    cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
