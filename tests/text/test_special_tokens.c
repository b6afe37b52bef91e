/* Special tokens in texts: which occurrences count, compared with the definition. */
#include "support/pace.h"
#include "support/vocab_maker.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAGMENTS = 4096, BYTES = 256 };

/* ---- the definition ------------------------------------------------------------------------- */

/* Text from `begin` to `end`, or a token. */
typedef struct fragment {
    size_t begin, end;
    uint32_t id;
} fragment;

typedef struct fragments {
    fragment items[MOST_FRAGMENTS];
    size_t count;
} fragments;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void insert(fragments *f, size_t at, fragment item)
{
    assert_true(f->count < MOST_FRAGMENTS);
    memmove(f->items + at + 1, f->items + at, (f->count - at) * sizeof item);
    f->items[at] = item;
    f->count++;
}

/* Cuts all occurrences of one token out of all texts. */
static void cut_out(fragments *f, const char *text, const gufo_token *token, uint32_t id)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t at = f->items[i].begin;
             f->items[i].id == GUFO_NO_TOKEN && at + token->text.len <= f->items[i].end; at++) {
            fragment before = f->items[i], after = before;

            if (memcmp(text + at, token->text.data, token->text.len) != 0)
                continue;
            before.end = at;
            after.begin = at + token->text.len;
            while ((token->attributes & GUFO_TOKEN_LSTRIP) != 0 && before.end > before.begin &&
                   is_space(text[before.end - 1]))
                before.end--;
            while ((token->attributes & GUFO_TOKEN_RSTRIP) != 0 && after.begin < after.end &&
                   is_space(text[after.begin]))
                after.begin++;
            f->items[i] = before;
            insert(f, i + 1, (fragment){at, after.begin, id});
            insert(f, i + 2, after);
            i += 2;
            at = after.begin - 1;
        }
}

static void divide(fragments *f, const gufo_vocab *vocab, const char *text, size_t len, bool parse)
{
    const uint32_t parsed = GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN;
    uint32_t wanted = GUFO_TOKEN_USER_DEFINED | (parse ? parsed : 0);
    uint32_t unwanted = parse ? 0 : parsed;
    gufo_token token;

    f->count = 0;
    insert(f, 0, (fragment){0, len, GUFO_NO_TOKEN});
    for (size_t size = 16; size > 0; size--)
        for (uint32_t id = 0; gufo_vocab_token(vocab, id, &token); id++)
            if (token.text.len == size && (token.attributes & wanted) != 0 &&
                (token.attributes & unwanted) == 0)
                cut_out(f, text, &token, id);
}

/* ---- comparison ----------------------------------------------------------------------------- */

/* Byte tokens, in which nothing merges: the ids of a text are its bytes. */
static gufo_vocab *make(const char *name)
{
    static const token_row rows[] = {
        {"ab", 3, 0},   {"aba", 4, 0}, {"bab", 3, 0}, {"a b", 4, 0},  {"<unk>", 2, 0},
        {"  ", 4, 0},   {"   ", 3, 0}, {"ba", 1, 0},  {"abab", 4, 0}, {"[MASK]", 3, 0},
        {"</s>", 4, 0}, {"b", 4, 0},   {"b", 3, 0},   {"<s>", 3, 0},
    };
    vocab_maker m = vocab_maker_new("llama");
    gufo_vocab *vocab;
    gufo_error error;

    vocab_maker_with_bytes(&m, rows, sizeof rows / sizeof *rows);
    vocab_maker_bool(&m, "add_space_prefix", false);
    vocab_maker_key(&m, "general.name", name);
    vocab = vocab_maker_open(&m, NULL, &error);
    if (vocab == NULL)
        fail_msg("%s", error.message);
    return vocab;
}

static void add_expected(gufo_ids *ids, uint32_t id)
{
    assert_true(ids->count < ids->room);
    ids->ids[ids->count++] = id;
}

/* What the definition gives: byte tokens, spaces being U+2581. */
static void expected_ids(const fragments *f, const char *text, gufo_ids *ids)
{
    ids->count = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->items[i].id != GUFO_NO_TOKEN) {
            add_expected(ids, f->items[i].id);
            continue;
        }
        for (size_t at = f->items[i].begin; at < f->items[i].end; at++)
            if (text[at] == ' ') {
                add_expected(ids, 0xe2);
                add_expected(ids, 0x96);
                add_expected(ids, 0x81);
            } else {
                add_expected(ids, (uint8_t)text[at]);
            }
    }
}

static void feed_in_parts(gufo_tokenizer *tokenizer, const char *text, size_t len, uint64_t *state,
                          gufo_ids *ids)
{
    gufo_error error;

    for (size_t at = 0; at < len;) {
        size_t size = 1 + (size_t)random_next(state) % 7;

        size = size < len - at ? size : len - at;
        assert_int_equal(gufo_tokenizer_feed(tokenizer, (gufo_str){text + at, size}, ids, &error),
                         GUFO_OK);
        at += size;
    }
    assert_int_equal(gufo_tokenizer_end(tokenizer, ids, &error), GUFO_OK);
}

static void random_text(char *text, size_t len, uint64_t *state)
{
    static const char *const parts[] = {"a",      "b",  " ", "ab", "  ", "</s>", "<s>",
                                        "[MASK]", "\n", "x", "<",  "ba", "<unk>"};
    size_t at = 0;

    while (at < len) {
        const char *part = parts[random_next(state) % (sizeof parts / sizeof *parts)];

        for (; *part != '\0' && at < len; part++)
            text[at++] = *part;
    }
}

static void check_vocab(const char *name, bool parse)
{
    const gufo_tokenize_options options = {.flags = parse ? GUFO_TOKENIZE_PARSE_SPECIAL : 0};
    gufo_vocab *vocab = make(name);
    gufo_error error;
    gufo_tokenizer *tokenizer = gufo_tokenizer_new(vocab, &options, &error);
    fragments *f = malloc(sizeof *f);
    gufo_ids expected = {.ids = malloc(4 * BYTES * sizeof(uint32_t)), .room = 4 * BYTES}, ids = {0};
    uint64_t state = 11;
    char text[BYTES];

    assert_true(f != NULL && expected.ids != NULL && tokenizer != NULL);
    for (unsigned round = 0; round < all_some_or_few(600, 200, 200); round++) {
        size_t len = (size_t)random_next(&state) % (round < 500 ? 12 : BYTES);

        random_text(text, len, &state);
        divide(f, vocab, text, len, parse);
        expected_ids(f, text, &expected);
        ids.count = 0;
        feed_in_parts(tokenizer, text, len, &state, &ids);
        if (ids.count != expected.count ||
            (ids.count > 0 && memcmp(ids.ids, expected.ids, ids.count * sizeof *ids.ids) != 0))
            fail_msg("%s, parse %d: \"%.*s\"", name, parse, (int)len, text);
    }
    free(f);
    free(expected.ids);
    gufo_ids_free(&ids);
    gufo_tokenizer_free(tokenizer);
    gufo_vocab_free(vocab);
}

/* The names switch strip rules on. */
static void test_definition(void **state)
{
    (void)state;
    for (unsigned parse = 0; parse < 2; parse++) {
        check_vocab("plain", parse != 0);
        check_vocab("Phi-3 mini", parse != 0);
        check_vocab("modern-bert", parse != 0);
    }
}

/* ---- threads -------------------------------------------------------------------------------- */

static void tokenize(const gufo_vocab *vocab, gufo_str text, unsigned threads, gufo_ids *ids)
{
    const gufo_run run = {.threads = threads};
    const gufo_tokenize_options options = {
        .flags = GUFO_TOKENIZE_ADD_SPECIAL | GUFO_TOKENIZE_PARSE_SPECIAL, .run = &run};
    gufo_error error;

    if (gufo_tokenize(vocab, text, &options, ids, &error) != GUFO_OK)
        fail_msg("%s", error.message);
}

/* Long texts are shared among threads; the ids are those of one. */
static void test_threads(void **state)
{
    enum { LONG = 900000 };
    gufo_vocab *vocab = make("plain");
    char *text = malloc(LONG);
    gufo_ids one = {0}, several = {0};
    uint64_t random = 5;

    (void)state;
    assert_non_null(text);
    random_text(text, LONG, &random);
    tokenize(vocab, (gufo_str){text, LONG}, 1, &one);
    tokenize(vocab, (gufo_str){text, LONG}, 4, &several);
    assert_true(one.count > LONG / 8 && one.count == several.count);
    assert_memory_equal(one.ids, several.ids, one.count * sizeof *one.ids);
    gufo_ids_free(&one);
    gufo_ids_free(&several);
    free(text);
    gufo_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
