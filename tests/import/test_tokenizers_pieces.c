/* Vocabularies of pieces in tokenizer.json: their scores, and the ids that these give, which are those
 * of its merges. */
#include "../support/allocator.h"
#include "../support/pace.h"
#include "../support/shared.h"
#include "made_vocabulary.h"

#include <math.h>

#include "base/buffer.h"
#include "import/json_file.h"
#include "text/formats/source.h"

#define SPACE "\xe2\x96\x81"
#define PREPEND "{\"type\":\"Prepend\",\"prepend\":\"" SPACE "\"},"
#define ESCAPE "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" SPACE "\"}"
#define NORMALIZER(steps) \
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" steps ESCAPE "]},"
#define PIECES(vocab, merges)                                                                      \
    "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<unk>\",\"vocab\":{" vocab \
    "},\"merges\":[" merges "]}"

/* ---- keys ----------------------------------------------------------------------------------- */

/* Six merges: "ab" is made by two of them, "xy" by none. */
#define FEW_TOKENS                                                                           \
    "\"<unk>\":0,\"<s>\":1,\"<0x41>\":2,\"a\":3,\"b\":4,\"" SPACE "\":5,\"ab\":6,\"aab\":7," \
    "\"aa\":8,\"xy\":9,\"" SPACE SPACE "\":10,\"[tab]\":11,\"" SPACE SPACE SPACE "\":12"
#define FEW_MERGES                                                                       \
    "\"a b\",\"a ab\",\"a a\",\"aa b\",\"" SPACE " " SPACE "\",\"" SPACE " " SPACE SPACE \
    "\",\"" SPACE SPACE " " SPACE "\""

static void test_scores(void **state)
{
    static const made_token expected[] = {{"<unk>", 2, 0},
                                          {"<s>", 3, 0},
                                          {"<0x41>", 6, 0},
                                          {"a", 1, -10},
                                          {"b", 1, -11},
                                          {SPACE, 1, -12},
                                          {"ab", 1, 0},
                                          {"aab", 1, -1},
                                          {"aa", 1, -2},
                                          {"xy", 1, -16},
                                          {SPACE SPACE, 1, -4},
                                          {"[tab]", 4, -1000},
                                          {SPACE SPACE SPACE, 1, -5},
                                          {"<more>", 3, 0},
                                          {"two words", 4, -1000},
                                          {"<|end|>", 3, 0},
                                          {"[PAD16]", 5, -1000}};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":17}"},
        {"tokenizer_config.json",
         "{\"bos_token\":\"<s>\",\"added_tokens_decoder\":{\"13\":{\"content\":\"<more>\","
         "\"special\":true},\"15\":{\"content\":\"<|end|>\"},\"99\":{\"content\":\"far\"}}}"},
        {"tokenizer.json",
         "{" NORMALIZER(PREPEND) PIECES(
             FEW_TOKENS,
             FEW_MERGES) ",\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true},"
                         "{\"id\":11,\"content\":\"[tab]\"},{\"id\":10,\"content\":\"" SPACE SPACE
                         "\"},"
                         "{\"id\":13,\"content\":\"<more>\",\"special\":true},"
                         "{\"id\":14,\"content\":\"two words\"}]}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, "spm, hf, bpe");
    check_text(&m, "tokenizer.ggml.model", "llama");
    check_text(&m, "tokenizer.ggml.pre", "default");
    check_tokens(&m, expected, COUNT_OF(expected));
    check(!signbit(element(&m, "tokenizer.ggml.scores", 6).as.f), "zero, not minus zero");
    check_flag(&m, "tokenizer.ggml.add_space_prefix", true);
    check(!has_key(&m, "tokenizer.ggml.merges"), "no merges");
    check_u64(m.read.import.warning_count, 1, "a token far away");
    check(strstr(m.read.import.warnings[0], "1 added tokens are beyond the 17 tokens") != NULL,
          "%s", m.read.import.warnings[0]);
    remove_folder(&m);
}

/* tokenizer_config.json has the last word on names, the vocabulary on ids. */
static void test_names(void **state)
{
    static const made_token expected[] = {
        {"<unk>", 2, 0}, {"<0x41>", 6, 0}, {"<|im_end|>", 3, 0}, {"b", 4, -1000}};
    static const made_file files[] = {
        {"tokenizer_config.json",
         "{\"added_tokens_decoder\":{\"2\":{\"content\":\"<|im_end|>\",\"special\":true},"
         "\"7\":{\"content\":\"b\",\"special\":false}}}"},
        {"tokenizer.json",
         "{" NORMALIZER("") PIECES("\"<unk>\":0,\"<0x41>\":1,\"[UNUSED]\":2,\"b\":3", "") "}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "internlm2", files);
    must_read(&m, "internlm2");
    check_tokens(&m, expected, COUNT_OF(expected));
    remove_folder(&m);
}

/* A token may be a NUL, which no name of JSON may have in memory. */
static void test_nul(void **state)
{
    static const made_file files[] = {
        {"tokenizer.json", "{" NORMALIZER("") PIECES(
                               "\"<unk>\":0,\"\\u0000\":1,\"\\\\u0000\":2,\"a\":3,\"\\u0000a\":4,"
                               "\"\\uffff\":5",
                               "[\"\\u0000\",\"a\"]") "}"},
        {NULL, NULL}};
    gufo_str text;
    made_folder m;

    (void)state;
    make_folder(&m, "internlm2", files);
    must_read(&m, NULL);
    text = element(&m, "tokenizer.ggml.tokens", 1).as.str;
    check(text.len == 1 && text.data[0] == '\0', "a NUL");
    check_str(element(&m, "tokenizer.ggml.tokens", 2).as.str, "\\u0000", "no NUL");
    check(element(&m, "tokenizer.ggml.scores", 4).as.f == 0, "its merge");
    check_str(element(&m, "tokenizer.ggml.tokens", 5).as.str, "\xef\xbf\xbf", "another character");
    remove_folder(&m);
}

typedef struct prefix_row {
    const char *label, *json, *config;
    bool prefix, bos; /* what is put before texts */
    unsigned warnings;
} prefix_row;

static void test_prefix(void **state)
{
#define META(more) \
    "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" SPACE "\"" more "},"
#define POST(single)                                                                           \
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[" single "],\"pair\":[]," \
    "\"special_tokens\":{}},"
#define BOS "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}}"
#define TEXT "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}"
    static const prefix_row table[] = {
        {"Prepend", NORMALIZER(PREPEND), NULL, true, false, 0},
        {"nothing", NORMALIZER(""), NULL, false, false, 0},
        {"Metaspace", META(",\"prepend_scheme\":\"always\",\"split\":false"), NULL, true, false, 0},
        {"first", META(",\"prepend_scheme\":\"first\",\"split\":false"), NULL, true, false, 0},
        {"never", META(",\"prepend_scheme\":\"never\",\"split\":false"), NULL, false, false, 0},
        {"old", META(",\"add_prefix_space\":true"), NULL, true, false, 0},
        {"no spaces", "", NULL, false, false, 1},
        {"a lower case", "\"normalizer\":{\"type\":\"Lowercase\"},", NULL, false, false, 2},
        {"a BOS", NORMALIZER("") POST(BOS "," TEXT), NULL, false, true, 0},
        {"a text", NORMALIZER("") POST(TEXT), NULL, false, false, 0},
        {"the class says", NORMALIZER("") POST(TEXT),
         "{\"tokenizer_class\":\"PreTrainedTokenizerFast\",\"add_bos_token\":true}", false, true,
         0},
        {"a plain class", NORMALIZER(""), "{\"tokenizer_class\":\"TokenizersBackend\"}", false,
         false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        char json[1024];
        const made_file files[] = {
            {"tokenizer.json", json},
            {table[i].config != NULL ? "tokenizer_config.json" : NULL, table[i].config},
            {NULL, NULL}};
        made_folder m;

        (void)snprintf(
            json, sizeof json,
            "{%s\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"special\":true}]," PIECES(
                "\"<unk>\":0,\"<s>\":1,\"a\":2", "") "}",
            table[i].json);
        make_folder(&m, "llama", files);
        must_read(&m, NULL);
        check(value_of(&m, "tokenizer.ggml.add_space_prefix").as.b == table[i].prefix, "%s",
              table[i].label);
        check(value_of(&m, "tokenizer.ggml.add_bos_token").as.b == table[i].bos, "%s: BOS",
              table[i].label);
        check_u64(m.read.import.warning_count, table[i].warnings, "%s", table[i].label);
        remove_folder(&m);
    }
}

/* Where a class of its own adds a BOS by itself nothing is said, and readers add one. */
static void test_own_class(void **state)
{
    static const made_file files[] = {
        {"tokenizer_config.json", "{\"tokenizer_class\":\"LlamaTokenizer\"}"},
        {"tokenizer.json", "{" NORMALIZER("") PIECES("\"<unk>\":0,\"a\":1", "") "}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    check_ok(gufo_document_set_bool(m.read.import.document, "tokenizer.ggml.add_space_prefix", true,
                                    &m.read.error),
             &m.read.error, "as tokenizer_config.json says");
    must_read(&m, NULL);
    check(!has_key(&m, "tokenizer.ggml.add_bos_token"), "not said");
    check_flag(&m, "tokenizer.ggml.add_space_prefix", true);
    remove_folder(&m);
}

/* "ab" and "c" make a token, but no merge makes it of them. */
static void test_joins(void **state)
{
    static const made_file files[] = {
        {"tokenizer.json", "{" NORMALIZER("") PIECES(
                               "\"<unk>\":0,\"a\":1,\"b\":2,\"c\":3,\"ab\":4,\"bc\":5,\"abc\":6",
                               "\"a b\",\"b c\",\"a bc\"") "}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, NULL);
    check_u64(m.read.import.warning_count, 1, "a warning");
    check(strstr(m.read.import.warnings[0], "readers join 1 pairs of tokens") != NULL, "%s",
          m.read.import.warnings[0]);
    remove_folder(&m);
}

/* A token that no merge makes has spaces for U+2581 where readers would join two others to it. */
static void test_unmade(void **state)
{
    static const char *const texts[] = {"<unk>", "a",  "b",        SPACE,
                                        " a",    "ab", SPACE "ab", SPACE "b"};
    static const made_file files[] = {
        {"tokenizer.json", "{" NORMALIZER("") PIECES(
                               "\"<unk>\":0,\"a\":1,\"b\":2,\"" SPACE "\":3,\"" SPACE
                               "a\":4,\"ab\":5,\"" SPACE "ab\":6,\"" SPACE "b\":7",
                               "\"" SPACE " b\",\"a b\",\"" SPACE " ab\",\"" SPACE "a b\"") "}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, NULL);
    check_u64(m.read.import.warning_count, 0, "no warning");
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        check_str(element(&m, "tokenizer.ggml.tokens", i).as.str, texts[i], "token %zu", i);
    remove_folder(&m);
}

typedef struct broken_row {
    const char *label, *json;
    gufo_status status;
    const char *message;
} broken_row;

static void test_refused(void **state)
{
    static const broken_row table[] = {
        {"no merges", "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0}}}",
         GUFO_E_MALFORMED, "no \"merges\""},
        {"a merge of one", "{" PIECES("\"a\":0", "\"a\"") "}", GUFO_E_MALFORMED, "two parts"},
        {"a part", "{" PIECES("\"a\":0,\"ab\":1", "\"a b\"") "}", GUFO_E_MALFORMED,
         "\"b\" is not a token"},
        {"a result", "{" PIECES("\"a\":0,\"b\":1", "\"a b\"") "}", GUFO_E_MALFORMED,
         "makes no token"},
        {"two texts", "{" PIECES("\"a\":0", "") ",\"added_tokens\":[{\"id\":0,\"content\":\"b\"}]}",
         GUFO_E_MALFORMED, "same id 0"},
        {"no vocabulary", "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true}}", GUFO_E_MALFORMED,
         "no \"vocab\""},
        {"an id beyond", "{" PIECES("\"a\":9", "") "}", GUFO_E_RANGE, "id 9"},
        {"no steps", "{\"normalizer\":{}," PIECES("\"a\":0", "") "}", GUFO_E_MALFORMED, "no type"},
        {"not JSON", "{" PIECES("\"\\u0000\":0", "") ",}", GUFO_E_MALFORMED,
         "a string is expected here"},
        {"another model", "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}}", GUFO_E_TYPE,
         "WordLevel"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const made_file files[] = {
            {"config.json", "{\"vocab_size\":2}"}, {"tokenizer.json", table[i].json}, {NULL, NULL}};
        made_folder m;

        make_folder(&m, "llama", files);
        check_status(read_vocabulary_folder(&m.read, "spm, hf"), table[i].status, &m.read.error,
                     "%s", table[i].label);
        check(strstr(m.read.error.message, table[i].message) != NULL, "%s: %s", table[i].label,
              m.read.error.message);
        remove_folder(&m);
    }
}

static void test_memory(void **state)
{
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":20}"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\":{\"14\":{\"content\":\"<x>\"}}}"},
        {"tokenizer.json", "{" NORMALIZER(PREPEND) PIECES(FEW_TOKENS, FEW_MERGES) "}"},
        {NULL, NULL}};
    made_folder m;
    counter c;

    (void)state;
    make_folder(&m, "llama", files);
    counter_init(&c);
    m.read.import.allocator = counter_allocator(&c);
    for (size_t fail_at = 1; fail_at == 1 || fail_at - 1 <= c.calls; fail_at++) {
        tokenizer_request request = {.config = &m.read.config};
        gufo_status status;

        counter_init(&c);
        c.fail_at = fail_at;
        status = tokenizers_write(&m.read.import, &request, &m.read.error);
        check(status == (fail_at <= c.calls ? GUFO_E_MEMORY : GUFO_OK), "request %zu: %s", fail_at,
              m.read.error.message);
        check_u64(c.in_use, 0, "request %zu", fail_at);
    }
    m.read.import.allocator = default_allocator;
    remove_folder(&m);
}

/* ---- which file decides --------------------------------------------------------------------- */

static const made_piece own_pieces[] = {{"<unk>", 0, 2},  {"<s>", 0, 3},   {"</s>", 0, 3},
                                        {"<0x41>", 0, 6}, {"a", -7.5F, 1}, {"user", -1, 4}};

#define FIVE_TOKENS "\"<unk>\":0,\"<s>\":1,\"</s>\":2,\"<0x41>\":3,\"a\":4"

/* The lists of the architectures' rows (table convert_keys) say what comes first. */
static void test_what_is_there(void **state)
{
    static const char *const lists[] = {
        "spm", "spm, bpe", "internlm2", "arctic",        "phi3",         "chatglm3", "bpe",
        "hf",  "wpm",      "rwkv",      "bpe, tiktoken", "spm, hf, bpe", NULL};
    static const made_file json[] = {
        {"tokenizer.json", "{" NORMALIZER("") PIECES(FIVE_TOKENS, "") "}"}, {NULL, NULL}};
    static const made_file bytes[] = {
        {"tokenizer.json",
         "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
         "\"trim_offsets\":true},"
         "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0},\"merges\":[]}}"},
        {NULL, NULL}};
    static const made_file none[] = {{NULL, NULL}};
    made_folder m;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        make_folder(&m, "gemma", json);
        must_read(&m, lists[i]);
        check_text(&m, "tokenizer.ggml.model", "llama");
        check_u64(value_of(&m, "tokenizer.ggml.tokens").as.array.count, 5, "tokens");
        add_model(&m, "tokenizer.model", own_pieces, COUNT_OF(own_pieces), 2);
        close_vocabulary(&m.read);
        open_vocabulary(&m.read, m.place.path, "gemma");
        must_read(&m, lists[i]);
        check_u64(value_of(&m, "tokenizer.ggml.tokens").as.array.count, 6, "pieces");
        check(element(&m, "tokenizer.ggml.scores", 4).as.f == -7.5, "a score of tokenizer.model");
        remove_folder(&m);

        make_folder(&m, "gemma", bytes);
        must_read(&m, lists[i]);
        check_text(&m, "tokenizer.ggml.model", "gpt2");
        remove_folder(&m);

        make_folder(&m, "gemma", none);
        check_status(read_vocabulary_folder(&m.read, lists[i]), GUFO_E_NOT_FOUND, &m.read.error,
                     "nothing");
        remove_folder(&m);
    }
}

/* A tokenizer.model that is not brought up to date: what was added is in tokenizer.json. */
static void test_added_later(void **state)
{
    static const made_token expected[] = {
        {"<unk>", 2, 0},   {"<s>", 3, 0},        {"</s>", 3, 0},        {"<0x41>", 6, 0},
        {"a", 1, -7.5F},   {"user", 1, -1},      {"<|new|>", 3, -1000}, {"a word", 4, -1000},
        {"old", 4, -1000}, {"[PAD9]", 5, -10000}};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":10}"},
        {"added_tokens.json", "{\"old\":8}"},
        {"tokenizer.json",
         "{" NORMALIZER("") PIECES(
             FIVE_TOKENS, "") ",\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"special\":true},"
                              "{\"id\":6,\"content\":\"<|new|>\",\"special\":true},"
                              "{\"id\":7,\"content\":\"a" SPACE
                              "word\"},{\"id\":8,\"content\":\"other\"},"
                              "{\"id\":90,\"content\":\"far\"}]}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    add_model(&m, "tokenizer.model", own_pieces, COUNT_OF(own_pieces), 2);
    must_read(&m, "spm, hf, bpe");
    check_tokens(&m, expected, COUNT_OF(expected));
    check(!has_key(&m, "tokenizer.ggml.add_space_prefix"), "readers put a space before texts");
    remove_folder(&m);
}

/* tokenizer.model may say that no space is put before texts. */
static void test_bare_model(void **state)
{
    static const made_file files[] = {{NULL, NULL}};
    builder b = make_sentencepiece(own_pieces, COUNT_OF(own_pieces), 2), normalizer;
    made_folder m;
    path_text path;

    (void)state;
    normalizer = builder_new(b.encoding);
    put_number(&normalizer, 3, 0); /* add_dummy_prefix */
    put_message(&b, 3, &normalizer);
    make_folder(&m, "llama", files);
    path = folder_path(&m.place, "tokenizer.model");
    write_file(path.text, b.data, b.len);
    builder_free(&b);
    must_read(&m, "spm");
    check_flag(&m, "tokenizer.ggml.add_space_prefix", false);
    check_ok(gufo_document_set_bool(m.read.import.document, "tokenizer.ggml.add_space_prefix", true,
                                    &m.read.error),
             &m.read.error, "as tokenizer_config.json says");
    must_read(&m, "spm");
    check_flag(&m, "tokenizer.ggml.add_space_prefix", true);
    remove_folder(&m);
}

/* ---- ids ------------------------------------------------------------------------------------ */

enum { FIRST_BYTE = 3, FIRST_WORD = FIRST_BYTE + 256, MOST_MERGES = 256, LONGEST = 64 };

/* In the order in which they were learnt; characters come last, as SentencePiece has it. */
static const char *const words[] = {"ab",
                                    SPACE "a",
                                    "bc",
                                    SPACE "ab",
                                    "abc",
                                    SPACE "abc",
                                    "cd",
                                    "aa",
                                    "aaa",
                                    SPACE SPACE,
                                    "dd",
                                    "cdd",
                                    SPACE SPACE SPACE SPACE,
                                    "aaaa",
                                    "d" SPACE,
                                    "da",
                                    SPACE SPACE SPACE,
                                    "bcd",
                                    "\xc3\xa9"
                                    "a",
                                    SPACE "\xc3\xa9",
                                    SPACE,
                                    "a",
                                    "b",
                                    "c",
                                    "d",
                                    "\xc3\xa9",
                                    "unmade"};

typedef struct merge_rule {
    char left[32], right[32];
} merge_rule;

typedef struct merge_list {
    merge_rule rules[MOST_MERGES];
    size_t count;
} merge_list;

static long word_id(const char *text, size_t len)
{
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return (long)(FIRST_WORD + i);
    return -1;
}

/* A word has a merge for each way to cut it into two words. */
static merge_list make_merges(void)
{
    merge_list list = {.count = 0};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        for (size_t at = 1; at < strlen(words[i]); at++)
            if (word_id(words[i], at) >= 0 && word_id(words[i] + at, strlen(words[i]) - at) >= 0) {
                merge_rule *rule = &list.rules[list.count++];

                (void)snprintf(rule->left, sizeof rule->left, "%.*s", (int)at, words[i]);
                (void)snprintf(rule->right, sizeof rule->right, "%s", words[i] + at);
            }
    return list;
}

static json_t *vocab_of_words(void)
{
    json_t *vocab = json_pack("{s:i,s:i,s:i}", "<unk>", 0, "<s>", 1, "</s>", 2);
    char text[8];

    for (int byte = 0; byte < 256; byte++) {
        (void)snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
        json_object_set_new(vocab, text, json_integer(FIRST_BYTE + byte));
    }
    for (size_t i = 0; i < COUNT_OF(words); i++)
        json_object_set_new(vocab, words[i], json_integer(FIRST_WORD + (json_int_t)i));
    return vocab;
}

static void write_words(const folder *place, const merge_list *merges, bool prefix)
{
    json_t *list = json_array(), *root;
    path_text path = folder_path(place, "tokenizer.json");

    for (size_t i = 0; i < merges->count; i++)
        json_array_append_new(list,
                              json_pack("[ss]", merges->rules[i].left, merges->rules[i].right));
    root = json_pack("{s:{s:s,s:b,s:s,s:o,s:o},s:{s:s,s:[{s:s,s:s}{s:s,s:{s:s},s:s}]}}", "model",
                     "type", "BPE", "byte_fallback", 1, "unk_token", "<unk>", "vocab",
                     vocab_of_words(), "merges", list, "normalizer", "type", "Sequence",
                     "normalizers", "type", "Prepend", "prepend", SPACE, "type", "Replace",
                     "pattern", "String", " ", "content", SPACE);
    check(root != NULL, "a tokenizer.json");
    if (!prefix)
        json_array_remove(json_object_get(json_object_get(root, "normalizer"), "normalizers"), 0);
    assert_int_equal(json_dump_file(root, path.text, 0), 0);
    json_decref(root);
}

/* Byte-pair encoding by its definition: of all neighbours, those with the lowest rank are joined, of
 * equal ones the first. */
typedef struct symbols {
    char text[4 * LONGEST][32];
    size_t count;
} symbols;

static void add_characters(symbols *s, const char *text)
{
    while (*text != '\0') {
        size_t len = 1;

        while (((uint8_t)text[len] & 0xC0) == 0x80)
            len++;
        if (word_id(text, len) >= 0)
            (void)snprintf(s->text[s->count++], 32, "%.*s", (int)len, text);
        else
            for (size_t i = 0; i < len; i++)
                (void)snprintf(s->text[s->count++], 32, "<0x%02X>", (unsigned)(uint8_t)text[i]);
        text += len;
    }
}

static bool join_best(symbols *s, const merge_list *merges)
{
    for (size_t rank = 0; rank < merges->count; rank++)
        for (size_t i = 0; i + 1 < s->count; i++)
            if (strcmp(s->text[i], merges->rules[rank].left) == 0 &&
                strcmp(s->text[i + 1], merges->rules[rank].right) == 0) {
                strcat(s->text[i], s->text[i + 1]);
                memmove(s->text[i + 1], s->text[i + 2], (s->count - i - 2) * sizeof s->text[0]);
                s->count--;
                return true;
            }
    return false;
}

static void check_ids(const gufo_vocab *vocab, const char *text, const symbols *expected)
{
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_ok(gufo_tokenize(vocab, gufo_str_of(text), NULL, &ids, &error), &error, "%s", text);
    check_u64(ids.count, expected->count, "tokens of \"%s\"", text);
    for (size_t i = 0; i < ids.count; i++) {
        unsigned byte = 0;
        bool is_byte = sscanf(expected->text[i], "<0x%2X>", &byte) == 1;
        long id = is_byte ? (long)(FIRST_BYTE + byte)
                          : word_id(expected->text[i], strlen(expected->text[i]));

        check_u64(ids.ids[i], (uint64_t)id, "token %zu of \"%s\"", i, text);
    }
    gufo_ids_free(&ids);
}

/* A text of a few letters, spaces and others, and the same with U+2581 for spaces. */
static void random_text(uint32_t *state, char text[2 * LONGEST], char escaped[4 * LONGEST])
{
    static const char *const letters[] = {"a",  "b",  "c",        "d", " ",
                                          "  ", "aa", "\xc3\xa9", "x", "\n"};
    size_t count;

    *state = *state * 1664525u + 1013904223u;
    count = *state >> 16 & 31;
    text[0] = escaped[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *letter;

        *state = *state * 1664525u + 1013904223u;
        letter = letters[(*state >> 16) % COUNT_OF(letters)];
        strcat(text, letter);
        for (; *letter != '\0'; letter++)
            strcat(escaped, *letter == ' ' ? SPACE : (char[2]){*letter, '\0'});
    }
}

/* The vocabulary that the folder's document describes. */
static gufo_vocab *open_read(made_folder *m, gufo_model **model)
{
    gufo_error error = no_error();
    gufo_vocab *vocab;

    *model = source_of_document(m->read.import.document, &default_allocator, &error);
    m->read.import.document = NULL;
    check(*model != NULL, "%s", error.message);
    vocab = gufo_vocab_open(*model, NULL, &error);
    check(vocab != NULL, "%s", error.message);
    return vocab;
}

static void test_ids(void **state)
{
    static const made_file none[] = {{NULL, NULL}};
    const merge_list merges = make_merges();

    (void)state;
    for (int prefix = 0; prefix < 2; prefix++) {
        uint32_t random = 7;
        made_folder m;
        gufo_model *model;
        gufo_vocab *vocab;

        make_folder(&m, "llama", none);
        write_words(&m.place, &merges, prefix == 1);
        must_read(&m, "spm, hf, bpe");
        check_u64(m.read.import.warning_count, 0, "no other joins");
        vocab = open_read(&m, &model);
        for (unsigned i = 0; i < all_or_few(2000, 100); i++) {
            char text[2 * LONGEST], escaped[4 * LONGEST];
            symbols expected = {.count = 0};

            random_text(&random, text, escaped);
            if (prefix == 1 && escaped[0] != '\0')
                add_characters(&expected, SPACE);
            add_characters(&expected, escaped);
            while (join_best(&expected, &merges))
                ;
            check_ids(vocab, text, &expected);
        }
        gufo_vocab_free(vocab);
        gufo_model_free(model);
        remove_folder(&m);
    }
}

/* ---- ids of the original -------------------------------------------------------------------- */

#define ADDED(id, text, special) \
    "{\"id\":" #id ",\"content\":\"" text "\",\"special\":" special ",\"normalized\":false}"

typedef struct original_row {
    const char *text, *plain, *original; /* tokens between spaces; NULL: as `plain` */
} original_row;

static void check_joined(const gufo_vocab *vocab, const char *text, const char *expected)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL};
    buffer joined = {.allocator = &default_allocator};
    gufo_error error = no_error();
    gufo_ids ids = {0};
    gufo_token token;

    check_ok(gufo_tokenize(vocab, gufo_str_of(text), &options, &ids, &error), &error, "%s", text);
    for (size_t i = 0; i < ids.count; i++) {
        check(gufo_vocab_token(vocab, ids.ids[i], &token), "a token");
        check((i == 0 || buffer_append(&joined, " ", 1)) &&
                  buffer_append(&joined, token.text.data, token.text.len),
              "memory");
    }
    check_str(((gufo_str){(const char *)joined.data, joined.len}), expected, "%s", text);
    buffer_free(&joined);
    gufo_ids_free(&ids);
}

/* An added token is found in a text that has U+2581 itself, and cuts it; spaces are merged.  Tokens with
 * well-known texts are plain by their types. */
static void test_original(void **state)
{
    static const gufo_vocab_options original = {.flags = GUFO_VOCAB_ORIGINAL};
    static const original_row table[] = {
        {"a  a", "a " SPACE SPACE "a", NULL},
        {"a" SPACE "a", "a " SPACE " a", NULL},
        {"a" SPACE SPACE "a", "a " SPACE SPACE "a", "a " SPACE SPACE " a"},
        {" " SPACE SPACE, SPACE SPACE " " SPACE, SPACE " " SPACE SPACE},
        {"a</s>a", "a </s> a", "a < / s > a"},
        {"a<s>a", "a <s> a", NULL},
    };
    made_folder m;
    gufo_vocab *vocabs[2];
    gufo_model *model;
    gufo_error error = no_error();
    json_t *root, *vocab = vocab_of_words();
    path_text path;

    (void)state;
    make_folder(&m, "llama", (made_file[]){{NULL, NULL}});
    for (size_t i = 0; i < strlen("/s<>"); i++)
        json_object_set_new(vocab, (char[2]){"/s<>"[i], '\0'}, json_integer(300 + (json_int_t)i));
    json_object_set_new(vocab, SPACE SPACE "a", json_integer(304));
    root =
        json_loads("{" NORMALIZER("") "\"added_tokens\":[" ADDED(1, "<s>", "true") "," ADDED(
                       268, SPACE SPACE, "false") "]," PIECES("", "\"" SPACE " " SPACE
                                                                  "\",\"" SPACE SPACE " a\"") "}",
                   0, NULL);
    check(root != NULL, "a tokenizer.json");
    json_object_set_new(json_object_get(root, "model"), "vocab", vocab);
    path = folder_path(&m.place, "tokenizer.json");
    assert_int_equal(json_dump_file(root, path.text, 0), 0);
    json_decref(root);
    must_read(&m, "spm, hf, bpe");
    check_str(element(&m, "tokenizer.ggml.added_tokens", 0).as.str, SPACE SPACE, "the list");
    check_u64(value_of(&m, "tokenizer.ggml.added_tokens").as.array.count, 1, "the list");

    vocabs[0] = open_read(&m, &model);
    vocabs[1] = gufo_vocab_open(model, &original, &error);
    check(vocabs[1] != NULL, "%s", error.message);
    check(gufo_vocab_describe(vocabs[0]).original != NULL, "a difference is known");
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const original_row *row = &table[i];

        check_joined(vocabs[0], row->text, row->plain);
        check_joined(vocabs[1], row->text, row->original != NULL ? row->original : row->plain);
    }
    for (unsigned i = 0; i < 2; i++) {
        gufo_text text = {0};

        check_ok(gufo_detokenize(vocabs[i], (uint32_t[]){268}, 1, 0, &text, &error), &error,
                 "text");
        check_str(((gufo_str){text.data, text.len}), "  ", "spaces");
        gufo_text_free(&text);
        gufo_vocab_free(vocabs[i]);
    }
    gufo_model_free(model);
    remove_folder(&m);
}

/* ---- real vocabularies ---------------------------------------------------------------------- */

typedef void compare_line(const gufo_vocab *vocab, const json_t *line, unsigned *compared);

static void check_line(const gufo_vocab *vocab, const json_t *line, uint32_t flags,
                       const char *member)
{
    const gufo_tokenize_options options = {.flags = flags};
    const json_t *expected = json_object_get(line, member);
    gufo_str text = json_str(json_object_get(line, "text"));
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_ok(gufo_tokenize(vocab, text, &options, &ids, &error), &error, "%.*s", (int)text.len,
             text.data);
    check_u64(ids.count, json_array_size(expected), "tokens of \"%.*s\"", (int)text.len, text.data);
    for (size_t i = 0; i < ids.count; i++)
        check_u64(ids.ids[i], (uint64_t)json_integer_value(json_array_get(expected, i)),
                  "token %zu of \"%.*s\"", i, (int)text.len, text.data);
    gufo_ids_free(&ids);
}

static unsigned each_case(const char *file, const gufo_vocab *vocab, compare_line *compare)
{
    path_text path = need_shared(file);
    FILE *lines = fopen(path.text, "rb");
    unsigned compared = 0;
    char *line = NULL;
    size_t room = 0;

    check(lines != NULL, "%s", path.text);
    while (getline(&line, &room, lines) > 0) {
        json_t *value = json_loads(line, JSON_ALLOW_NUL, NULL);

        check(value != NULL, "%s: %s", path.text, line);
        compare(vocab, value, &compared);
        json_decref(value);
    }
    free(line);
    (void)fclose(lines);
    return compared;
}

/* These vocabularies have a token " 12" that is no merge of " " and "12", as no model of SentencePiece
 * has it. */
static void compare_case(const gufo_vocab *vocab, const json_t *line, unsigned *compared)
{
    const char *text = json_string_value(json_object_get(line, "text"));

    if (strstr(text, " 12") != NULL || strncmp(text, "12", 2) == 0 || strstr(text, "<s>12") != NULL)
        return;
    check_line(vocab, line, GUFO_TOKENIZE_PARSE_SPECIAL, "ids_plain");
    check_line(vocab, line, GUFO_TOKENIZE_PARSE_SPECIAL | GUFO_TOKENIZE_ADD_SPECIAL, "ids");
    ++*compared;
}

static void test_pipelines(void **state)
{
    static const char *const names[] = {"llama2", "gemma", "yi"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char file[64];
        made_folder m = {.place = {.path = ""}};
        gufo_model *model;
        gufo_vocab *vocab;

        (void)snprintf(file, sizeof file, "data/tokenizer-json/%s", names[i]);
        open_vocabulary(&m.read, need_shared(file).text, "llama");
        must_read(&m, "spm, hf, bpe");
        vocab = open_read(&m, &model);
        (void)snprintf(file, sizeof file, "data/tokenizer-json/%s/cases.jsonl", names[i]);
        check(each_case(file, vocab, compare_case) > 100, "%s", names[i]);
        gufo_vocab_free(vocab);
        gufo_model_free(model);
        close_vocabulary(&m.read);
    }
}

static void compare_plain(const gufo_vocab *vocab, const json_t *line, unsigned *compared)
{
    check_line(vocab, line, 0, "ids_plain");
    ++*compared;
}

/* A real model of SentencePiece as the tokenizer.json that is made of it. */
static void test_real(void **state)
{
    static const char *const names[] = {"llama-spm", "phi-3", "baichuan"};

    (void)state;
    for (size_t i = 0; i < all_some_or_few(COUNT_OF(names), 1, 0); i++) {
        static const made_file none[] = {{NULL, NULL}};
        char file[64];
        gufo_text json = {0};
        gufo_error error = no_error();
        made_folder m;
        gufo_model *model;
        gufo_vocab *vocab;

        (void)snprintf(file, sizeof file, "data/vocab/ggml-vocab-%s.gguf", names[i]);
        model = gufo_model_open(need_shared(file).text, NULL, &error);
        check(model != NULL, "%s", error.message);
        vocab = gufo_vocab_open(model, NULL, &error);
        check(vocab != NULL, "%s", error.message);
        check_ok(gufo_vocab_export_json(vocab, &(gufo_vocab_source){.model = model}, &json, &error),
                 &error, "%s", names[i]);
        gufo_vocab_free(vocab);
        gufo_model_free(model);

        make_folder(&m, "llama", none);
        write_file(folder_path(&m.place, "tokenizer.json").text, json.data, json.len);
        gufo_text_free(&json);
        must_read(&m, "spm, hf, bpe");
        check_u64(m.read.import.warning_count, 0, "%s: %s", names[i],
                  m.read.import.warning_count > 0 ? m.read.import.warnings[0] : "");
        vocab = open_read(&m, &model);
        (void)snprintf(file, sizeof file, "data/text/tokens/%s.jsonl", names[i]);
        check(each_case(file, vocab, compare_plain) > 400, "%s", names[i]);
        gufo_vocab_free(vocab);
        gufo_model_free(model);
        remove_folder(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_nul),           cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_own_class),     cmocka_unit_test(test_joins),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_memory),
        cmocka_unit_test(test_what_is_there), cmocka_unit_test(test_added_later),
        cmocka_unit_test(test_bare_model),    cmocka_unit_test(test_ids),
        cmocka_unit_test(test_unmade),        cmocka_unit_test(test_original),
        cmocka_unit_test(test_pipelines),     cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
