/* gufo_import_checkpoint: what its options do to the model that a folder becomes. */
#include "../support/check.h"
#include "../support/quantize.h"
#include "../support/safetensors_maker.h"
#include "config_folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "gufo/import.h"
#include "gufo/vocab.h"
#include "import/conversion/conversion.h"

static const char config[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1,"
    " \"intermediate_size\": 16, \"num_attention_heads\": 2, \"vocab_size\": 4,"
    " \"rms_norm_eps\": 1e-5, \"max_position_embeddings\": 64}";

static const char tokenizer[] =
    "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
    "\"trim_offsets\": true}, \"model\":"
    " {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"c\": 3}, \"merges\":"
    " [\"a b\"]}}";

static const safetensor tensors[] = {
    {"model.embed_tokens.weight", "BF16", 2, {4, 8}, NULL},
    {"model.layers.0.input_layernorm.weight", "BF16", 1, {8}, NULL},
    {"model.layers.0.mlp.down_proj.weight", "BF16", 2, {8, 16}, NULL},
    {"model.layers.0.self_attn.q_proj.weight", "BF16", 2, {8, 8}, NULL},
    {"model.norm.weight", "BF16", 1, {8}, NULL},
};

static folder new_folder(void)
{
    folder f = folder_new();

    write_text(&f, "config.json", config);
    write_text(&f, "tokenizer.json", tokenizer);
    safetensors_write(folder_path(&f, "model.safetensors").text, tensors, COUNT_OF(tensors));
    return f;
}

static gufo_import *open_with(const folder *f, const gufo_checkpoint_options *options)
{
    gufo_checkpoint_options unchecked = options != NULL ? *options : (gufo_checkpoint_options){0};
    gufo_error error;
    gufo_import *import;

    unchecked.flags |= GUFO_CHECKPOINT_NO_CHECK; /* some tensors are enough */
    import = gufo_import_checkpoint(f->path, &unchecked, &error);

    check(import != NULL, "%s: %s", error.file, error.message);
    return import;
}

static void convert_to(gufo_import *import, const char *path)
{
    const gufo_job_options where = {.path = path};
    gufo_error error;
    gufo_job *job = gufo_import_job(import, &error);

    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "%s", path);
    gufo_job_free(job);
    gufo_import_free(import);
}

static bool has_key(const gufo_import *import, const char *key)
{
    return gufo_model_find(gufo_import_model(import), key, NULL);
}

static const gufo_element_type *type_for(gufo_import *import, const char *target, const char *name)
{
    gufo_quantize_target found;

    check(gufo_quantize_target_by_name(target, false, &found), "%s", target);
    return gufo_import_type(import, &found, gufo_str_of(name));
}

/* The name of a type, or what is there instead. */
static const char *name_of(const gufo_element_type *type)
{
    return type != NULL ? type->name : "none";
}

static void test_types(void **state)
{
    static const struct {
        const char *target, *tensor, *type;
    } cases[] = {
        {"F16", "blk.0.ffn_down.weight", "F16"},     {"F32", "blk.0.ffn_down.weight", "F32"},
        {"Q8_0", "blk.0.ffn_down.weight", "F16"},    {"F16", "blk.0.attn_norm.weight", "F32"},
        {"TQ1_0", "token_embd.weight", "F16"},       {"BF16", "token_embd.weight", "BF16"},
        {"Q4_K_M", "blk.0.ffn_down.weight", "none"}, {"F16", "no.such.tensor", "none"},
    };
    folder f = new_folder();
    gufo_import *import = open_with(&f, NULL);
    char name[GUFO_NAME_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_str(gufo_str_of(name_of(type_for(import, cases[i].target, cases[i].tensor))),
                  cases[i].type, "%s %s", cases[i].target, cases[i].tensor);
    check_str(gufo_str_of(gufo_import_main_type(import)->name), "BF16", "the main type");
    check_ok(gufo_import_file_name(import, "Q8_0", name, NULL), NULL, "name");
    check(strstr(name, "-Q8_0.gguf") != NULL, "%s", name);
    gufo_import_free(import);
    folder_remove(&f);
}

static void test_vocabularies(void **state)
{
    folder f = new_folder();
    gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_KEEP_TOKENIZER, .pre = "llama-bpe"};
    gufo_import *import = open_with(&f, &options), *other;

    (void)state;
    check(has_key(import, "tokenizer.ggml.tokens"), "tokens");
    check(has_key(import, "tokenizer.huggingface.json"), "the file");
    check_u64(gufo_import_describe(import).vocabulary, 4, "tokens");
    options = (gufo_checkpoint_options){.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    other = open_with(&f, &options);
    check(!has_key(other, "tokenizer.ggml.tokens"), "without a vocabulary");
    gufo_import_free(other);
    options = (gufo_checkpoint_options){.vocabulary = gufo_import_model(import)};
    other = open_with(&f, &options);
    check(has_key(other, "tokenizer.huggingface.json"), "that of the other model");
    gufo_import_free(other);
    options = (gufo_checkpoint_options){.flags = GUFO_CHECKPOINT_VOCABULARY_ONLY};
    other = open_with(&f, &options);
    check_u64(gufo_model_tensor_count(gufo_import_model(other)), 0, "tensors");
    check(has_key(other, "tokenizer.ggml.tokens"), "the vocabulary alone");
    gufo_import_free(other);
    gufo_import_free(import);
    folder_remove(&f);
}

static void test_keys(void **state)
{
    folder f = new_folder();
    gufo_document *known = gufo_document_new(NULL, NULL);
    path_text metadata = folder_path(&f, "more.json");
    gufo_checkpoint_options options = {.known = known, .metadata = metadata.text};
    gufo_import *import;
    gufo_str text;
    gufo_error error;

    (void)state;
    write_text(&f, "more.json", "{\"general.author\": \"A\", \"general.name\": \"B\"}");
    check_ok(gufo_document_set_text(known, "general.name", "C", &error), &error, "set");
    import = open_with(&f, &options);
    check_ok(gufo_model_get_str(gufo_import_model(import), "general.name", &text, &error), &error,
             "get");
    check_str(text, "C", "what is known comes first");
    check_ok(gufo_model_get_str(gufo_import_model(import), "general.author", &text, &error), &error,
             "get");
    check_str(text, "A", "the metadata file");
    gufo_import_free(import);
    options.metadata = "no such file";
    check(gufo_import_checkpoint(f.path, &options, &error) == NULL, "no metadata file");
    check(strcmp(error.file, "no such file") == 0, "%s", error.file);
    gufo_document_free(known);
    folder_remove(&f);
}

static void test_generic(void **state)
{
    folder f = new_folder();
    gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_GENERIC, .arch = "thing"};
    gufo_import *import = open_with(&f, &options);

    (void)state;
    check(has_key(import, "thing.hidden_size") && has_key(import, "tokenizer.ggml.tokens"), "keys");
    check(gufo_model_tensor_find(gufo_import_model(import), "model.norm.weight", NULL),
          "its own names");
    gufo_import_free(import);
    check(remove(folder_path(&f, "tokenizer.json").text) == 0, "remove");
    import = open_with(&f, &options);
    check(gufo_import_warning_at(import, 0) != NULL, "a warning that it has no tokenizer");
    gufo_import_free(import);
    folder_remove(&f);
}

static void test_refused(void **state)
{
    static const gufo_checkpoint_options wrong[] = {
        {.flags = GUFO_CHECKPOINT_GENERIC},
        {.flags = GUFO_CHECKPOINT_NO_VOCABULARY | GUFO_CHECKPOINT_VOCABULARY_ONLY},
        {.flags = 1 << 20},
        {.reserved = {1}},
    };
    folder f = new_folder();
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        check(gufo_import_checkpoint(f.path, &wrong[i], &error) == NULL, "%zu", i);
        check_status(error.code, GUFO_E_ARGUMENT, &error, "%zu", i);
    }
    check(gufo_import_checkpoint(NULL, NULL, &error) == NULL, "no path");
    write_text(&f, "config.json", "{\"architectures\": [\"StrangeForCausalLM\"]}");
    check(gufo_import_checkpoint(f.path, NULL, &error) == NULL, "an unknown class");
    check_u64(error.advice, GUFO_ADVICE_GENERIC, "advice");
    folder_remove(&f);
}

/* The model of its own: closing it closes the import. */
static void test_taken(void **state)
{
    folder f = new_folder();
    gufo_error error;
    gufo_import *import = open_with(&f, NULL);
    gufo_model *model;
    gufo_tensor tensor;
    float numbers[8];

    (void)state;
    check(gufo_model_import(gufo_import_model(import)) == NULL, "not taken yet");
    model = gufo_import_take_model(import, "taken", &error);
    check(model != NULL, "%s", error.message);
    check(gufo_model_import(model) == import, "its import");
    check_str(gufo_str_of(gufo_model_name(model)), "taken", "name");
    check(gufo_model_tensor_find(model, "output_norm.weight", &tensor), "tensor");
    check_ok(gufo_tensor_decode(model, &tensor, 0, 1, numbers, NULL, &error), &error, "decode");
    check(numbers[0] == 0 && numbers[7] == 0, "zeros");
    gufo_model_free(model);
    folder_remove(&f);
}

/* Where the files are makes no difference: the same shards and index, on disk and in memory, become the same
 * file, chat templates in a folder of their own included. */
static void test_memory(void **state)
{
    static const char *const names[] = {"config.json",
                                        "tokenizer.json",
                                        "README.md",
                                        "chat_template.jinja",
                                        "additional_chat_templates/rag.jinja",
                                        "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors",
                                        "model.safetensors.index.json"};
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_CHECK, .pre = "llama-bpe"};
    memory_file list[COUNT_OF(names)];
    const memory_files files = {list, COUNT_OF(list)};
    model_place place = {.folder = source_folder_memory(&files)};
    folder f = folder_new();
    gufo_import *import;
    gufo_error error;

    (void)state;
    write_text(&f, "config.json", config);
    write_text(&f, "tokenizer.json", tokenizer);
    write_text(&f, "README.md", "---\nlicense: mit\n---\n");
    write_text(&f, "chat_template.jinja", "main");
    assert_int_equal(mkdir(folder_path(&f, "additional_chat_templates").text, 0777), 0);
    write_text(&f, "additional_chat_templates/rag.jinja", "rag");
    safetensors_write(folder_path(&f, names[5]).text, tensors, 2);
    safetensors_write(folder_path(&f, names[6]).text, tensors + 2, COUNT_OF(tensors) - 2);
    write_text(&f, names[7],
               "{\"weight_map\": {"
               "\"model.embed_tokens.weight\": \"model-00001-of-00002.safetensors\","
               "\"model.layers.0.input_layernorm.weight\": \"model-00001-of-00002.safetensors\","
               "\"model.layers.0.mlp.down_proj.weight\": \"model-00002-of-00002.safetensors\","
               "\"model.layers.0.self_attn.q_proj.weight\": \"model-00002-of-00002.safetensors\","
               "\"model.norm.weight\": \"model-00002-of-00002.safetensors\"}}");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t len;
        uint8_t *bytes = read_file(folder_path(&f, names[i]).text, &len);

        list[i] = (memory_file){names[i], {(const char *)bytes, len}};
    }
    place.folder.path = gufo_str_of(f.path); /* which gives the model its name */
    import = conversion_open(&place, &options, &error);
    check(import != NULL, "%s: %s", error.file, error.message);
    check(has_key(import, "tokenizer.chat_template.rag") && has_key(import, "general.license"),
          "keys of all files");
    convert_to(import, folder_path(&f, "memory.gguf").text);
    convert_to(open_with(&f, &options), folder_path(&f, "disk.gguf").text);
    check_same_file(folder_path(&f, "memory.gguf").text, folder_path(&f, "disk.gguf").text,
                    "bytes");
    /* What is not there is said as on disk. */
    list[6].name = "other";
    check(conversion_open(&place, &options, &error) == NULL, "a shard is missing");
    check(error.code == GUFO_E_SHARDS && strstr(error.message, "model-00002-of-00002") != NULL,
          "%s", error.message);
    check_str(gufo_str_of(error.file), folder_path(&f, names[7]).text, "the file");
    for (size_t i = 0; i < COUNT_OF(list); i++)
        free((char *)list[i].bytes.data);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),   cmocka_unit_test(test_vocabularies),
        cmocka_unit_test(test_keys),    cmocka_unit_test(test_generic),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_taken),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
