/* Files of exported models, converted again: the keys are those of the model, in its order, with their types
 * and values. */
#include "../support/shared.h"
#include "fixture_model.h"

#include "base/memory.h"
#include "base/text.h"
#include "import/export/export.h"
#include "import/export/parts.h"
#include "text/formats/source.h"

/* ---- there and back -------------------------------------------------------------------------- */

/* Writes the files of an export into a new folder. */
static path_text export_into(const subject *s, export_files *files)
{
    path_text path = folder_path(s->root, "exported");
    gufo_error error = no_error();
    json_t *config = NULL;

    *files = (export_files){.count = 0};
    check_ok(export_config(s->model, &config, files, &error), &error, "%s", s->name);
    check_ok(export_add_files(s->model, config, files, &error), &error, "%s", s->name);
    json_decref(config);
    (void)mkdir(path.text, 0777);
    for (uint32_t i = 0; i < files->count; i++)
        write_file(path_join(path.text, files->list[i].name).text, files->list[i].bytes,
                   files->list[i].size);
    return path;
}

static void remove_files(path_text path, export_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        assert_int_equal(remove(path_join(path.text, files->list[i].name).text), 0);
    export_files_free(files);
}

static void compare_models(subject *s, const gufo_model *again)
{
    gufo_entry a, b;

    check_u64(gufo_model_entry_count(again), gufo_model_entry_count(s->model), "%s: keys", s->name);
    for (uint64_t i = 0; gufo_model_entry_at(s->model, i, &a); i++) {
        if (!gufo_model_entry_at(again, i, &b) || !gufo_str_equal(a.key, b.key))
            differ(s, "key %ju is %.*s instead of %.*s", (uintmax_t)i, (int)b.key.len, b.key.data,
                   (int)a.key.len, a.key.data);
        /* The type of most tensors, which are not there. */
        else if (!same_key_value(&a.value, &b.value) &&
                 !gufo_str_equal(a.key, gufo_str_of("general.file_type")))
            differ(s, "other %.*s", (int)a.key.len, a.key.data);
    }
}

/* Without tensors: they are another test's. */
static void compare_again(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_VOCABULARY_ONLY};
    gufo_error error = no_error();
    export_files files;
    path_text path = export_into(s, &files);
    gufo_import *again = gufo_import_checkpoint(path.text, &options, &error);

    if (again == NULL)
        differ(s, "%s", error.message);
    else
        compare_models(s, gufo_import_model(again));
    gufo_import_free(again);
    remove_files(path, &files);
}

static void export_model(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};

    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, NULL);
    if (s->import == NULL)
        return;
    s->model = gufo_import_model(s->import);
    compare_again(s);
    gufo_import_free(s->import);
}

static void test_fixtures(void **state)
{
    folder root = folder_new();

    (void)state;
    check_u64(each_fixture(&root, all_some_or_few(1, 3, 12), export_model), 0, "differences");
    folder_remove(&root);
}

/* ---- delivered folders ------------------------------------------------------------------------ */

/* Whether gguf-metadata.json has a value for the tokens. */
static bool keeps_tokens(const export_file *file)
{
    const gufo_str bytes = {file->bytes, file->size};

    return strcmp(file->name, "gguf-metadata.json") == 0 &&
           str_search(bytes, gufo_str_of("\"tokenizer.ggml.tokens\": {")) != NULL;
}

/* Whether tokens are in the files of a tokenizer, not in gguf-metadata.json. */
static void check_tokens(subject *s)
{
    export_files files;
    path_text path = export_into(s, &files);

    for (uint32_t i = 0; i < files.count; i++)
        if (keeps_tokens(&files.list[i]))
            differ(s, "gguf-metadata.json has the tokens: %s",
                   files.warning_count > 0 ? files.warnings[0] : "");
    remove_files(path, &files);
}

static void export_folder(folder *root, const char *directory, const char *name, unsigned *count)
{
    subject s = {.root = root};
    gufo_error error = no_error();

    (void)snprintf(s.name, sizeof s.name, "%s", name);
    s.import = gufo_import_checkpoint(path_join(directory, name).text, NULL, &error);
    check(s.import != NULL, "%s: %s", name, error.message);
    s.model = gufo_import_model(s.import);
    compare_again(&s);
    check_tokens(&s);
    gufo_import_free(s.import);
    *count += s.differences;
}

static void test_folders(void **state)
{
    path_text directory = need_shared("data/convert/hf");
    folder root = folder_new();
    struct dirent **list;
    unsigned differences = 0;
    int count = scandir(directory.text, &list, NULL, alphasort);

    (void)state;
    check(count > 0, "no folders in %s", directory.text);
    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.')
            export_folder(&root, directory.text, list[i]->d_name, &differences);
        free(list[i]);
    }
    free(list);
    check_u64(differences, 0, "differences");
    folder_remove(&root);
}

/* ---- vocabularies ----------------------------------------------------------------------------- */

typedef struct made_token {
    const char *text;
    float score;
    int32_t type;
} made_token;

/* A vocabulary, for the keys of a model of tests/import/architectures. */
typedef struct made_vocabulary {
    const char *fixture, *model, *pre;
    const char *file; /* that holds the tokens; NULL: gguf-metadata.json does */
    bool has_scores;
    const char *merges[4];
    made_token tokens[16];
} made_vocabulary;

static const made_vocabulary vocabularies[] = {
    {"smollm3", "llama", "default", "tokenizer.model", true, .merges = {NULL},
     .tokens = {{"<unk>", 0, 2},
                {"<s>", 0, 3},
                {"</s>", 0, 3},
                {"<0x41>", 0, 6},
                {"\xe2\x96\x81"
                 "a",
                 -1.5f, 1},
                {"ab", -2, 1},
                {"[PAD6]", -10000, 5},
                {"c", -3, 1},
                {"<|im_end|>", -1000, 3},
                {"  ", -1000, 4},
                {"<|odd|>", -1000, 4},
                {"[PAD11]", -10000, 5}}},
    {"qwen2moe", "gpt2", "qwen2", "tokenizer.json", false, .merges = {"a b", "ab c", NULL},
     .tokens = {{"a", 0, 1},
                {"b", 0, 1},
                {"c", 0, 1},
                {"ab", 0, 1},
                {"abc", 0, 1},
                {"<|endoftext|>", 0, 3},
                {"tool", 0, 4},
                {"[PAD7]", 0, 5}}},
    {"bert", "bert", "bert-bge", "tokenizer.json", false, .merges = {NULL},
     .tokens = {{"[PAD]", 0, 3},
                {"[UNK]", 0, 3},
                {"[CLS]", 0, 3},
                {"[SEP]", 0, 3},
                {"\xe2\x96\x81word", 0, 1},
                {"s", 0, 1}}},
    {"t5", "t5", "default", "tokenizer.model", true, .merges = {NULL},
     .tokens = {{"<pad>", 0, 3},
                {"</s>", 0, 3},
                {"<unk>", 0, 2},
                {"\xe2\x96\x81", -2, 1},
                {"\xe2\x96\x81x", -2.25f, 1},
                {"<extra_id_0>", -1000, 4}}},
    {"rwkv7", "rwkv", NULL, "rwkv_vocab_v20230424.txt", false, .merges = {NULL},
     .tokens = {{"<s>", 0, 3},
                {"\\x00", 0, 1},
                {"a'b", 0, 1},
                {"\\'\"", 0, 1},
                {"\\\\", 0, 1},
                {"\\n", 0, 1},
                {"[PAD6]", 0, 5}}},
    /* Another program's model, and texts that no file can have. */
    {"plamo2", "plamo2", "default", NULL, true, .merges = {NULL},
     .tokens = {{"a", -1, 1}, {"b", -2, 1}}},
    {"qwen3moe", "gpt2", "qwen2", NULL, false, .merges = {NULL},
     .tokens = {{"a", 0, 1}, {"a", 0, 1}}},
};

static void set_tokens(gufo_document *d, const made_vocabulary *v)
{
    gufo_str texts[16], merges[4];
    int32_t types[16];
    float scores[16];
    uint64_t count = 0, merged = 0;
    gufo_error error = no_error();
    gufo_status status = GUFO_OK;

    for (; v->tokens[count].text != NULL; count++) {
        texts[count] = gufo_str_of(v->tokens[count].text);
        types[count] = v->tokens[count].type;
        scores[count] = v->tokens[count].score;
    }
    for (; v->merges[merged] != NULL; merged++)
        merges[merged] = gufo_str_of(v->merges[merged]);
    status |= gufo_document_set_text(d, "tokenizer.ggml.model", v->model, &error);
    if (v->pre != NULL)
        status |= gufo_document_set_text(d, "tokenizer.ggml.pre", v->pre, &error);
    status |= gufo_document_set_array(d, "tokenizer.ggml.tokens",
                                      &(gufo_items){GUFO_VALUE_STRING, count, texts}, &error);
    if (v->has_scores)
        status |= gufo_document_set_array(d, "tokenizer.ggml.scores",
                                          &(gufo_items){GUFO_VALUE_FLOAT32, count, scores}, &error);
    status |= gufo_document_set_array(d, "tokenizer.ggml.token_type",
                                      &(gufo_items){GUFO_VALUE_INT32, count, types}, &error);
    if (gufo_document_find(d, "smollm3.vocab_size", NULL))
        status |= gufo_document_set_u32(d, "smollm3.vocab_size", (uint32_t)count, &error);
    if (merged > 0)
        status |= gufo_document_set_array(d, "tokenizer.ggml.merges",
                                          &(gufo_items){GUFO_VALUE_STRING, merged, merges}, &error);
    check(status == GUFO_OK, "%s", error.message);
}

/* Special tokens, flags, templates, and keys of every kind behind them. */
static void set_others(gufo_document *d)
{
    static const char *const names[] = {"tool"};
    char deep[4000];
    const gufo_str list[] = {gufo_str_of(names[0])};
    gufo_error error = no_error();
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof deep; i++)
        deep[i] = i % 2 == 0 ? 'a' : '.';
    deep[sizeof deep - 1] = '\0';
    status |= gufo_document_set_text(d, deep, "a key of many parts", &error);
    status |= gufo_document_set_u32(d, "tokenizer.ggml.eos_token_id", 1, &error);
    status |= gufo_document_set_u32(d, "tokenizer.ggml.bos_token_id", 0, &error);
    status |= gufo_document_set_u32(d, "tokenizer.ggml.eot_token_id", 0, &error);
    status |= gufo_document_set_u32(d, "tokenizer.ggml.unknown_token_id", 1, &error);
    status |= gufo_document_set_bool(d, "tokenizer.ggml.add_bos_token", false, &error);
    status |= gufo_document_set_text(d, "tokenizer.chat_template", "{{ 1 }}", &error);
    status |= gufo_document_set_text(d, "tokenizer.chat_template.tool", "{{ 2 }}", &error);
    status |= gufo_document_set_array(d, "tokenizer.chat_templates",
                                      &(gufo_items){GUFO_VALUE_STRING, 1, list}, &error);
    status |= gufo_document_set_text(d, "own.text", "\xc3\xa4", &error);
    status |= gufo_document_set_text(d, "general.license", "mit", &error);
    check(status == GUFO_OK, "%s", error.message);
}

static const made_vocabulary *wanted; /* by a test of fixtures, which knows only their names */

static void check_forms(subject *s)
{
    export_files files;
    path_text path = export_into(s, &files);
    bool kept = false, there = wanted->file == NULL;

    for (uint32_t i = 0; i < files.count; i++) {
        there |= wanted->file != NULL && strcmp(files.list[i].name, wanted->file) == 0;
        kept |= keeps_tokens(&files.list[i]);
    }
    if (!there || kept != (wanted->file == NULL))
        differ(s, "%s: tokens are %sin gguf-metadata.json", wanted->model, kept ? "" : "not ");
    for (uint64_t i = 0; i < files.warning_count && wanted->file != NULL; i++)
        differ(s, "%s", files.warnings[i]);
    remove_files(path, &files);
}

static void export_vocabulary_of(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    gufo_document *document;
    gufo_model *made;
    gufo_error error = no_error();

    if (strcmp(s->name, wanted->fixture) != 0)
        return;
    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, &error);
    check(s->import != NULL, "%s: %s", s->name, error.message);
    document = gufo_document_new(NULL, &error);
    check_ok(gufo_document_copy_entries(document, gufo_import_model(s->import), NULL, NULL, NULL,
                                        &error),
             &error, "%s", s->name);
    set_tokens(document, wanted);
    set_others(document);
    made = source_of_document(document, &default_allocator, &error);
    check(made != NULL, "%s: %s", s->name, error.message);
    s->model = made;
    compare_again(s);
    check_forms(s);
    gufo_model_free(made);
    gufo_import_free(s->import);
}

static void test_vocabularies(void **state)
{
    folder root = folder_new();
    unsigned differences = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vocabularies); i += all_or_few(1, 3)) {
        wanted = &vocabularies[i];
        differences += each_fixture(&root, 1, export_vocabulary_of);
    }
    folder_remove(&root);
    check_u64(differences, 0, "differences");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_vocabularies),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
