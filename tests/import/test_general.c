/* general.*: of the delivered folders, and the order of the sources of each key. */
#include "../support/allocator.h"
#include "../support/shared.h"
#include "general_case.h"

#include <unistd.h>

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
            strcmp(key, "general.file_type") == 0 ||
            strcmp(key, "general.quantization_version") == 0)
            continue;
        expected_text(value, text, sizeof text);
        case_key(&c, key, text);
        /* In the same order. */
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

/* ---- the card ------------------------------------------------------------------------------- */

/* A card, and one key that it gives. */
static const char *const card_rows[][3] = {
    {"name: x y\n", "general.name", "x y"},
    {"model_name: x\n", "general.name", "x"},
    {"model_name: x\nname: y\n", "general.name", "y"},
    {"name: ''\nmodel_name: x\n", "general.name", "x"},
    {"name:\n", "general.name", "Some Model"},
    {"author: a\nmodel_creator: c\n", "general.author", "a"},
    {"model_creator: c\nmodel_author: m\n", "general.author", "m"},
    {"model_creator: c\n", "general.author", "c"},
    {"version: 1.0\n", "general.version", "1.0"},
    {"model_type: llama\n", "general.basename", "llama"},
    {"basename: b\nmodel_type: llama\n", "general.basename", "b"},
    {"description: |\n  one\n  two\n", "general.description", "one\ntwo\n"},
    {"size_label: 7B\n", "general.size_label", "7B"},
    {"organization: o-o\n", "general.organization", "o-o"},
    {"license: mit\n", "general.license", "mit"},
    {"license: [mit, apache-2.0, '']\n", "general.license", "mit AND apache-2.0"},
    {"license: []\n", "general.license", NULL},
    {"license_name: n\n", "general.license.name", "n"},
    {"license_link: http://x\n", "general.license.link", "http://x"},
    {"url: http://x\n", "general.url", NULL},
    {"url: http://x\n", "general.source.url", "http://x"},
    {"model_doi: 10.1/x\n", "general.source.doi", "10.1/x"},
    {"uuid: u\n", "general.source.uuid", "u"},
    {"repo_url: r\n", "general.source.repo_url", "r"},
    {"quantized_by: me\n", "general.quantized_by", NULL},
    {"tags: [a, b]\npipeline_tag: c\n", "general.tags", "a|b|c"},
    {"pipeline_tag: c\ntags: a\n", "general.tags", "a|c"},
    {"tags: []\n", "general.tags", NULL},
    {"tags: [a, ~, {b: c}, [d], e]\n", "general.tags", "a|e"},
    {"language:\n- no\n- en\nlanguages: de\n", "general.languages", "de|no|en"},
    {"language: [eng, English, en-US, code, gsw]\n", "general.languages", "en"},
    {"language: [eng, code, gsw]\ntags: x\n", "general.tags", "x|code|gsw"},
    {"license: apache-2.0\n", "general.license", "apache-2.0"},
    {"license: gpl-3.0\n", "general.license", "gpl-3.0"},
    {"license: llama3.1\n", "general.license", "llama3.1"},
    {"license: other\n", "general.license", "other"},
    {"license: [mit, gemma]\n", "general.license", "mit AND LicenseRef-gemma"},
    {"license: my own (c) terms\n", "general.license", "LicenseRef-my-own--c--terms"},
    {"license: [mit OR apache-2.0, other]\n", "general.license",
     "(mit OR apache-2.0) AND LicenseRef-other"},
    {"base_model:\n", "general.base_model.count", "u32 0"},
    {"base_model: []\nbase_models: [a]\n", "general.base_model.count", "u32 0"},
    {"base_models: [a, b]\n", "general.base_model.count", "u32 2"},
    {"base_model_sources: a\n", "general.base_model.0.name", "A"},
    {"base_model: []\n", "general.base_model.0.name", NULL},
    {"name: x\n", "general.base_model.count", NULL},
    {"datasets: [a, '', b]\n", "general.dataset.count", "u32 2"},
    {"datasets: [a, '', b]\n", "general.dataset.1.name", "B"},
    {"dataset: o/d-v2\n", "general.dataset.0.version", "v2"},
    {"base_model: o-p/q-7b-v1.0\n", "general.base_model.0.name", "Q 7b v1.0"},
    {"base_model: o-p/q-7b-v1.0\n", "general.base_model.0.organization", "O P"},
    {"base_model: o-p/q-7b-v1.0\n", "general.base_model.0.version", "v1.0"},
    {"base_model: o-p/q\n", "general.base_model.0.repo_url", "https://huggingface.co/o-p/q"},
    {"base_model: q\n", "general.base_model.0.repo_url", NULL},
    {"base_model: ./q\n", "general.base_model.0.repo_url", NULL},
    {"base_model: q r\n", "general.base_model.0.name", "Q R"},
    {"base_model: http://huggingface.co/o/q\n", "general.base_model.0.name", "Q"},
    {"base_model: http://huggingface.co/o/q\n", "general.base_model.0.organization", "O"},
    {"base_model: http://huggingface.co/o/q\n", "general.base_model.0.repo_url",
     "http://huggingface.co/o/q"},
    {"base_model: https://huggingface.co/o/q/\n", "general.base_model.0.name", NULL},
    {"base_model: https://huggingface.co/o/q/\n", "general.base_model.0.repo_url",
     "https://huggingface.co/o/q/"},
    {"base_model: https://huggingface.co/datasets/o/q\n", "general.base_model.0.name", NULL},
    {"base_model: https://example.org/o/q\n", "general.base_model.0.name", NULL},
    {"base_model: https://huggingface.co/o\n", "general.base_model.0.name", NULL},
    {"base_model: ssh://host/o/q\n", "general.base_model.0.repo_url", "ssh://host/o/q"},
    {"base_model: {name: n, uuid: u, other: o}\n", "general.base_model.0.uuid", "u"},
    {"base_model:\n- name: n\n  repo_url: r\n- {}\n- p/q\n", "general.base_model.1.name", "Q"},
    {"base_model:\n- name: n\n  repo_url: r\n", "general.base_model.0.repo_url", "r"},
};

static void test_fields_of_cards(void **state)
{
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(card_rows); i++) {
        case_card(&c, card_rows[i][0]);
        case_write(&c);
        c.label = card_rows[i][0];
        case_key(&c, card_rows[i][1], card_rows[i][2]);
        case_warning(&c, NULL);
        case_free(&c);
    }
}

/* What comes before the front matter's end decides whether it is one. */
static const char *const readme_rows[][3] = {
    {"---\nname: x\n---\n", "x", NULL},
    {"---\r\nname: x\r\n---\r\n# y\r\n", "x", NULL},
    {"---\nname: x", "x", NULL},
    {"---\nname:\tx\ntags:\n-\ta\n---\n", "x", NULL},
    {"--- \nname: x\n---\n", "Some Model", NULL},
    {"\n---\nname: x\n---\n", "Some Model", NULL},
    {"# name\n", "Some Model", NULL},
    {"", "Some Model", NULL},
    {"---\n---\n", "Some Model", "not a mapping"},
    {"---", "Some Model", "not a mapping"},
    {"---\n- x\n---\n", "Some Model", "not a mapping"},
    {"---\nname: x\nother: *y\n---\n", "Some Model", "line 3: a tag, an anchor or an alias"},
    {"---\nname: x\n# title\nmore text\n", "Some Model", "line 4: "},
    {"---\nname: \xff\n---\n", "Some Model", "not UTF-8"},
    {"---\nname: [x]\n---\n", "Some Model", "\"name\" is not a text"},
};

static void test_front_matter(void **state)
{
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(readme_rows); i++) {
        case_new(&c, "some-model");
        case_file(&c, "README.md", readme_rows[i][0]);
        case_write(&c);
        c.label = readme_rows[i][0];
        case_key(&c, "general.name", readme_rows[i][1]);
        case_warning(&c, readme_rows[i][2]);
        case_free(&c);
    }
}

/* A file that is larger than any memory, and what is not a file. */
static void test_hostile_readme(void **state)
{
    static const struct {
        const char *start;
        off_t size;
        const char *warning;
    } files[] = {
        {"---\nname: x\n", (off_t)1 << 36, "more than 4 MiB"},
        {"---\nname: \"x\n", (off_t)1 << 36, "more than 4 MiB"},
        {"---\nname: x\n---\n", (off_t)1 << 36, NULL},
        {"---\nname: x\n", 4096, "NUL"},
        {"# x\n", (off_t)1 << 36, NULL},
    };
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        case_new(&c, "some-model");
        case_file(&c, "README.md", files[i].start);
        if (truncate(path_join(c.path.text, "README.md").text, files[i].size) != 0)
            print_message("skipped: no file of %lld bytes here\n", (long long)files[i].size);
        else
            case_write(&c);
        case_warning(&c, files[i].warning);
        case_free(&c);
    }
    for (int i = 0; i < 2; i++) {
        case_new(&c, "some-model");
        path_text path = path_join(c.path.text, "README.md");

        check((i == 0 ? mkdir(path.text, 0777) : mkfifo(path.text, 0777)) == 0, "%s", path.text);
        case_write(&c);
        case_key(&c, "general.name", "Some Model");
        case_warning(&c, i == 0 ? "Is a directory" : "not a regular file");
        case_free(&c);
    }
}

/* ---- ids ------------------------------------------------------------------------------------ */

static void test_order_of_ids(void **state)
{
    static const uint64_t dims[] = {1000, 1000};
    general_case c;

    (void)state;
    /* Each part has its own first source. */
    case_new(&c, "Folder-1M-Chat-v2");
    (void)json_object_set_new(c.config.raw, "_name_or_path", json_string("my-org/Config-v1"));
    case_tensor(&c, "t", 2, dims);
    case_write(&c);
    case_key(&c, "general.name", "Config v1");
    case_key(&c, "general.organization", "My Org");
    case_key(&c, "general.basename", "Config");
    case_key(&c, "general.version", "v1");
    case_key(&c, "general.finetune", "Chat");
    case_key(&c, "general.size_label", "1M");
    case_free(&c);
    /* A path on a disk is not an id. */
    case_new(&c, "Folder");
    (void)json_object_set_new(c.config.raw, "_name_or_path", json_string("/data/org/Config-v1"));
    case_tensor(&c, "t", 2, dims);
    case_write(&c);
    case_key(&c, "general.name", "Folder");
    case_key(&c, "general.version", NULL);
    case_key(&c, "general.size_label", "1000K");
    case_free(&c);
    /* The tensors of a vocabulary alone are not there to be counted. */
    case_new(&c, "Folder-128k");
    c.request.vocabulary_only = true;
    case_write(&c);
    case_key(&c, "general.name", "Folder 128k");
    case_key(&c, "general.size_label", "128K");
    case_key(&c, "general.type", "model");
    case_free(&c);
}

static void test_cache_of_hugging_face(void **state)
{
    general_case c;
    path_text path;

    (void)state;
    case_new(&c, "models--my-org--Tiny-7B-Chat");
    path = path_join(c.path.text, "snapshots");
    check(mkdir(path.text, 0777) == 0, "%s", path.text);
    path = path_join(path.text, "0123456789abcdef");
    check(mkdir(path.text, 0777) == 0, "%s", path.text);
    c.config.folder = model_folder(gufo_str_of(path.text), false);
    c.import.facts.container = "safetensors";
    case_write(&c);
    case_key(&c, "general.name", "Tiny 7B Chat");
    case_key(&c, "general.organization", "My Org");
    case_key(&c, "general.source.repo_url", "https://huggingface.co/my-org/Tiny-7B-Chat");
    case_key(&c, "gufo.source.format", "safetensors");
    case_free(&c);
}

/* ---- generation_config.json and the caller's metadata --------------------------------------- */

static const char *const generation_rows[][4] = {
    {"{\"top_k\": 20}", "general.sampling.top_k", "i32 20"},
    {"{\"top_k\": 20.0}", "general.sampling.top_k", "i32 20"},
    {"{\"top_k\": 20.5}", "general.sampling.top_k", NULL,
     "generation_config.json: top_k is not a whole number of 32 bits; it is not used"},
    {"{\"top_k\": 3000000000}", "general.sampling.top_k", NULL,
     "generation_config.json: top_k is not a whole number of 32 bits; it is not used"},
    {"{\"top_k\": \"20\"}", "general.sampling.top_k", NULL,
     "generation_config.json: top_k is not a whole number of 32 bits; it is not used"},
    {"{\"top_k\": true}", "general.sampling.top_k", NULL,
     "generation_config.json: top_k is not a whole number of 32 bits; it is not used"},
    {"{\"top_k\": null}", "general.sampling.top_k", NULL},
    {"{\"temperature\": 1}", "general.sampling.temp", "f32 1"},
    {"{\"temperature\": 1e300}", "general.sampling.temp", NULL,
     "generation_config.json: temperature is not a number that a float32 holds; it is not used"},
    {"{\"repetition_penalty\": 1.5}", "general.sampling.penalty_repeat", NULL},
    {"{\"penalty_repeat\": 1.5}", "general.sampling.penalty_repeat", "f32 1.5"},
    {"{\"penalty_last_n\": -1}", "general.sampling.penalty_last_n", "i32 -1"},
    {"{\"min_p\": 0.5}", "general.sampling.min_p", "f32 0.5"},
    {"{\"mirostat\": 2}", "general.sampling.mirostat", "i32 2"},
    {"{\"mirostat_tau\": 5}", "general.sampling.mirostat_tau", "f32 5"},
    {"{\"sequence\": \"kp\"}", "general.sampling.sequence", "kp"},
    {"{\"sequence\": 1}", "general.sampling.sequence", NULL,
     "generation_config.json: sequence is not a text; it is not used"},
    {"[1]", "general.sampling.top_k", NULL},
};

static void test_generation(void **state)
{
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(generation_rows); i++) {
        case_new(&c, "m");
        c.config.generation = json_of(generation_rows[i][0]);
        case_write(&c);
        c.label = generation_rows[i][0];
        case_key(&c, generation_rows[i][1], generation_rows[i][2]);
        case_warning(&c, generation_rows[i][3]);
        case_free(&c);
    }
}

static const char metadata_card[] = "name: card\nauthor: card\ntags: [card]\nbase_model: a/b\n"
                                    "license: mit\n";

static const char *const metadata_rows[][3] = {
    {"{}", "general.name", "card"},
    {"{\"general.name\": \"file\"}", "general.name", "file"},
    {"{\"general.name\": null}", "general.name", NULL},
    {"{\"general.name\": \"\"}", "general.name", NULL},
    {"{\"general.tags\": [\"x\", \"y\"]}", "general.tags", "x|y"},
    {"{\"general.tags\": null}", "general.tags", NULL},
    {"{\"general.license\": \"my own\"}", "general.license", "my own"},
    {"{\"general.license\": [\"x\", \"y\"]}", "general.license", "LicenseRef-x AND LicenseRef-y"},
    {"{\"general.quantized_by\": \"me\"}", "general.quantized_by", "me"},
    {"{\"general.url\": \"http://x\"}", "general.url", "http://x"},
    {"{\"general.type\": \"adapter\"}", "general.type", "adapter"},
    {"{\"general.sampling.top_k\": 7}", "general.sampling.top_k", "i32 7"},
    {"{\"general.base_models\": [{\"name\": \"x\"}, \"c/d\"]}", "general.base_model.0.name", "x"},
    {"{\"general.base_models\": [{\"name\": \"x\"}, \"c/d\"]}", "general.base_model.1.name", "D"},
    {"{\"general.base_models\": []}", "general.base_model.count", "u32 0"},
    {"{\"general.base_models\": null}", "general.base_model.count", NULL},
    {"{\"general.datasets\": [{\"doi\": \"x\"}]}", "general.dataset.0.doi", "x"},
};

static void test_metadata(void **state)
{
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(metadata_rows); i++) {
        case_card(&c, metadata_card);
        c.request.metadata = json_of(metadata_rows[i][0]);
        case_write(&c);
        c.label = metadata_rows[i][0];
        case_key(&c, metadata_rows[i][1], metadata_rows[i][2]);
        case_warning(&c, NULL);
        case_free(&c);
    }
    case_card(&c, metadata_card);
    c.request.metadata = json_of("{\"llama.x\": 1, \"general.name\": \"x\", \"general.nam\": 2}");
    case_write(&c);
    case_key(&c, "llama.x", NULL);
    case_warning(&c, "2 keys are not used, \"llama.x\" first");
    case_free(&c);
}

static void test_wrong_metadata(void **state)
{
    static const char *const wrong[] = {"[]",
                                        "\"general.name\"",
                                        "{\"general.name\": 1}",
                                        "{\"general.name\": [\"x\"]}",
                                        "{\"general.sampling.top_k\": 1.5}",
                                        "{\"general.sampling.top_p\": \"x\"}",
                                        "{\"general.tags\": \"x\"}",
                                        "{\"general.tags\": [1]}",
                                        "{\"general.license\": [1]}",
                                        "{\"general.base_models\": \"a/b\"}",
                                        "{\"general.base_models\": [1]}",
                                        "{\"general.base_models\": [{\"name\": 1}]}"};
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        gufo_error error = no_error();

        case_new(&c, "m");
        c.request.metadata = json_of(wrong[i]);
        c.request.metadata_name = "m.json";
        check_status(general_write(&c.import, &c.request, &error), GUFO_E_TYPE, &error, "%s",
                     wrong[i]);
        check_str(gufo_str_of(error.file), "m.json", "%s", wrong[i]);
        case_free(&c);
    }
}

/* ---- without memory ------------------------------------------------------------------------- */

static void test_without_memory(void **state)
{
    gufo_status status = GUFO_E_MEMORY;
    general_case c;

    (void)state;
    case_card(&c, "name: x\ntags: [a, b]\nlicense: [a, b]\nbase_model: [a/b, {name: c}]\n"
                  "description: |\n  some\n  text\n");
    c.request.metadata = json_of("{\"x\": 1}");
    for (size_t fail_at = 1; status != GUFO_OK; fail_at++) {
        gufo_error error = no_error();
        counter memory;

        check(fail_at < 200, "never enough");
        counter_init(&memory);
        memory.fail_at = fail_at;
        c.import.allocator = counter_allocator(&memory);
        status = general_write(&c.import, &c.request, &error);
        if (status != GUFO_OK)
            check_error_shape(&error, GUFO_E_MEMORY, "general_write");
        for (uint64_t i = 0; i < c.import.warning_count; i++)
            mem_free(&c.import.allocator, c.import.warnings[i]);
        mem_free(&c.import.allocator, c.import.warnings);
        c.import.warnings = NULL;
        c.import.warning_count = c.import.warning_room = 0;
        check_u64(memory.in_use, 0, "request %zu", fail_at);
    }
    c.import.allocator = default_allocator;
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivered_folders), cmocka_unit_test(test_fields_of_cards),
        cmocka_unit_test(test_front_matter),      cmocka_unit_test(test_hostile_readme),
        cmocka_unit_test(test_order_of_ids),      cmocka_unit_test(test_cache_of_hugging_face),
        cmocka_unit_test(test_generation),        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_wrong_metadata),    cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
