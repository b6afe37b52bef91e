/* What all algorithms have in common: memory that fails, and texts that come again. */
#include "charsmap_maker.h"
#include "encoding.h"
#include "support/allocator.h"

#define SPACE "\xe2\x96\x81"

static const token_row rows[] = {
    {"[UNK]", 2, 0}, {"[CLS]", 3, 0}, {"[SEP]", 3, 0},    {SPACE, 1, -3},  {"a", 1, -4},
    {"b", 1, -4},    {"ab", 1, -5},   {SPACE "a", 1, -5}, {"<own>", 4, 0}, {SPACE SPACE, 1, -9},
};

static const char *const models[] = {"llama", "bert", "t5", "rwkv"};

static vocab_maker make(const char *model)
{
    vocab_maker m = vocab_maker_new(model);
    made_map *map = calloc(1, sizeof *map);

    assert_non_null(map);
    vocab_maker_with_bytes(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "unknown_token_id", 256);
    map_add(map, (map_row){"A", "a"});
    map_put(&m, map);
    free(map);
    return m;
}

/* Words that are all different, and one that is long. */
static gufo_text make_text(void)
{
    gufo_text text = {0};
    uint64_t random = 3;

    for (unsigned i = 0; i < 600; i++) {
        char word[16];
        int len = snprintf(word, sizeof word, " %s%u\xc3\xa9", i % 3 == 0 ? "Aab" : "b",
                           (unsigned)(random_next(&random) % 1000));

        assert_true(text_add(&text, word, (size_t)len));
    }
    for (unsigned i = 0; i < 100; i++)
        assert_true(text_add(&text, "ab", 2));
    return text;
}

/* Whether all went well. */
static bool open_and_encode(const gufo_model *model, const gufo_allocator *allocator,
                            uint32_t flags, gufo_str text)
{
    const gufo_vocab_options options = {.allocator = allocator, .flags = flags};
    gufo_error error = no_error();
    gufo_vocab *v = gufo_vocab_open(model, &options, &error);
    gufo_ids ids = {.allocator = allocator};
    bool done = false;

    if (v != NULL)
        done = gufo_tokenize(v, text, NULL, &ids, &error) == GUFO_OK;
    if (!done)
        check_u64(error.code, GUFO_E_MEMORY, "%s", error.message);
    gufo_ids_free(&ids);
    gufo_vocab_free(v);
    return done;
}

static void test_memory(void **state)
{
    gufo_text text = make_text();

    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(models); i++) {
        vocab_maker m = make(models[i / 2]);
        gufo_model *model = vocab_maker_model(&m);
        size_t failed = 0;
        bool reached = true;

        for (; reached; failed++) {
            counter c;

            counter_init(&c);
            c.fail_at = failed + 1;
            gufo_allocator allocator = counter_allocator(&c);
            bool done = open_and_encode(model, &allocator, i % 2 == 0 ? 0 : GUFO_VOCAB_ORIGINAL,
                                        (gufo_str){text.data, text.len});
            reached = c.calls >= c.fail_at;
            check(done || reached, "%s: %zu", models[i / 2], failed);
            check_u64(c.in_use, 0, "%s: bytes left after request %zu", models[i / 2], failed + 1);
        }
        check(failed > 10, "%s: %zu requests", models[i / 2], failed);
        gufo_model_free(model);
        builder_free(&m.b);
    }
    gufo_text_free(&text);
}

/* A tokenizer remembers pieces: the second time, the ids are the same. */
static void test_again(void **state)
{
    gufo_text text = make_text();
    gufo_str view = {text.data, text.len};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        vocab_maker m = make(models[i]);
        gufo_vocab *v = open_made(&m, 0);
        gufo_error error = no_error();
        gufo_tokenizer *k = gufo_tokenizer_new(v, NULL, &error);
        gufo_ids once = {0}, twice = {0};

        assert_non_null(k);
        check_ok(gufo_tokenize(v, view, NULL, &once, &error), &error, "%s", models[i]);
        for (unsigned n = 0; n < 2; n++) {
            twice.count = 0;
            check_ok(gufo_tokenizer_feed(k, view, &twice, &error), &error, "%s", models[i]);
            check_ok(gufo_tokenizer_end(k, &twice, &error), &error, "%s", models[i]);
            check_u64(twice.count, once.count, "%s", models[i]);
            assert_memory_equal(twice.ids, once.ids, once.count * sizeof *once.ids);
        }
        gufo_ids_free(&once);
        gufo_ids_free(&twice);
        gufo_tokenizer_free(k);
        gufo_vocab_free(v);
    }
    gufo_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
