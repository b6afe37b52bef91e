/* tokenizer.ggml.pre is recognised by how texts are cut: of the shared vocabularies, of published
 * definitions spelt in another way, of edited vocabularies. */
#include "../support/pace.h"
#include "../support/shared.h"
#include "tokenizers_folder.h"

#include "gufo/vocab.h"
#include "text/pretokenizers/pre_rules.h"

/* ---- folders with a tokenizer.json ---------------------------------------------------------- */

static void write_json(const folder *f, const json_t *json)
{
    path_text path = folder_path(f, "tokenizer.json");

    assert_int_equal(json_dump_file(json, path.text, 0), 0);
}

/* The tokenizer.json of a shared vocabulary. */
static json_t *export_shared(const char *name)
{
    char file[128];
    gufo_error error = no_error();
    gufo_text text = {0};
    gufo_model *model;
    gufo_vocab *vocab;
    path_text path;
    json_t *json;

    (void)snprintf(file, sizeof file, "data/vocab/ggml-vocab-%s.gguf", name);
    path = need_shared(file);
    model = gufo_model_open(path.text, NULL, &error);
    check(model != NULL, "%s: %s", name, error.message);
    vocab = gufo_vocab_open(model, NULL, &error);
    check(vocab != NULL, "%s: %s", name, error.message);
    check_ok(gufo_vocab_export_json(vocab, &(gufo_vocab_source){.model = model}, &text, &error),
             &error, "%s", name);
    json = json_loadb(text.data, text.len, 0, NULL);
    check(json != NULL, "%s", name);
    gufo_text_free(&text);
    gufo_vocab_free(vocab);
    gufo_model_free(model);
    return json;
}

/* What a tokenizer.json is recognised as, into `pre`; a failure's message if it is not. */
static gufo_status recognise(const json_t *json, const char *architecture, char pre[64],
                             gufo_error *error)
{
    folder place = folder_new();
    vocabulary_folder f;
    gufo_document_entry entry;
    gufo_status status;

    write_json(&place, json);
    open_vocabulary(&f, place.path, architecture);
    status = read_vocabulary_folder(&f, "bpe");
    *error = f.error;
    if (status == GUFO_OK) {
        check(gufo_document_find(f.import.document, "tokenizer.ggml.pre", &entry), "pre");
        (void)snprintf(pre, 64, "%.*s", (int)entry.value.as.str.len, entry.value.as.str.data);
    }
    close_vocabulary(&f);
    folder_remove(&place);
    return status;
}

static void check_pre(const json_t *json, const char *architecture, const char *expected,
                      const char *label)
{
    gufo_error error;
    char pre[64];

    check_ok(recognise(json, architecture, pre, &error), &error, "%s", label);
    check(strcmp(pre, expected) == 0, "%s: %s, not %s", label, pre, expected);
}

/* ---- edits ---------------------------------------------------------------------------------- */

/* Spells expressions in another way, so that no table of definitions has them. */
static void disguise(json_t *step)
{
    json_t *steps = json_object_get(step, "pretokenizers"),
           *pattern = json_object_get(step, "pattern"), *inner;
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    size_t index;
    char *text;

    json_array_foreach(steps, index, inner) disguise(inner);
    if (regex == NULL)
        return;
    text = malloc(strlen(regex) + 5);
    assert_non_null(text);
    (void)sprintf(text, "(?:%s)", regex);
    json_object_set_new(pattern, "Regex", json_string(text));
    free(text);
}

/* A token more, and a merge less. */
static void edit(json_t *json)
{
    json_t *model = json_object_get(json, "model"), *vocab = json_object_get(model, "vocab"),
           *merges = json_object_get(model, "merges"), *value;
    json_int_t next = 0;
    const char *text;
    size_t index;

    json_object_foreach(vocab, text, value) if (json_integer_value(value) >= next) next =
        json_integer_value(value) + 1;
    json_array_foreach(json_object_get(json, "added_tokens"), index, value)
    {
        json_int_t id = json_integer_value(json_object_get(value, "id"));

        next = id >= next ? id + 1 : next;
    }
    json_object_set_new(vocab, "a-token-of-their-own", json_integer(next));
    json_array_remove(merges, json_array_size(merges) - 1);
}

typedef struct shared_row {
    const char *name, *architecture, *pre;
} shared_row;

/* Each is spelt in another way, and edited. */
static void test_shared(void **state)
{
    static const shared_row table[] = {
        {"gpt-2", "gptneox", "olmo"},
        {"starcoder", "starcoder2", "starcoder"},
        {"falcon", "falcon", "falcon"},
        {"deepseek-coder", "llama", "deepseek-coder"},
    };

    (void)state;
    for (size_t i = 0; i < all_some_or_few(COUNT_OF(table), 2, 1); i++) {
        json_t *json = export_shared(table[i].name);

        disguise(json_object_get(json, "pre_tokenizer"));
        edit(json);
        check_pre(json, table[i].architecture, table[i].pre, table[i].name);
        json_decref(json);
    }
}

/* ---- a vocabulary in which most cuts count -------------------------------------------------- */

static void add_token(json_t *vocab, const char *text, size_t len)
{
    if (json_object_getn(vocab, text, len) == NULL)
        json_object_setn_new(vocab, text, len, json_integer((json_int_t)json_object_size(vocab)));
}

/* Pairs of visible ASCII characters, of spaces, and of the bytes of letters. */
static json_t *make_json(json_t *pre_tokenizer, bool ignore_merges)
{
    static const char *const more[] = {"\xc4\xa0", "\xc4\x8a", "\xc4\x89", "\xc4\x8d"};
    json_t *vocab = json_object();

    for (char a = '!'; a <= '~'; a++) {
        for (char b = '!'; b <= '~'; b++)
            add_token(vocab, (char[]){a, b}, 2);
        for (size_t i = 0; i < COUNT_OF(more); i++) {
            add_token(vocab, (char[]){more[i][0], more[i][1], a}, 3);
            add_token(vocab, (char[]){a, more[i][0], more[i][1]}, 3);
        }
    }
    for (size_t i = 0; i < COUNT_OF(more); i++)
        for (size_t k = 0; k < COUNT_OF(more); k++)
            add_token(vocab, (char[]){more[i][0], more[i][1], more[k][0], more[k][1]}, 4);
    return json_pack("{s:o, s:{s:s, s:o, s:[], s:b}}", "pre_tokenizer", pre_tokenizer, "model",
                     "type", "BPE", "vocab", vocab, "merges", "ignore_merges", ignore_merges);
}

static json_t *split(const char *regex)
{
    return json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", regex,
                     "behavior", "Isolated", "invert", 0);
}

static json_t *bytes(bool regex)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0,
                     "trim_offsets", 1, "use_regex", regex);
}

static json_t *sequence(json_t *first, json_t *second)
{
    return json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers", first, second);
}

#define LLAMA3                                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| " \
    "?[^\\s\\p{L}\\p{N}]+["                                                    \
    "\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN2                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| " \
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]"                                        \
    "*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static void test_definitions(void **state)
{
    struct {
        const char *architecture, *pre;
        json_t *steps;
        bool ignore_merges;
    } table[] = {
        {"gpt2", "gpt-2", bytes(true), false},
        {"starcoder", "starcoder",
         sequence(json_pack("{s:s, s:b}", "type", "Digits", "individual_digits", 1), bytes(true)),
         false},
        {"llama", "llama-bpe", sequence(split("(?:" LLAMA3 ")"), bytes(false)), true},
        {"smollm3", "llama-bpe", sequence(split(LLAMA3), bytes(false)), true},
        {"llama", "smaug-bpe", sequence(split(LLAMA3), bytes(false)), false},
        {"qwen3", "qwen2", sequence(split("(?:" QWEN2 ")"), bytes(false)), false},
        {"stablelm", "stablelm2", sequence(split(QWEN2), bytes(false)), false},
        /* Of Oniguruma: a class inside a class adds to it. */
        {"bloom", "bloom",
         sequence(split(" ?[^(\\s|[.,!?\xe2\x80\xa6\xe3\x80\x82\xef\xbc\x8c\xe3\x80\x81\xe0\xa5\xa4"
                        "\xdb\x94\xd8\x8c])]+"),
                  bytes(false)),
         false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        json_t *json = make_json(table[i].steps, table[i].ignore_merges);

        check_pre(json, table[i].architecture, table[i].pre, table[i].pre);
        json_decref(json);
    }
}

/* ---- what is not recognised ----------------------------------------------------------------- */

static void test_unknown(void **state)
{
    json_t *json = make_json(sequence(split("(?i)[aeiou]+|\\p{N}{5}"), bytes(false)), false);
    gufo_error error;
    char pre[64];

    (void)state;
    check_status(recognise(json, "llama", pre, &error), GUFO_E_TYPE, &error, "vowels");
    check_error_shape(&error, GUFO_E_TYPE, "vowels");
    check(error.advice == GUFO_ADVICE_PRE && strstr(error.message, "Nearest: ") != NULL &&
              strstr(error.message, "texts differ") != NULL &&
              strstr(error.message, "It cuts") != NULL && strstr(error.message, ", not ") != NULL,
          "%s", error.message);
    json_decref(json);
}

/* Expressions that take for ever are given up: for one match, or for all of them.  The limit is a number of
 * steps, whatever the machine: to reach it takes long where all is slow. */
static void test_endless(void **state)
{
    static const char *const expressions[] = {"(?:(?:\\p{L}|.)+)+[^\\s\\S]",
                                              "(?=(?:.?){19}[^\\s\\S])|[\\s\\S]"};

    (void)state;
    for (size_t i = 0; i < all_some_or_few(COUNT_OF(expressions), 1, 0); i++) {
        json_t *json = make_json(sequence(split(expressions[i]), bytes(false)), false);
        gufo_error error;
        char pre[64];

        check_status(recognise(json, "llama", pre, &error), GUFO_E_LIMIT, &error, "%s",
                     expressions[i]);
        check(strstr(error.message, "takes too long") != NULL && error.advice == GUFO_ADVICE_PRE &&
                  strstr(error.file, "tokenizer.json") != NULL,
              "%s: %s", error.file, error.message);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_shared),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
