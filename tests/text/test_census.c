/* What vocabularies hold: types, duplicates, lengths, reach. */
#include "support/allocator.h"
#include "support/vocab_maker.h"

#include <stdlib.h>
#include <string.h>

static gufo_vocab *open_made(vocab_maker *m)
{
    gufo_error error;
    gufo_vocab *vocab = vocab_maker_open(m, NULL, &error);

    if (vocab == NULL)
        fail_msg("%s", error.message);
    return vocab;
}

static void check_ids(gufo_ids *ids, const uint32_t *expected, size_t count, const char *label)
{
    check_u64(ids->count, count, "%s", label);
    for (size_t i = 0; i < count; i++)
        check_u64(ids->ids[i], expected[i], "%s %zu", label, i);
    gufo_ids_free(ids);
}

/* ---- SentencePiece -------------------------------------------------------------------------- */

#define WORD "\xe2\x96\x81"

/* Behind the 256 tokens of bytes.  "xyz" cannot be reached: no two of its characters are a token. */
enum { FIRST = 256 };
static const token_row pieces[] = {
    {"<unk>", 2, 0}, {"<s>", 3, 0},     {"</s>", 3, 0},    {"+", 1, -9},   {"a", 1, -10},
    {"b", 1, -10},   {"c", 1, -10},     {"bc", 1, -1},     {"abc", 1, -5}, {"ab", 1, -2},
    {"xyz", 1, -3},  {WORD, 1, -4},     {WORD "a", 1, -2}, {"a", 1, -10},  {"big user token", 4, 0},
    {"gone", 5, 0},  {"abcab", 1, -20}, {"cab", 1, -30},
};
enum { PIECES = sizeof pieces / sizeof *pieces };

static gufo_vocab *open_pieces(void)
{
    vocab_maker m = vocab_maker_new("llama");

    vocab_maker_with_bytes(&m, pieces, PIECES);
    return open_made(&m);
}

static void test_duplicates(void **state)
{
    gufo_vocab *vocab = open_pieces();
    gufo_ids ids = {0};

    (void)state;
    check_ok(gufo_vocab_duplicates(vocab, &ids, NULL), NULL, "duplicates");
    check_ids(&ids, (uint32_t[]){FIRST + 4}, 1, "duplicates");
    gufo_vocab_free(vocab);
}

static void test_longest(void **state)
{
    gufo_vocab *vocab = open_pieces();
    gufo_ids ids = {0};

    (void)state;
    check_ok(gufo_vocab_longest(vocab, 3, &ids, NULL), NULL, "longest");
    check_ids(&ids, (uint32_t[]){FIRST + 14, FIRST + 16, FIRST + 8}, 3, "longest");
    check_ok(gufo_vocab_longest(vocab, SIZE_MAX, &ids, NULL), NULL, "longest");
    check_u64(ids.count, 14, "written tokens");
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
}

static void test_types(void **state)
{
    static const uint64_t expected[GUFO_TOKEN_TYPE_COUNT] = {0, 13, 1, 2, 1, 1, 256};
    uint64_t counts[GUFO_TOKEN_TYPE_COUNT];
    gufo_vocab *vocab = open_pieces();

    (void)state;
    gufo_vocab_count_types(vocab, counts);
    for (int i = 0; i < GUFO_TOKEN_TYPE_COUNT; i++)
        check_u64(counts[i], expected[i], "%s", gufo_token_type_name(i));
    assert_string_equal(gufo_token_type_name(4), "user-defined");
    assert_string_equal(gufo_token_type_name(7), "other");
    assert_string_equal(gufo_token_type_name(-1), "other");
    gufo_vocab_free(vocab);
}

static void test_attributes(void **state)
{
    gufo_vocab *vocab = open_pieces();
    gufo_ids ids = {0};

    (void)state;
    check_ok(
        gufo_vocab_tokens_with(vocab, GUFO_TOKEN_CONTROL | GUFO_TOKEN_USER_DEFINED, &ids, NULL),
        NULL, "control");
    check_ok(gufo_vocab_tokens_with(vocab, GUFO_TOKEN_UNUSED, &ids, NULL), NULL, "unused");
    check_ok(gufo_vocab_tokens_with(vocab, 0, &ids, NULL), NULL, "nothing");
    check_ids(&ids, (uint32_t[]){FIRST + 1, FIRST + 2, FIRST + 14, FIRST + 15}, 4, "attributes");
    gufo_vocab_free(vocab);
}

static void check_unreachable(const gufo_vocab *vocab, const gufo_run *run,
                              const uint32_t *expected, size_t count, uint64_t tested)
{
    gufo_ids ids = {0};
    uint64_t got;

    check_ok(gufo_vocab_unreachable(vocab, run, &ids, &got, NULL), NULL, "reach");
    check_u64(got, tested, "tested");
    check_ids(&ids, expected, count, "unreachable");
}

static void test_reach(void **state)
{
    static const uint32_t expected[] = {FIRST + 4, FIRST + 10};
    const gufo_run run = {.threads = 3}, wrong = {.reserved = {1}};
    gufo_vocab *vocab = open_pieces();
    gufo_error error = no_error();
    gufo_ids ids = {0};

    (void)state;
    check_unreachable(vocab, NULL, expected, 2, 14);
    check_unreachable(vocab, &run, expected, 2, 14);
    assert_true(gufo_vocab_describe(vocab).space_prefix);
    check_status(gufo_vocab_unreachable(vocab, &wrong, &ids, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "reserved");
    gufo_vocab_free(vocab);
}

/* More tokens than a thread takes at a time. */
static void test_many(void **state)
{
    enum { MANY = 7000 };
    token_row *rows = calloc(MANY, sizeof *rows);
    char *names = calloc(MANY, 8);
    const gufo_run run = {.threads = 4};
    vocab_maker m = vocab_maker_new("llama");
    gufo_vocab *vocab;

    (void)state;
    assert_true(rows != NULL && names != NULL);
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(names + 8 * (size_t)i, 8, "%u", i);
        rows[i] = (token_row){names + 8 * (size_t)i, 1, -(float)i};
    }
    vocab_maker_with_bytes(&m, rows, MANY);
    vocab_maker_bool(&m, "add_bos_token", false);
    vocab = open_made(&m);
    /* Every number is made of parts that are numbers; bytes are not tested. */
    check_unreachable(vocab, &run, NULL, 0, MANY);
    gufo_vocab_free(vocab);
    free(names);
    free(rows);
}

/* Merges that never meet, and a byte that is only a part of a character. */
static void test_byte_level(void **state)
{
    static const token_row rows[] = {
        {"a", 1, 0},        {"b", 1, 0},        {"ab", 1, 0},           {"ba", 1, 0},
        {"\xc3\x83", 1, 0}, {"\xc4\xa0", 1, 0}, {"<|endoftext|>", 3, 0}};
    static const char *const merges[] = {"a b"};
    vocab_maker m = vocab_maker_new("gpt2");
    gufo_vocab *vocab;

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_texts(&m, "merges", merges, 1);
    vocab_maker_text(&m, "pre", "gpt-2");
    vocab = open_made(&m);
    check_unreachable(vocab, NULL, (uint32_t[]){3}, 1, 5);
    gufo_vocab_free(vocab);
}

/* Of tokens that are written: bytes that they give, a space for WORD; longer ones are together. */
static void test_lengths(void **state)
{
    static const uint64_t expected[4] = {0, 6, 3, 3};
    uint64_t counts[GUFO_TOKEN_LENGTHS], sum = 0;
    gufo_vocab *vocab = open_pieces();

    (void)state;
    check_ok(gufo_vocab_count_lengths(vocab, counts, NULL), NULL, "lengths");
    for (size_t i = 0; i < GUFO_TOKEN_LENGTHS; i++)
        sum += counts[i];
    check_u64(sum, 14, "written tokens");
    for (size_t i = 0; i < 4; i++)
        check_u64(counts[i], expected[i], "%zu bytes", i);
    check_u64(counts[5], 1, "5 bytes");
    check_u64(counts[14], 1, "14 bytes");
    gufo_vocab_free(vocab);
}

/* Tokens of one byte less than are counted each, of as many, and of more. */
static void test_lengths_of_long_tokens(void **state)
{
    char texts[3][GUFO_TOKEN_LENGTHS + 1];
    token_row rows[4] = {{"<unk>", 2, 0}};
    uint64_t counts[GUFO_TOKEN_LENGTHS];
    vocab_maker m = vocab_maker_new("llama");
    gufo_vocab *vocab;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        memset(texts[i], (int)('a' + i), sizeof texts[i]);
        texts[i][GUFO_TOKEN_LENGTHS - 2 + i] = '\0';
        rows[1 + i] = (token_row){texts[i], 1, 0};
    }
    vocab_maker_with_bytes(&m, rows, COUNT_OF(rows));
    vocab = open_made(&m);
    check_ok(gufo_vocab_count_lengths(vocab, counts, NULL), NULL, "lengths");
    check_u64(counts[GUFO_TOKEN_LENGTHS - 2], 1, "each");
    check_u64(counts[GUFO_TOKEN_LENGTHS - 1], 2, "together");
    gufo_vocab_free(vocab);
}

/* ---- the record ----------------------------------------------------------------------------- */

static void check_token(const gufo_census_token *token, uint64_t id, const char *text,
                        const char *role)
{
    check_u64(token->id, id, "the id of %s", text);
    check(gufo_str_equal(token->text, gufo_str_of(text)), "%.*s, not %s", (int)token->text.len,
          token->text.data, text);
    check(gufo_str_equal(token->role, gufo_str_of(role)), "the role of %s", text);
}

/* It outlives the vocabulary. */
static void test_record(void **state)
{
    const gufo_vocab_census_options three = {.most = 3};
    gufo_vocab *vocab = open_pieces();
    gufo_vocab_census *census = gufo_vocab_census_new(vocab, &three, NULL);
    uint64_t lengths[GUFO_TOKEN_LENGTHS];

    (void)state;
    assert_non_null(census);
    check_ok(gufo_vocab_count_lengths(vocab, lengths, NULL), NULL, "lengths");
    gufo_vocab_free(vocab);
    assert_memory_equal(census->lengths, lengths, sizeof lengths);
    check(gufo_str_equal(census->model, gufo_str_of("llama")), "model");
    check_u64(census->pre.len, 0, "SentencePiece has no pre-tokenizer");
    check_u64(census->tokens, FIRST + PIECES, "tokens");
    check_u64(census->kind_count, GUFO_TOKEN_TYPE_COUNT, "kinds");
    assert_string_equal(census->kinds[3].name, "control");
    check_u64(census->kinds[3].tokens, 2, "control tokens");
    check_u64(census->longest_count, 3, "longest");
    check_token(&census->longest[0], FIRST + 14, "big user token", "");
    check_u64(census->first_count, 3, "first");
    check_token(&census->first[1], 1, "\x01", "");
    check_u64(census->last_count, 3, "last");
    check_token(&census->last[0], FIRST + 15, "gone", ""); /* it gives nothing */
    check_token(&census->last[2], FIRST + 17, "cab", "");
    check(census->special_count > 0, "special tokens");
    gufo_vocab_census_free(census);
}

/* Fewer tokens than a list may have, and what is not an option. */
static void test_record_of_few(void **state)
{
    const gufo_vocab_census_options all = {.most = UINT32_MAX}, later = {.reserved = {0, 0, 0, 1}};
    gufo_vocab *vocab = open_pieces();
    gufo_vocab_census *census = gufo_vocab_census_new(vocab, &all, NULL);
    gufo_error error;

    (void)state;
    assert_non_null(census);
    check_u64(census->first_count, FIRST + PIECES, "first");
    check_u64(census->last_count, FIRST + PIECES, "last");
    check_u64(census->last[0].id, 0, "last");
    check_u64(census->longest_count, 14, "longest");
    gufo_vocab_census_free(census);
    census = gufo_vocab_census_new(vocab, NULL, NULL);
    assert_non_null(census);
    check_u64(census->first_count, 10, "the usual number");
    gufo_vocab_census_free(census);
    assert_null(gufo_vocab_census_new(vocab, &later, &error));
    check_u64(error.code, GUFO_E_ARGUMENT, "reserved");
    gufo_vocab_census_free(NULL);
    gufo_vocab_free(vocab);
}

/* Whatever request for memory fails, all is given back. */
static void test_record_without_memory(void **state)
{
    gufo_vocab *vocab = open_pieces();
    gufo_vocab_census *census = NULL;

    (void)state;
    for (size_t at = 1; census == NULL; at++) {
        gufo_error error = no_error();
        gufo_allocator allocator;
        counter c;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = at;
        census = gufo_vocab_census_new(vocab, &(gufo_vocab_census_options){.allocator = &allocator},
                                       &error);
        if (census == NULL)
            check_u64(error.code, GUFO_E_MEMORY, "request %zu", at);
        else
            check(at > 10, "only %zu requests", at);
        gufo_vocab_census_free(census);
        check_u64(c.in_use, 0, "request %zu", at);
    }
    gufo_vocab_free(vocab);
}

typedef gufo_status listing(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error);

static gufo_status list_special(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error)
{
    return gufo_vocab_tokens_with(vocab, GUFO_TOKEN_CONTROL, out, error);
}

static gufo_status list_longest(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error)
{
    return gufo_vocab_longest(vocab, 3, out, error);
}

/* Adds an id for the sake of the test. */
static gufo_status list_lengths(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error)
{
    uint64_t counts[GUFO_TOKEN_LENGTHS];
    gufo_status status = gufo_vocab_count_lengths(vocab, counts, error);

    return status == GUFO_OK ? gufo_vocab_longest(vocab, 1, out, error) : status;
}

static gufo_status list_unreachable(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error)
{
    return gufo_vocab_unreachable(vocab, NULL, out, NULL, error);
}

/* Without memory a list is as it was. */
static void fail_listing(listing *list)
{
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter c;

    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        vocab_maker m = vocab_maker_new("llama");
        gufo_ids ids = {.allocator = &allocator};
        gufo_error error = no_error();
        gufo_vocab *vocab;

        counter_init(&c);
        allocator = counter_allocator(&c);
        vocab_maker_with_bytes(&m, pieces, PIECES);
        vocab = vocab_maker_open(&m, &(gufo_vocab_options){.allocator = &allocator}, &error);
        assert_non_null(vocab);
        c.fail_at = c.calls + at;
        status = list(vocab, &ids, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", error.message);
        check((ids.count > 0) == (status == GUFO_OK), "%zu ids", ids.count);
        gufo_ids_free(&ids);
        gufo_vocab_free(vocab);
        check_u64(c.in_use, 0, "left");
        assert_true(at < 1000);
    }
}

static void test_memory(void **state)
{
    static listing *const listings[] = {gufo_vocab_duplicates, list_special, list_longest,
                                        list_lengths, list_unreachable};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(listings); i++)
        fail_listing(listings[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_lengths_of_long_tokens),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_byte_level),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_record_of_few),
        cmocka_unit_test(test_record_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
