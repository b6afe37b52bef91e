/* What a GGUF file cannot say of a tokenizer.json: a warning for each thing, with the texts that show it. */
#include "tokenizers_folder.h"

#include "text/characters/byte_alphabet.h"

#define BYTES                                                                         \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, " \
    "\"use_regex\": true}"

typedef struct compare_row {
    const char *label, *normalizer, *pre, *flag, *warning; /* a part of one; NULL: there are none */
    size_t count;
} compare_row;

/* A token for each byte, and <x>, which has a flag. */
static json_t *make_file(const compare_row *row)
{
    json_t *vocab = json_object();
    byte_texts alphabet;

    byte_alphabet_fill(&alphabet);
    for (unsigned byte = 0; byte < 256; byte++)
        json_object_setn_new(vocab, alphabet.text[byte], alphabet.len[byte],
                             json_integer((json_int_t)byte));
    json_object_set_new(vocab, "th", json_integer(256));
    json_object_set_new(vocab, "<x>", json_integer(257));
    return json_pack(
        "{s:o?, s:o, s:[{s:i, s:s, s:b, s:b, s:b, s:b, s:b}], s:{s:s, s:o, s:[s]}}", "normalizer",
        row->normalizer != NULL ? json_loads(row->normalizer, 0, NULL) : NULL, "pre_tokenizer",
        json_loads(row->pre != NULL ? row->pre : BYTES, 0, NULL), "added_tokens", "id", 257,
        "content", "<x>", "special", 1, "normalized", 0, "single_word",
        strcmp(row->flag, "single_word") == 0, "lstrip", strcmp(row->flag, "lstrip") == 0, "rstrip",
        strcmp(row->flag, "rstrip") == 0, "model", "type", "BPE", "vocab", vocab, "merges", "t h");
}

static bool warns(const vocabulary_folder *f, const char *text)
{
    for (uint64_t i = 0; i < f->import.warning_count; i++)
        if (strstr(f->import.warnings[i], text) != NULL)
            return true;
    return false;
}

static void check_row(const compare_row *row)
{
    folder place = folder_new();
    json_t *json = make_file(row);
    vocabulary_folder f;
    tokenizer_request request = {.config = &f.config, .readers = "bpe", .compare = true};

    assert_non_null(json);
    assert_int_equal(json_dump_file(json, folder_path(&place, "tokenizer.json").text, 0), 0);
    open_vocabulary(&f, place.path, "gpt2");
    check_ok(tokenizers_write(&f.import, &request, &f.error), &f.error, "%s", row->label);
    check_u64(f.import.warning_count, row->count, "%s: %s", row->label,
              f.import.warning_count > 0 ? f.import.warnings[f.import.warning_count - 1] : "");
    check(row->warning == NULL || warns(&f, row->warning), "%s: %s", row->label,
          f.import.warning_count > 0 ? f.import.warnings[f.import.warning_count - 1] : "none");
    close_vocabulary(&f);
    json_decref(json);
    folder_remove(&place);
}

static void test_steps(void **state)
{
    static const compare_row table[] = {
        {"the same", NULL, NULL, "", NULL, 0},
        {"NFC", "{\"type\": \"NFC\"}", NULL, "", "tokenizer.json, NFC: ", 2},
        {"both",
         "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFKC\"}, {\"type\": "
         "\"Lowercase\"}]}",
         NULL, "", "tokenizer.json, Lowercase: ", 3},
        {"a step without effect",
         "{\"type\": \"Replace\", \"pattern\": {\"String\": \"~never~\"}, "
         "\"content\": \"\"}",
         NULL, "", NULL, 0},
        {"a space", NULL,
         "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true, "
         "\"use_regex\": true}",
         "", "tokenizer.json, add_prefix_space of ByteLevel: ", 2},
        {"lstrip", NULL, NULL, "lstrip", "tokenizer.json, lstrip of added tokens: 2 of 212 texts",
         2},
        {"rstrip", NULL, NULL, "rstrip", "tokenizer.json, rstrip of added tokens: 2 of 212 texts",
         2},
        {"single_word", NULL, NULL, "single_word",
         "tokenizer.json, single_word of added tokens: 1 of 212 texts", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        check_row(&table[i]);
}

/* Rules that cannot be followed are said, too. */
static void test_unread(void **state)
{
    const compare_row row = {"",
                             "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"(\"}, "
                             "\"content\": \"\"}",
                             NULL,
                             "",
                             "its ids are not compared: ",
                             1};

    (void)state;
    check_row(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_unread)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
