/* Rules M1: the tokenizer; and the vocabularies of the field, in which there is no error. */
#include "../../support/schema.h"
#include "../../support/shared.h"
#include "gufo/vocab.h"

/* ---- model and lists ------------------------------------------------------------------------ */

static void model_unknown(gufo_document *d)
{
    put_text(d, "tokenizer.ggml.model", "gpt3");
}

static void model_none(gufo_document *d)
{
    put_text(d, "tokenizer.ggml.model", "no_vocab");
}

static void scores(gufo_document *d, uint64_t count)
{
    static const float zeros[SCHEMA_TOKENS + 4];

    put_array(d, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, count, zeros);
}

static void scores_long(gufo_document *d)
{
    scores(d, SCHEMA_TOKENS + 3);
}

static void scores_short(gufo_document *d)
{
    scores(d, SCHEMA_TOKENS - 1);
}

static void scores_good(gufo_document *d)
{
    scores(d, SCHEMA_TOKENS);
}

static void types_short(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS - 1, schema_types);
}

static void types_7(gufo_document *d)
{
    int32_t types[SCHEMA_TOKENS] = {3, 3, 1, 1, 7, 1, -1, 1};

    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS, types);
}

static void types_all(gufo_document *d)
{
    uint32_t types[SCHEMA_TOKENS] = {0, 1, 2, 3, 4, 5, 6, 1};

    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_UINT32, SCHEMA_TOKENS, types);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* The good tokens with two texts behind them. */
static void more_tokens(gufo_document *d, const char *eighth, const char *ninth)
{
    const char *tokens[SCHEMA_TOKENS + 2];
    int32_t types[SCHEMA_TOKENS + 2];

    memcpy(tokens, schema_tokens, sizeof schema_tokens);
    memcpy(types, schema_types, sizeof schema_types);
    tokens[SCHEMA_TOKENS] = eighth;
    tokens[SCHEMA_TOKENS + 1] = ninth;
    types[SCHEMA_TOKENS] = types[SCHEMA_TOKENS + 1] = 1;
    put_texts(d, "tokenizer.ggml.tokens", SCHEMA_TOKENS + 2, tokens);
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS + 2, types);
}

static void token_twice(gufo_document *d)
{
    more_tokens(d, "d", "ab");
}

static void token_empty(gufo_document *d)
{
    more_tokens(d, "d", "");
}

static void tokens_good(gufo_document *d)
{
    more_tokens(d, "d", "A");
}

/* Equal in the first eight bytes. */
static void long_token_twice(gufo_document *d)
{
    more_tokens(d, "abcdefgh-1", "abcdefgh-1");
}

static void long_tokens_good(gufo_document *d)
{
    more_tokens(d, "abcdefgh-1", "abcdefgh-2");
}

/* The good tokens, and one that differs from "a" in a NUL behind it. */
static void token_with_nul(gufo_document *d)
{
    gufo_str tokens[SCHEMA_TOKENS + 1];
    int32_t types[SCHEMA_TOKENS + 1];

    for (size_t i = 0; i < SCHEMA_TOKENS; i++)
        tokens[i] = gufo_str_of(schema_tokens[i]);
    memcpy(types, schema_types, sizeof schema_types);
    tokens[SCHEMA_TOKENS] = (gufo_str){"a", 2};
    types[SCHEMA_TOKENS] = 1;
    put_array(d, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, COUNT_OF(tokens), tokens);
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, COUNT_OF(types), types);
}

/* All bytes but those that `missing` selects, in a vocabulary that needs them. */
static void bytes_without(gufo_document *d, int missing)
{
    static char names[256][8];
    const char *tokens[256 + 2] = {"<s>", "</s>"};
    int32_t types[256 + 2] = {3, 3};
    float all_scores[256 + 2] = {0};

    for (int i = 0; i < 256; i++) {
        (void)snprintf(names[i], sizeof names[i], "<0x%02X>", (unsigned)i);
        tokens[i + 2] = names[i];
        types[i + 2] = i == missing ? 1 : 6;
    }
    put_text(d, "tokenizer.ggml.model", "llama");
    put_texts(d, "tokenizer.ggml.tokens", COUNT_OF(tokens), tokens);
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, COUNT_OF(types), types);
    put_array(d, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, COUNT_OF(all_scores), all_scores);
}

static void byte_missing(gufo_document *d)
{
    bytes_without(d, 0xAB);
}

static void bytes_all(gufo_document *d)
{
    bytes_without(d, -1);
}

/* ---- merges --------------------------------------------------------------------------------- */

static void merges(gufo_document *d, const char *last)
{
    put_texts(d, "tokenizer.ggml.merges", 2, (const char *const[]){"a b", last});
}

static void merge_whole(gufo_document *d)
{
    merges(d, "abc");
}

static void merge_open(gufo_document *d)
{
    merges(d, "abc ");
}

static void merge_empty(gufo_document *d)
{
    merges(d, "");
}

static void merge_left(gufo_document *d)
{
    merges(d, "x bc");
}

static void merge_right(gufo_document *d)
{
    merges(d, "ab x");
}

static void merge_both(gufo_document *d)
{
    merges(d, "c a");
}

static void merge_good(gufo_document *d)
{
    merges(d, "a bc");
}

/* Longer than what is put together on the stack. */
static void merge_long(gufo_document *d, const char *second)
{
    static char text[600], merge[604];
    const char *tokens[] = {"<s>", "</s>", text, second, text + 1};

    memset(text, 'x', sizeof text - 1);
    memset(merge, 'x', 598);
    memcpy(merge + 598, " x", 3);
    put_texts(d, "tokenizer.ggml.tokens", COUNT_OF(tokens), tokens);
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, COUNT_OF(tokens), schema_types);
    put_texts(d, "tokenizer.ggml.merges", 1, (const char *const[]){merge});
}

static void merge_long_bad(gufo_document *d)
{
    merge_long(d, "y");
}

static void merge_long_good(gufo_document *d)
{
    merge_long(d, "x");
}

/* ---- added tokens --------------------------------------------------------------------------- */

static void added(gufo_document *d, const char *second)
{
    put_texts(d, "tokenizer.ggml.added_tokens", 2, (const char *const[]){"</s>", second});
}

static void added_missing(gufo_document *d)
{
    added(d, "<none>");
}

/* A normal token. */
static void added_normal(gufo_document *d)
{
    added(d, "ab");
}

static void added_user_defined(gufo_document *d)
{
    int32_t types[SCHEMA_TOKENS] = {4, 2, 1, 1, 1, 1, 1, 1};

    added(d, "<s>");
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS, types);
}

static void added_control(gufo_document *d)
{
    added(d, "<s>");
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS, schema_types);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define MODEL "tokenizer.ggml.model"
#define PRE "tokenizer.ggml.pre"
#define TOKENS "tokenizer.ggml.tokens"
#define TYPES "tokenizer.ggml.token_type"
#define MERGES "tokenizer.ggml.merges"
#define ADDED "tokenizer.ggml.added_tokens"
#define IDS "tokenizer.ggml.bos_token_id tokenizer.ggml.eos_token_id"

#define ROW(text, name, keys, bad_add, good_add)                                         \
    {                                                                                    \
        .label = text, .rule = name, .bad = {.without = keys, .add = bad_add}, .good = { \
            .without = keys,                                                             \
            .add = good_add                                                              \
        }                                                                                \
    }

/* ---- two tokenizers ------------------------------------------------------------------------- */

#ifdef TEST_TEXT

#define ORIGINAL "tokenizer.huggingface.json"

/* The good tokens, as the vocabulary and the added tokens of a tokenizer.json; behind them `more`. */
static void original(gufo_document *d, const char *vocab, const char *added)
{
    char json[1024];

    (void)snprintf(json, sizeof json,
                   "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\"}%s],\"model\":{\"vocab\":{"
                   "\"<s>\":0,\"</s>\":1,%s}}}",
                   added, vocab);
    put_text(d, ORIGINAL, json);
}

#define GOOD_VOCAB "\"a\":2,\"b\":3,\"\\u0063\":4,\"ab\":5,\"bc\":6,\"abc\":7"

static void original_good(gufo_document *d)
{
    original(d, GOOD_VOCAB, "");
}

static void original_differs(gufo_document *d)
{
    original(d, "\"a\":2,\"b\":3,\"d\":4,\"ab\":5,\"bc\":6,\"abc\":7", "");
}

static void original_larger(gufo_document *d)
{
    original(d, GOOD_VOCAB, ",{\"id\":8,\"content\":\"<x>\"}");
}

static void original_smaller(gufo_document *d)
{
    original(d, "\"a\":2,\"b\":3,\"c\":4,\"ab\":5,\"bc\":6", "");
}

/* What convert makes of the same: a space, and padding behind all. */
static void original_padded(gufo_document *d)
{
    more_tokens(d, "a b", "[PAD9]");
    original(d,
             "\"a\":2,\"b\":3,\"c\":4,\"ab\":5,\"bc\":6,\"abc\":7,\"a\xe2\x96\x81"
             "b\":8",
             "");
}

static void original_unpadded(gufo_document *d)
{
    more_tokens(d, "a b", "PAD9");
    original(d,
             "\"a\":2,\"b\":3,\"c\":4,\"ab\":5,\"bc\":6,\"abc\":7,\"a\xe2\x96\x81"
             "b\":8",
             "");
}

static void original_odd(gufo_document *d)
{
    original(d, "\"a\":-2", "");
}

static void original_huge(gufo_document *d)
{
    original(d, "\"a\":18446744073709551616", "");
}

/* The last one counts. */
static void original_twice(gufo_document *d)
{
    original(d, "\"a\":3," GOOD_VOCAB, "");
}

static void original_nul(gufo_document *d)
{
    original(d, "\"a\\u0000\":2,\"b\":3,\"c\":4,\"ab\":5,\"bc\":6,\"abc\":7", "");
}

static void original_list(gufo_document *d)
{
    put_text(d, ORIGINAL,
             "{\"model\":{\"vocab\":[[\"<s>\",0],[\"</s>\",0],[\"a\",-1],[\"b\",-2],[\"c\",-3],"
             "[\"ab\",-4],[\"bc\",-5.5],[\"abc\",-6]]}}");
}

static void original_list_differs(gufo_document *d)
{
    put_text(d, ORIGINAL,
             "{\"model\":{\"vocab\":[[\"<s>\",0],[\"</s>\",0],[\"b\",-1],[\"a\",-2],[\"c\",-3],"
             "[\"ab\",-4],[\"bc\",-5.5],[\"abc\",-6]]}}");
}

/* A vocabulary of WordPiece, where GGUF marks the beginnings of words. */
static void word_pieces(gufo_document *d, const char *json)
{
    put_text(d, "tokenizer.ggml.model", "bert");
    put_texts(d, "tokenizer.ggml.tokens", 3,
              (const char *const[]){"[UNK]",
                                    "\xe2\x96\x81"
                                    "a",
                                    "b"});
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, 3, schema_types);
    put_text(d, ORIGINAL, json);
}

static void original_words(gufo_document *d)
{
    word_pieces(d, "{\"model\":{\"vocab\":{\"[UNK]\":0,\"a\":1,\"##b\":2}}}");
}

static void original_words_differ(gufo_document *d)
{
    word_pieces(d, "{\"model\":{\"vocab\":{\"[UNK]\":0,\"##a\":1,\"b\":2}}}");
}

#endif

/* ---- ids ------------------------------------------------------------------------------------ */

static void id_past_the_end(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.padding_token_id", SCHEMA_TOKENS);
}

static void id_last(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.padding_token_id", SCHEMA_TOKENS - 1);
}

/* -1 in 32 bits: there is no such token. */
static void id_none(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.padding_token_id", UINT32_MAX);
}

static void id_nearly_none(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.padding_token_id", UINT32_MAX - 1);
}

static void suppressed_past_the_end(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.suppress_tokens", GUFO_VALUE_INT32, 3, (int32_t[]){1, 8, 9});
}

static void suppressed_good(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.suppress_tokens", GUFO_VALUE_INT32, 3, (int32_t[]){1, 2, 7});
}

static void start_past_the_end(gufo_document *d)
{
    put_u32(d, "llama.decoder_start_token_id", 100);
}

static void start_good(gufo_document *d)
{
    put_u32(d, "llama.decoder_start_token_id", 0);
}

static void vocab_size_9(gufo_document *d)
{
    put_u32(d, "llama.vocab_size", 9);
}

static void vocab_size_8(gufo_document *d)
{
    put_u32(d, "llama.vocab_size", SCHEMA_TOKENS);
}

static void adds_separator(gufo_document *d)
{
    put_bool(d, "tokenizer.ggml.add_sep_token", true);
}

static void adds_known_separator(gufo_document *d)
{
    put_bool(d, "tokenizer.ggml.add_sep_token", true);
    put_u32(d, "tokenizer.ggml.seperator_token_id", 1);
}

static void adds_no_separator(gufo_document *d)
{
    put_bool(d, "tokenizer.ggml.add_sep_token", false);
}

/* ---- pre-tokenizer, table of characters ----------------------------------------------------- */

static void pre_unknown(gufo_document *d)
{
    put_text(d, "tokenizer.ggml.pre", "llama-bqe");
}

static void pre_empty(gufo_document *d)
{
    put_text(d, "tokenizer.ggml.pre", "");
}

static void characters(gufo_document *d, uint8_t trie, uint64_t count)
{
    uint8_t table[16] = {trie, 0, 0, 0};

    put_array(d, "tokenizer.ggml.precompiled_charsmap", GUFO_VALUE_UINT8, count, table);
}

static void characters_cut(gufo_document *d)
{
    characters(d, 16, 16);
}

static void characters_odd(gufo_document *d)
{
    characters(d, 5, 16);
}

static void characters_few(gufo_document *d)
{
    characters(d, 0, 3);
}

static void characters_good(gufo_document *d)
{
    characters(d, 8, 16);
}

/* ---- the table ------------------------------------------------------------------------------ */

static const schema_row rows[] = {
    {.label = "unknown model",
     .rule = "tokenizer-model",
     .bad = {.without = MODEL, .add = model_unknown},
     .good = {.without = MODEL " " PRE " " TOKENS " " TYPES " " MERGES " " IDS, .add = model_none},
     .subject = MODEL},
    {.label = "no model",
     .rule = "tokenizer-model",
     .bad = {.without = MODEL},
     .good = {.without = MODEL " " PRE " " TOKENS " " TYPES " " MERGES " " IDS},
     .subject = MODEL},
    {.label = "no tokens",
     .rule = "vocabulary-list-missing",
     .bad = {.without = TOKENS},
     .good = {.add = NULL},
     .subject = TOKENS},
    {.label = "no merges",
     .rule = "merges-missing",
     .bad = {.without = MERGES},
     .good = {.add = NULL},
     .subject = MERGES},
    {.label = "no types",
     .rule = "vocabulary-list-expected",
     .bad = {.without = TYPES},
     .good = {.add = NULL},
     .subject = TYPES},
    {.label = "long scores",
     .rule = "vocabulary-lengths",
     .bad = {.add = scores_long},
     .good = {.add = scores_good},
     .subject = "tokenizer.ggml.scores",
     .fix = GUFO_FIX_SHORTEN,
     .fix_value = "8"},
    ROW("short scores", "vocabulary-lengths", "", scores_short, scores_good),
    ROW("short types", "vocabulary-lengths", TYPES, types_short, types_all),
    ROW("types", "token-type", TYPES, types_7, types_all),
    {.label = "token twice",
     .rule = "token-repeated",
     .bad = {.without = TOKENS " " TYPES, .add = token_twice},
     .good = {.without = TOKENS " " TYPES, .add = tokens_good},
     .subject = TOKENS,
     .at = "ab"},
    ROW("long token twice", "token-repeated", TOKENS " " TYPES, long_token_twice, long_tokens_good),
    ROW("token with a NUL", "token-repeated", TOKENS " " TYPES, token_twice, token_with_nul),
    ROW("empty token", "token-empty", TOKENS " " TYPES, token_empty, tokens_good),
    ROW("byte", "byte-tokens", MODEL " " TOKENS " " TYPES " " MERGES, byte_missing, bytes_all),
    {.label = "added token that is none",
     .rule = "tokens-added",
     .bad = {.add = added_missing},
     .good = {.without = TYPES, .add = added_control},
     .subject = ADDED,
     .at = "<none>"},
    {.label = "added token of another type",
     .rule = "tokens-added",
     .bad = {.add = added_normal},
     .good = {.without = TYPES, .add = added_user_defined},
     .subject = ADDED,
     .at = "ab"},
#ifdef TEST_TEXT
    ROW("original has another text", "tokenizers-agree", "", original_differs, original_good),
    ROW("original has more", "tokenizers-agree", "", original_larger, original_good),
    ROW("original has less", "tokenizers-agree", "", original_smaller, original_list),
    ROW("original without padding", "tokenizers-agree", TOKENS " " TYPES, original_unpadded,
        original_padded),
    ROW("original with an odd id", "tokenizers-agree", "", original_odd, original_good),
    ROW("original with a huge id", "tokenizers-agree", "", original_huge, original_good),
    ROW("original with a text twice", "tokenizers-agree", "", original_differs, original_twice),
    ROW("original with a NUL", "tokenizers-agree", "", original_nul, original_good),
    ROW("original list", "tokenizers-agree", "", original_list_differs, original_list),
    ROW("original words", "tokenizers-agree", MODEL " " TOKENS " " TYPES " " MERGES,
        original_words_differ, original_words),
#endif
    ROW("no blank", "merge-parts", MERGES, merge_whole, merge_good),
    ROW("blank at the end", "merge-parts", MERGES, merge_open, merge_good),
    ROW("empty merge", "merge-parts", MERGES, merge_empty, merge_good),
    {.label = "first part",
     .rule = "merge-tokens",
     .bad = {.without = MERGES, .add = merge_left},
     .good = {.without = MERGES, .add = merge_good},
     .subject = MERGES,
     .at = "x bc"},
    ROW("second part", "merge-tokens", MERGES, merge_right, merge_good),
    ROW("both parts", "merge-tokens", MERGES, merge_both, merge_good),
    ROW("long merge", "merge-tokens", TOKENS " " TYPES " " MERGES, merge_long_bad, merge_long_good),
    {.label = "token id",
     .rule = "token-id",
     .bad = {.add = id_past_the_end},
     .good = {.add = id_last},
     .subject = "tokenizer.ggml.padding_token_id"},
    ROW("no id", "token-id", "", id_nearly_none, id_none),
    ROW("list of ids", "token-id", "", suppressed_past_the_end, suppressed_good),
    ROW("id of the architecture", "token-id", "", start_past_the_end, start_good),
    ROW("size", "vocabulary-size", "", vocab_size_9, vocab_size_8),
    ROW("separator", "token-added", "", adds_separator, adds_known_separator),
    ROW("no separator", "token-added", "", adds_separator, adds_no_separator),
    {.label = "pre-tokenizer",
     .rule = "pretokenizer-unknown",
     .bad = {.without = PRE, .add = pre_unknown},
     .good = {.add = NULL},
     .subject = PRE},
    {.label = "no pre-tokenizer",
     .rule = "pretokenizer-missing",
     .bad = {.without = PRE},
     .good = {.add = NULL},
     .subject = PRE},
    {.label = "empty pre-tokenizer",
     .rule = "pretokenizer-missing",
     .bad = {.without = PRE, .add = pre_empty},
     .good = {.add = NULL}},
    ROW("long trie", "character-map", "", characters_cut, characters_good),
    ROW("odd trie", "character-map", "", characters_odd, characters_good),
    ROW("no trie", "character-map", "", characters_few, characters_good),
};

static void test_rows(void **state)
{
    (void)state;
    schema_check_rows(rows, COUNT_OF(rows));
}

static void test_complete(void **state)
{
    static const char *const prefixes[] = {"M1"};

    (void)state;
#ifndef TEST_TEXT
    skip(); /* two tokenizers are not compared */
#endif
    schema_check_complete(rows, COUNT_OF(rows), prefixes, COUNT_OF(prefixes));
}

/* ---- the field ------------------------------------------------------------------------------ */

typedef struct vocabulary_file {
    const char *name;
    const char *rule; /* the only one of these rules that is broken; NULL: none */
    size_t found;
} vocabulary_file;

/* That of GPT-NeoX is older than the key of the pre-tokenizer. */
static const vocabulary_file vocabularies[] = {
    {"baichuan", NULL, 0},
    {"bert-bge", NULL, 0},
    {"deepseek-coder", NULL, 0},
    {"deepseek-llm", NULL, 0},
    {"falcon", NULL, 0},
    {"gpt-2", NULL, 0},
    {"gpt-neox", "pretokenizer-missing", 0},
    {"llama-spm", NULL, 0},
    {"mpt", NULL, 0},
    {"phi-3", NULL, 0},
    {"refact", NULL, 0},
    {"starcoder", NULL, 0},
};

static void expect_rule(void *context, const gufo_finding *finding)
{
    vocabulary_file *v = context;
    const char *id = finding->rule->id;

    check(finding->rule->severity < GUFO_ERROR, "%s: %s", v->name, finding->message);
    if (id[0] != 'S' && strncmp(id, "M1", 2) != 0)
        return; /* rules that others test */
    v->found++;
    check(v->rule != NULL && strcmp(finding->rule->name, v->rule) == 0, "%s: %s", v->name,
          finding->message);
}

static void test_field(void **state)
{
    path_text where = need_shared("data/vocab");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vocabularies); i++) {
        char name[64];
        gufo_error error = no_error();
        vocabulary_file v = vocabularies[i];
        gufo_model *file;

        (void)snprintf(name, sizeof name, "ggml-vocab-%s.gguf", v.name);
        path_text path = path_join(where.text, name);
        const gufo_check_options options = {.level = GUFO_LEVEL_MODEL, .path = path.text};
        file = gufo_model_open(path.text, NULL, &error);
        check(file != NULL, "%s: %s", name, error.message);
        check_ok(gufo_model_check_content(file, &options, expect_rule, &v, &error), &error, "%s",
                 name);
        check_u64(v.found, v.rule != NULL ? 1 : 0, "%s", name);
        gufo_model_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_field),
    };

#ifdef TEST_TEXT
    schema_tokenizer_json = gufo_tokenizer_json_tokens;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
