/* Merges that are found again from the tokens of a vocabulary, made ones and real ones. */
#include "vocabulary_text.h"

#include "../support/shared.h"
#include "base/memory.h"
#include "legacy/vocabulary.h"

/* ---- made vocabularies ----------------------------------------------------------------------- */

/* Of the pairs that could be joined, the one whose token has the lowest id is: "he" before "th". */
static void test_order(void **state)
{
    static const gufo_str tokens[] = {BYTES("t"),  BYTES("h"),   BYTES("e"),   BYTES("x"),
                                      BYTES("he"), BYTES("th"),  BYTES("the"), BYTES("hex"),
                                      BYTES("tt"), BYTES("ttt"), BYTES("thth")};
    static const char *const merges[] = {"h e", "t h", "t he", "he x", "t t", "tt t", "th th"};
    outcome o = outcome_of_texts("gpt2", tokens, COUNT_OF(tokens), 0);

    (void)state;
    check_merges(&o, merges, COUNT_OF(merges), "order");
    check_u64(o.report.added + o.report.unmade, 0, "all are made");
    assert_true(o.report.merges);
    outcome_free(&o);
}

/* What cannot be made: of higher ids, of bytes that are no tokens, of more than two parts. */
static void test_unmade(void **state)
{
    static const gufo_str tokens[] = {BYTES("a"),     BYTES("b"),   BYTES("abab"), BYTES("ab"),
                                      BYTES("a\x01"), BYTES("aba"), BYTES("bbbb"), BYTES("<|ab|>")};
    static const char *const merges[] = {"a b", "ab a"};
    outcome o = outcome_of_texts("gpt2", tokens, COUNT_OF(tokens), 0);

    (void)state;
    check_merges(&o, merges, COUNT_OF(merges), "unmade");
    check_u64(o.report.unmade, 3, "unmade");
    check_u64(o.report.added, 0, "too many to be added ones");
    outcome_free(&o);
}

/* A few tokens that no merge makes were added by hand. */
static void test_added(void **state)
{
    enum { LETTERS = 26, PAIRS = 64, COUNT = LETTERS + PAIRS + 4 };
    static char letters[LETTERS], pairs[PAIRS][2];
    static const gufo_str added[] = {BYTES("<fim_prefix>"), BYTES(">>TITLE<<"), BYTES(" \n x"),
                                     BYTES("zzzz\xff")};
    static const expected_token expected[] = {
        {"<fim_prefix>", 3}, {">>TITLE<<", 3}, {" \n x", 4}, {"zzzz\xc3\xbf", 1}};
    gufo_str tokens[COUNT];
    size_t count = 0;
    outcome o;
    gufo_str *texts;
    int32_t *types;
    gufo_array array;

    (void)state;
    for (size_t i = 0; i < LETTERS; i++) {
        letters[i] = (char)('a' + i);
        tokens[count++] = (gufo_str){&letters[i], 1};
    }
    for (size_t i = 0; i < PAIRS; i++) {
        pairs[i][0] = (char)('a' + i / LETTERS);
        pairs[i][1] = (char)('a' + i % LETTERS);
        tokens[count++] = (gufo_str){pairs[i], 2};
    }
    for (size_t i = 0; i < COUNT_OF(added); i++)
        tokens[count++] = added[i];
    o = outcome_of_texts("starcoder", tokens, count, count);
    array = array_of(&o, TOKENS_KEY, GUFO_VALUE_STRING);
    texts = texts_of(&array);
    types = types_of(&o);
    check_u64(o.report.added, COUNT_OF(added), "added");
    for (size_t i = 0; i < COUNT_OF(added); i++) {
        check_str(texts[LETTERS + PAIRS + i], expected[i].text, "added %zu", i);
        check_u64(types[LETTERS + PAIRS + i], expected[i].type, "type of added %zu", i);
    }
    free(texts);
    free(types);
    outcome_free(&o);
}

/* Merges of the file itself. */
static void test_given(void **state)
{
    static legacy_token tokens[] = {{BYTES("a"), 0}, {BYTES("b"), 0}, {BYTES("ab"), 0}};
    static gufo_str given[] = {BYTES("b a"), BYTES("a b")};
    static const char *const merges[] = {"b a", "a b"};
    const legacy_vocabulary v = {tokens, COUNT_OF(tokens), true, given, COUNT_OF(given)};
    outcome o = outcome_of("falcon", &v, v.count, NULL);

    (void)state;
    check_ok(o.status, &o.error, "given");
    check_merges(&o, merges, COUNT_OF(merges), "given");
    assert_true(o.report.merges && o.report.no_merges == NULL);
    outcome_free(&o);
}

/* ---- hostile vocabularies -------------------------------------------------------------------- */

/* One letter, in tokens of every length and one of the longest: the two of a token are half of the
 * last power of two, or what is left of it. */
static void test_long_tokens(void **state)
{
    enum { LONGEST = 1 << 16, SHORT = 300 };
    static char letters[LONGEST + 1];
    static gufo_str tokens[SHORT + 2];
    static legacy_merge merges[SHORT + 2];
    gufo_error error = no_error();
    bool complete;

    (void)state;
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < SHORT; i++)
        tokens[i] = (gufo_str){letters, i + 1};
    tokens[SHORT] = (gufo_str){letters, LONGEST};
    tokens[SHORT + 1] = (gufo_str){letters, LONGEST + 1};
    check_ok(legacy_merges_find(tokens, SHORT + 2, mem_allocator(NULL), merges, &complete, &error),
             &error, "long");
    assert_true(complete);
    check_u64(merges[0].left, MERGE_NONE, "a byte");
    check_u64(merges[1].left, 0, "two");
    check_u64(merges[3].right, 1, "four: the left of two and two");
    check_u64(merges[SHORT].left, MERGE_NONE, "more than two parts of it");
    check_u64(merges[SHORT + 1].left, MERGE_NONE, "too long to be looked at");
}

/* A long part beside one that grows by a byte at a time: each look-up hashes all of it.  With many
 * tokens of that kind it is given up. */
static void test_allowance(void **state)
{
    enum { DOUBLINGS = 11, LONG = 1 << DOUBLINGS, CHAIN = 400, COPIES = 50, SIZE = LONG + 1 };
    enum { COUNT = 256 + DOUBLINGS + CHAIN + 2 * COPIES };
    static char singles[256], copies[COPIES][SIZE + CHAIN];
    static gufo_str tokens[COUNT];
    static legacy_merge merges[COUNT];
    gufo_error error = no_error();
    outcome o;
    size_t n = 0;
    bool complete;

    (void)state;
    for (int b = 0; b < 256; b++) {
        singles[b] = (char)b;
        tokens[n++] = (gufo_str){&singles[b], 1};
    }
    for (size_t i = 0; i < COPIES; i++) {
        memset(copies[i], 'a', LONG);
        copies[i][LONG] = (char)(100 + i);
        memset(copies[i] + SIZE, 'd', CHAIN);
        memcpy(copies[i] + SIZE, "bc", 2);
    }
    for (size_t i = 1; i <= DOUBLINGS; i++)
        tokens[n++] = (gufo_str){copies[0], (size_t)1 << i};
    for (size_t i = 0; i < COPIES; i++)
        tokens[n++] = (gufo_str){copies[i], LONG + 1};
    for (size_t i = 2; i < CHAIN; i++)
        tokens[n++] = (gufo_str){copies[0] + SIZE, i};
    for (size_t i = 0; i < COPIES; i++)
        tokens[n++] = (gufo_str){copies[i], SIZE + CHAIN};
    check_ok(legacy_merges_find(tokens, n, mem_allocator(NULL), merges, &complete, &error), &error,
             "allowance");
    assert_false(complete);
    o = outcome_of_texts("gpt2", tokens, n, n);
    assert_false(o.report.merges || has_key(&o, MERGES_KEY));
    check(strstr(o.report.no_merges, "too long") != NULL, "%s", o.report.no_merges);
    outcome_free(&o);
}

/* ---- real vocabularies ----------------------------------------------------------------------- */

/* The byte of a character of the alphabet. */
static uint8_t byte_of(uint32_t character)
{
    uint32_t next = 0x100;

    if (character < 0x100)
        return (uint8_t)character;
    for (uint32_t b = 0; b < 256; b++)
        if (!((b > 32 && b < 127) || (b > 160 && b != 173)) && next++ == character)
            return (uint8_t)b;
    fail();
    return 0;
}

/* The bytes of a text in the alphabet; each as a character if `latin`.  To be freed. */
static gufo_str bytes_of(gufo_str text, bool latin)
{
    char *out = malloc(2 * text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        uint32_t character = (uint8_t)text.data[i];

        if (character >= 0x80)
            character = (character & 0x1f) << 6 | ((uint8_t)text.data[++i] & 0x3f);
        character = byte_of(character);
        if (latin && character >= 0x80) {
            out[len++] = (char)(0xc0 | character >> 6);
            character = 0x80 | (character & 0x3f);
        }
        out[len++] = (char)character;
    }
    return (gufo_str){out, len};
}

static void check_same_texts(const outcome *o, const gufo_model *model, const char *key,
                             uint64_t count, const char *label)
{
    gufo_array got = array_of(o, key, GUFO_VALUE_STRING), expected;
    gufo_str *texts = texts_of(&got), *others;

    assert_int_equal(gufo_model_get_array(model, key, GUFO_VALUE_STRING, &expected, NULL), GUFO_OK);
    others = texts_of(&expected);
    check_u64(got.count, count == 0 ? expected.count : count, "%s: %s", label, key);
    for (uint64_t i = 0; i < got.count; i++)
        check_view(texts[i], others[i], "%s: %s %" PRIu64, label, key, i);
    free(texts);
    free(others);
}

static int32_t *types_in(const gufo_model *model)
{
    gufo_array array;
    int32_t *types;

    assert_int_equal(gufo_model_get_array(model, TYPES_KEY, GUFO_VALUE_INT32, &array, NULL),
                     GUFO_OK);
    types = calloc((size_t)array.count, sizeof *types);
    assert_int_equal(gufo_array_read(&array, 0, array.count, types, NULL), GUFO_OK);
    return types;
}

/* The tokens of a model as its old file had them: bytes, or whole texts of added ones. */
static gufo_str *old_tokens(const gufo_model *model, bool latin, uint64_t *count)
{
    gufo_array array;
    gufo_str *tokens;
    int32_t *types = types_in(model);

    assert_int_equal(gufo_model_get_array(model, TOKENS_KEY, GUFO_VALUE_STRING, &array, NULL),
                     GUFO_OK);
    tokens = texts_of(&array);
    *count = array.count;
    for (uint64_t id = 0; id < array.count; id++) {
        gufo_str whole = {memcpy(malloc(tokens[id].len + 1), tokens[id].data, tokens[id].len),
                          tokens[id].len};

        tokens[id] = types[id] == 1 ? bytes_of(tokens[id], latin) : whole;
        if (types[id] == 1)
            free((void *)(uintptr_t)whole.data);
    }
    free(types);
    return tokens;
}

/* Padding is unused for us; the models call it user defined. */
static void check_same_types(const outcome *o, const gufo_model *model, uint64_t count,
                             const char *label)
{
    int32_t *got = types_of(o), *expected = types_in(model);

    for (uint64_t id = 0; id < count; id++)
        check_u64(got[id], got[id] == 5 && expected[id] == 4 ? 5 : expected[id],
                  "%s: type of token %" PRIu64, label, id);
    free(got);
    free(expected);
}

static void check_real(const char *family, const char *file, bool latin)
{
    path_text path = need_shared(file);
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open(path.text, NULL, &error);
    uint64_t count;
    gufo_str *tokens;
    outcome o;

    check(model != NULL, "%s", error.message);
    tokens = old_tokens(model, latin, &count);
    o = outcome_of_texts(family, tokens, count, count);
    check_same_texts(&o, model, MERGES_KEY, 0, file);
    check_same_texts(&o, model, TOKENS_KEY, 0, file);
    check_same_types(&o, model, count, file);
    for (uint64_t id = 0; id < count; id++)
        free((void *)(uintptr_t)tokens[id].data);
    free(tokens);
    outcome_free(&o);
    gufo_model_free(model);
}

static void test_real(void **state)
{
    static const struct row {
        const char *family, *file;
        bool latin;
    } rows[] = {
        {"gpt2", "data/vocab/ggml-vocab-gpt-2.gguf", false},
        {"starcoder", "data/vocab/ggml-vocab-starcoder.gguf", false},
        {"starcoder", "data/vocab/ggml-vocab-refact.gguf", false},
        {"falcon", "data/vocab/ggml-vocab-falcon.gguf", false},
        {"mpt", "data/vocab/ggml-vocab-mpt.gguf", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_real(rows[i].family, rows[i].file, rows[i].latin);
}

/* A GPT-2 file with the first 600 tokens of the tokenizer that MPT has, too: 7 numbers, the last of
 * which is the count, then the tokens. */
static void test_first_tokens(void **state)
{
    enum { HEADER = 32, TOKENS = 600, MERGES = 355 };
    path_text path = need_shared("data/convert/legacy/families/gpt2-realbpe-f16.bin");
    path_text whole = need_shared("data/vocab/ggml-vocab-mpt.gguf");
    gufo_model *model = gufo_model_open(whole.text, NULL, NULL);
    size_t size, at = HEADER;
    uint8_t *file = read_file(path.text, &size);
    gufo_str tokens[TOKENS];
    outcome o;

    (void)state;
    assert_true(file != NULL && model != NULL);
    for (size_t id = 0; id < TOKENS; id++) {
        assert_true(at + 4 <= size && file[at + 1] == 0);
        tokens[id] = (gufo_str){(const char *)file + at + 4, file[at]};
        at += 4 + tokens[id].len;
    }
    o = outcome_of_texts("gpt2", tokens, TOKENS, TOKENS);
    check_same_texts(&o, model, MERGES_KEY, MERGES, "first tokens");
    check_same_texts(&o, model, TOKENS_KEY, TOKENS, "first tokens");
    outcome_free(&o);
    free(file);
    gufo_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_unmade),
        cmocka_unit_test(test_added),       cmocka_unit_test(test_given),
        cmocka_unit_test(test_long_tokens), cmocka_unit_test(test_allowance),
        cmocka_unit_test(test_real),        cmocka_unit_test(test_first_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
