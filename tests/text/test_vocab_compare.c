/* How two vocabularies differ. */
#include "support/allocator.h"
#include "support/vocab_maker.h"

#include <string.h>

typedef struct taken {
    gufo_token_differences tokens;
    char settings[256];
} taken;

static void take_setting(void *context, const gufo_vocab_setting *setting)
{
    taken *t = context;
    size_t len = strlen(t->settings);

    (void)snprintf(t->settings + len, sizeof t->settings - len, "%s: %s, %s; ", setting->name,
                   setting->a, setting->b);
}

/* A vocabulary with its model. */
typedef struct opened {
    vocab_maker maker;
    gufo_model *model;
    gufo_vocab *vocab;
    gufo_vocab_source source;
} opened;

static void open_both(opened *o)
{
    gufo_error error = no_error();

    o->model = vocab_maker_model(&o->maker);
    o->vocab = gufo_vocab_open(o->model, NULL, &error);
    check(o->vocab != NULL, "%s", error.message);
    o->source = (gufo_vocab_source){.model = o->model};
}

static void close_both(opened *o)
{
    gufo_vocab_free(o->vocab);
    gufo_model_free(o->model);
    builder_free(&o->maker.b);
}

/* With merges. */
static gufo_vocab_comparison compare(const opened *a, const opened *b, taken *t)
{
    const gufo_vocab_compare_options options = {.source_a = &a->source,
                                                .source_b = &b->source,
                                                .tokens = &t->tokens,
                                                .setting = take_setting,
                                                .context = t};
    gufo_vocab_comparison found;
    gufo_error error = no_error();

    gufo_token_differences_free(&t->tokens);
    *t = (taken){.tokens = {.count = 0}};
    check_ok(gufo_vocab_compare(a->vocab, b->vocab, &options, &found, &error), &error, "compare");
    return found;
}

/* ---- tokens --------------------------------------------------------------------------------- */

enum { FIRST = 256 }; /* behind the tokens of bytes */

static void check_id(uint32_t got, uint32_t expected)
{
    check_u64(got, expected == GUFO_NO_TOKEN ? expected : FIRST + expected, "id");
}

/* The list cannot grow. */
static void check_no_memory(const opened *a, const opened *b)
{
    counter c;
    gufo_allocator allocator;
    gufo_token_differences tokens = {.allocator = &allocator};
    const gufo_vocab_compare_options options = {.tokens = &tokens};
    gufo_error error = no_error();

    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = 1;
    check_status(gufo_vocab_compare(a->vocab, b->vocab, &options, NULL, &error), GUFO_E_MEMORY,
                 &error, "no memory");
    gufo_token_differences_free(&tokens);
    check_u64(c.in_use, 0, "leak");
}

static void test_tokens(void **state)
{
    static const token_row first[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0}, {"a", 1, -1},
                                      {"b", 1, -2},    {"c", 1, -3},  {"d", 1, -4},   {"a", 1, -1}},
                           second[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0},
                                       {"a", 1, -1},    {"c", 1, -3},  {"d", 4, -5},
                                       {"e", 1, -6},    {"a", 1, -1}};
    static const gufo_token_difference expected[] = {
        {GUFO_TOKEN_CHANGE_REMOVED, 4, GUFO_NO_TOKEN, {0}},
        {GUFO_TOKEN_CHANGE_MOVED, 5, 4, {0}},
        {GUFO_TOKEN_CHANGE_MOVED, 6, 5, {0}},
        {GUFO_TOKEN_CHANGE_TYPE, 6, 5, {0}},
        {GUFO_TOKEN_CHANGE_SCORE, 6, 5, {0}},
        {GUFO_TOKEN_CHANGE_ADDED, GUFO_NO_TOKEN, 6, {0}},
    };
    static const uint64_t counts[GUFO_TOKEN_CHANGE_COUNT] = {1, 1, 2, 1, 1};
    opened a = {.maker = vocab_maker_new("llama")}, b = {.maker = vocab_maker_new("llama")};
    gufo_vocab_comparison found;
    taken t = {.tokens = {.count = 0}};

    (void)state;
    vocab_maker_with_bytes(&a.maker, first, COUNT_OF(first));
    vocab_maker_with_bytes(&b.maker, second, COUNT_OF(second));
    open_both(&a);
    open_both(&b);
    check(compare(&a, &a, &t).same && t.tokens.count == 0, "a differs from itself");
    check(compare(&b, &b, &t).same && t.tokens.count == 0, "b differs from itself");
    found = compare(&a, &b, &t);
    assert_false(found.same);
    assert_false(found.merges_differ);
    check_u64(found.settings, 0, "settings");
    check_u64(t.tokens.count, COUNT_OF(expected), "differences");
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        check_u64(t.tokens.items[i].change, expected[i].change, "change %zu", i);
        check_id(t.tokens.items[i].a, expected[i].a);
        check_id(t.tokens.items[i].b, expected[i].b);
    }
    for (int i = 0; i < GUFO_TOKEN_CHANGE_COUNT; i++)
        check_u64(found.tokens[i], counts[i], "count of change %d", i);
    check_no_memory(&a, &b);
    gufo_token_differences_free(&t.tokens);
    close_both(&a);
    close_both(&b);
}

/* ---- settings and merges -------------------------------------------------------------------- */

static opened open_merges(const char *pre, const char *const *merges, size_t count)
{
    static const token_row rows[] = {{"a", 1, 0},  {"b", 1, 0},  {"c", 1, 0},
                                     {"ab", 1, 0}, {"bc", 1, 0}, {"<|endoftext|>", 3, 0}};
    opened o = {.maker = vocab_maker_new("gpt2")};

    vocab_maker_tokens(&o.maker, rows, COUNT_OF(rows));
    vocab_maker_texts(&o.maker, "merges", merges, count);
    vocab_maker_text(&o.maker, "pre", pre);
    if (strcmp(pre, "gpt-2") == 0) {
        vocab_maker_id(&o.maker, "bos_token_id", 5);
        vocab_maker_bool(&o.maker, "add_bos_token", false);
    }
    open_both(&o);
    return o;
}

static void test_settings(void **state)
{
    static const char *const merges[] = {"a b"};
    opened a = open_merges("gpt-2", merges, 1), b = open_merges("llama-bpe", merges, 1);
    taken t = {.tokens = {.count = 0}};
    gufo_vocab_comparison found = compare(&a, &b, &t);

    (void)state;
    assert_false(found.same);
    check_u64(found.settings, 3, "%s", t.settings);
    assert_string_equal(t.settings, "pre-tokenizer: gpt-2, llama-bpe; bos: 5, none; "
                                    "adds BOS: no, yes; ");
    gufo_token_differences_free(&t.tokens);
    close_both(&a);
    close_both(&b);
}

static void check_merges(const opened *a, const opened *b, bool differ, uint64_t first)
{
    taken t = {.tokens = {.count = 0}};
    gufo_vocab_comparison found = compare(a, b, &t);

    check_u64(found.merges_a, 1, "merges");
    check(found.merges_differ == differ && found.same != differ, "merges differ");
    check_u64(found.first_merge, first, "first merge");
    gufo_token_differences_free(&t.tokens);
}

static void test_merges(void **state)
{
    static const char *const merges[][2] = {{"a b"}, {"b c"}, {"a b", "b c"}};
    opened a = open_merges("llama-bpe", merges[0], 1);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        opened b = open_merges("llama-bpe", merges[i], i == 2 ? 2 : 1);

        check_merges(&a, &b, i > 0, i == 1 ? 0 : 1);
        close_both(&b);
    }
    close_both(&a);
}

/* A tokenizer.json has the same merges in another form. */
static void test_json(void **state)
{
    static const char *const merges[] = {"a b", "b c"};
    opened a = open_merges("llama-bpe", merges, 1), b = open_merges("llama-bpe", merges, 2);
    opened original = {.vocab = NULL};
    gufo_error error = no_error();
    gufo_text json = {0};
    taken t = {.tokens = {.count = 0}};
    gufo_vocab_comparison found;

    (void)state;
    check_ok(gufo_vocab_export_json(b.vocab, &b.source, &json, &error), &error, "export");
    original.source.json = (gufo_str){json.data, json.len};
    original.vocab = gufo_vocab_open_json(original.source.json, (gufo_str){"", 0}, NULL, &error);
    check(original.vocab != NULL, "%s", error.message);
    found = compare(&b, &original, &t);
    check(!found.merges_differ && !found.same, "the same merges, another model");
    check_u64(found.merges_b, 2, "merges");
    check(strstr(t.settings, "model: gpt2, huggingface") != NULL, "%s", t.settings);
    found = compare(&original, &a, &t);
    check(found.merges_differ, "other merges");
    check_u64(found.first_merge, 1, "first merge");
    gufo_vocab_free(original.vocab);
    gufo_token_differences_free(&t.tokens);
    gufo_text_free(&json);
    close_both(&a);
    close_both(&b);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void test_arguments(void **state)
{
    static const char *const merges[] = {"a b"};
    opened a = open_merges("llama-bpe", merges, 1);
    const gufo_vocab_source none = {.model = NULL}, later = {.model = a.model, .reserved = {1}};
    gufo_vocab_compare_options options = {.source_a = &a.source, .source_b = &none};
    gufo_vocab_comparison found;
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_vocab_compare(a.vocab, a.vocab, NULL, &found, &error), &error, "no options");
    assert_true(found.same);
    check_u64(found.merges_a, 0, "merges without a source");
    check_ok(gufo_vocab_compare(a.vocab, a.vocab, NULL, NULL, NULL), NULL, "nothing asked for");
    check_status(gufo_vocab_compare(a.vocab, a.vocab, &options, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "no source");
    assert_string_equal(error.message, "gufo_vocab_source: the model is missing");
    assert_int_equal(error.role, GUFO_FILE_SECOND_INPUT);
    options.source_b = &later;
    check_status(gufo_vocab_compare(a.vocab, a.vocab, &options, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "reserved");
    options.source_b = NULL;
    options.reserved[0] = 1;
    check_status(gufo_vocab_compare(a.vocab, a.vocab, &options, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "reserved");
    close_both(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),    cmocka_unit_test(test_settings),
        cmocka_unit_test(test_merges),    cmocka_unit_test(test_json),
        cmocka_unit_test(test_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
