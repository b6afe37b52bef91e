/* RWKV World: escapes, the longest token, unknown bytes. */
#include "encoding.h"
#include "support/pace.h"

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
    gufo_vocab_free(v);
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
    gufo_vocab_free(v);
}

static void test_unknown(void **state)
{
    gufo_vocab *v = open_rows(0);
    gufo_ids ids = {0};
    gufo_error error = no_error();

    (void)state;
    check_text(v, "ayc", "a|<s>|c");
    check_text(v, "\xe4", "<s>"); /* only the begin of a token */
    gufo_vocab_free(v);
    v = open_rows(GUFO_NO_TOKEN);
    check_text(v, "ac", "a|c");
    check_status(gufo_tokenize(v, gufo_str_of("ay"), NULL, &ids, &error), GUFO_E_MALFORMED, &error,
                 "no unknown token");
    check_error_shape(&error, GUFO_E_MALFORMED, "no unknown token");
    check_u64(ids.count, 1, "what was found by then");
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
}

/* Control tokens are found without being asked for: they are among the others. */
static void test_control(void **state)
{
    gufo_vocab *v = open_rows(1);

    (void)state;
    check_text(v, "a<s>c", "a|<s>|c");
    gufo_vocab_free(v);
}

static void test_cuts(void **state)
{
    static const char *const stretches[] = {"a",  "b",    "c", "d",    "ab", "abcd", "\n",
                                            "\t", " the", "t", "\xe4", "q",  "\xbd", "<s>"};
    gufo_vocab *v = open_rows(1);

    (void)state;
    check(check_cuts(v, stretches, COUNT_OF(stretches), 2000) > 4000, "texts are cut");
    gufo_vocab_free(v);
}

static void test_steps(void **state)
{
    gufo_vocab *v = open_rows(0);

    (void)state;
    check_steps(v, "abc", "token ab; token c");
    gufo_vocab_free(v);
}

/* ---- side by side --------------------------------------------------------------------------- */

enum { BYTES = 256, WORDS = 300, LONG = 200, LONG_TEXT = 40000 };

/* Begins of each other, of which the last ones have a chain of nodes behind their fourth byte. */
static const char *const begins[] = {"xy", "xyl", "xylophone", "wxyzwxyz"};

/* All bytes, words of few letters, and a token that is longer than nodes of a trie say. */
typedef struct word_list {
    char texts[BYTES + WORDS + COUNT_OF(begins) + 1][LONG + 1];
    token_row rows[BYTES + WORDS + COUNT_OF(begins) + 1];
} word_list;

static void make_words(word_list *w)
{
    uint64_t random = 77;

    for (uint32_t i = 0; i < BYTES + WORDS; i++) {
        size_t len = (size_t)(2 + random_next(&random) % 9);

        if (i < BYTES)
            (void)snprintf(w->texts[i], sizeof w->texts[i], "\\x%02x", (unsigned)i);
        for (size_t k = 0; i >= BYTES && k < len; k++)
            w->texts[i][k] = (char)('a' + random_next(&random) % 3);
    }
    memset(w->texts[BYTES + WORDS], 'a', LONG);
    for (size_t i = 0; i < COUNT_OF(begins); i++)
        (void)strcpy(w->texts[BYTES + WORDS + 1 + i], begins[i]);
    for (size_t i = 0; i < COUNT_OF(w->rows); i++)
        w->rows[i] = (token_row){w->texts[i], 1, 0};
}

static vocab_maker make_vocabulary(const word_list *w)
{
    vocab_maker m = vocab_maker_new("rwkv");

    vocab_maker_tokens(&m, w->rows, COUNT_OF(w->rows));
    return m;
}

/* The longest token at a place, the last one of several. */
static uint32_t expected_token(const word_list *w, gufo_str text, size_t at, size_t *len)
{
    uint32_t id = (uint8_t)text.data[at];

    *len = 1;
    for (uint32_t i = BYTES; i < COUNT_OF(w->rows); i++) {
        size_t size = strlen(w->texts[i]);

        if (size >= *len && size <= text.len - at &&
            memcmp(w->texts[i], text.data + at, size) == 0) {
            id = i;
            *len = size;
        }
    }
    return id;
}

static void check_words(const word_list *w, const gufo_vocab *v, gufo_str text)
{
    gufo_ids ids = {0};
    size_t at = 0, len;

    check_ok(gufo_tokenize(v, text, NULL, &ids, NULL), NULL, "%zu bytes", text.len);
    for (size_t i = 0; i < ids.count && at < text.len; i++, at += len) {
        uint32_t id = expected_token(w, text, at, &len);

        check(ids.ids[i] == id, "at byte %zu of %zu: token %u, not %u", at, text.len,
              (unsigned)ids.ids[i], (unsigned)id);
    }
    check_u64(at, text.len, "the end of the text");
    gufo_ids_free(&ids);
}

/* Long texts are divided at places where no token crosses; some have none. */
static void test_side_by_side(void **state)
{
    static const char begun[] = "xylophone xylophony wxyzwxyz wxyzwxy xylxy";
    word_list *w = calloc(1, sizeof *w);
    char *text = malloc(LONG_TEXT);
    uint64_t random = 5;
    vocab_maker m;
    gufo_vocab *v;

    (void)state;
    assert_true(w != NULL && text != NULL);
    make_words(w);
    m = make_vocabulary(w);
    v = open_made(&m, 0);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < LONG_TEXT; i++) {
            unsigned letter = (unsigned)(random_next(&random) % (kind == 0 ? 3 : 12));

            text[i] = (char)(letter < 3 ? 'a' + letter : letter < 11 ? 'a' : ' ' + i % 200);
        }
        if (kind == 2)
            memset(text + LONG_TEXT / 2, 'a', LONG_TEXT / 4);
        for (size_t i = 0; kind == 3 && i < LONG_TEXT; i++)
            text[i] = begun[random_next(&random) % 9 > 0 ? i % (sizeof begun - 1) : 0];
        check_words(w, v, (gufo_str){text, all_or_few(LONG_TEXT, LONG_TEXT / 4)});
        for (size_t len = 2040; len < 2100; len += 7)
            check_words(w, v, (gufo_str){text, len});
    }
    gufo_vocab_free(v);
    m = make_vocabulary(w);
    vocab_maker_fail_memory(&m, "abc");
    free(text);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest),      cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_unknown),      cmocka_unit_test(test_control),
        cmocka_unit_test(test_cuts),         cmocka_unit_test(test_steps),
        cmocka_unit_test(test_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
