/* WPM: words, accents, the longest tokens, and how BERT's own tokenizer differs. */
#include "encoding.h"

#define SPACE "\xe2\x96\x81"

static const token_row rows[] = {
    {"[UNK]", 3, 0},
    {"[CLS]", 3, 0},
    {"[SEP]", 3, 0},
    {SPACE "hello", 1, 0},
    {SPACE "he", 1, 0},
    {"llo", 1, 0},
    {"s", 1, 0},
    {SPACE ",", 1, 0},
    {SPACE "~", 1, 0},
    {SPACE "e", 1, 0},
    {SPACE "a", 1, 0},
    {"a", 1, 0},
    {SPACE "i", 1, 0},
    {"\xe4\xb8\xad", 1, 0},
    {SPACE "\xe4\xb8\xad", 1, 0},
    {SPACE "\xe1\x84\x92", 1, 0},
    {"\xe1\x85\xa1", 1, 0},
    {SPACE "A", 1, 0},
    {SPACE "\xc3\xa9", 1, 0},
    {SPACE "\xcf\x83", 1, 0},
    {"\xcf\x83", 1, 0},
    {"\xcf\x82", 1, 0},
    {SPACE "b", 1, 0},
    {SPACE "\xf0\xab\xa0\xa0", 1, 0},
    {"b", 1, 0},
};

static gufo_vocab *open_rows(bool lowercase, uint32_t flags)
{
    vocab_maker m = vocab_maker_new("bert");

    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "unknown_token_id", 0);
    if (!lowercase)
        vocab_maker_bool(&m, "normalizer.lowercase", false);
    return open_made(&m, flags);
}

static void test_words(void **state)
{
    gufo_vocab *v = open_rows(true, 0);

    (void)state;
    check_text(v, "", "");
    check_text(v, " \n ", "");
    check_text(v, "hello", SPACE "hello");
    check_text(v, "HELLO", SPACE "hello");
    check_text(v, "hellos he", SPACE "hello|s|" SPACE "he");
    check_text(v, "hello,he", SPACE "hello|" SPACE ",|" SPACE "he");
    check_text(v, "a~a", SPACE "a|" SPACE "~|" SPACE "a");
    check_text(v, "hez", "[UNK]"); /* not the tokens of its begin */
    check_text(v,
               "a\xc2\xa0"
               "a",
               SPACE "a|" SPACE "a");
    check_text(v,
               "a\xe4\xb8\xad"
               "a",
               SPACE "a|" SPACE "\xe4\xb8\xad|" SPACE "a");
    gufo_vocab_free(v);
}

static void test_characters(void **state)
{
    gufo_vocab *v = open_rows(true, 0);

    (void)state;
    check_text(v, "\xc3\xa9", SPACE "e");                /* decomposed, the accent is lost */
    check_text(v, "e\xcc\x81", SPACE "e");               /* a mark */
    check_text(v, "\xc4\xb0", SPACE "i");                /* I with a dot */
    check_text(v, "\xed\x95\x98", SPACE "\xe1\x84\x92"); /* Hangul keeps its first letter */
    check_text(v,
               "a\x01"
               "a",
               SPACE "a|a"); /* a control is dropped */
    check_tokens(v, (gufo_str){"a\0a", 3}, SPACE "a|a");
    check_text(v,
               "a\xff"
               "a",
               SPACE "a|a"); /* not UTF-8 */
    check_text(v,
               "a\xed\xa0\x80"
               "a",
               SPACE "a|a"); /* a surrogate */
    check_text(v,
               "a\xf4\x90\x80\x80"
               "a",
               SPACE "a|a");                   /* above U+10FFFF */
    check_text(v, "a\xee\x80\x80", SPACE "a"); /* private use */
    check_text(v, "a\xcd\xb8", "[UNK]");       /* not assigned */
    check_text(v,
               "a\x0b"
               "a",
               SPACE "a|" SPACE "a");
    gufo_vocab_free(v);
    v = open_rows(false, 0);
    check_text(v, "A", SPACE "A");
    check_text(v, "\xc3\xa9", SPACE "\xc3\xa9");
    check_text(v, "e\xcc\x81", "[UNK]");
    gufo_vocab_free(v);
}

static void test_original(void **state)
{
    gufo_vocab *v = open_rows(true, GUFO_VOCAB_ORIGINAL);
    char text[102];

    (void)state;
    check_text(v, "HELLO,he", SPACE "hello|" SPACE ",|" SPACE "he");
    check_text(v, "\xc3\xa9", SPACE "e");
    check_text(v, "\xed\x95\x98", SPACE "\xe1\x84\x92|\xe1\x85\xa1"); /* all letters */
    check_text(v,
               "a\x0b"
               "a",
               SPACE "a|a");               /* a control */
    check_text(v, "a\xcd\xb8", SPACE "a"); /* not assigned */
    check_text(v,
               "a\xe2\x80\xa8"
               "b",
               SPACE "a|" SPACE "b");                             /* a line separator */
    check_text(v, "\xce\xa3\xce\xa3", SPACE "\xcf\x83|\xcf\x82"); /* sigma ends a word */
    check_text(v, "\xce\xa3", SPACE "\xcf\x83");                  /* but is not all of it */
    check_text(v,
               "b\xf0\xab\xa0\xa0"
               "b",
               SPACE "b|" SPACE "\xf0\xab\xa0\xa0|" SPACE "b");
    memset(text, 'a', 101);
    text[101] = '\0';
    check_text(v, text, "[UNK]");
    text[100] = '\0';
    gufo_ids ids = {0};
    gufo_error error;
    check_ok(gufo_tokenize(v, gufo_str_of(text), NULL, &ids, &error), &error, "100 letters");
    check_u64(ids.count, 100, "100 letters");
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
    v = open_rows(true, 0);
    assert_non_null(gufo_vocab_describe(v).original);
    check_text(v, "\xce\xa3\xce\xa3", SPACE "\xcf\x83|\xcf\x83");
    text[100] = 'a';
    check_ok(gufo_tokenize(v, gufo_str_of(text), NULL, &ids, &error), &error, "101 letters");
    check_u64(ids.count, 101, "101 letters");
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
}

static void test_steps(void **state)
{
    gufo_vocab *v = open_rows(true, 0);

    (void)state;
    check_steps(v, "Hellos z",
                "piece " SPACE "hellos; token " SPACE "hello; token s; piece " SPACE
                "z; token " SPACE "z");
    gufo_vocab_free(v);
}

static void test_cuts(void **state)
{
    static const char *const stretches[] = {
        " ",
        "\n",
        "a",
        "hello",
        "E",
        ",",
        "~",
        "\x01",
        "\xc3\xa9",
        "\xcc\x81",
        "\xe4\xb8\xad",
        "\xc2\xa0",
        "\xe4",
        "\xff",
        "\xcd\xbe",
        "\xe2\x89\xae",
        "\xce\xa3",
        ".",
        "\xed\x95\x98",
        "\xef\xa4\x80",
        "\xb8",
    };

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        gufo_vocab *v = open_rows((i & 1) != 0, (i & 2) != 0 ? GUFO_VOCAB_ORIGINAL : 0);

        check(check_cuts(v, stretches, COUNT_OF(stretches), 1000) > 1300, "texts are cut");
        gufo_vocab_free(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_characters),
        cmocka_unit_test(test_original), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
