/* tokenizer.json into keys: each model, what GGUF cannot express, damage. */
#include "support/allocator.h"
#include "support/check.h"
#include "support/shared.h"
#include "support/folder.h"
#include "support/json.h"

#include "text/formats/pre_steps.h"
#include "text/formats/tokenizer_json.h"

#define BYTES_STEP "{'type': 'ByteLevel', 'add_prefix_space': false, 'use_regex': false}"
#define GPT2_STEP "{'type': 'ByteLevel', 'add_prefix_space': false}"
#define GPT2(more)                                                                  \
    "{'added_tokens': [], 'pre_tokenizer': " GPT2_STEP ", 'model': {'type': 'BPE'," \
    " 'vocab': {'a': 0, 'b': 1, 'ab': 2}, 'merges': ['a b']}" more "}"
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
static outcome read_as(const char *json, tokenizer_json_options options)
{
    outcome o = {.document = gufo_document_new(NULL, NULL), .error = no_error()};
    char *text = strdup(json);

    assert_non_null(o.document);
    assert_non_null(text);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    if (options.note != NULL)
        options.note_context = &o.notes;
    o.status = tokenizer_json_read(gufo_str_of(text), &options, o.document, &o.error);
    free(text);
    return o;
}

static outcome read_json(const char *json)
{
    outcome o = read_as(json, (tokenizer_json_options){0});

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

static void check_word(const outcome *o, const char *name, const char *expected)
{
    gufo_value value;

    check(find(o, name, &value), "no %s", name);
    check_str(value.as.str, expected, "%s", name);
}

/* -1: the key is missing. */
static void check_number(const outcome *o, const char *name, int64_t expected)
{
    gufo_value value;
    int64_t got = -1;

    if (find(o, name, &value))
        got = value.type == GUFO_VALUE_BOOL ? value.as.b : (int64_t)value.as.u;
    check(got == expected, "%s is %" PRId64 ", not %" PRId64, name, got, expected);
}

static void check_token(const outcome *o, uint64_t id, const char *text, int64_t type)
{
    gufo_value tokens, types, value;

    check(find(o, "tokens", &tokens) && find(o, "token_type", &types), "lists");
    check_ok(gufo_array_at(&tokens.as.array, id, &value, NULL), NULL, "token %" PRIu64, id);
    check_str(value.as.str, text, "token %" PRIu64, id);
    check_ok(gufo_array_at(&types.as.array, id, &value, NULL), NULL, "type %" PRIu64, id);
    check(value.as.i == type, "token %" PRIu64 " has type %" PRId64, id, value.as.i);
}

static void check_score(const outcome *o, uint64_t id, double score)
{
    gufo_value scores, value;

    check(find(o, "scores", &scores), "scores");
    check_ok(gufo_array_at(&scores.as.array, id, &value, NULL), NULL, "score %" PRIu64, id);
    check(value.as.f == score, "token %" PRIu64 " has score %g", id, value.as.f);
}

static void check_merge(const outcome *o, uint64_t rank, const char *expected)
{
    gufo_value merges, value;

    check(find(o, "merges", &merges), "merges");
    check_ok(gufo_array_at(&merges.as.array, rank, &value, NULL), NULL, "merge %" PRIu64, rank);
    check_str(value.as.str, expected, "merge %" PRIu64, rank);
}

static void check_count(const outcome *o, const char *name, uint64_t expected)
{
    gufo_value value;

    check(find(o, name, &value), "no %s", name);
    check_u64(value.as.array.count, expected, "%s", name);
}

/* ---- models --------------------------------------------------------------------------------- */

static void test_byte_level(void **state)
{
    outcome o = read_json(
        "{'added_tokens': [{'id': 1, 'content': 'b', 'special': false},"
        " {'id': 4, 'content': '<|im_end|>', 'special': false},"
        " {'id': 5, 'content': '" START "x', 'special': false},"
        " {'id': 6, 'content': '<s>', 'special': true}],"
        " 'normalizer': {'type': 'NFC'}, 'pre_tokenizer': " GPT2_STEP ","
        " 'post_processor': {'type': 'TemplateProcessing', 'single':"
        " [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A'}}]},"
        " 'model': {'type': 'BPE', 'dropout': null, 'vocab': {'a': 0, 'b': 1, '\xc4\xa0': 2},"
        " 'merges': [['a', 'b'], ['a', ' ']]}}");

    (void)state;
    check_word(&o, "model", "gpt2");
    check_word(&o, "pre", "gpt-2");
    check_count(&o, "tokens", 7);
    check_token(&o, 0, "a", 1);
    check_token(&o, 1, "b", 4);
    check_token(&o, 2, "\xc4\xa0", 1);
    check_token(&o, 3, "[PAD3]", 5);
    check_token(&o, 4, "<|im_end|>", 3); /* looks special */
    check_token(&o, 5, " x", 4);
    check_merge(&o, 0, "a b");
    check_merge(&o, 1, "a \xc4\xa0");
    check_number(&o, "bos_token_id", 6);
    check_number(&o, "add_bos_token", 1);
    check_number(&o, "add_eos_token", 0);
    check_number(&o, "eos_token_id", 4); /* a well-known text */
    gufo_document_free(o.document);
}

/* Merges become scores: minus the first rank that makes a token. */
static void test_pieces(void **state)
{
    outcome o = read_json(
        "{'added_tokens': [{'id': 0, 'content': '<unk>', 'special': true},"
        " {'id': 1, 'content': '<s>', 'special': true}],"
        " 'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'Prepend', 'prepend':"
        " '" START "'}, {'type': 'Replace', 'pattern': {'String': ' '}, 'content': '" START "'}]},"
        " 'model': {'type': 'BPE', 'byte_fallback': true, 'unk_token': '<unk>', 'vocab':"
        " {'<unk>': 0, '<s>': 1, '<0x0A>': 2, 'a': 3, 'b': 4, 'ab': 5, 'aba': 6, 'xyz': 7},"
        " 'merges': ['a b', 'ab a', 'ab a', 'a b']}}");

    (void)state;
    check_word(&o, "model", "llama");
    check_token(&o, 0, "<unk>", 3);
    check_token(&o, 1, "<s>", 3);
    check_token(&o, 2, "<0x0A>", 6);
    check_token(&o, 5, "ab", 1);
    check_score(&o, 5, 0);
    check_score(&o, 6, -1);
    check_score(&o, 3, -7); /* 4 merges, id 3 */
    check_score(&o, 7, -11);
    check_score(&o, 1, 0); /* control */
    check_score(&o, 2, 0); /* a byte */
    check_number(&o, "add_space_prefix", 1);
    check_number(&o, "add_bos_token", 0);
    check_number(&o, "bos_token_id", 1); /* a well-known text */
    check_number(&o, "unknown_token_id", 0);
    gufo_document_free(o.document);
}

#define WORDPIECE(normalizer)                                                                 \
    "{'added_tokens': [{'id': 0, 'content': '[PAD]', 'special': true},"                       \
    " {'id': 1, 'content': '[UNK]', 'special': true},"                                        \
    " {'id': 2, 'content': '[CLS]', 'special': true}, {'id': 3, 'content': '[SEP]',"          \
    " 'special': true}], 'normalizer': " normalizer ", 'pre_tokenizer': {'type':"             \
    " 'BertPreTokenizer'}, 'post_processor': {'type': 'BertProcessing', 'sep': ['[SEP]', 3]," \
    " 'cls': ['[CLS]', 2]}, 'model': {'type': 'WordPiece', 'unk_token': '[UNK]', 'vocab':"    \
    " {'[PAD]': 0, '[UNK]': 1, '[CLS]': 2, '[SEP]': 3, 'a': 4, '##a': 5, '##': 6}}}"

static void test_wordpiece(void **state)
{
    outcome o = read_json(WORDPIECE("{'type': 'BertNormalizer', 'lowercase': false,"
                                    " 'strip_accents': null, 'clean_text': true}")),
            lower = read_json(WORDPIECE("{'type': 'Sequence', 'normalizers': [{'type': 'NFD'},"
                                        " {'type': 'Lowercase'}]}"));

    (void)state;
    check_word(&o, "model", "bert");
    check_token(&o, 1, "[UNK]", 3);
    check_token(&o, 2, "[CLS]", 3);
    check_token(&o, 4, START "a", 1);
    check_token(&o, 5, "a", 1);
    check_token(&o, 6, START "##", 1);
    check_number(&o, "bos_token_id", 2);
    check_number(&o, "seperator_token_id", 3);
    check_number(&o, "eos_token_id", -1);
    check_number(&o, "add_eos_token", -1);
    check_number(&o, "padding_token_id", 0);
    check_number(&o, "unknown_token_id", 1);
    check_number(&o, "normalizer.lowercase", 0);
    check_number(&o, "normalizer.strip_accents", 0);
    check_number(&lower, "normalizer.lowercase", 1);
    check_number(&lower, "normalizer.strip_accents", 0);
    gufo_document_free(o.document);
    gufo_document_free(lower.document);
}

#define UNIGRAM(map, more)                                                                     \
    "{'added_tokens': [{'id': 1, 'content': '</s>', 'special': true}], 'normalizer': {'type':" \
    " 'Precompiled', 'precompiled_charsmap': " map "}, 'pre_tokenizer': {'type': 'Sequence',"  \
    " 'pretokenizers': [{'type': 'WhitespaceSplit'}, {'type': 'Metaspace', 'replacement':"     \
    " '" START "', 'add_prefix_space': true}]}, 'post_processor': {'type':"                    \
    " 'TemplateProcessing', 'single': [{'Sequence': {'id': 'A'}}, {'SpecialToken': {'id':"     \
    " '</s>'}}]}, 'model': {'type': 'Unigram', 'unk_id': 0" more ", 'vocab':"                  \
    " [['<unk>', 0], ['</s>', 0.0], ['" START "a', -1.5]]}}"

static void test_unigram(void **state)
{
    outcome o = read_json(UNIGRAM("'AAEC/w=='", "")), none = read_json(UNIGRAM("null", ""));
    uint8_t bytes[4];
    gufo_value value;

    (void)state;
    check_word(&o, "model", "t5");
    check_token(&o, 0, "<unk>", 2);
    check_token(&o, 1, "</s>", 3);
    check_score(&o, 2, -1.5);
    check_number(&o, "add_eos_token", 1);
    check_number(&o, "eos_token_id", 1);
    check_number(&o, "unknown_token_id", 0);
    check_number(&o, "add_space_prefix", 1);
    check_number(&o, "remove_extra_whitespaces", 1);
    check(find(&o, "precompiled_charsmap", &value), "map");
    check_u64(value.as.array.count, 4, "bytes of the map");
    check_ok(gufo_array_read(&value.as.array, 0, 4, bytes, NULL), NULL, "map");
    assert_memory_equal(bytes, "\x00\x01\x02\xff", 4);
    check(!find(&none, "precompiled_charsmap", &value), "no map");
    gufo_document_free(o.document);
    gufo_document_free(none.document);
}

/* Files of old versions. */
static void test_without_type(void **state)
{
    outcome bytes = read_json("{'pre_tokenizer': " GPT2_STEP
                              ", 'model': {'vocab': {'a': 0}, 'merges': []}}"),
            words = read_json("{'pre_tokenizer': {'type': 'BertPreTokenizer'}, 'model':"
                              " {'max_input_chars_per_word': 100, 'vocab': {'a': 0}}}"),
            pieces = read_json("{'pre_tokenizer': {'type': 'Metaspace'}, 'model': {'unk_id': null,"
                               " 'vocab': [['a', -1]]}}");

    (void)state;
    check_word(&bytes, "model", "gpt2");
    check_word(&words, "model", "bert");
    check_word(&pieces, "model", "t5");
    gufo_document_free(bytes.document);
    gufo_document_free(words.document);
    gufo_document_free(pieces.document);
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

/* ---- what GGUF cannot express ------------------------------------------------------------------- */

static const struct {
    const char *json, *named;
} unsayable[] = {
    {"{'model': {'type': 'WordLevel', 'vocab': {}}}", "WordLevel"},
    {"{'model': {'type': 'BPE', 'end_of_word_suffix': '</w>'}}", "end_of_word_suffix"},
    {"{'model': {'type': 'BPE', 'continuing_subword_prefix': '##'}}", "continuing_subword_prefix"},
    {"{'model': {'type': 'BPE', 'dropout': 0.1}}", "dropout"},
    {"{'model': {'type': 'BPE', 'byte_fallback': true, 'ignore_merges': true}}", "ignore_merges"},
    {"{'model': {'type': 'WordPiece', 'continuing_subword_prefix': '@@'}}", "@@"},
    {"{'pre_tokenizer': {'type': 'Whitespace'}, 'model': {'type': 'BPE', 'vocab': {}, 'merges':"
     " []}}",
     "Whitespace"},
    {"{'pre_tokenizer': {'type': 'ByteLevel'}, 'model': {'type': 'BPE'}}", "space before"},
    {GPT2(", 'normalizer': {'type': 'NFKC'}"), "NFKC"},
    {GPT2(", 'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'Lowercase'}]}"),
     "Lowercase"},
    {GPT2(", 'post_processor': {'type': 'Odd'}"), "Odd"},
    {UNIGRAM("null", ", 'byte_fallback': true"), "byte_fallback"},
    {WORDPIECE("{'type': 'Precompiled', 'precompiled_charsmap': ''}"), "Precompiled"},
    {WORDPIECE("{'type': 'BertNormalizer', 'handle_chinese_chars': false}"), "BertNormalizer"},
};

static void test_unsayable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unsayable); i++) {
        outcome o = read_as(unsayable[i].json, (tokenizer_json_options){0});

        check_status(o.status, GUFO_E_TYPE, &o.error, "%s", unsayable[i].named);
        check_error_shape(&o.error, GUFO_E_TYPE, unsayable[i].named);
        check(strstr(o.error.message, unsayable[i].named) != NULL, "%s: %s", unsayable[i].named,
              o.error.message);
        gufo_document_free(o.document);
    }
}

static void test_notes(void **state)
{
    const tokenizer_json_options options = {.note = count_note};
    outcome o = read_as(GPT2(", 'normalizer': {'type': 'NFKC'}"), options),
            rare = read_as("{'pre_tokenizer': {'type': 'Whitespace'}, 'model': {'type': 'BPE',"
                           " 'vocab': {'a': 0}, 'merges': []}}",
                           options),
            named = read_as("{'pre_tokenizer': {'type': 'Whitespace'}, 'model': {'type': 'BPE',"
                            " 'vocab': {'a': 0}, 'merges': []}}",
                            (tokenizer_json_options){.pre = "falcon"});

    (void)state;
    check_ok(o.status, &o.error, "noted");
    check_u64(o.notes, 1, "notes");
    check_ok(rare.status, &rare.error, "noted");
    check_u64(rare.notes, 1, "notes");
    check_ok(named.status, &named.error, "named");
    check_word(&named, "pre", "falcon");
    gufo_document_free(o.document);
    gufo_document_free(rare.document);
    gufo_document_free(named.document);
}

/* ---- damage --------------------------------------------------------------------------------- */

#define MODEL(fields) "{'pre_tokenizer': " GPT2_STEP ", 'model': {'type': 'BPE', " fields "}}"
#define ADDED(list)                                            \
    "{'added_tokens': [" list "], 'pre_tokenizer': " GPT2_STEP \
    ", 'model': {'type': 'BPE', 'vocab': {'a': 0, 'b': 1}, 'merges': []}}"

static const struct {
    const char *json;
    gufo_status status;
} damaged[] = {
    {"", GUFO_E_TRUNCATED},
    {"{", GUFO_E_TRUNCATED},
    {"[]", GUFO_E_MALFORMED},
    {"null", GUFO_E_MALFORMED},
    {"{}", GUFO_E_MALFORMED},
    {"{'model': 3}", GUFO_E_MALFORMED},
    {"{'model': {}}", GUFO_E_MALFORMED},
    {"{'model': {'type': 3}}", GUFO_E_MALFORMED},
    {MODEL("'vocab': 3, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 'b'}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': -1}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 1.5}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'': 0}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0, 'b': 0}, 'merges': []"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 99999999}, 'merges': []"), GUFO_E_LIMIT},
    {MODEL("'vocab': {'a': 4294967295}, 'merges': []"), GUFO_E_LIMIT},
    {MODEL("'vocab': {'a': 4294967296}, 'merges': []"), GUFO_E_RANGE},
    {MODEL("'vocab': {'a': 18446744073709551616}, 'merges': []"), GUFO_E_RANGE},
    {MODEL("'vocab': {'a': 0}"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': ['a']"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': ['a b c']"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': ['a ']"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': [3]"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': [['a']]"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': [['a', 3]]"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': [], 'unk_token': 'x'"), GUFO_E_MALFORMED},
    {MODEL("'vocab': {'a': 0}, 'merges': [], 'byte_fallback': 3"), GUFO_E_MALFORMED},
    {ADDED("3"), GUFO_E_MALFORMED},
    {ADDED("{'id': 2}"), GUFO_E_MALFORMED},
    {ADDED("{'content': 'x'}"), GUFO_E_MALFORMED},
    {ADDED("{'id': 0, 'content': 'x'}"), GUFO_E_MALFORMED},
    {ADDED("{'id': 2, 'content': 'a'}"), GUFO_E_MALFORMED},
    {ADDED("{'id': 2, 'content': 'x'}, {'id': 3, 'content': 'x'}"), GUFO_E_MALFORMED},
    {ADDED("{'id': 2, 'content': 'x', 'special': 'yes'}"), GUFO_E_MALFORMED},
    {ADDED("{'id': 4294967295, 'content': 'x'}"), GUFO_E_LIMIT},
    {GPT2(", 'added_tokens': 3"), GUFO_E_MALFORMED},
    {GPT2(", 'normalizer': 3"), GUFO_E_MALFORMED},
    {GPT2(", 'normalizer': {'type': 'Sequence'}"), GUFO_E_MALFORMED},
    {GPT2(", 'normalizer': {'type': 'Sequence', 'normalizers': [3]}"), GUFO_E_MALFORMED},
    {GPT2(", 'post_processor': {'type': 'TemplateProcessing'}"), GUFO_E_MALFORMED},
    {GPT2(", 'post_processor': {'type': 'TemplateProcessing', 'single': []}"), GUFO_E_MALFORMED},
    {GPT2(", 'post_processor': {'type': 'TemplateProcessing', 'single': [3]}"), GUFO_E_MALFORMED},
    {GPT2(", 'post_processor': {'type': 'TemplateProcessing', 'single': [{'SpecialToken': {'id':"
          " '<x>'}}, {'Sequence': {}}]}"),
     GUFO_E_MALFORMED},
    {GPT2(", 'post_processor': {'type': 'BertProcessing', 'sep': 3, 'cls': []}"), GUFO_E_MALFORMED},
    {UNIGRAM("'AAE'", ""), GUFO_E_MALFORMED},
    {UNIGRAM("'A=E='", ""), GUFO_E_MALFORMED},
    {UNIGRAM("'AA!='", ""), GUFO_E_MALFORMED},
    {UNIGRAM("3", ""), GUFO_E_MALFORMED},
    {"{'model': {'type': 'Unigram', 'vocab': [['a']]}}", GUFO_E_MALFORMED},
    {"{'model': {'type': 'Unigram', 'vocab': [['a', 'b']]}}", GUFO_E_MALFORMED},
    {"{'model': {'type': 'Unigram', 'vocab': [['a', 0]], 'unk_id': 1}}", GUFO_E_MALFORMED},
    {"{'model': {'type': 'BPE', 'byte_fallback': true, 'vocab': {'a': 0}, 'merges': ['a b']}}",
     GUFO_E_MALFORMED},
};

static void test_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        outcome o = read_as(damaged[i].json, (tokenizer_json_options){0});

        check_status(o.status, damaged[i].status, &o.error, "%zu: %s", i, damaged[i].json);
        check_error_shape(&o.error, damaged[i].status, damaged[i].json);
        gufo_document_free(o.document);
    }
}

static void test_deep_sequences(void **state)
{
    char json[4096] = "{'model': {'type': 'BPE', 'vocab': {'a': 0}, 'merges': []}, "
                      "'pre_tokenizer': ";
    outcome o;

    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(json, "{'type': 'Sequence', 'pretokenizers': [");
    for (int i = 0; i < 40; i++)
        strcat(json, "]}");
    o = read_as(strcat(json, "}"), (tokenizer_json_options){0});
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
        o = read_as(UNIGRAM("'AAEC/w=='", ""), (tokenizer_json_options){.allocator = &allocator});
        status = o.status;
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", o.error.message);
        check_u64(c.in_use, 0, "left");
        gufo_document_free(o.document);
        assert_true(at < 1000);
    }
}

/* ---- real files ----------------------------------------------------------------------------- */

/* The types of all tokens, and the texts of some, are those of converters. */
static void check_as_converted(const outcome *o, const json_value *metadata)
{
    const json_value *texts = json_at(metadata, "tokenizer.ggml.tokens"),
                     *types = json_at(metadata, "tokenizer.ggml.token_type");
    gufo_value tokens, kinds, value;
    uint64_t id = 0;

    check(find(o, "tokens", &tokens) && find(o, "token_type", &kinds), "lists");
    check(tokens.as.array.count <= (uint64_t)json_number(json_at(texts, "count")), "tokens");
    for (const json_value *v = json_at(types, "value")->inside; v != NULL; v = v->next, id++) {
        if (id >= kinds.as.array.count) { /* padding of the model */
            check_u64((uint64_t)json_number(v), 5, "type of token %" PRIu64, id);
            continue;
        }
        check_ok(gufo_array_at(&kinds.as.array, id, &value, NULL), NULL, "type %" PRIu64, id);
        check_u64(value.as.i, (uint64_t)json_number(v), "type of token %" PRIu64, id);
    }
    for (const json_value *v = json_at(texts, "samples_hex")->inside; v != NULL; v = v->next) {
        char hex[256] = "";

        id = strtoull(v->name.data, NULL, 10);
        if (id >= tokens.as.array.count)
            continue;
        check_ok(gufo_array_at(&tokens.as.array, id, &value, NULL), NULL, "token %" PRIu64, id);
        for (size_t i = 0; i < value.as.str.len && i < sizeof hex / 2 - 1; i++)
            (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned char)value.as.str.data[i]);
        check_str(v->text, hex, "token %" PRIu64, id);
    }
}

static void check_real(const char *model, const char *pre, uint64_t merges)
{
    outcome o = {.error = no_error()};
    json_document expected;
    const json_value *metadata;
    char name[128];
    size_t len;
    char *text;

    (void)snprintf(name, sizeof name, "data/convert/hf/%s/expected.json", model);
    expected = json_load(need_shared(name).text);
    o.document = gufo_document_new(NULL, NULL);
    metadata = json_at(expected.root, "metadata");
    (void)snprintf(name, sizeof name, "data/convert/hf/%s/tokenizer.json", model);
    text = (char *)read_file(need_shared(name).text, &len);
    assert_non_null(text);
    o.status = tokenizer_json_read((gufo_str){text, len}, NULL, o.document, &o.error);
    check_ok(o.status, &o.error, "%s", name);
    check_word(&o, "pre", pre);
    check_count(&o, "merges", merges);
    check_as_converted(&o, metadata);
    gufo_document_free(o.document);
    json_unload(&expected);
    free(text);
}

static void test_real(void **state)
{
    (void)state;
    check_real("gpt2-tiny", "gpt-2", 90);
    check_real("gptneox-20Btok-trim", "gpt-2", 455);
    check_real("Qwen2-Tiny-Instruct", "qwen2", 120);
    check_real("Qwen3-Tiny", "qwen2", 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_level),   cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_wordpiece),    cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_without_type), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_unsayable),    cmocka_unit_test(test_notes),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_deep_sequences),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
