/* Values of keys as JSON that loses nothing, and gguf-metadata.json, which has them. */
#include "config_folder.h"

#include <float.h>
#include <math.h>

#include "gufo/import.h"
#include "import/export/parts.h"
#include "import/typed_value.h"

/* ---- there and back -------------------------------------------------------------------------- */

/* The value after it was written and read. */
static void check_same(const gufo_value *value, const char *text)
{
    gufo_document *document = gufo_document_new(NULL, NULL);
    json_t *json = typed_value_json(value), *read;
    char *dump = json_dumps(json, JSON_REAL_PRECISION(9) | JSON_COMPACT);
    gufo_document_entry entry;
    gufo_error error = no_error();

    assert_non_null(dump);
    if (text != NULL)
        assert_string_equal(dump, text);
    read = json_loads(dump, 0, NULL);
    check_ok(typed_value_set(document, "test.key", read, NULL, NULL, &error), &error, "%s", dump);
    assert_true(gufo_document_find(document, "test.key", &entry));
    check(same_key_value(value, &entry.value), "%s", dump);
    free(dump);
    json_decref(json);
    json_decref(read);
    gufo_document_free(document);
}

static void test_numbers(void **state)
{
    const struct {
        gufo_value value;
        const char *text;
    } rows[] = {
        {{GUFO_VALUE_UINT8, .as.u = 255}, "{\"type\":\"uint8\",\"value\":255}"},
        {{GUFO_VALUE_INT8, .as.i = -128}, "{\"type\":\"int8\",\"value\":-128}"},
        {{GUFO_VALUE_UINT16, .as.u = 65535}, "{\"type\":\"uint16\",\"value\":65535}"},
        {{GUFO_VALUE_INT16, .as.i = -1}, "{\"type\":\"int16\",\"value\":-1}"},
        {{GUFO_VALUE_UINT32, .as.u = UINT32_MAX}, "{\"type\":\"uint32\",\"value\":4294967295}"},
        {{GUFO_VALUE_INT32, .as.i = INT32_MIN}, "{\"type\":\"int32\",\"value\":-2147483648}"},
        {{GUFO_VALUE_UINT64, .as.u = UINT64_MAX},
         "{\"type\":\"uint64\",\"value\":\"18446744073709551615\"}"},
        {{GUFO_VALUE_INT64, .as.i = INT64_MIN},
         "{\"type\":\"int64\",\"value\":\"-9223372036854775808\"}"},
        {{GUFO_VALUE_FLOAT32, .as.f = (double)0.1f}, "{\"type\":\"float32\",\"value\":0.1}"},
        {{GUFO_VALUE_FLOAT32, .as.f = (double)FLT_MAX},
         NULL /* libraries write exponents in their own way */},
        {{GUFO_VALUE_FLOAT32, .as.f = -0.0}, "{\"type\":\"float32\",\"value\":-0.0}"},
        {{GUFO_VALUE_FLOAT32, .as.f = INFINITY}, "{\"type\":\"float32\",\"value\":\"inf\"}"},
        {{GUFO_VALUE_FLOAT64, .as.f = NAN}, "{\"type\":\"float64\",\"value\":\"nan\"}"},
        {{GUFO_VALUE_FLOAT64, .as.f = 0.5}, "{\"type\":\"float64\",\"value\":0.5}"},
        {{GUFO_VALUE_FLOAT64, .as.f = 0.1 + 0.2},
         "{\"type\":\"float64\",\"value\":\"0.30000000000000004\"}"},
        {{GUFO_VALUE_BOOL, .as.b = true}, "{\"type\":\"bool\",\"value\":true}"},
        {{GUFO_VALUE_STRING, .as.str = {"", 0}}, "{\"type\":\"string\",\"value\":\"\"}"},
        {{GUFO_VALUE_STRING, .as.str = {"a\0b", 3}},
         "{\"type\":\"string\",\"value\":{\"base64\":\"YQBi\"}}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_same(&rows[i].value, rows[i].text);
}

static void check_array(const gufo_items *items, const char *text)
{
    gufo_document *document = gufo_document_new(NULL, NULL);
    gufo_document_entry entry;
    gufo_error error = no_error();

    check_ok(gufo_document_set_array(document, "test.key", items, &error), &error, "%s", text);
    assert_true(gufo_document_find(document, "test.key", &entry));
    check_same(&entry.value, text);
    gufo_document_free(document);
}

static void test_arrays(void **state)
{
    const uint8_t bytes[] = {0, 255};
    const double reals[] = {0.25, -INFINITY};
    const bool truths[] = {true, false};
    const gufo_str texts[] = {{"a", 1}, {"\xc3", 1}};

    (void)state;
    check_array(&(gufo_items){GUFO_VALUE_UINT8, 2, bytes},
                "{\"type\":\"uint8\",\"value\":[0,255]}");
    check_array(&(gufo_items){GUFO_VALUE_FLOAT64, 2, reals},
                "{\"type\":\"float64\",\"value\":[0.25,\"-inf\"]}");
    check_array(&(gufo_items){GUFO_VALUE_BOOL, 2, truths},
                "{\"type\":\"bool\",\"value\":[true,false]}");
    check_array(&(gufo_items){GUFO_VALUE_STRING, 2, texts},
                "{\"type\":\"string\",\"value\":[\"a\",{\"base64\":\"ww==\"}]}");
}

/* ---- the file -------------------------------------------------------------------------------- */

#define CONFIG                                                                             \
    "{\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":8,\"num_hidden_layers\":1," \
    "\"num_attention_heads\":1,\"vocab_size\":2}"
#define NO_TOKENS "\"tokenizer.ggml.tokens\":null"

/* A folder with a configuration and this file. */
static gufo_import *convert(folder *f, const char *metadata, gufo_error *error)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_VOCABULARY_ONLY};

    *f = folder_new();
    write_text(f, "config.json", CONFIG);
    write_text(f, "gguf-metadata.json", metadata);
    *error = no_error();
    return gufo_import_checkpoint(f->path, &options, error);
}

static void check_malformed(const char *metadata)
{
    folder f;
    gufo_error error;
    gufo_import *import = convert(&f, metadata, &error);

    check(import == NULL, "%s is taken", metadata);
    check(strstr(error.file, "gguf-metadata.json") != NULL, "%s: %s", metadata, error.file);
    check(error.code != GUFO_E_MEMORY && error.code != GUFO_E_IO, "%s: %s", metadata,
          error.message);
    folder_remove(&f);
}

static void test_malformed(void **state)
{
    static const char *const values[] = {
        "7",
        "{}",
        "{\"type\":\"uint8\"}",
        "{\"type\":\"uint9\",\"value\":1}",
        "{\"type\":\"uint8\",\"value\":256}",
        "{\"type\":\"uint8\",\"value\":-1}",
        "{\"type\":\"int8\",\"value\":-129}",
        "{\"type\":\"int64\",\"value\":\"9223372036854775808\"}",
        "{\"type\":\"uint64\",\"value\":\"18446744073709551616\"}",
        "{\"type\":\"uint8\",\"value\":\"\"}",
        "{\"type\":\"uint8\",\"value\":1.5}",
        "{\"type\":\"float32\",\"value\":1e39}",
        "{\"type\":\"float32\",\"value\":\"1x\"}",
        "{\"type\":\"bool\",\"value\":1}",
        "{\"type\":\"string\",\"value\":7}",
        "{\"type\":\"string\",\"value\":{\"base64\":\"*\"}}",
        "{\"type\":\"string\",\"file\":\"../secret\"}",
        "{\"type\":\"string\",\"file\":\"missing\"}",
        "{\"type\":\"uint8\",\"file\":\"config.json\"}",
        "{\"type\":\"array\",\"value\":[1]}",
        "{\"type\":\"array\",\"value\":1}",
        "{\"type\":\"uint8\",\"value\":[256]}",
        "{\"type\":\"uint8\",\"value\":1,\"more\":2}",
    };
    static const char *const files[] = {
        "[]",
        "{}",
        "{\"version\":0}",
        "{\"version\":2}",
        "{\"version\":1,\"keys\":[]}",
        "{\"version\":1,\"keys\":{\"general.file_type\":{\"type\":\"uint32\",\"value\":1}}}",
        "{\"version\":1,\"keys\":{\"general.architecture\":{\"type\":\"string\",\"value\":\"a\"}}}",
        "{\"version\":1,\"keys\":{\"\":{\"type\":\"uint8\",\"value\":1}}}",
        "{\"version\":1,\"keys\":{\"general.alignment\":{\"type\":\"uint32\",\"value\":3}}}",
        "{\"version\":1,\"keys\":{\"a\":null,\"a\":null}}",
        "{\"version\":1,\"order\":{}}",
        "{\"version\":1,\"order\":[1]}",
        "{\"version\":1,\"type\":1}",
        "{\"version\":1,\"tensors\":{}}",
        "{\"version\":1,\"tensors\":[1]}",
        "{\"version\":1,\"type\":\"F99\"}",
        "{\"version\":1,",
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        (void)snprintf(text, sizeof text, "{\"version\":1,\"keys\":{\"a.b\":%s}}", values[i]);
        check_malformed(text);
    }
    for (size_t i = 0; i < COUNT_OF(files); i++)
        check_malformed(files[i]);
}

static void check_key(const gufo_import *import, uint64_t index, const char *key)
{
    gufo_entry entry;

    check(gufo_model_entry_at(gufo_import_model(import), index, &entry), "no key %s", key);
    check_view(entry.key, gufo_str_of(key), "key %ju", (uintmax_t)index);
}

/* Keys are as the file says: added, removed, changed, and in its order; null of a key that other files
 * give, a row that would fail, and a file of the folder. */
static void test_file(void **state)
{
    static const char metadata[] =
        "{\"version\":1,\"keys\":{" NO_TOKENS
        ",\"general.name\":{\"type\":\"string\",\"value\":\"A\"},\"general.size_label\":null,"
        "\"llama.block_count\":{\"type\":\"uint64\",\"value\":5},\"llama.vocab_size\":null,"
        "\"gufo.source.format\":null,\"own.text\":{\"type\":\"string\",\"file\":\"config.json\"}"
        "},"
        "\"order\":[\"own.text\",\"missing\",\"llama.block_count\"],"
        "\"type\":\"F32\"}";
    folder f;
    gufo_error error;
    gufo_import *import = convert(&f, metadata, &error);
    const gufo_model *model;
    gufo_entry entry;

    (void)state;
    check(import != NULL, "%s", error.message);
    model = gufo_import_model(import);
    check_key(import, 0, "own.text");
    check_key(import, 1, "llama.block_count");
    check_key(import, 2, "general.architecture");
    assert_true(gufo_model_find(model, "llama.block_count", &entry));
    assert_int_equal(entry.value.type, GUFO_VALUE_UINT64);
    check_u64(entry.value.as.u, 5, "block_count");
    assert_true(gufo_model_find(model, "own.text", &entry));
    check_view(entry.value.as.str, gufo_str_of(CONFIG), "a file");
    assert_true(gufo_model_find(model, "general.name", &entry));
    check_view(entry.value.as.str, gufo_str_of("A"), "a name");
    assert_false(gufo_model_find(model, "llama.vocab_size", NULL));
    assert_true(gufo_model_find(model, "llama.embedding_length", NULL));
    gufo_import_free(import);
    folder_remove(&f);
}

/* What the caller says counts more. */
static void test_caller(void **state)
{
    static const char metadata[] =
        "{\"version\":1,\"keys\":{" NO_TOKENS
        ",\"general.name\":{\"type\":\"string\",\"value\":\"A\"},\"general.author\":null,"
        "\"general.base_models\":null,"
        "\"general.base_model.count\":{\"type\":\"uint32\",\"value\":9}}}";
    folder f;
    gufo_error error;
    gufo_import *import = convert(&f, metadata, &error);
    path_text path;
    gufo_entry entry;

    (void)state;
    check(import != NULL, "%s", error.message);
    gufo_import_free(import);
    write_text(&f, "own.json",
               "{\"general.name\":\"B\",\"general.author\":\"C\",\"general.base_models\":[]}");
    path = folder_path(&f, "own.json");
    import = gufo_import_checkpoint(
        f.path,
        &(gufo_checkpoint_options){.flags = GUFO_CHECKPOINT_VOCABULARY_ONLY, .metadata = path.text},
        &error);
    check(import != NULL, "%s", error.message);
    assert_true(gufo_model_find(gufo_import_model(import), "general.name", &entry));
    check_view(entry.value.as.str, gufo_str_of("B"), "the caller's name");
    assert_true(gufo_model_find(gufo_import_model(import), "general.author", NULL));
    assert_true(gufo_model_find(gufo_import_model(import), "general.base_model.count", &entry));
    check_u64(entry.value.as.u, 0, "the caller's parents");
    gufo_import_free(import);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_file),
        cmocka_unit_test(test_caller),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
