/* What vocabularies hold: duplicates, lengths, reach; how two differ. */
#include "support/allocator.h"
#include "support/vocab_maker.h"

#include "text/census.h"

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
    check_ok(census_duplicates(vocab, &ids, NULL), NULL, "duplicates");
    check_ids(&ids, (uint32_t[]){FIRST + 4}, 1, "duplicates");
    gufo_vocab_free(vocab);
}

static void test_longest(void **state)
{
    gufo_vocab *vocab = open_pieces();
    gufo_ids ids = {0};

    (void)state;
    check_ok(census_longest(vocab, 3, &ids, NULL), NULL, "longest");
    check_ids(&ids, (uint32_t[]){FIRST + 14, FIRST + 16, FIRST + 8}, 3, "longest");
    check_ok(census_longest(vocab, SIZE_MAX, &ids, NULL), NULL, "longest");
    check_u64(ids.count, 14, "written tokens");
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
}

static void test_reach(void **state)
{
    static const struct {
        uint32_t id;
        token_reach reach;
    } expected[] = {
        {0, REACH_NO_TEXT}, {1, REACH_NO_TEXT},  {3, REACH_ITSELF},  {4, REACH_OTHERS},
        {5, REACH_ITSELF},  {7, REACH_ITSELF},   {8, REACH_ITSELF},  {9, REACH_ITSELF},
        {10, REACH_OTHERS}, {11, REACH_ITSELF},  {12, REACH_ITSELF}, {13, REACH_ITSELF},
        {14, REACH_ITSELF}, {15, REACH_NO_TEXT}, {17, REACH_ITSELF},
    };
    gufo_run run = {.threads = 3};
    gufo_vocab *vocab = open_pieces();
    uint8_t reach[FIRST + PIECES], alone[FIRST + PIECES];

    (void)state;
    check_ok(census_reach(vocab, NULL, alone, NULL), NULL, "reach");
    check_ok(census_reach(vocab, &run, reach, NULL), NULL, "reach");
    assert_memory_equal(reach, alone, sizeof reach);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        check_u64(reach[FIRST + expected[i].id], expected[i].reach, "token %" PRIu32,
                  expected[i].id);
    check_u64(reach['A'], REACH_PART, "a byte");
    assert_true(gufo_vocab_describe(vocab).space_prefix);
    gufo_vocab_free(vocab);
}

/* More tokens than a thread takes at a time. */
static void test_many(void **state)
{
    enum { MANY = 7000 };
    token_row *rows = calloc(MANY, sizeof *rows);
    char *names = calloc(MANY, 8);
    uint8_t *reach = calloc(FIRST + MANY, 1);
    gufo_run run = {.threads = 4};
    vocab_maker m = vocab_maker_new("llama");
    gufo_vocab *vocab;
    size_t itself = 0;

    (void)state;
    assert_true(rows != NULL && names != NULL && reach != NULL);
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(names + 8 * (size_t)i, 8, "%u", i);
        rows[i] = (token_row){names + 8 * (size_t)i, 1, -(float)i};
    }
    vocab_maker_with_bytes(&m, rows, MANY);
    vocab_maker_bool(&m, "add_bos_token", false);
    vocab = open_made(&m);
    check_ok(census_reach(vocab, &run, reach, NULL), NULL, "reach");
    for (unsigned i = 0; i < MANY; i++)
        itself += reach[FIRST + i] == REACH_ITSELF;
    /* Every number is made of parts that are numbers. */
    check_u64(itself, MANY, "reached");
    check_u64(reach['7'], REACH_PART, "a byte");
    gufo_vocab_free(vocab);
    free(reach);
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
    static const uint8_t expected[] = {REACH_ITSELF, REACH_ITSELF, REACH_ITSELF, REACH_OTHERS,
                                       REACH_PART,   REACH_ITSELF, REACH_NO_TEXT};
    vocab_maker m = vocab_maker_new("gpt2");
    uint8_t reach[COUNT_OF(rows)];
    gufo_vocab *vocab;

    (void)state;
    vocab_maker_tokens(&m, rows, COUNT_OF(rows));
    vocab_maker_texts(&m, "merges", merges, 1);
    vocab_maker_text(&m, "pre", "gpt-2");
    vocab = open_made(&m);
    check_ok(census_reach(vocab, NULL, reach, NULL), NULL, "reach");
    assert_memory_equal(reach, expected, sizeof reach);
    gufo_vocab_free(vocab);
}

static void test_memory(void **state)
{
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter c;

    (void)state;
    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        vocab_maker m = vocab_maker_new("llama");
        uint8_t reach[FIRST + PIECES];
        gufo_vocab *vocab;
        gufo_error error;

        counter_init(&c);
        allocator = counter_allocator(&c);
        vocab_maker_with_bytes(&m, pieces, PIECES);
        vocab = vocab_maker_open(&m, &(gufo_vocab_options){.allocator = &allocator}, &error);
        assert_non_null(vocab);
        c.fail_at = c.calls + at;
        status = census_reach(vocab, NULL, reach, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", error.message);
        gufo_vocab_free(vocab);
        check_u64(c.in_use, 0, "left");
        assert_true(at < 1000);
    }
}

/* ---- differences ---------------------------------------------------------------------------- */

typedef struct taken {
    token_difference list[16];
    size_t count;
} taken;

static void take(void *context, const token_difference *difference)
{
    taken *t = context;

    assert_true(t->count < COUNT_OF(t->list));
    t->list[t->count++] = *difference;
}

static void check_same(const gufo_vocab *vocab)
{
    taken t = {.count = 0};

    census_compare(vocab, vocab, take, &t);
    check_u64(t.count, 0, "differences from itself");
}

static void check_id(uint32_t got, uint32_t expected)
{
    check_u64(got, expected == GUFO_NO_TOKEN ? expected : FIRST + expected, "id");
}

static void test_differences(void **state)
{
    static const token_row first[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0}, {"a", 1, -1},
                                      {"b", 1, -2},    {"c", 1, -3},  {"d", 1, -4},   {"a", 1, -1}},
                           second[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0},
                                       {"a", 1, -1},    {"c", 1, -3},  {"d", 4, -5},
                                       {"e", 1, -6},    {"a", 1, -1}};
    static const token_difference expected[] = {
        {CHANGE_REMOVED, 4, GUFO_NO_TOKEN},
        {CHANGE_MOVED, 5, 4},
        {CHANGE_MOVED, 6, 5},
        {CHANGE_TYPE, 6, 5},
        {CHANGE_SCORE, 6, 5},
        {CHANGE_ADDED, GUFO_NO_TOKEN, 6},
    };
    vocab_maker a = vocab_maker_new("llama"), b = vocab_maker_new("llama");
    gufo_vocab *left, *right;
    taken t = {.count = 0};

    (void)state;
    vocab_maker_with_bytes(&a, first, COUNT_OF(first));
    vocab_maker_with_bytes(&b, second, COUNT_OF(second));
    left = open_made(&a);
    right = open_made(&b);
    check_same(left);
    check_same(right);
    census_compare(left, right, take, &t);
    check_u64(t.count, COUNT_OF(expected), "differences");
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        check_u64(t.list[i].change, expected[i].change, "change %zu", i);
        check_id(t.list[i].first, expected[i].first);
        check_id(t.list[i].second, expected[i].second);
    }
    gufo_vocab_free(left);
    gufo_vocab_free(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicates),  cmocka_unit_test(test_longest),
        cmocka_unit_test(test_reach),       cmocka_unit_test(test_many),
        cmocka_unit_test(test_byte_level),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_differences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
