/* general.*: of the delivered folders, and the order of the sources of each key. */
#include "../support/shared.h"
#include "general_case.h"

/* ---- delivered folders ---------------------------------------------------------------------- */

static json_t *load(const char *path, const char *name)
{
    return json_load_file(path_join(path, name).text, 0, NULL);
}

static void add_expected_tensors(general_case *c, const json_t *expected)
{
    const json_t *list = json_object_get(expected, "tensors");

    check(json_array_size(list) > 0, "no tensors");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *tensor = json_array_get(list, i), *ne = json_object_get(tensor, "ne");
        uint64_t dims[GUFO_MAX_DIMS];

        for (size_t d = 0; d < json_array_size(ne); d++)
            dims[d] = (uint64_t)json_integer_value(json_array_get(ne, d));
        case_tensor(c, json_string_value(json_object_get(tensor, "name")),
                    (uint32_t)json_array_size(ne), dims);
    }
}

/* A value of expected.json as case_key writes it. */
static void expected_text(const json_t *entry, char *out, size_t room)
{
    const char *type = json_string_value(json_object_get(entry, "type"));
    const json_t *value = json_object_get(entry, "value");

    out[0] = '\0';
    if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++) {
            size_t len = strlen(out);

            (void)snprintf(out + len, room - len, "%s%s", i > 0 ? "|" : "",
                           json_string_value(json_array_get(value, i)));
        }
    else if (json_is_string(value))
        (void)snprintf(out, room, "%s", json_string_value(value));
    else
        (void)snprintf(out, room, "%s %.9g",
                       strcmp(type, "float32") == 0  ? "f32"
                       : strcmp(type, "uint32") == 0 ? "u32"
                                                     : "i32",
                       json_number_value(value));
}

static void check_folder(const char *name)
{
    path_text path = need_shared("data/convert/hf");
    json_t *expected, *metadata, *value;
    uint64_t general = 0, entries;
    gufo_document_entry entry;
    char text[1024];
    general_case c;
    const char *key;

    path = path_join(path.text, name);
    expected = load(path.text, "expected.json");
    metadata = json_object_get(expected, "metadata");
    check(metadata != NULL, "%s", path.text);
    case_begin(&c, path.text);
    c.config.generation = load(path.text, "generation_config.json");
    add_expected_tensors(&c, expected);
    case_write(&c);
    json_object_foreach(metadata, key, value)
    {
        if (strncmp(key, "general.", 8) != 0 || strcmp(key, "general.architecture") == 0 ||
            strcmp(key, "general.file_type") == 0)
            continue;
        expected_text(value, text, sizeof text);
        case_key(&c, key, text);
        /* In the same order, but the last one. */
        check(gufo_document_entry_at(c.import.document, general, &entry), "%s", key);
        check_str(entry.key, key, "%s", name);
        general++;
    }
    entries = gufo_document_entry_count(c.import.document);
    check_u64(general, entries, "%s: keys", name);
    case_warning(&c, NULL);
    case_end(&c);
    json_decref(expected);
}

static void test_delivered_folders(void **state)
{
    static const char *const names[] = {"Mixtral-Tiny-4x",     "Qwen2-Tiny-Instruct",
                                        "Qwen3-Tiny",          "TinyTest-Llama-GQA-Chat-v1.0",
                                        "gemma-2-tiny",        "gpt2-tiny",
                                        "gptneox-20Btok-trim", "llama2-real-spm-tied",
                                        "phi3-tiny-128k"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check_folder(names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivered_folders),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
