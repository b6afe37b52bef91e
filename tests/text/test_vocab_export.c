/* Vocabularies as tokenizer.json and vocab.txt: what is written gives the same ids. */
#include "support/allocator.h"
#include "support/vocab_maker.h"

#include <string.h>

#define WORD "\xe2\x96\x81"

/* What the vocabulary of a made model becomes. */
static gufo_status write_model(vocab_maker *m, const gufo_allocator *allocator, gufo_text *out,
                               gufo_error *error)
{
    gufo_model *model = vocab_maker_model(m);
    gufo_vocab_options options = {.allocator = allocator};
    gufo_vocab *vocab;
    gufo_status status;

    vocab = gufo_vocab_open(model, &options, error);
    if (vocab == NULL) {
        gufo_model_free(model);
        return error->code;
    }
    status = gufo_vocab_export_json(vocab, &(gufo_vocab_source){.model = model}, out, error);
    gufo_vocab_free(vocab);
    gufo_model_free(model);
    return status;
}

/* What one of both gives for a text, special tokens and all. */
static gufo_ids encode(const gufo_vocab *vocab, const char *text)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL |
                                                    GUFO_TOKENIZE_ADD_SPECIAL};
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_ok(gufo_tokenize(vocab, gufo_str_of(text), &options, &ids, &error), &error, "%s", text);
    return ids;
}

/* The original's rules give the ids that the keys give. */
static void check_round_trip(vocab_maker *m, const char *const *texts)
{
    gufo_text json = {0};
    gufo_error error = no_error();
    gufo_vocab *keys, *original;

    check_ok(write_model(m, NULL, &json, &error), &error, "written");
    original =
        gufo_vocab_open_json((gufo_str){json.data, json.len}, (gufo_str){"", 0}, NULL, &error);
    check(original != NULL, "%s", error.message);
    keys = vocab_maker_open(m, NULL, &error);
    check(keys != NULL, "%s", error.message);
    check_u64(gufo_vocab_describe(original).size, gufo_vocab_describe(keys).size, "tokens");
    for (; *texts != NULL; texts++) {
        gufo_ids left = encode(keys, *texts), right = encode(original, *texts);

        check_u64(right.count, left.count, "%s", *texts);
        assert_memory_equal(left.ids, right.ids, left.count * sizeof *left.ids);
        gufo_ids_free(&left);
        gufo_ids_free(&right);
    }
    gufo_vocab_free(keys);
    gufo_vocab_free(original);
    gufo_text_free(&json);
}

/* ---- models --------------------------------------------------------------------------------- */

static const token_row byte_rows[] = {{"a", 1, 0},      {"b", 1, 0},
                                      {"ab", 1, 0},     {"<|endoftext|>", 3, 0},
                                      {"\"\\ x", 4, 0}, {"\xc4\xa0", 1, 0}};

static vocab_maker make_byte_level(const char *pre)
{
    static const char *const merges[] = {"a b"};
    vocab_maker m = vocab_maker_new("gpt2");

    vocab_maker_tokens(&m, byte_rows, COUNT_OF(byte_rows));
    vocab_maker_texts(&m, "merges", merges, COUNT_OF(merges));
    vocab_maker_text(&m, "pre", pre);
    vocab_maker_id(&m, "bos_token_id", 3);
    vocab_maker_id(&m, "eos_token_id", 3);
    vocab_maker_bool(&m, "add_bos_token", true);
    return m;
}

static void test_byte_level(void **state)
{
    static const char *const texts[] = {"ab", "ab ba", " <|endoftext|>abab", "a\"\\ x", NULL};
    static const char *const pres[] = {"gpt-2",       "starcoder",      "qwen2",  "llama-bpe",
                                       "deepseek-v3", "deepseek-coder", "falcon", "gpt-4o",
                                       "tekken",      "bloom",          "viking", "deepseek-llm"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pres); i++) {
        vocab_maker m = make_byte_level(pres[i]);

        check_round_trip(&m, texts);
    }
}

static void test_wordpiece(void **state)
{
    static const token_row rows[] = {{"[PAD]", 3, 0}, {"[UNK]", 3, 0},  {"[CLS]", 3, 0},
                                     {"[SEP]", 3, 0}, {WORD "a", 1, 0}, {"a", 1, 0}};
    static const char *const texts[] = {"aa a", "aaa [SEP] a", "", NULL};
    vocab_maker m = vocab_maker_new("bert");

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_id(&m, "bos_token_id", 2);
    vocab_maker_id(&m, "seperator_token_id", 3);
    vocab_maker_id(&m, "unknown_token_id", 1);
    vocab_maker_bool(&m, "normalizer.lowercase", false);
    check_round_trip(&m, texts);
}

static void test_unigram(void **state)
{
    static const token_row rows[] = {{"<pad>", 3, 0},      {"</s>", 3, 0},  {"<unk>", 2, -0.5},
                                     {WORD "a", 1, -1.25}, {"b", 1, -2.75}, {"<x>", 4, -1000}};
    static const char *const texts[] = {"ab", "a b", "a  ba <x>a", NULL};

    (void)state;
    for (int removed = 0; removed < 2; removed++) {
        vocab_maker m = vocab_maker_new("t5");

        vocab_maker_tokens(&m, rows, COUNT_OF(rows));
        vocab_maker_id(&m, "eos_token_id", 1);
        vocab_maker_bool(&m, "add_eos_token", true);
        vocab_maker_bool(&m, "add_bos_token", false);
        vocab_maker_bool(&m, "add_space_prefix", true);
        vocab_maker_bool(&m, "remove_extra_whitespaces", removed == 1);
        check_round_trip(&m, texts);
    }
}

/* Scores come back as ranks of merges: their order is the same. */
static void test_pieces(void **state)
{
    static const token_row rows[] = {{"<s>", 3, 0}, {"a", 1, -9},   {"b", 1, -8},
                                     {"ab", 1, -2}, {"aba", 1, -1}, {"ba", 1, -3}};
    vocab_maker m = vocab_maker_new("llama");
    gufo_text json = {0};
    gufo_error error = no_error();

    (void)state;
    vocab_maker_with_bytes(&m, rows, COUNT_OF(rows));
    check_ok(write_model(&m, NULL, &json, &error), &error, "written");
    json.data[json.len - 1] = '\0'; /* behind the last line */
    /* The token with the highest score first, and of one token by the ids of its parts. */
    assert_non_null(strstr(json.data, "\"merges\": [\n      \"a ba\",\n      \"ab "
                                      "a\",\n      \"a b\",\n      \"b a\"\n    ]"));
    gufo_text_free(&json);
    builder_free(&m.b);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void check_refused(vocab_maker *m, gufo_status status, const char *part)
{
    gufo_text json = {0};
    gufo_error error = no_error();

    check_status(write_model(m, NULL, &json, &error), status, &error, "%s", part);
    check(strstr(error.message, part) != NULL, "%s: %s", part, error.message);
    gufo_text_free(&json);
    builder_free(&m->b);
}

static vocab_maker make_rows(const char *model, const token_row *rows, size_t count)
{
    vocab_maker m = vocab_maker_new(model);

    vocab_maker_tokens(&m, rows, count);
    if (strcmp(model, "gpt2") == 0) {
        vocab_maker_texts(&m, "merges", NULL, 0);
        vocab_maker_text(&m, "pre", "gpt-2");
    }
    return m;
}

static void test_refused(void **state)
{
    static const token_row twice[] = {{"a", 1, 0}, {"a", 1, 0}}, odd[] = {{"a\xff", 4, 0}};
    vocab_maker m = make_byte_level("kimi-k2");

    (void)state;
    check_refused(&m, GUFO_E_TYPE, "kimi-k2");
    m = make_rows("rwkv", twice, 2);
    check_refused(&m, GUFO_E_TYPE, "rwkv");
    m = make_rows("gpt2", twice, 2);
    check_refused(&m, GUFO_E_MALFORMED, "twice");
    m = make_rows("gpt2", odd, 1);
    check_refused(&m, GUFO_E_MALFORMED, "JSON cannot have");
}

static void test_memory(void **state)
{
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter c;

    (void)state;
    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        vocab_maker m = make_byte_level("qwen2");
        gufo_text json = {.allocator = &allocator};
        gufo_error error = no_error();

        counter_init(&c);
        c.fail_at = at;
        allocator = counter_allocator(&c);
        status = write_model(&m, &allocator, &json, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", error.message);
        gufo_text_free(&json);
        builder_free(&m.b);
        check_u64(c.in_use, 0, "left");
        assert_true(at < 1000);
    }
}

/* ---- vocab.txt ------------------------------------------------------------------------------ */

static void check_list(vocab_maker *m, const char *expected)
{
    gufo_text list = {0};
    gufo_error error = no_error();
    gufo_vocab *vocab = vocab_maker_open(m, NULL, &error);

    if (vocab == NULL)
        fail_msg("%s", error.message);
    check_ok(gufo_vocab_export_txt(vocab, &list, &error), &error, "list");
    check_view(((gufo_str){list.data, list.len}), gufo_str_of(expected), "list");
    gufo_text_free(&list);
    gufo_vocab_free(vocab);
}

static void test_lists(void **state)
{
    static const token_row words[] = {{"[CLS]", 3, 0}, {WORD "a", 1, 0}, {"b", 1, 0}},
                           texts[] = {{"\\n", 1, 0}, {"a\nb\r", 4, 0}, {"\xc3\xa9\xc3", 4, 0}};
    vocab_maker m = make_rows("bert", words, 3);

    (void)state;
    check_list(&m, "[CLS]\na\n##b\n");
    m = make_rows("gpt2", texts, 3);
    check_list(&m, "\\\\n\na\\nb\\r\n\xc3\xa9\\xc3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_level), cmocka_unit_test(test_wordpiece),
        cmocka_unit_test(test_unigram),    cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
