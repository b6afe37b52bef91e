/* The vocabularies of model folders, and what an independent program made of them: the tokenizer.*
 * keys of every expected.json of the shared folder. */
#include "../support/shared.h"
#include "tokenizers_folder.h"

#include "base/text.h"
#include "gufo/digest.h"

#define TEXT(view) (int)(view).len, (view).data

/* ---- one value ------------------------------------------------------------------------------ */

static gufo_str text_at(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return (gufo_str){json_string_value(value), json_string_length(value)};
}

static bool has_type(const gufo_value *value, gufo_str expected)
{
    static const struct {
        const char *name;
        gufo_value_type type, elements;
    } table[] = {
        {"string", GUFO_VALUE_STRING, 0},
        {"uint32", GUFO_VALUE_UINT32, 0},
        {"bool", GUFO_VALUE_BOOL, 0},
        {"array[string]", GUFO_VALUE_ARRAY, GUFO_VALUE_STRING},
        {"array[float32]", GUFO_VALUE_ARRAY, GUFO_VALUE_FLOAT32},
        {"array[int32]", GUFO_VALUE_ARRAY, GUFO_VALUE_INT32},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (gufo_str_equal(expected, gufo_str_of(table[i].name)))
            return value->type == table[i].type &&
                   (value->type != GUFO_VALUE_ARRAY || value->as.array.type == table[i].elements);
    return false;
}

/* The bytes of an array in a document are those that the hashes are made of. */
static void check_array(const gufo_array *array, const json_t *expected, const char *label)
{
    const json_t *values = json_object_get(expected, "value");
    gufo_str hash = text_at(expected, array->type == GUFO_VALUE_STRING ? "sha256_lenprefixed_u64"
                                                                       : "sha256_le");
    uint8_t digest[GUFO_DIGEST_SIZE];
    char text[GUFO_DIGEST_TEXT];
    gufo_error error = no_error();

    check_u64(array->count, (uint64_t)json_integer_value(json_object_get(expected, "count")), "%s",
              label);
    check(values != NULL || hash.len > 0, "%s: nothing to compare", label);
    for (size_t i = 0; i < json_array_size(values); i++) {
        gufo_value value;

        check_ok(gufo_array_at(array, i, &value, &error), &error, "%s", label);
        check(value.as.i == json_integer_value(json_array_get(values, i)), "%s: element %zu", label,
              i);
    }
    if (hash.len == 0 || !gufo_digest_available(GUFO_DIGEST_SHA256))
        return;
    check_ok(
        gufo_digest_bytes(GUFO_DIGEST_SHA256, array->data, (size_t)array->size, digest, &error),
        &error, "%s", label);
    check_view(((gufo_str){text, gufo_digest_text(GUFO_DIGEST_SHA256, digest, text)}), hash,
               "%s: SHA-256", label);
}

static void check_value(const gufo_value *value, const json_t *expected, const char *label)
{
    const json_t *said = json_object_get(expected, "value");

    check(has_type(value, text_at(expected, "type")), "%s: type %d", label, (int)value->type);
    if (value->type == GUFO_VALUE_STRING)
        check_view(value->as.str, text_at(expected, "value"), "%s", label);
    else if (value->type == GUFO_VALUE_BOOL)
        check(value->as.b == json_is_true(said), "%s: %d", label, value->as.b);
    else if (value->type == GUFO_VALUE_UINT32)
        check_u64(value->as.u, (uint64_t)json_integer_value(said), "%s", label);
    else
        check_array(&value->as.array, expected, label);
}

/* ---- one folder ----------------------------------------------------------------------------- */

/* The rows of the tables for the vocabularies of these architectures. */
static const char *readers_of(const char *architecture)
{
    static const struct {
        const char *architecture, *readers;
    } table[] = {{"llama", "spm, hf, bpe"}, {"qwen2", "spm, bpe"}, {"qwen3", "spm, bpe"},
                 {"gemma2", "spm"},         {"phi3", "phi3"},      {"gpt2", "bpe"},
                 {"gptneox", "bpe"}};

    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].architecture, architecture) == 0)
            return table[i].readers;
    return NULL;
}

static void check_folder(const char *name, const char *readers)
{
    char label[256];
    path_text root = need_shared("data/convert/hf"), path = path_join(root.text, name);
    json_t *expected = load_json(path.text, "expected.json");
    json_t *metadata = json_object_get(expected, "metadata"), *value;
    const char *architecture = json_string_value(
        json_object_get(json_object_get(metadata, "general.architecture"), "value"));
    vocabulary_folder f;
    const char *key;
    uint64_t keys = 0;

    check(architecture != NULL, "%s", name);
    open_vocabulary(&f, path.text, architecture);
    check_ok(read_vocabulary_folder(&f, readers == NULL ? NULL : readers_of(architecture)),
             &f.error, "%s", name);
    json_object_foreach(metadata, key, value)
    {
        gufo_document_entry entry;

        if (!str_begins(gufo_str_of(key), "tokenizer."))
            continue;
        (void)snprintf(label, sizeof label, "%s: %s", name, key);
        check(gufo_document_find(f.import.document, key, &entry), "%s", label);
        check_value(&entry.value, value, label);
        keys++;
    }
    check_u64(gufo_document_entry_count(f.import.document), keys, "%s: other keys", name);
    close_vocabulary(&f);
    json_decref(expected);
}

static const char *const names[] = {
    "Mixtral-Tiny-4x", "Qwen2-Tiny-Instruct", "Qwen3-Tiny",          "TinyTest-Llama-GQA-Chat-v1.0",
    "gemma-2-tiny",    "gpt2-tiny",           "gptneox-20Btok-trim", "llama2-real-spm-tied",
    "phi3-tiny-128k",
};

static void test_folders(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check_folder(names[i], "of the architecture");
}

/* Where no reader is asked for, the one for the files is found. */
static void test_any_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < COUNT_OF(names); i++) /* phi3 differs only in size */
        check_folder(names[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_any_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
