/* The keys of architectures: those of the delivered models, made configurations for what these do not
 * have, and configurations of strangers. */
#include "config_folder.h"

#include <math.h>

#include "base/memory.h"
#include "import/architectures/key_values.h"
#include "import/architectures/keys.h"
#include "import/architectures/rules.h"

/* ---- what was written ------------------------------------------------------------------------ */

typedef struct written {
    gufo_import import;
    char readers[256]; /* all lists of readers that were asked for, one after the other */
} written;

static gufo_status note_readers(void *context, const char *readers, gufo_error *error)
{
    written *w = context;
    size_t len = strlen(w->readers);

    (void)error;
    (void)snprintf(w->readers + len, sizeof w->readers - len, "[%s]", readers);
    return GUFO_OK;
}

static gufo_status write_keys(written *w, const model_config *config, gufo_error *error)
{
    keys_request request = {.config = config,
                            .file_type = GUFO_FILE_TYPE_F32,
                            .read_vocabulary = note_readers,
                            .context = w};
    gufo_status status = GUFO_OK;

    *w = (written){
        .import = {.allocator = default_allocator, .document = gufo_document_new(NULL, error)}};
    assert_non_null(w->import.document);
    for (keys_phase phase = KEYS_TENSORS; phase <= KEYS_VOCABULARY && status == GUFO_OK; phase++)
        status = keys_write(&w->import, &request, phase, error);
    return status;
}

static void written_free(written *w)
{
    gufo_document_free(w->import.document);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void check_number(const gufo_value *value, const json_t *expected, const char *key)
{
    double number = 0;

    if (value->type == GUFO_VALUE_FLOAT32) {
        number = value->as.f;
        /* What a reference rounds the last bit of is equal. */
        check(fabs(number - json_number_value(expected)) <= fabs(number) * 0x1p-23,
              "%s: %.9g instead of %.9g", key, number, json_number_value(expected));
        return;
    }
    number = value->type == GUFO_VALUE_INT32 ? (double)value->as.i : (double)value->as.u;
    check(number == json_number_value(expected), "%s: %g instead of %g", key, number,
          json_number_value(expected));
}

static void check_value(const gufo_value *value, const json_t *expected, const char *key)
{
    if (value->type == GUFO_VALUE_BOOL)
        check(json_is_boolean(expected) && value->as.b == json_is_true(expected), "%s", key);
    else if (value->type == GUFO_VALUE_STRING)
        check_str(value->as.str, json_string_value(expected), "%s", key);
    else
        check_number(value, expected, key);
}

static void check_array(const gufo_array *array, const json_t *expected, const char *key)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    check_u64(array->count, json_array_size(expected), "%s", key);
    for (size_t i = 0; gufo_array_next(&iter, &element); i++)
        check_value(&element, json_array_get(expected, i), key);
}

static void check_entry(const gufo_document *document, const char *key, const json_t *expected)
{
    const char *type = json_string_value(json_object_get(expected, "type"));
    const json_t *value = json_object_get(expected, "value");
    gufo_document_entry entry;
    char found[64];

    check(gufo_document_find(document, key, &entry), "%s is missing", key);
    if (entry.value.type == GUFO_VALUE_ARRAY)
        (void)snprintf(found, sizeof found, "array[%s]",
                       gufo_value_type_name(entry.value.as.array.type));
    else
        (void)snprintf(found, sizeof found, "%s", gufo_value_type_name(entry.value.type));
    check(strcmp(found, type) == 0, "%s: type %s instead of %s", key, found, type);
    if (entry.value.type == GUFO_VALUE_ARRAY)
        check_array(&entry.value.as.array, value, key);
    else
        check_value(&entry.value, value, key);
}

/* Keys that others write, or that the reference lacks. */
static bool is_ours(const char *key)
{
    return strncmp(key, "general.", 8) != 0 && strncmp(key, "tokenizer.", 10) != 0;
}

static void check_keys(const gufo_document *document, const json_t *metadata)
{
    gufo_document_entry entry;
    const char *key;
    json_t *expected;

    json_object_foreach((json_t *)metadata, key, expected) if (is_ours(key))
        check_entry(document, key, expected);
    for (uint64_t i = 0; gufo_document_entry_at(document, i, &entry); i++) {
        char name[256];

        (void)snprintf(name, sizeof name, "%.*s", (int)entry.key.len, entry.key.data);
        check(!is_ours(name) || json_object_get(metadata, name) != NULL, "%s is too much", name);
    }
}

/* ---- delivered models ------------------------------------------------------------------------ */

static json_t *load(const char *path)
{
    json_error_t reason;
    json_t *json = json_load_file(path, 0, &reason);

    check(json != NULL, "%s: %s", path, reason.text);
    return json;
}

static void check_delivered(const char *name, const char *architecture)
{
    char path[256];
    path_text model;
    model_config config;
    gufo_error error = no_error();
    written w;
    json_t *expected;

    (void)snprintf(path, sizeof path, "data/convert/hf/%s", name);
    model = need_shared(path);
    expected = load(path_join(model.text, "expected.json").text);
    check_ok(config_open(&config, model.text, NULL, false, NULL, &error), &error, "%s", name);
    check(strcmp(config.architecture, architecture) == 0, "%s: %s", name, config.architecture);
    check_ok(write_keys(&w, &config, &error), &error, "%s", name);
    check_keys(w.import.document, json_object_get(expected, "metadata"));
    check(gufo_document_find(w.import.document, "general.file_type", NULL), "%s", name);
    written_free(&w);
    config_close(&config);
    json_decref(expected);
}

static void test_delivered(void **state)
{
    static const char *const models[][2] = {
        {"Mixtral-Tiny-4x", "llama"},
        {"Qwen2-Tiny-Instruct", "qwen2"},
        {"Qwen3-Tiny", "qwen3"},
        {"TinyTest-Llama-GQA-Chat-v1.0", "llama"},
        {"gemma-2-tiny", "gemma2"},
        {"gpt2-tiny", "gpt2"},
        {"gptneox-20Btok-trim", "gptneox"},
        {"llama2-real-spm-tied", "llama"},
        {"phi3-tiny-128k", "phi3"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++)
        check_delivered(models[i][0], models[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
