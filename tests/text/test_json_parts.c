/* Parts of a tokenizer.json as keys: normalizer, scores of merges, names of pre-tokenizers. */
#include "support/allocator.h"
#include "support/check.h"

#include "base/memory.h"
#include "text/formats/json_reading.h"
#include "text/formats/pre_steps.h"

#define START "\xe2\x96\x81"

typedef struct outcome {
    gufo_document *document;
    gufo_status status;
    gufo_error error;
    unsigned notes;
} outcome;

static void count_note(void *context, const char *sentence)
{
    unsigned *notes = context;

    assert_true(strlen(sentence) > 0);
    ++*notes;
}

/* Apostrophes are quotes. */
static tokenizer_file *read_quoted(const char *json, const gufo_allocator *allocator,
                                   gufo_error *error)
{
    char *text = strdup(json);
    tokenizer_file *f;

    assert_non_null(text);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    f = tokenizer_file_read(gufo_str_of(text), allocator, error);
    free(text);
    return f;
}

/* What normalizer and pre-tokenizer become. */
static outcome read_as(const char *json, model_kind kind, bool notes,
                       const gufo_allocator *allocator)
{
    outcome o = {.document = gufo_document_new(NULL, NULL), .error = no_error()};
    tokenizer_file *f = read_quoted(json, allocator, &o.error);
    json_reading r = {.allocator = *allocator,
                      .document = o.document,
                      .kind = kind,
                      .note = notes ? count_note : NULL,
                      .note_context = &o.notes,
                      .file = f,
                      .error = &o.error};

    assert_non_null(o.document);
    o.status = f != NULL ? json_read_normalizer(&r) : o.error.code;
    tokenizer_file_free(f);
    return o;
}

static outcome read_json(const char *json, model_kind kind)
{
    outcome o = read_as(json, kind, false, &default_allocator);

    check_ok(o.status, &o.error, "%s", json);
    return o;
}

static bool find(const outcome *o, const char *name, gufo_value *value)
{
    char key[128];
    gufo_document_entry entry;

    (void)snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
    if (!gufo_document_find(o->document, key, &entry))
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
    gufo_document_free(with.document);
    gufo_document_free(without.document);
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
    gufo_document_free(o.document);
    gufo_document_free(none.document);
}

static const struct {
    const char *json;
    model_kind kind;
    gufo_status status;
    const char *named;
} refused[] = {
    {STEPS("{'type': 'NFKC'}, "), PIECES, GUFO_E_TYPE, "NFKC"},
    {STEPS("{'type': 'Lowercase'}, "), PIECES, GUFO_E_TYPE, "Lowercase"},
    {STEPS("{'type': 'Strip'}, "), PIECES, GUFO_E_TYPE, "Strip"},
    {STEPS("{'type': 'Prepend', 'prepend': 'x'}, "), PIECES, GUFO_E_TYPE, "Prepend"},
    {"{'normalizer': null}", PIECES, GUFO_E_TYPE, "spaces stay"},
    {"{'pre_tokenizer': {'type': 'Whitespace'}}", UNIGRAM, GUFO_E_TYPE, "Whitespace"},
    {"{'normalizer': 3}", PIECES, GUFO_E_MALFORMED, "no type"},
    {"{'normalizer': {'type': 'Sequence'}}", PIECES, GUFO_E_MALFORMED, "normalizers"},
    {"{'normalizer': {'type': 'Sequence', 'normalizers': [3]}}", PIECES, GUFO_E_MALFORMED,
     "no type"},
    {UNIGRAM_WITH("'AAE'"), UNIGRAM, GUFO_E_MALFORMED, "base64"},
    {UNIGRAM_WITH("'A=E='"), UNIGRAM, GUFO_E_MALFORMED, "base64"},
    {UNIGRAM_WITH("'AA!='"), UNIGRAM, GUFO_E_MALFORMED, "base64"},
    {UNIGRAM_WITH("3"), UNIGRAM, GUFO_E_MALFORMED, "not a string"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        outcome o = read_as(refused[i].json, refused[i].kind, false, &default_allocator);

        check_status(o.status, refused[i].status, &o.error, "%s", refused[i].json);
        check_error_shape(&o.error, refused[i].status, refused[i].json);
        check(strstr(o.error.message, refused[i].named) != NULL, "%s: %s", refused[i].json,
              o.error.message);
        gufo_document_free(o.document);
    }
}

static void test_notes(void **state)
{
    outcome o =
        read_as(STEPS("{'type': 'NFC'}, {'type': 'NFKC'}, "), PIECES, true, &default_allocator);

    (void)state;
    check_ok(o.status, &o.error, "noted");
    check_u64(o.notes, 2, "notes");
    gufo_document_free(o.document);
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
    o = read_as(strcat(json, "}"), UNIGRAM, false, &default_allocator);
    check_status(o.status, GUFO_E_MALFORMED, &o.error, "deep");
    gufo_document_free(o.document);
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
        o = read_as(UNIGRAM_WITH("'AAEC/w=='"), UNIGRAM, false, &allocator);
        status = o.status;
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", o.error.message);
        check_u64(c.in_use, 0, "left");
        gufo_document_free(o.document);
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
    tokenizer_file *f = read_quoted(
        "{'model': {'vocab': {'<s>': 0, '<0x0A>': 1, 'a': 2, 'b': 3, 'ab': 4, 'aba': 5, 'xyz': 6},"
        " 'merges': ['a b', 'ab a', 'ab a', 'a b']}}",
        &default_allocator, &error);
    json_reading r = {.allocator = default_allocator,
                      .file = f,
                      .merges = f,
                      .list = {.tokens = tokens, .count = COUNT_OF(expected)},
                      .error = &error};

    (void)state;
    assert_non_null(f);
    for (size_t id = 0; id < COUNT_OF(expected); id++)
        tokens[id].type = id == 0 ? TOKEN_CONTROL : id == 1 ? TOKEN_BYTE : TOKEN_NORMAL;
    check_ok(json_score_tokens(&r), &error, "scores");
    for (size_t id = 0; id < COUNT_OF(expected); id++)
        check(tokens[id].score == expected[id], "token %zu has score %g", id,
              (double)tokens[id].score);
    tokenizer_file_free(f);
    f = read_quoted("{'model': {'vocab': {'a': 0}, 'merges': ['a b']}}", &default_allocator,
                    &error);
    r.file = r.merges = f;
    r.list.count = 1;
    check_status(json_score_tokens(&r), GUFO_E_MALFORMED, &error, "b is not a token");
    tokenizer_file_free(f);
}

/* ---- pre-tokenizers ------------------------------------------------------------------------- */

#define QWEN2                                                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+" \
    "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static void test_shapes(void **state)
{
    const pre_step *row;

    (void)state;
    assert_string_equal(pre_of_steps(gufo_str_of("ByteLevel\n"), true), "gpt-2");
    assert_string_equal(pre_of_steps(gufo_str_of("Digits individual\nByteLevel\n"), false),
                        "starcoder");
    assert_string_equal(pre_of_steps(gufo_str_of("Split Isolated " QWEN2 "\nBytes\n"), false),
                        "qwen2");
    assert_null(pre_of_steps(gufo_str_of("ByteLevel"), false));
    assert_null(pre_of_steps(gufo_str_of("ByteLevel\nByteLevel\n"), false));
    assert_null(pre_of_steps(gufo_str_of(""), false));
    /* Every shape is found by its own steps, or by those of a row before it. */
    for (size_t i = 0; (row = pre_step_at(i)) != NULL; i++) {
        char steps[8192] = "";

        if (row->pre[0] == '\0')
            continue;
        for (size_t k = i; k == i || (pre_step_at(k) != NULL && !pre_step_at(k)->pre[0]); k++) {
            strcat(steps, pre_step_at(k)->step);
            strcat(steps, "\n");
        }
        assert_string_equal(pre_of_steps(gufo_str_of(steps), !strcmp(row->ignore_merges, "yes")),
                            row->pre);
        assert_non_null(gufo_pretokenizer_find(gufo_str_of(row->pre)));
    }
    assert_string_equal(pre_steps_of("phi-2")->step, "ByteLevel");
    assert_null(pre_steps_of("kimi-k2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_deep_sequences), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scores),         cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
