/* Parts of a tokenizer.json as keys: what happens to spaces, scores of merges. */
#include "tokenizers_folder.h"

#include "../support/allocator.h"
#include "import/tokenizers/reading.h"
#include "text/pipeline_file.h"

#define START "\xe2\x96\x81"

typedef struct outcome {
    vocabulary_folder folder;
    gufo_status status;
} outcome;

static tokenizer_reading reading_of(outcome *o, tokenizer_file *f, const gufo_allocator *allocator)
{
    return (tokenizer_reading){.import = &o->folder.import,
                               .document = o->folder.import.document,
                               .config = &o->folder.config,
                               .allocator = allocator,
                               .json = f,
                               .error = &o->folder.error};
}

/* What normalizer and pre-tokenizer become. */
static outcome read_as(const char *json, model_kind kind, const gufo_allocator *allocator)
{
    outcome o;
    tokenizer_file *f;
    tokenizer_reading r;

    open_vocabulary(&o.folder, "no-folder", "llama");
    o.folder.error = no_error();
    f = pipeline_file_with(json, allocator, &o.folder.error);
    r = reading_of(&o, f, allocator);
    o.status = f != NULL ? space_rules_write(&r, kind) : o.folder.error.code;
    tokenizer_file_free(f);
    return o;
}

static outcome read_json(const char *json, model_kind kind)
{
    outcome o = read_as(json, kind, &default_allocator);

    check_ok(o.status, &o.folder.error, "%s", json);
    return o;
}

static bool find(const outcome *o, const char *name, gufo_value *value)
{
    char key[128];
    gufo_document_entry entry;

    (void)snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
    if (!gufo_document_find(o->folder.import.document, key, &entry))
        return false;
    *value = entry.value;
    return true;
}

static void check_flag(const outcome *o, const char *name, bool expected)
{
    gufo_value value;

    check(find(o, name, &value), "no %s", name);
    check(value.as.b == expected, "%s", name);
}

/* ---- normalizer ----------------------------------------------------------------------------- */

#define UNIGRAM_WITH(map)                                                                  \
    "{'normalizer': {'type': 'Precompiled', 'precompiled_charsmap': " map "}, "            \
    "'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': [{'type': 'WhitespaceSplit'}," \
    " {'type': 'Metaspace', 'replacement': '" START "', 'add_prefix_space': true}]}}"
#define ESCAPED "{'type': 'Replace', 'pattern': {'String': ' '}, 'content': '" START "'}"
#define STEPS(steps) "{'normalizer': {'type': 'Sequence', 'normalizers': [" steps ESCAPED "]}}"

static void test_pieces(void **state)
{
    outcome with = read_json(STEPS("{'type': 'Prepend', 'prepend': '" START "'}, "), PIECES),
            without = read_json(STEPS(""), PIECES);
    gufo_value value;

    (void)state;
    check_flag(&with, "add_space_prefix", true);
    check_flag(&without, "add_space_prefix", false);
    check(!find(&with, "remove_extra_whitespaces", &value), "not of pieces");
    close_vocabulary(&with.folder);
    close_vocabulary(&without.folder);
}

static void test_unigram(void **state)
{
    outcome o = read_json(UNIGRAM_WITH("'AAEC/w=='"), UNIGRAM),
            none = read_json(UNIGRAM_WITH("null"), UNIGRAM);
    uint8_t bytes[4];
    gufo_value value;

    (void)state;
    check_flag(&o, "add_space_prefix", true);
    check_flag(&o, "remove_extra_whitespaces", true);
    check(find(&o, "precompiled_charsmap", &value), "map");
    check_u64(value.as.array.count, 4, "bytes of the map");
    check_ok(gufo_array_read(&value.as.array, 0, 4, bytes, NULL), NULL, "map");
    assert_memory_equal(bytes, "\x00\x01\x02\xff", 4);
    check(!find(&none, "precompiled_charsmap", &value), "no map");
    close_vocabulary(&o.folder);
    close_vocabulary(&none.folder);
}

/* Of pieces what GGUF cannot express is a warning; of Unigram a failure. */
static const struct {
    const char *json, *named;
} unsayable[] = {
    {STEPS("{'type': 'NFKC'}, "), "NFKC"},
    {STEPS("{'type': 'Lowercase'}, "), "Lowercase"},
    {STEPS("{'type': 'Prepend', 'prepend': 'x'}, "), "Prepend"},
    {"{'normalizer': null}", "spaces stay"},
    {"{'pre_tokenizer': {'type': 'Whitespace'}}", "Whitespace"},
};

static void test_unsayable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unsayable); i++) {
        outcome pieces = read_json(unsayable[i].json, PIECES),
                unigram = read_as(unsayable[i].json, UNIGRAM, &default_allocator);

        check(pieces.folder.import.warning_count > 0 &&
                  strstr(pieces.folder.import.warnings[0], unsayable[i].named) != NULL,
              "%s", unsayable[i].json);
        check_status(unigram.status, GUFO_E_TYPE, &unigram.folder.error, "%s", unsayable[i].json);
        check(strstr(unigram.folder.error.message, unsayable[i].named) != NULL &&
                  strstr(unigram.folder.error.file, "tokenizer.json") != NULL,
              "%s: %s", unsayable[i].json, unigram.folder.error.message);
        close_vocabulary(&pieces.folder);
        close_vocabulary(&unigram.folder);
    }
}

static const struct {
    const char *json, *named;
} refused[] = {
    {"{'normalizer': 3}", "not an object"},
    {"{'normalizer': {'type': 'Sequence'}}", "normalizers"},
    {"{'normalizer': {'type': 'Sequence', 'normalizers': [3]}}", "not an object"},
    {"{'normalizer': {'type': 'Sequence', 'normalizers': [{}]}}", "no type"},
    {UNIGRAM_WITH("'AAE'"), "base64"},
    {UNIGRAM_WITH("'A=E='"), "base64"},
    {UNIGRAM_WITH("'AA!='"), "base64"},
    {UNIGRAM_WITH("3"), "not a text"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        outcome o = read_as(refused[i].json, UNIGRAM, &default_allocator);

        check_status(o.status, GUFO_E_MALFORMED, &o.folder.error, "%s", refused[i].json);
        check_error_shape(&o.folder.error, GUFO_E_MALFORMED, refused[i].json);
        check(strstr(o.folder.error.message, refused[i].named) != NULL, "%s: %s", refused[i].json,
              o.folder.error.message);
        close_vocabulary(&o.folder);
    }
}

static void test_deep_sequences(void **state)
{
    char json[4096] = "{'pre_tokenizer': ";
    outcome o;

    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(json, "{'type': 'Sequence', 'pretokenizers': [");
    for (int i = 0; i < 40; i++)
        strcat(json, "]}");
    o = read_as(strcat(json, "}"), UNIGRAM, &default_allocator);
    check_status(o.status, GUFO_E_LIMIT, &o.folder.error, "deep");
    close_vocabulary(&o.folder);
}

static void test_memory(void **state)
{
    counter c;
    gufo_allocator allocator;
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        outcome o;

        counter_init(&c);
        c.fail_at = at;
        allocator = counter_allocator(&c);
        o = read_as(UNIGRAM_WITH("'AAEC/w=='"), UNIGRAM, &allocator);
        status = o.status;
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", o.folder.error.message);
        check_u64(c.in_use, 0, "left");
        close_vocabulary(&o.folder);
        assert_true(at < 1000);
    }
}

/* ---- scores --------------------------------------------------------------------------------- */

/* Merges become scores: minus the first rank that makes a token, then minus the id. */
static void test_scores(void **state)
{
    static const float expected[] = {0, 0, -6, -7, 0, -1, -10};
    listed_token tokens[COUNT_OF(expected)];
    gufo_error error = no_error();
    tokenizer_file *f = pipeline_file_with(
        "{'model': {'vocab': {'<s>': 0, '<0x0A>': 1, 'a': 2, 'b': 3, 'ab': 4, 'aba': 5, 'xyz': 6},"
        " 'merges': ['a b', 'ab a', 'ab a', 'a b']}}",
        &default_allocator, &error);
    outcome o;
    tokenizer_reading r;
    token_list list = {.tokens = tokens, .count = COUNT_OF(expected)};

    (void)state;
    assert_non_null(f);
    for (size_t id = 0; id < COUNT_OF(expected); id++)
        tokens[id].type = id == 0 ? TOKEN_CONTROL : id == 1 ? TOKEN_BYTE : TOKEN_NORMAL;
    open_vocabulary(&o.folder, "no-folder", "llama");
    r = reading_of(&o, f, &default_allocator);
    check_ok(merges_score(&r, f, &list), &o.folder.error, "scores");
    for (size_t id = 0; id < COUNT_OF(expected); id++)
        check(tokens[id].score == expected[id], "token %zu has score %g", id,
              (double)tokens[id].score);
    tokenizer_file_free(f);
    f = pipeline_file_with("{'model': {'vocab': {'a': 0}, 'merges': ['a b']}}", &default_allocator,
                           &error);
    list.count = 1;
    check_status(merges_score(&r, f, &list), GUFO_E_MALFORMED, &o.folder.error, "b is not a token");
    tokenizer_file_free(f);
    close_vocabulary(&o.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_unsayable),
        cmocka_unit_test(test_deep_sequences), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
