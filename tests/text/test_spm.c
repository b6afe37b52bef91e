/* SPM: merges by score, bytes of what is not a token, cuts, long stretches. */
#include "encoding.h"

#define SPACE "\xe2\x96\x81"

static const token_row rows[] = {
    {"<unk>", 2, 0},
    {"<s>", 3, 0},
    {"</s>", 3, 0},
    {SPACE, 1, -10},
    {"a", 1, -11},
    {"b", 1, -12},
    {"c", 1, -13},
    {"ab", 1, -1},
    {"bc", 1, -0.5f},
    {"abc", 1, -5},
    {SPACE "a", 1, -2},
    {SPACE SPACE, 1, -3},
    {SPACE SPACE SPACE SPACE, 1, -4},
    {"aa", 1, -6},
    {"aaa", 1, -7},
    {"aaaa", 1, -6},
    {"\xc3\xa9", 1, -9},
    {"e\xc3\xa9", 1, -1},
    {"x,", 1, -8},
    {"0", 1, -9},
    {"00", 1, -9.5f},
};

static gufo_vocab *open_rows(bool prefix)
{
    vocab_maker m = vocab_maker_new("llama");

    vocab_maker_with_bytes(&m, rows, COUNT_OF(rows));
    vocab_maker_bool(&m, "add_space_prefix", prefix);
    return open_made(&m, 0);
}

static void test_merges(void **state)
{
    gufo_vocab *v = open_rows(false);

    (void)state;
    check_text(v, "", "");
    check_text(v, "aab", "a|ab"); /* the highest score first */
    check_text(v, "abc", "abc");  /* by way of bc */
    check_text(v, "abab", "ab|ab");
    check_text(v, "aaa", "aaa"); /* the leftmost of equals */
    check_text(v, "aaaaa", "aaaa|a");
    check_text(v, "a b", "a|" SPACE "|b");
    check_text(v, "b a", "b|" SPACE "a");
    check_text(v, "     a", SPACE SPACE SPACE SPACE "|" SPACE "a");
    check_text(v, "x,", "x,"); /* of characters that are not tokens */
    check_text(v, "xy", "<0x78>|<0x79>");
    check_text(v, "\xc3\xa9", "\xc3\xa9");
    check_text(v, "e\xc3\xa9", "e\xc3\xa9");
    check_text(v, SPACE "a", SPACE "a"); /* as if it were a space */
    check_text(v, "<0x41>", "<0x3C>|0|<0x78>|<0x34>|<0x31>|<0x3E>");
    gufo_vocab_free(v);
}

static void test_prefix(void **state)
{
    gufo_vocab *v = open_rows(true);

    (void)state;
    check_text(v, "", "");
    check_text(v, "a", SPACE "a");
    check_text(v, " a", SPACE "|" SPACE "a");
    check_text(v, "xy", SPACE "|<0x78>|<0x79>");
    gufo_vocab_free(v);
}

/* What is not UTF-8 keeps its bytes; characters are as long as their first bytes say. */
static void test_bytes(void **state)
{
    gufo_vocab *v = open_rows(false);

    (void)state;
    check_text(v, "\xff", "<0xFF>");
    check_text(v,
               "\xe4"
               "ab"
               "a",
               "<0xE4>|<0x61>|<0x62>|a");
    check_text(v,
               "\xe4"
               "abab",
               "<0xE4>|<0x61>|<0x62>|ab");
    check_text(v, "\xf0 ab", "<0xF0>|<0xE2>|<0x96>|<0x81>|ab");
    check_text(v, "\xc3 ab", "<0xC3>|<0xE2>|<0x96>|<0x81>|ab");
    check_tokens(v, (gufo_str){"a\0b", 3}, "a|<0x00>|b");
    check_text(v, "\xe4", "<0xE4>");
    gufo_vocab_free(v);
}

static void test_missing_byte(void **state)
{
    vocab_maker m = vocab_maker_new("llama");

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    check_refused(&m, GUFO_E_MALFORMED, "no token for byte 00");
}

static void test_steps(void **state)
{
    gufo_vocab *v = open_rows(false);

    (void)state;
    check_steps(v, "abcx", "piece abc; merge bc; merge abc; token abc; piece x; token x");
    check_steps(v, "b a", "piece b; token b; piece " SPACE "a; merge " SPACE "a; token " SPACE "a");
    gufo_vocab_free(v);
}

static void test_cuts(void **state)
{
    static const char *const stretches[] = {
        " ",
        "  ",
        "a",
        "b",
        "c",
        "abc",
        "aaaa",
        "0",
        "x",
        ",",
        "\xc3\xa9",
        "e",
        SPACE,
        "\xe4",
        "\xf0",
        "\xc3",
        "\x96",
        "\x81",
        "\xe4\xbd\xa0",
        "\xff",
    };

    (void)state;
    for (unsigned prefix = 0; prefix < 2; prefix++) {
        gufo_vocab *v = open_rows(prefix == 1);

        check(check_cuts(v, stretches, COUNT_OF(stretches), 2000) > 4000, "texts are cut");
        gufo_vocab_free(v);
    }
}

/* The slow way: each time, all pairs are looked at. */
static size_t merge_slowly(const gufo_vocab *v, const char *text, size_t len, uint32_t *ids)
{
    size_t starts[4097], count = len;

    for (size_t i = 0; i <= len; i++)
        starts[i] = i;
    for (;;) {
        size_t best = count;
        float score = 0;

        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t id = vocab_find(v, text + starts[i], starts[i + 2] - starts[i]);

            if (id != GUFO_NO_TOKEN && (best == count || vocab_score(v, id) > score)) {
                best = i;
                score = vocab_score(v, id);
            }
        }
        if (best == count)
            break;
        memmove(starts + best + 1, starts + best + 2, (count - best - 1) * sizeof *starts);
        count--;
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = vocab_find(v, text + starts[i], starts[i + 1] - starts[i]);
    return count;
}

/* Long stretches give what the slow way gives. */
static void test_long(void **state)
{
    gufo_vocab *v = open_rows(false);
    uint64_t random = 42;

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        char text[300];
        uint32_t expected[300];
        gufo_ids ids = {0};
        gufo_error error;
        size_t len = (size_t)(random_next(&random) % sizeof text);

        for (size_t i = 0; i < len; i++)
            text[i] = round % 3 == 0 ? 'a' : "abc"[random_next(&random) % (2 + round % 2)];
        size_t count = merge_slowly(v, text, len, expected);
        check_ok(gufo_tokenize(v, (gufo_str){text, len}, NULL, &ids, &error), &error, "%zu", len);
        check_u64(ids.count, count, "ids of %zu bytes", len);
        for (size_t i = 0; i < count; i++)
            check_u64(ids.ids[i], expected[i], "id %zu of %.*s", i, (int)len, text);
        gufo_ids_free(&ids);
    }
    gufo_vocab_free(v);
}

/* One piece of 200 kB: quadratic work would take minutes. */
static void test_huge(void **state)
{
    enum { SIZE = 200 << 10 };
    gufo_vocab *v = open_rows(false);
    char *text = malloc(SIZE);
    gufo_ids ids = {0};
    gufo_error error;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', SIZE);
    check_ok(gufo_tokenize(v, (gufo_str){text, SIZE}, NULL, &ids, &error), &error, "spaces");
    check_u64(ids.count, SIZE / 4, "spaces");
    memset(text, 'a', SIZE);
    ids.count = 0;
    check_ok(gufo_tokenize(v, (gufo_str){text, SIZE}, NULL, &ids, &error), &error, "letters");
    check_u64(ids.count, SIZE / 4, "letters");
    free(text);
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges), cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_bytes),  cmocka_unit_test(test_missing_byte),
        cmocka_unit_test(test_steps),  cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
