/* Opening vocabularies: defaults, keys, known texts, and what is refused. */
#include "support/vocab_maker.h"

#include <stdlib.h>
#include <string.h>

static const token_row few[] = {
    {"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 1, 0}, {"a", 1, -1}, {"b", 1, -2}, {"", 1, -3},
};
enum { FEW = sizeof few / sizeof *few };

static gufo_vocab *open_made(vocab_maker *m)
{
    gufo_error error;
    gufo_vocab *vocab = vocab_maker_open(m, NULL, &error);

    if (vocab == NULL)
        fail_msg("%s", error.message);
    return vocab;
}

/* ---- what is read --------------------------------------------------------------------------- */

static void test_tokens(void **state)
{
    vocab_maker m = vocab_maker_new("rwkv");
    gufo_vocab *vocab;
    gufo_token token;

    (void)state;
    vocab_maker_tokens(&m, few, FEW);
    vocab = open_made(&m);
    assert_int_equal(gufo_vocab_describe(vocab).size, FEW);
    assert_true(gufo_vocab_token(vocab, 5, &token));
    check_str(token.text, "[EMPTY_5]", "a token without text");
    assert_true(token.score == -3.0f);
    assert_int_equal(token.type, 1);
    assert_false(gufo_vocab_token(vocab, FEW, &token));
    assert_int_equal(gufo_vocab_find(vocab, gufo_str_of("b")), 4);
    assert_int_equal(gufo_vocab_find(vocab, gufo_str_of("c")), GUFO_NO_TOKEN);
    assert_int_equal(gufo_vocab_find(vocab, gufo_str_of("")), GUFO_NO_TOKEN);
    gufo_vocab_free(vocab);
}

static void test_equal_texts(void **state)
{
    static const token_row rows[] = {{"a", 1, 0}, {"b", 1, 0}, {"a", 1, 0}};
    vocab_maker m = vocab_maker_new("rwkv");
    gufo_vocab *vocab;

    (void)state;
    vocab_maker_tokens(&m, rows, 3);
    vocab = open_made(&m);
    assert_int_equal(gufo_vocab_find(vocab, gufo_str_of("a")), 2);
    gufo_vocab_free(vocab);
}

/* Many tokens, all of which are found. */
static void test_look_up(void **state)
{
    enum { MANY = 5000 };
    token_row *rows = calloc(MANY, sizeof *rows);
    char *names = calloc(MANY, 8);
    vocab_maker m = vocab_maker_new("rwkv");
    gufo_vocab *vocab;

    (void)state;
    assert_true(rows != NULL && names != NULL);
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(names + 8 * (size_t)i, 8, "%u", i * 7);
        rows[i] = (token_row){names + 8 * (size_t)i, 1, 0};
    }
    vocab_maker_tokens(&m, rows, MANY);
    vocab = open_made(&m);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(gufo_vocab_find(vocab, gufo_str_of(rows[i].text)), i);
    gufo_vocab_free(vocab);
    free(names);
    free(rows);
}

/* ---- defaults and keys ---------------------------------------------------------------------- */

static const struct default_case {
    const char *model;
    uint32_t bos, eos, unknown;
    bool add_bos, add_eos, space_prefix, clean_spaces;
} default_cases[] = {
    {"t5", GUFO_NO_TOKEN, 1, 2, false, true, false, false},
    {"rwkv", GUFO_NO_TOKEN, GUFO_NO_TOKEN, GUFO_NO_TOKEN, false, false, false, false},
    {"bert", 101, GUFO_NO_TOKEN, 100, true, false, false, true},
    {"llama", 1, 2, 0, true, false, true, false},
    {"gpt2", 11, 11, GUFO_NO_TOKEN, false, false, false, true},
    {"gemma4", GUFO_NO_TOKEN, GUFO_NO_TOKEN, GUFO_NO_TOKEN, true, false, false, true},
};

static void test_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof default_cases / sizeof *default_cases; i++) {
        const struct default_case *c = &default_cases[i];
        vocab_maker m = vocab_maker_new(c->model);
        gufo_vocab *vocab;
        gufo_vocab_facts facts;

        vocab_maker_with_bytes(&m, few + 3, 1);
        vocab_maker_texts(&m, "merges", NULL, 0);
        vocab = open_made(&m);
        facts = gufo_vocab_describe(vocab);
        assert_string_equal(facts.model, c->model);
        assert_int_equal(facts.special[GUFO_SPECIAL_BOS], c->bos);
        assert_int_equal(facts.special[GUFO_SPECIAL_EOS], c->eos);
        assert_int_equal(facts.special[GUFO_SPECIAL_UNKNOWN], c->unknown);
        assert_int_equal(facts.add_bos, c->add_bos);
        assert_int_equal(facts.add_eos, c->add_eos);
        assert_int_equal(facts.space_prefix, c->space_prefix);
        assert_int_equal(facts.clean_spaces, c->clean_spaces);
        gufo_vocab_free(vocab);
    }
}

/* A default that is past the last token is none. */
static void test_small_vocabulary(void **state)
{
    vocab_maker m = vocab_maker_new("bert");
    gufo_vocab *vocab;

    (void)state;
    vocab_maker_tokens(&m, few, FEW);
    vocab = open_made(&m);
    assert_int_equal(gufo_vocab_describe(vocab).special[GUFO_SPECIAL_BOS], GUFO_NO_TOKEN);
    gufo_vocab_free(vocab);
}

static void test_keys(void **state)
{
    vocab_maker m = vocab_maker_new("t5");
    gufo_vocab *vocab;
    gufo_vocab_facts facts;

    (void)state;
    vocab_maker_tokens(&m, few, FEW);
    vocab_maker_id(&m, "bos_token_id", 1);
    vocab_maker_id(&m, "fim_pre_token_id", 3);
    vocab_maker_id(&m, "prefix_token_id", 4);
    vocab_maker_id(&m, "seperator_token_id", 2);
    vocab_maker_bool(&m, "add_bos_token", true);
    vocab_maker_bool(&m, "add_eos_token", false);
    vocab_maker_bool(&m, "add_space_prefix", true);
    vocab = open_made(&m);
    facts = gufo_vocab_describe(vocab);
    assert_int_equal(facts.special[GUFO_SPECIAL_BOS], 1);
    assert_int_equal(facts.special[GUFO_SPECIAL_FIM_PREFIX], 4);
    assert_int_equal(facts.special[GUFO_SPECIAL_SEPARATOR], 2);
    assert_true(facts.add_bos && !facts.add_eos && facts.space_prefix);
    gufo_vocab_free(vocab);
}

/* ---- known texts ---------------------------------------------------------------------------- */

static uint32_t attributes_of(const gufo_vocab *vocab, const char *text)
{
    gufo_token token;

    assert_true(gufo_vocab_token(vocab, gufo_vocab_find(vocab, gufo_str_of(text)), &token));
    return token.attributes;
}

static gufo_vocab *open_rows(const token_row *rows, size_t count, const char *key,
                             const char *value)
{
    vocab_maker m = vocab_maker_new("rwkv");

    vocab_maker_tokens(&m, rows, count);
    if (key != NULL)
        vocab_maker_key(&m, key, value);
    return open_made(&m);
}

static void test_known_texts(void **state)
{
    static const token_row rows[] = {
        {"</s>", 1, 0},       {"<|im_end|>", 4, 0}, {"<|channel|>", 3, 0}, {"<|call|>", 3, 0},
        {"<|return|>", 3, 0}, {"<|end|>", 3, 0},    {"<PRE>", 1, 0},       {"<fim_prefix>", 1, 0},
        {"[unused7]", 3, 0},  {"[unused8]", 1, 0},  {"word", 1, 0},
    };
    gufo_vocab *vocab = open_rows(rows, sizeof rows / sizeof *rows, NULL, NULL);
    gufo_vocab_facts facts = gufo_vocab_describe(vocab);
    const uint32_t control = GUFO_TOKEN_CONTROL, user = GUFO_TOKEN_USER_DEFINED;
    const uint32_t normal = GUFO_TOKEN_NORMAL, end = GUFO_TOKEN_END;

    (void)state;
    assert_int_equal(attributes_of(vocab, "</s>"), normal | control | end);
    assert_int_equal(attributes_of(vocab, "<|im_end|>"), user | control | end);
    assert_int_equal(attributes_of(vocab, "<|channel|>"), user);
    /* With <|call|> and <|return|> it does not end generation. */
    assert_int_equal(attributes_of(vocab, "<|end|>"), user);
    assert_int_equal(attributes_of(vocab, "<|return|>"), control | end);
    assert_int_equal(attributes_of(vocab, "[unused7]"), control | GUFO_TOKEN_UNUSED);
    assert_int_equal(attributes_of(vocab, "[unused8]"), normal);
    assert_int_equal(attributes_of(vocab, "word"), normal);
    assert_int_equal(facts.special[GUFO_SPECIAL_EOT],
                     gufo_vocab_find(vocab, gufo_str_of("<|im_end|>")));
    /* The first row of a role that fits. */
    assert_int_equal(facts.special[GUFO_SPECIAL_FIM_PREFIX],
                     gufo_vocab_find(vocab, gufo_str_of("<fim_prefix>")));
    assert_int_equal(attributes_of(vocab, "<PRE>"), normal);
    gufo_vocab_free(vocab);
}

/* The original tokenizer goes by types, unless all tokens are normal. */
static void test_known_texts_original(void **state)
{
    static const token_row rows[] = {{"</s>", 1, 0},      {"<|im_end|>", 4, 0},
                                     {"[unused7]", 3, 0}, {"<|channel|>", 3, 0},
                                     {"<PRE>", 1, 0},     {"word", 1, 0}};
    static const gufo_vocab_options original = {.flags = GUFO_VOCAB_ORIGINAL};
    const uint32_t control = GUFO_TOKEN_CONTROL, user = GUFO_TOKEN_USER_DEFINED;
    const uint32_t normal = GUFO_TOKEN_NORMAL, end = GUFO_TOKEN_END;

    (void)state;
    for (unsigned typed = 0; typed < 2; typed++) {
        size_t first = typed != 0 ? 0 : 4, count = typed != 0 ? sizeof rows / sizeof *rows : 2;
        vocab_maker m = vocab_maker_new("rwkv");
        gufo_error error;
        gufo_vocab *vocab;

        vocab_maker_tokens(&m, rows + first, count);
        vocab = vocab_maker_open(&m, &original, &error);
        assert_non_null(vocab);
        assert_int_equal(gufo_vocab_describe(vocab).special[GUFO_SPECIAL_FIM_PREFIX],
                         gufo_vocab_find(vocab, gufo_str_of("<PRE>")));
        assert_int_equal(attributes_of(vocab, "<PRE>"), typed != 0 ? normal : normal | control);
        assert_int_equal(gufo_vocab_describe(vocab).original != NULL, typed != 0);
        if (typed != 0) {
            assert_int_equal(attributes_of(vocab, "</s>"), normal | end);
            assert_int_equal(attributes_of(vocab, "<|im_end|>"), user | control | end);
            assert_int_equal(attributes_of(vocab, "<|channel|>"), user);
            assert_int_equal(attributes_of(vocab, "[unused7]"), control | GUFO_TOKEN_UNUSED);
        }
        gufo_vocab_free(vocab);
    }
}

static void test_strip_rules(void **state)
{
    static const token_row rows[] = {{"<mask>", 3, 0}, {"[MASK]", 3, 0}, {"</s>", 3, 0},
                                     {"<unk>", 2, 0},  {"<s>", 3, 0},    {"word", 1, 0}};
    static const struct {
        const char *key, *value, *left, *right; /* tokens that strip; "" for none */
    } cases[] = {
        {"general.name", "other", "", ""},
        {"general.name", "My PHI-3 Mini", "", "<mask>"},
        {"general.name", "phi3", "", "</s>"},
        {"general.name", "modern-bert", "[MASK]", ""},
        {"general.architecture", "jina-bert-v3", "<mask>", ""},
        {"tokenizer.ggml.pre", "jina-v2-de", "<mask>", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gufo_vocab *vocab =
            open_rows(rows, sizeof rows / sizeof *rows, cases[i].key, cases[i].value);

        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            uint32_t attributes = attributes_of(vocab, rows[k].text);
            bool left = strcmp(rows[k].text, cases[i].left) == 0;

            if (((attributes & GUFO_TOKEN_LSTRIP) != 0) != left)
                fail_msg("%s, %s: lstrip", cases[i].value, rows[k].text);
        }
        if (cases[i].right[0] != '\0')
            assert_true(attributes_of(vocab, cases[i].right) & GUFO_TOKEN_RSTRIP);
        assert_false(attributes_of(vocab, "<unk>") & GUFO_TOKEN_RSTRIP);
        assert_false(attributes_of(vocab, "word") & GUFO_TOKEN_RSTRIP);
        gufo_vocab_free(vocab);
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refused(vocab_maker *m, gufo_status status, const char *part)
{
    gufo_error error;
    gufo_vocab *vocab = vocab_maker_open(m, NULL, &error);

    if (vocab != NULL)
        fail_msg("accepted: %s", part);
    if (error.code != status || strstr(error.message, part) == NULL)
        fail_msg("%s: %s", gufo_status_name(error.code), error.message);
}

static void test_refused_models(void **state)
{
    static const char *const models[] = {"plamo2", "hybriddna", "whitespace", "sentence\npiece"};
    vocab_maker m = vocab_maker_new("none");

    (void)state;
    refused(&m, GUFO_E_NOT_FOUND, "no vocabulary");
    m = vocab_maker_new(NULL);
    refused(&m, GUFO_E_NOT_FOUND, "tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        m = vocab_maker_new(models[i]);
        vocab_maker_tokens(&m, few, FEW);
        refused(&m, GUFO_E_TYPE, i < 3 ? models[i] : "u{a}piece");
    }
}

static void test_refused_lists(void **state)
{
    vocab_maker m = vocab_maker_new("rwkv");

    (void)state;
    refused(&m, GUFO_E_NOT_FOUND, "tokenizer.ggml.tokens");
    m = vocab_maker_new("rwkv");
    vocab_maker_tokens(&m, few, 0);
    refused(&m, GUFO_E_MALFORMED, "no token");
    m = vocab_maker_new("rwkv");
    vocab_maker_text(&m, "tokens", "a");
    refused(&m, GUFO_E_MALFORMED, "array of strings");
    for (unsigned kind = 0; kind < 2; kind++) { /* one element less than there are tokens */
        static const char *const names[] = {"scores", "token_type"};
        static const char *const texts[] = {"a", "b"};

        m = vocab_maker_new("rwkv");
        vocab_maker_texts(&m, "tokens", texts, 2);
        builder_kv_array(&m.b, kind == 0 ? "tokenizer.ggml.scores" : "tokenizer.ggml.token_type",
                         kind == 0 ? GUFO_VALUE_FLOAT32 : GUFO_VALUE_INT32, 1);
        builder_u32(&m.b, 1);
        m.entries++;
        refused(&m, GUFO_E_MALFORMED, names[kind]);
    }
}

static void test_refused_ids(void **state)
{
    vocab_maker m = vocab_maker_new("rwkv");

    (void)state;
    vocab_maker_tokens(&m, few, FEW);
    vocab_maker_id(&m, "bos_token_id", FEW);
    refused(&m, GUFO_E_MALFORMED, "bos_token_id");
    m = vocab_maker_new("rwkv");
    vocab_maker_tokens(&m, few, FEW);
    vocab_maker_text(&m, "eos_token_id", "</s>");
    refused(&m, GUFO_E_MALFORMED, "eos_token_id");
    m = vocab_maker_new("rwkv");
    vocab_maker_tokens(&m, few, FEW);
    vocab_maker_id(&m, "add_bos_token", 1);
    refused(&m, GUFO_E_MALFORMED, "add_bos_token");
}

/* A token of 64 KiB; tokens are not longer. */
static void test_long_token(void **state)
{
    enum { LONGEST = 65535 };
    char *text = calloc(LONGEST + 2, 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LONGEST);
    for (int longer = 0; longer < 2; longer++) {
        const token_row rows[] = {{"a", 1, 0}, {text, 1, 0}};
        vocab_maker m = vocab_maker_new("rwkv");
        gufo_vocab *vocab;
        gufo_error error = {0};

        text[LONGEST] = longer != 0 ? 'a' : '\0';
        vocab_maker_tokens(&m, rows, 2);
        vocab = vocab_maker_open(&m, NULL, &error);
        assert_int_equal(vocab != NULL, longer == 0);
        assert_int_equal(error.code, longer != 0 ? GUFO_E_LIMIT : GUFO_OK);
        gufo_vocab_free(vocab);
    }
    free(text);
}

static void test_pre(void **state)
{
    static const struct {
        const char *in_file, *given, *used;
        unsigned warnings;
    } cases[] = {
        {NULL, NULL, "default", 1},           {"", NULL, "default", 1},
        {"gpt-2", NULL, "gpt-2", 0},          {"new", NULL, "default", 1},
        {"new", "llama-bpe", "llama-bpe", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vocab_maker m = vocab_maker_new("gpt2");
        const gufo_vocab_options options = {.pre = cases[i].given};
        gufo_error error;
        gufo_vocab *vocab;

        vocab_maker_tokens(&m, few, FEW);
        vocab_maker_texts(&m, "merges", NULL, 0);
        if (cases[i].in_file != NULL)
            vocab_maker_text(&m, "pre", cases[i].in_file);
        vocab = vocab_maker_open(&m, &options, &error);
        assert_non_null(vocab);
        assert_string_equal(gufo_vocab_describe(vocab).pre, cases[i].used);
        assert_int_equal(gufo_vocab_warning_at(vocab, 0) != NULL, cases[i].warnings);
        gufo_vocab_free(vocab);
    }
}

/* Atomic tokens are worth a warning: merges may have been lost. */
static void test_no_merges(void **state)
{
    static const struct {
        const char *pre, *warning;
        bool atomic;
    } cases[] = {
        {"gpt-2", "becomes single bytes", true},
        {"gemma4", "becomes single characters", true},
        {"kimi-k2", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vocab_maker m = vocab_maker_new("gpt2");
        gufo_vocab *vocab;
        const char *warning;

        vocab_maker_tokens(&m, few, FEW);
        vocab_maker_text(&m, "pre", cases[i].pre);
        vocab = open_made(&m);
        warning = gufo_vocab_warning_at(vocab, 0);
        assert_int_equal(gufo_vocab_describe(vocab).ignore_merges, cases[i].atomic);
        assert_int_equal(warning != NULL, cases[i].warning != NULL);
        assert_true(warning == NULL || strstr(warning, cases[i].warning) != NULL);
        gufo_vocab_free(vocab);
    }
}

/* ---- added tokens --------------------------------------------------------------------------- */

static const char *const added_texts[] = {"</s>", "ab", "<s>", "none", "nor this"};

static gufo_vocab *open_added(bool typed, size_t count)
{
    static const token_row rows[] = {{"<s>", 3, 0}, {"</s>", 1, 0}, {"a", 1, 0},
                                     {"b", 1, 0},   {"ab", 5, 0},   {"ba", 1, 0}};
    static const char *const texts[] = {"<s>", "</s>", "a", "b", "ab", "ba"};
    vocab_maker m = vocab_maker_new("rwkv");

    if (typed)
        vocab_maker_tokens(&m, rows, sizeof rows / sizeof *rows);
    else
        vocab_maker_texts(&m, "tokens", texts, sizeof texts / sizeof *texts);
    vocab_maker_texts(&m, "added_tokens", added_texts, count);
    return open_made(&m);
}

static int32_t type_of(const gufo_vocab *vocab, uint32_t id)
{
    gufo_token token;

    assert_true(gufo_vocab_token(vocab, id, &token));
    return token.type;
}

/* They are found in texts before the algorithm, which alone would take "ba" of "bab". */
static void test_added_tokens(void **state)
{
    (void)state;
    for (int typed = 0; typed < 2; typed++) {
        gufo_vocab *vocab = open_added(typed != 0, 3);
        gufo_ids ids = {0};

        assert_int_equal(type_of(vocab, 0), typed != 0 ? 3 : 4);
        assert_int_equal(type_of(vocab, 1), 4);
        assert_int_equal(type_of(vocab, 2), 1);
        assert_int_equal(type_of(vocab, 4), 4);
        assert_null(gufo_vocab_warning_at(vocab, 0));
        assert_int_equal(gufo_tokenize(vocab, gufo_str_of("bab</s>"), NULL, &ids, NULL), GUFO_OK);
        assert_int_equal(ids.count, 3);
        assert_int_equal(ids.ids[0], 3);
        assert_int_equal(ids.ids[1], 4);
        assert_int_equal(ids.ids[2], 1);
        gufo_ids_free(&ids);
        gufo_vocab_free(vocab);
    }
}

static void test_added_tokens_missing(void **state)
{
    gufo_vocab *vocab = open_added(true, 5);
    vocab_maker m = vocab_maker_new("rwkv");

    (void)state;
    assert_non_null(gufo_vocab_warning_at(vocab, 0));
    assert_non_null(
        strstr(gufo_vocab_warning_at(vocab, 0), "2 of \"tokenizer.ggml.added_tokens\""));
    assert_non_null(strstr(gufo_vocab_warning_at(vocab, 0), "\"none\""));
    gufo_vocab_free(vocab);
    vocab_maker_tokens(&m, few, FEW);
    vocab_maker_text(&m, "added_tokens", "a");
    refused(&m, GUFO_E_MALFORMED, "added_tokens");
}

/* ---- memory --------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
    vocab_maker m = vocab_maker_new("llama");

    (void)state;
    vocab_maker_with_bytes(&m, few, FEW);
    vocab_maker_bool(&m, "add_bos_token", true);
    vocab_maker_fail_memory(&m, "a</s>b  a");
    m = vocab_maker_new("rwkv");
    vocab_maker_texts(&m, "tokens", (const char *const[]){"a", "b"}, 2);
    vocab_maker_texts(&m, "added_tokens", (const char *const[]){"b", "c"}, 2);
    vocab_maker_fail_memory(&m, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_equal_texts),
        cmocka_unit_test(test_look_up),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_small_vocabulary),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_known_texts_original),
        cmocka_unit_test(test_strip_rules),
        cmocka_unit_test(test_refused_models),
        cmocka_unit_test(test_refused_lists),
        cmocka_unit_test(test_refused_ids),
        cmocka_unit_test(test_pre),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_long_token),
        cmocka_unit_test(test_no_merges),
        cmocka_unit_test(test_added_tokens),
        cmocka_unit_test(test_added_tokens_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
