/* Vocabularies of old files: each kind of texts, odd and hostile ones. */
#include "vocabulary_text.h"

#include "../support/allocator.h"
#include "legacy/readings.h"

#include <math.h>

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

static void check_ids(const outcome *o, int64_t unknown, int64_t bos, int64_t eos, int64_t padding)
{
    assert_int_equal(id_of(o, "unknown"), unknown);
    assert_int_equal(id_of(o, "bos"), bos);
    assert_int_equal(id_of(o, "eos"), eos);
    assert_int_equal(id_of(o, "padding"), padding);
}

static void check_text_key(const outcome *o, const char *key, const char *expected)
{
    gufo_document_entry entry;

    check(gufo_document_find(o->document, key, &entry), "no %s", key);
    check_str(entry.value.as.str, expected, "%s", key);
}

/* ---- LLaMA ----------------------------------------------------------------------------------- */

static legacy_token piece_tokens[] = {
    {BYTES(" \xe2\x81\x87 "), 0},
    {BYTES(""), 0},
    {BYTES(""), 0},
    {BYTES("\0"), 0},
    {BYTES("A"), 0},
    {BYTES(" "), 0},
    {BYTES("\xff"), 0},
    {BYTES(" the  x"), -1},
    {BYTES(""), -2},
    {BYTES("\xc3\xa9"), -3},
    {BYTES("\xe2\x96\x81y z"), -4},
};
static const expected_token piece_words[] = {
    {"<unk>", UNKNOWN},
    {"<s>", CONTROL},
    {"</s>", CONTROL},
    {"<0x00>", BYTE},
    {"<0x41>", BYTE},
    {"<0x20>", BYTE},
    {"<0xFF>", BYTE},
    {"\xe2\x96\x81the\xe2\x96\x81\xe2\x96\x81x", NORMAL},
    {"", CONTROL},
    {"\xc3\xa9", NORMAL},
    {"\xe2\x96\x81y\xe2\x96\x81z", NORMAL},
    {"[PAD11]", UNUSED},
    {"[PAD12]", UNUSED},
};
static const legacy_vocabulary pieces = {
    .tokens = piece_tokens, .count = COUNT_OF(piece_tokens), .has_scores = true};

static void check_scores(const outcome *o, const legacy_vocabulary *v, uint64_t rows)
{
    gufo_array array = array_of(o, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32);
    float scores[32];

    check_u64(array.count, rows, "scores");
    assert_int_equal(gufo_array_read(&array, 0, rows, scores, NULL), GUFO_OK);
    for (uint64_t id = 0; id < rows; id++)
        check(scores[id] == (id < v->count && v->has_scores ? v->tokens[id].score : 0),
              "score of token %" PRIu64, id);
}

static void test_pieces(void **state)
{
    static const char *const keys[] = {"model",        "pre",         "tokens",
                                       "scores",       "token_type",  "unknown_token_id",
                                       "bos_token_id", "eos_token_id"};
    outcome o = outcome_of("llama", &pieces, COUNT_OF(piece_words), NULL);

    (void)state;
    check_ok(o.status, &o.error, "pieces");
    check_tokens(&o, piece_words, COUNT_OF(piece_words), "pieces");
    check_scores(&o, &pieces, COUNT_OF(piece_words));
    check_text_key(&o, "tokenizer.ggml.model", "llama");
    check_text_key(&o, "tokenizer.ggml.pre", "default");
    check_ids(&o, 0, 1, 2, -1);
    check_u64(gufo_document_entry_count(o.document), COUNT_OF(keys), "keys");
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        gufo_document_entry entry;
        char key[64];

        snprintf(key, sizeof key, "tokenizer.ggml.%s", keys[i]);
        assert_true(gufo_document_entry_at(o.document, i, &entry));
        check_str(entry.key, key, "key %zu", i);
    }
    outcome_free(&o);
}

/* Containers without scores. */
static void test_pieces_without_scores(void **state)
{
    legacy_vocabulary v = pieces;
    outcome o;

    (void)state;
    v.has_scores = false;
    o = outcome_of("llama", &v, v.count, NULL);
    check_ok(o.status, &o.error, "without scores");
    check_tokens(&o, piece_words, (size_t)v.count, "without scores");
    check_scores(&o, &v, v.count);
    outcome_free(&o);
}

/* The score of added tokens is also that of a trained one: there, its neighbours have the scores
 * beside it. */
static void test_added_pieces(void **state)
{
    static legacy_token tokens[] = {
        {BYTES("?"), 0},        {BYTES(""), 0},           {BYTES(""), 0},
        {BYTES(" a"), -999},    {BYTES(" b"), -1000},     {BYTES(" c"), -1001},
        {BYTES(" d e"), -1000}, {BYTES("<|im|>"), -1000},
    };
    static const expected_token expected[] = {
        {"<unk>", UNKNOWN},
        {"<s>", CONTROL},
        {"</s>", CONTROL},
        {"\xe2\x96\x81"
         "a",
         NORMAL},
        {"\xe2\x96\x81"
         "b",
         NORMAL},
        {"\xe2\x96\x81"
         "c",
         NORMAL},
        {" d e", USER_DEFINED},
        {"<|im|>", USER_DEFINED},
    };
    const legacy_vocabulary v = {.tokens = tokens, .count = COUNT_OF(tokens), .has_scores = true};
    outcome o = outcome_of("llama", &v, v.count, NULL);

    (void)state;
    check_ok(o.status, &o.error, "added");
    check_tokens(&o, expected, COUNT_OF(expected), "added");
    outcome_free(&o);
}

/* A vocabulary of merges has scores that count down from the first token. */
static void test_merged_pieces(void **state)
{
    static legacy_token tokens[] = {
        {BYTES("a"), 0},   {BYTES("b"), -1},   {BYTES(" "), -2},
        {BYTES(" a"), -3}, {BYTES(" ab"), -4}, {BYTES("\n"), -1000},
    };
    static const expected_token expected[] = {
        {"a", NORMAL},
        {"b", NORMAL},
        {"\xc4\xa0", NORMAL},
        {"\xc4\xa0"
         "a",
         NORMAL},
        {"\xc4\xa0"
         "ab",
         NORMAL},
        {"\xc4\x8a", NORMAL},
    };
    static const char *const merges[] = {"\xc4\xa0 a", "\xc4\xa0"
                                                       "a b"};
    const legacy_vocabulary v = {.tokens = tokens, .count = COUNT_OF(tokens), .has_scores = true};
    outcome o = outcome_of("llama", &v, v.count, NULL);

    (void)state;
    check_ok(o.status, &o.error, "merged");
    check_text_key(&o, "tokenizer.ggml.model", "gpt2");
    check_tokens(&o, expected, COUNT_OF(expected), "merged");
    check_merges(&o, merges, COUNT_OF(merges), "merged");
    check_ids(&o, -1, -1, -1, -1);
    assert_false(has_key(&o, "tokenizer.ggml.scores"));
    outcome_free(&o);
}

/* ---- byte level ------------------------------------------------------------------------------ */

/* All bytes, against the rule that the alphabet follows: bytes that can be seen are themselves, the
 * others follow from U+0100 on. */
static void test_alphabet(void **state)
{
    char bytes[256];
    gufo_str tokens[256], *texts;
    uint32_t next = 0x100;
    gufo_array array;
    outcome o;

    (void)state;
    for (int b = 0; b < 256; b++) {
        bytes[b] = (char)b;
        tokens[b] = (gufo_str){&bytes[b], 1};
    }
    o = outcome_of_texts("gpt2", tokens, 256, 256);
    array = array_of(&o, TOKENS_KEY, GUFO_VALUE_STRING);
    texts = texts_of(&array);
    for (uint32_t b = 0; b < 256; b++) {
        bool visible = (b > 32 && b < 127) || (b > 160 && b != 173);
        uint32_t character = visible ? b : next++;
        char text[3] = {(char)character, 0, 0};

        if (character > 127) {
            text[0] = (char)(0xc0 | character >> 6);
            text[1] = (char)(0x80 | (character & 63));
        }
        check_str(texts[b], text, "byte %u", b);
    }
    check_u64(next, 0x144, "characters beyond Latin-1");
    assert_false(has_key(&o, TYPES_KEY));
    free(texts);
    outcome_free(&o);
}

static void test_bytes(void **state)
{
    static const gufo_str tokens[] = {BYTES("<|endoftext|>"), BYTES("<|"),     BYTES("a\n"),
                                      BYTES("[PAD3]"),        BYTES("[PAD9]"), BYTES("a\n"),
                                      BYTES("\xff\x80"),      BYTES("")};
    static const expected_token expected[] = {
        {"<|endoftext|>", CONTROL},   {"<|", NORMAL},     {"a\xc4\x8a", NORMAL},
        {"[PAD3]", UNUSED},           {"[PAD9]", NORMAL}, {"a\n", USER_DEFINED},
        {"\xc3\xbf\xc4\xa2", NORMAL}, {"[PAD7]", UNUSED},
    };
    outcome o = outcome_of_texts("starcoder", tokens, COUNT_OF(tokens), 0);

    (void)state;
    check_tokens(&o, expected, COUNT_OF(expected), "bytes");
    check_ids(&o, -1, 0, 0, -1);
    check_u64(o.report.renamed, 2, "a repeated and an empty one");
    check_u64(o.report.lossy, 0, "no bytes are lost");
    outcome_free(&o);
}

/* One token may be U+FFFD; if several are, the converter put it there. */
static void test_replaced_bytes(void **state)
{
    static const gufo_str tokens[] = {BYTES("a"), BYTES("\xef\xbf\xbd"), BYTES("b\xef\xbf\xbd"),
                                      BYTES("\xef\xbf\xbd")};
    static const expected_token expected[] = {
        {"a", NORMAL},
        {"\xc3\xaf\xc2\xbf\xc2\xbd", NORMAL},
        {"b\xc3\xaf\xc2\xbf\xc2\xbd", NORMAL},
        {"[PAD3]", UNUSED},
    };
    outcome o = outcome_of_texts("gptj", tokens, 3, 3);

    (void)state;
    check_u64(o.report.lossy, 0, "one");
    assert_true(o.report.merges && o.report.no_merges == NULL);
    outcome_free(&o);
    o = outcome_of_texts("gptj", tokens, 4, 4);
    check_tokens(&o, expected, COUNT_OF(expected), "several");
    check_u64(o.report.lossy, 3, "several");
    check_u64(o.report.renamed, 1, "several");
    assert_false(o.report.merges || has_key(&o, MERGES_KEY));
    assert_non_null(o.report.no_merges);
    outcome_free(&o);
}

static void test_decoded(void **state)
{
    static const gufo_str tokens[] = {BYTES("<unk>"), BYTES("<s>"),          BYTES("</s>"),
                                      BYTES("<pad>"), BYTES(" \xc3\xa9"),    BYTES("  "),
                                      BYTES("  "),    BYTES("x\xef\xbf\xbd")};
    static const expected_token expected[] = {
        {"<unk>", UNKNOWN},
        {"<s>", CONTROL},
        {"</s>", CONTROL},
        {"<pad>", CONTROL},
        {"\xc4\xa0\xc3\x83\xc2\xa9", NORMAL},
        {"\xc4\xa0\xc4\xa0", NORMAL},
        {"  ", USER_DEFINED},
        {"x\xc3\xaf\xc2\xbf\xc2\xbd", NORMAL},
        {"[PAD8]", UNUSED},
    };
    outcome o = outcome_of_texts("bloom", tokens, COUNT_OF(tokens), COUNT_OF(expected));

    (void)state;
    check_tokens(&o, expected, COUNT_OF(expected), "decoded");
    check_ids(&o, 0, 1, 2, 3);
    check_text_key(&o, "tokenizer.ggml.pre", "bloom");
    check_u64(o.report.lossy, 2, "U+FFFD, and one of two");
    assert_false(has_key(&o, MERGES_KEY));
    outcome_free(&o);
}

static void test_latin(void **state)
{
    /* The bytes e2 and 82, a character that is no byte, and the rows behind the tokenizer. */
    static const gufo_str tokens[] = {
        BYTES("<|endoftext|>"), BYTES("\xc3\xa2"), BYTES("\xc2\x82"), BYTES("\xc3\xa2\xc2\x82"),
        BYTES("\xe2\x82\xac"),  BYTES("\xff"),     BYTES("\xc2\x82"), BYTES("\xc2\x82"),
    };
    static const expected_token expected[] = {
        {"<|endoftext|>", CONTROL},
        {"\xc3\xa2", NORMAL},
        {"\xc4\xa4", NORMAL},
        {"\xc3\xa2\xc4\xa4", NORMAL},
        {"\xe2\x82\xac", USER_DEFINED},
        {"\xff", USER_DEFINED},
        {"[PAD6]", UNUSED},
        {"[PAD7]", UNUSED},
    };
    static const char *const merges[] = {"\xc3\xa2 \xc4\xa4"};
    outcome o = outcome_of_texts("mpt", tokens, COUNT_OF(tokens), COUNT_OF(tokens));

    (void)state;
    check_tokens(&o, expected, COUNT_OF(expected), "latin");
    check_merges(&o, merges, 1, "latin");
    check_ids(&o, -1, 0, 0, -1);
    outcome_free(&o);
}

/* The first converters for MPT decoded tokens: characters are text then. */
static void test_decoded_latin(void **state)
{
    static const gufo_str tokens[] = {BYTES("<|endoftext|>"), BYTES("<|padding|>"),
                                      BYTES("\xef\xbf\xbd"), BYTES("\xc3\xa9")};
    static const expected_token expected[] = {
        {"<|endoftext|>", CONTROL},
        {"<|padding|>", CONTROL},
        {"\xc3\xaf\xc2\xbf\xc2\xbd", NORMAL},
        {"\xc3\x83\xc2\xa9", NORMAL},
    };
    outcome o = outcome_of_texts("mpt", tokens, COUNT_OF(tokens), COUNT_OF(tokens));

    (void)state;
    check_tokens(&o, expected, COUNT_OF(expected), "decoded");
    check_ids(&o, -1, 0, 0, 1);
    check_u64(o.report.lossy, 1, "decoded");
    outcome_free(&o);
}

/* ---- others ---------------------------------------------------------------------------------- */

static void test_unigram(void **state)
{
    static legacy_token tokens[] = {
        {BYTES("<unk>"), 0},
        {BYTES("<s>"), 0},
        {BYTES("</s>"), 0},
        {BYTES("\xe2\x96\x81the"), -3.5f},
        {BYTES("<0x0A>"), -1000},
        {BYTES("<|pad|>"), -2},
        {BYTES("\xe2\x96\x81the"), -7},
    };
    static const expected_token expected[] = {
        {"<unk>", UNKNOWN}, {"<s>", CONTROL},     {"</s>", CONTROL},  {"\xe2\x96\x81the", NORMAL},
        {"<0x0A>", BYTE},   {"<|pad|>", CONTROL}, {"[PAD6]", UNUSED},
    };
    const legacy_vocabulary v = {.tokens = tokens, .count = COUNT_OF(tokens), .has_scores = true};
    outcome o = outcome_of("replit", &v, v.count, NULL);

    (void)state;
    check_ok(o.status, &o.error, "unigram");
    check_tokens(&o, expected, COUNT_OF(expected), "unigram");
    check_scores(&o, &v, v.count);
    check_text_key(&o, "tokenizer.ggml.model", "t5");
    assert_false(has_key(&o, "tokenizer.ggml.pre"));
    check_ids(&o, 0, 1, 2, -1);
    assert_false(o.report.merges);
    assert_null(o.report.no_merges);
    outcome_free(&o);
}

static void test_whisper_texts(void **state)
{
    static const struct row {
        uint64_t tokens, id;
        const char *text;
    } rows[] = {
        {51864, 50256, "[_EOT_]"},
        {51864, 50257, "[_SOT_]"},
        {51864, 50258, "[_LANG_en]"},
        {51864, 50356, "[_LANG_su]"},
        {51864, 50357, "[_TRANSLATE_]"},
        {51864, 50358, "[_TRANSCRIBE_]"},
        {51864, 50359, "[_SOLM_]"},
        {51864, 50360, "[_PREV_]"},
        {51864, 50361, "[_NOSP_]"},
        {51864, 50362, "[_NOT_]"},
        {51864, 50363, "[_BEG_]"},
        {51864, 50364, "[_TT_1]"},
        {51864, 51863, "[_TT_1500]"},
        {51865, 50256, "[_extra_token_50256]"},
        {51865, 50257, "[_EOT_]"},
        {51865, 50258, "[_SOT_]"},
        {51865, 50259, "[_LANG_en]"},
        {51865, 50357, "[_LANG_su]"},
        {51865, 50358, "[_TRANSLATE_]"},
        {51865, 50364, "[_BEG_]"},
        {51865, 51864, "[_TT_1500]"},
        {51866, 50358, "[_LANG_yue]"},
        {51866, 50359, "[_TRANSLATE_]"},
        {51866, 50365, "[_BEG_]"},
        {51866, 51865, "[_TT_1500]"},
        {300, 299, "[_extra_token_299]"},
        {60000, 50359, "[_extra_token_50359]"}, /* a language that nobody knows */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        whisper_ids ids = whisper_ids_of(rows[i].tokens);
        whisper_text text = whisper_text_of(&ids, rows[i].id);

        check(strcmp(text.text, rows[i].text) == 0, "%" PRIu64 " of %" PRIu64 ": %s", rows[i].id,
              rows[i].tokens, text.text);
    }
}

static void test_whisper(void **state)
{
    static const gufo_str tokens[] = {BYTES(" a"), BYTES("[_extra_token_3]")};
    outcome o = outcome_of_texts("whisper", tokens, COUNT_OF(tokens), 51865);
    gufo_array array = array_of(&o, TOKENS_KEY, GUFO_VALUE_STRING);
    gufo_str *texts = texts_of(&array);
    int32_t *types = types_of(&o);

    (void)state;
    check_u64(array.count, 51865, "tokens");
    check_str(texts[0],
              "\xc4\xa0"
              "a",
              "a token of the file");
    check_str(texts[2], "[_extra_token_2]", "a token that is made");
    check_str(texts[3], "[PAD3]", "its text is another token's");
    check_str(texts[50258], "[_SOT_]", "start");
    assert_int_equal(types[0], NORMAL);
    assert_int_equal(types[50258], CONTROL);
    check_ids(&o, -1, 50258, 50257, -1);
    free(texts);
    free(types);
    outcome_free(&o);
}

/* ---- odd and hostile ------------------------------------------------------------------------- */

static void test_empty(void **state)
{
    const legacy_vocabulary none = {0};
    outcome o = outcome_of("llama", &none, 32000, NULL);

    (void)state;
    check_ok(o.status, &o.error, "empty");
    check_u64(gufo_document_entry_count(o.document), 0, "keys");
    outcome_free(&o);
    o = outcome_of("rwkv", &pieces, 100, NULL);
    check_ok(o.status, &o.error, "a family without texts");
    check_u64(gufo_document_entry_count(o.document), 0, "keys");
    outcome_free(&o);
}

/* Texts of padding that other tokens have, with as many underscores as are asked for. */
static void test_taken_padding(void **state)
{
    static const gufo_str tokens[] = {BYTES("[PAD4]"), BYTES("[PAD5]"), BYTES("[PAD4]_"),
                                      BYTES("[PAD4]__"), BYTES("[PAD4]")};
    static const expected_token expected[] = {
        {"[PAD4]", NORMAL},   {"[PAD5]", NORMAL},    {"[PAD4]_", NORMAL},
        {"[PAD4]__", NORMAL}, {"[PAD4]___", UNUSED}, {"[PAD5]_", UNUSED},
    };
    outcome o = outcome_of_texts("falcon", tokens, COUNT_OF(tokens), COUNT_OF(expected));

    (void)state;
    check_tokens(&o, expected, COUNT_OF(expected), "taken");
    check_ids(&o, -1, -1, -1, -1);
    outcome_free(&o);
}

static void test_refused(void **state)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    legacy_token tokens[COUNT_OF(piece_tokens)];
    const legacy_vocabulary v = {.tokens = tokens, .count = pieces.count, .has_scores = true};
    outcome o;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        memcpy(tokens, piece_tokens, sizeof tokens);
        tokens[7].score = odd[i];
        o = outcome_of("llama", &v, v.count, NULL);
        check_status(o.status, GUFO_E_MALFORMED, &o.error, "score %f", (double)odd[i]);
        assert_non_null(strstr(o.error.message, "token 7"));
        outcome_free(&o);
    }
    o = outcome_of("falcon", &v, v.count, NULL); /* whose scores say nothing */
    check_ok(o.status, &o.error, "scores of a byte-level vocabulary");
    outcome_free(&o);
    o = outcome_of("llama", &pieces, LEGACY_MAX_TOKENS + 1, NULL);
    check_status(o.status, GUFO_E_LIMIT, &o.error, "rows");
    outcome_free(&o);
}

/* Any bytes as tokens of any family: no two texts are equal, but empty ones of LLaMA. */
static void test_any_bytes(void **state)
{
    static const char *const families[] = {"llama", "gpt2",  "starcoder", "gptj",   "gptneox",
                                           "mpt",   "bloom", "falcon",    "replit", "whisper"};
    enum { COUNT = 2000 };
    static char bytes[COUNT][4];
    static gufo_str tokens[COUNT];
    uint32_t random = 12345;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        memcpy(bytes[i], &random, 4);
        tokens[i] = (gufo_str){bytes[i], 1 + (random >> 9) % 3};
    }
    for (size_t f = 0; f < COUNT_OF(families); f++) {
        outcome o = outcome_of_texts(families[f], tokens, COUNT, COUNT);
        gufo_array array = array_of(&o, TOKENS_KEY, GUFO_VALUE_STRING);
        gufo_str *texts = texts_of(&array);

        for (size_t a = 0; a < COUNT; a++)
            for (size_t b = 0; b < a; b++)
                check(!gufo_str_equal(texts[a], texts[b]), "%s: tokens %zu and %zu", families[f], b,
                      a);
        free(texts);
        outcome_free(&o);
    }
}

static void test_no_memory(void **state)
{
    static const char *const families[] = {"llama", "gpt2", "gptneox", "mpt", "replit", "whisper"};
    counter memory;
    gufo_allocator allocator;
    size_t requests;

    (void)state;
    for (size_t f = 0; f < COUNT_OF(families); f++)
        for (size_t at = requests = 0; at <= requests; at++) {
            outcome o;

            counter_init(&memory);
            memory.fail_at = at;
            allocator = counter_allocator(&memory);
            o = outcome_of(families[f], &pieces, COUNT_OF(piece_words), &allocator);
            check_status(o.status, at == 0 ? GUFO_OK : GUFO_E_MEMORY, &o.error, "%s: request %zu",
                         families[f], at);
            check_u64(memory.in_use, 0, "%s: request %zu: leak", families[f], at);
            requests = at == 0 ? memory.calls : requests;
            check(requests > 4, "%s: only %zu requests", families[f], requests);
            outcome_free(&o);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_pieces_without_scores),
        cmocka_unit_test(test_added_pieces),   cmocka_unit_test(test_merged_pieces),
        cmocka_unit_test(test_alphabet),       cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_replaced_bytes), cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_latin),          cmocka_unit_test(test_decoded_latin),
        cmocka_unit_test(test_unigram),        cmocka_unit_test(test_whisper_texts),
        cmocka_unit_test(test_whisper),        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_taken_padding),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_any_bytes),      cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
