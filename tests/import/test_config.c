/* Opening configurations: class and architecture, the text part of a model of several, Mistral's own
 * layout, changed fields; and what strangers write. */
#include "config_folder.h"
#include "place.h"

#include "../support/allocator.h"

/* ---- class and architecture ------------------------------------------------------------------ */

typedef struct class_case {
    const char *json, *class_name, *architecture;
} class_case;

static void test_classes(void **state)
{
    static const class_case rows[] = {
        {"{\"architectures\": [\"LlamaForCausalLM\"]}", "LlamaForCausalLM", "llama"},
        {"{\"architectures\": [\"MixtralForCausalLM\", \"Other\"]}", "MixtralForCausalLM", "llama"},
        {"{\"architectures\": [\"LlavaForConditionalGeneration\"],"
         " \"text_config\": {\"architectures\": [\"Qwen2ForCausalLM\"]}}",
         "Qwen2ForCausalLM", "qwen2"},
        {"{\"architectures\": [\"LlavaForConditionalGeneration\"], \"text_config\": {}}",
         "LlavaForConditionalGeneration", "llama"},
        {"{\"architectures\": [\"StepVLForConditionalGeneration\"],"
         " \"text_config\": {\"architectures\": [\"LlamaForCausalLM\"]}}",
         "StepVLForConditionalGeneration", "qwen3"},
        {"{\"architectures\": [\"X\"], \"llm_config\":"
         " {\"architectures\": [\"Qwen3ForCausalLM\"]}}",
         "Qwen3ForCausalLM", "qwen3"},
        {"{\"architectures\": [\"X\"], \"thinker_config\": {\"text_config\":"
         " {\"architectures\": [\"Qwen3ForCausalLM\"]}}}",
         "Qwen3ForCausalLM", "qwen3"},
        {"{\"architectures\": [\"Gemma3ForConditionalGeneration\"], \"text_config\":"
         " {\"architectures\": [\"Unknown\"]}}",
         "Gemma3ForConditionalGeneration", "gemma3"},
        {"{\"ssm_cfg\": {}, \"vocab_size\": 10}", "MambaForCausalLM", "mamba"},
        {"{\"architectures\": [], \"ssm_cfg\": {\"layer\": \"Mamba2\"}, \"vocab_size\": 10}",
         "Mamba2ForCausalLM", "mamba2"},
        {"{\"architectures\": [\"NomicBertModel\"], \"n_positions\": 8192}", "NomicBertModel",
         "nomic-bert"},
        {"{\"architectures\": [\"NomicBertModel\"], \"n_positions\": 2048,"
         " \"moe_every_n_layers\": 0}",
         "NomicBertModel", "nomic-bert"},
        {"{\"architectures\": [\"NomicBertModel\"], \"n_positions\": 2048,"
         " \"moe_every_n_layers\": 2}",
         "NomicBertModel", "nomic-bert-moe"},
        {"{\"architectures\": [\"GraniteMoeHybridForCausalLM\"], \"num_experts_per_tok\": 2,"
         " \"layer_types\": [\"attention\", \"attention\"]}",
         "GraniteMoeHybridForCausalLM", "granitemoe"},
        {"{\"architectures\": [\"GraniteMoeHybridForCausalLM\"], \"num_experts_per_tok\": 0,"
         " \"layer_types\": [\"attention\", \"attention\"]}",
         "GraniteMoeHybridForCausalLM", "granite"},
        {"{\"architectures\": [\"XLMRobertaModel\"], \"lora_adaptations\": null}",
         "XLMRobertaModel", "bert"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f;
        model_config config = config_of(&f, rows[i].json, NULL);

        check(strcmp(config.class_name, rows[i].class_name) == 0, "%s: %s", rows[i].json,
              config.class_name);
        check(strcmp(config.architecture, rows[i].architecture) == 0, "%s: %s", rows[i].json,
              config.architecture);
        config_done(&f, &config);
    }
}

/* The caller's architecture counts, and needs no class. */
static void test_given_architecture(void **state)
{
    folder f;
    model_config config = config_of(&f, "{\"architectures\": [\"Unknown\"]}", "qwen2");

    (void)state;
    assert_string_equal(config.architecture, "qwen2");
    assert_string_equal(config.class_name, "Unknown");
    config_done(&f, &config);
    config = config_of(&f, "{\"hidden_size\": 4}", "llama");
    assert_string_equal(config.class_name, "");
    config_done(&f, &config);
}

/* Without rules nothing is needed, not even a configuration. */
static void test_generic(void **state)
{
    folder f = folder_new();
    model_config config;
    gufo_error error = no_error();
    uint64_t number;

    (void)state;
    check_ok(
        config_open(&config, FOLDER_AT(f.path), "my-model", CONFIG_GENERIC, NULL, NULL, &error),
        &error, "no file");
    assert_string_equal(config.architecture, "my-model");
    assert_int_equal(config_number(&config, "hidden_size|3", &number, &error), GUFO_OK);
    assert_int_equal(number, 3);
    config_close(&config);
    write_text(&f, "config.json", "{\"architectures\": \"Unknown\", \"rope_scaling\": 7}");
    check_ok(
        config_open(&config, FOLDER_AT(f.path), "my-model", CONFIG_GENERIC, NULL, NULL, &error),
        &error, "unknown");
    config_close(&config);
    write_text(&f, "config.json", "{\"architectures\": [\"DbrxForCausalLM\"]}");
    check_ok(config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_GENERIC, NULL, NULL, &error),
             &error, "known class");
    assert_string_equal(config.architecture, "dbrx");
    config_close(&config);
    folder_remove(&f);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void check_number(const model_config *config, const char *expression, uint64_t expected)
{
    gufo_error error = no_error();
    uint64_t number = 0;

    check_ok(config_number(config, expression, &number, &error), &error, "%s", expression);
    check_u64(number, expected, "%s", expression);
}

static void check_condition(const model_config *config, const char *condition, bool expected)
{
    gufo_error error = no_error();
    bool holds = !expected;

    check_ok(config_holds(config, condition, &holds, &error), &error, "%s", condition);
    check(holds == expected, "%s", condition);
}

/* The text model's fields lie over the others; the root stays as it is. */
static void test_text_part(void **state)
{
    folder f;
    model_config config =
        config_of(&f,
                  "{\"architectures\": [\"Gemma3ForConditionalGeneration\"], \"hidden_size\": 1,"
                  " \"head_dim\": 4, \"sliding_window\": 9,"
                  " \"text_config\": {\"hidden_size\": 2, \"sliding_window\": 5,"
                  "                   \"rope_scaling\": {\"factor\": 8}}}",
                  NULL);

    (void)state;
    check_number(&config, "hidden_size", 2);
    check_number(&config, "head_dim", 4);
    check_number(&config, "raw.hidden_size", 1);
    check_number(&config, "ropes.factor", 8);
    check_condition(&config, "sliding_window == 5 and raw.sliding_window == 9", true);
    check_condition(&config, "", true);
    check_condition(&config, "has(other)", false);
    config_done(&f, &config);
}

/* Keys see other fields than tensors. */
static void test_edits(void **state)
{
    folder f;
    model_config config = config_of(&f,
                                    "{\"architectures\": [\"DeepseekV3ForCausalLM\"],"
                                    " \"num_key_value_heads\": 16, \"head_dim\": 4}",
                                    NULL);

    (void)state;
    check_number(&config, "num_key_value_heads", 16);
    assert_int_equal(json_integer_value(json_object_get(config.edited, "num_key_value_heads")), 1);
    config_done(&f, &config);
    config = config_of(&f, "{\"architectures\": [\"GraniteForCausalLM\"], \"head_dim\": 4}", NULL);
    assert_null(json_object_get(config.edited, "head_dim"));
    assert_non_null(json_object_get(config.fields, "head_dim"));
    config_done(&f, &config);
    config = config_of(&f,
                       "{\"architectures\": [\"RobertaModel\"], \"pad_token_id\": 1,"
                       " \"max_position_embeddings\": 514}",
                       NULL);
    assert_int_equal(json_integer_value(json_object_get(config.edited, "max_position_embeddings")),
                     512);
    config_done(&f, &config);
}

/* ---- rotary positions -------------------------------------------------------------------------- */

static void test_ropes(void **state)
{
    folder f;
    model_config config = config_of(
        &f,
        "{\"architectures\": [\"LlamaForCausalLM\"], \"rope_theta\": 7, \"rope_local_base_freq\":"
        " 3, \"partial_rotary_factor\": null, \"original_max_position_embeddings\": 64,"
        " \"rope_scaling\": {\"type\": \"linear\", \"rope_theta\": 5}}",
        NULL);

    (void)state;
    check_number(&config, "rope.rope_theta", 5);
    check_number(&config, "swa.rope_theta", 3);
    check_number(&config, "rope.original_max_position_embeddings", 64);
    check_condition(&config, "rope.rope_type == \"linear\"", true);
    check_condition(&config, "present(ropes.partial_rotary_factor)", false);
    check_condition(&config, "present(raw.rope_scaling.rope_type)", false);
    config_done(&f, &config);
    /* Those of each kind of attention are complete. */
    config = config_of(&f,
                       "{\"architectures\": [\"LlamaForCausalLM\"], \"rope_theta\": 7,"
                       " \"rope_scaling\": {\"factor\": 9}, \"rope_parameters\":"
                       " {\"full_attention\": {\"rope_theta\": 1},"
                       "  \"sliding_attention\": {\"rope_theta\": 2}}}",
                       NULL);
    check_number(&config, "rope.rope_theta", 1);
    check_number(&config, "swa.rope_theta", 2);
    check_condition(&config, "present(ropes.rope_theta) or present(ropes.factor)", false);
    config_done(&f, &config);
    config =
        config_of(&f, "{\"architectures\": [\"LlamaForCausalLM\"], \"rope_scaling\": null}", NULL);
    check_condition(&config, "present(rope.rope_type)", false);
    config_done(&f, &config);
}

/* ---- Mistral's own layout ---------------------------------------------------------------------- */

static model_config mistral_of(folder *f, const char *json)
{
    model_config config;
    gufo_error error = no_error();

    *f = folder_new();
    write_text(f, "params.json", json);
    check_ok(config_open(&config, FOLDER_AT(f->path), NULL, CONFIG_OF_MODEL, NULL, NULL, &error),
             &error, "%s", json);
    assert_true(config.is_mistral);
    assert_string_equal(config.class_name, "params.json");
    return config;
}

static void test_mistral(void **state)
{
    folder f;
    model_config config = mistral_of(
        &f, "{\"dim\": 64, \"n_layers\": 3, \"n_heads\": 8, \"n_kv_heads\": 2, \"head_dim\": 8,"
            " \"hidden_dim\": 96, \"norm_eps\": 1e-5, \"rope_theta\": 1e6, \"max_seq_len\": 99}");

    (void)state;
    assert_string_equal(config.architecture, "llama");
    check_number(&config, "hidden_size", 64);
    check_number(&config, "num_key_value_heads", 2);
    check_number(&config, "intermediate_size", 96);
    check_number(&config, "max_position_embeddings", 99);
    check_number(&config, "rope.rope_theta", 1000000);
    check_number(&config, "blocks", 3);
    config_done(&f, &config);
    config = mistral_of(&f, "{\"dim\": 64, \"llama_4_scaling\": {\"beta\": 0.1}}");
    assert_string_equal(config.architecture, "mistral3");
    config_done(&f, &config);
    config = mistral_of(&f, "{\"dim\": 64, \"n_kv_heads\": 4, \"moe\": {\"num_experts\": 16,"
                            " \"expert_hidden_dim\": 8, \"routed_scale\": 2.5}}");
    assert_string_equal(config.architecture, "deepseek2");
    check_number(&config, "n_routed_experts", 16);
    check_number(&config, "moe_intermediate_size", 8);
    check_number(&config, "max_position_embeddings", 128000);
    check_condition(&config, "routed_scaling_factor == 2.5 and norm_topk_prob", true);
    check_condition(&config, "scoring_func == \"softmax\" and present(topk_group)", false);
    config_done(&f, &config);
}

/* ---- towers ------------------------------------------------------------------------------------ */

/* Fields of parts are changed, files of the preprocessor lie over one another, and config.json stays. */
static void test_tower(void **state)
{
    folder f = folder_new();
    model_config config;
    gufo_error error = no_error();

    (void)state;
    write_text(
        &f, "config.json",
        "{\"architectures\": [\"Qwen2VLModel\"], \"hidden_size\": 64, \"model_type\": \"qwen2_vl\","
        " \"vision_config\": {\"depth\": 3, \"num_heads\": 2, \"embed_dim\": 8, \"hidden_size\": "
        "9}}");
    write_text(&f, "preprocessor_config.json",
               "{\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4, \"media_proc_cfg\": {\"b\": 20}}");
    write_text(&f, "processor_config.json",
               "{\"c\": 30, \"d\": 40, \"image_processor\": {\"d\": 400}}");
    write_text(
        &f, "tokenizer_config.json",
        "{\"added_tokens_decoder\": {\"7\": {\"content\": \"A\"}, \"-1\": {\"content\": \"D\"}}}");
    write_text(&f, "tekken.json", "{\"special_tokens\": [7, {\"token_str\": \"B\", \"rank\": 8}]}");
    write_text(&f, "tokenizer.json",
               "{\"added_tokens\": [{\"content\": \"C\", \"id\": \"9\"}, {\"content\": \"C\", "
               "\"id\": 9}]}");
    check_ok(config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_OF_TOWER, NULL, NULL, &error),
             &error, "a tower");
    assert_string_equal(config.architecture, "clip");
    assert_string_equal(config.rules, "@tower_qwen2vl");
    check_number(&config, "hidden_size", 64);
    check_number(&config, "vision.image_size", 560);
    check_number(&config, "vision.hidden_size", 8);
    check_number(&config, "vision.intermediate_size", 9);
    check_number(&config, "raw.vision_config.hidden_size", 9);
    check_number(&config, "processor.a", 1);
    check_number(&config, "processor.b", 20);
    check_number(&config, "processor.c", 30);
    check_number(&config, "processor.d", 400);
    check_number(&config, "added(\"A\")", 7);
    check_number(&config, "added(\"B\")", 8);
    check_number(&config, "added(\"C\")", 9);
    check_condition(&config, "has(added(\"D\")) or has(audio.x)", false);
    config_done(&f, &config);
}

/* ---- failures ---------------------------------------------------------------------------------- */

typedef struct failure {
    const char *json, *arch;
    gufo_status status;
    const char *message; /* a part of it */
} failure;

static void check_failure(const failure *row, config_kind kind)
{
    folder f = folder_new();
    model_config config;
    gufo_error error = no_error();
    gufo_status status;

    if (row->json != NULL)
        write_text(&f, "config.json", row->json);
    status = config_open(&config, FOLDER_AT(f.path), row->arch, kind, NULL, NULL, &error);
    if (status == GUFO_OK)
        config_close(&config);
    check_status(status, row->status, &error, "%s", row->json);
    check_error_shape(&error, row->status, row->json);
    check(strstr(error.message, row->message) != NULL, "%s: %s", row->json, error.message);
    check(strstr(error.file, "config.json") != NULL, "%s: %s", row->json, error.file);
    folder_remove(&f);
}

static void test_failures(void **state)
{
    static const failure rows[] = {
        {NULL, NULL, GUFO_E_NOT_FOUND, "no such file"},
        {"[]", NULL, GUFO_E_MALFORMED, "config.json is not an object"},
        {"{", NULL, GUFO_E_TRUNCATED, "ends"},
        {"{\"a\": NaN}", NULL, GUFO_E_MALFORMED, "NaN"},
        {"{\"a\": -Infinity}", NULL, GUFO_E_MALFORMED, "Infinity"},
        {"{\"a\": 1, \"a\": 2}", NULL, GUFO_E_MALFORMED, "twice"},
        {"{\"a\": 1}", NULL, GUFO_E_TYPE, "names no class"},
        {"{\"architectures\": \"LlamaForCausalLM\"}", NULL, GUFO_E_MALFORMED, "not a list"},
        {"{\"architectures\": [7]}", NULL, GUFO_E_MALFORMED, "list of names"},
        {"{\"architectures\": [\"LLamaForCausalLM\"]}", NULL, GUFO_E_TYPE,
         "did you mean \"LLaMAForCausalLM\"?)"},
        {"{\"architectures\": [\"Qwertyuiop\"]}", NULL, GUFO_E_TYPE,
         "no rules for the class \"Qwertyuiop\""},
        {"{\"architectures\": [\"Talkie\\u0000\\u001b[31m\"]}", NULL, GUFO_E_TYPE, "no rules"},
        {"{\"architectures\": [\"WavTokenizerDec\"]}", NULL, GUFO_E_TYPE,
         "no rules for the architecture \"wavtokenizer-dec\" of the class \"WavTokenizerDec\""},
        {"{\"architectures\": [\"InternVisionModel\"]}", NULL, GUFO_E_TYPE,
         "no text model (architecture \"clip\")"},
        {"{}", "wavtokenizer-dec", GUFO_E_TYPE, "no rules for the architecture"},
        {"{}", "", GUFO_E_ARGUMENT, "cannot begin a key"},
        {"{}", "a b", GUFO_E_ARGUMENT, "cannot begin a key"},
        {"{}", "@base", GUFO_E_ARGUMENT, "cannot begin a key"},
        {"{\"architectures\": [\"LlamaForCausalLM\"], \"rope_scaling\": \"x\"}", NULL,
         GUFO_E_MALFORMED, "rope_scaling is not an object"},
        {"{\"architectures\": [\"MambaForCausalLM\"]}", NULL, GUFO_E_MALFORMED, "no vocab_size"},
        {"{\"architectures\": [\"MambaForCausalLM\"], \"vocab_size\": -5}", NULL, GUFO_E_RANGE,
         "vocab_size gives -5"},
        {"{\"architectures\": [\"MambaForCausalLM\"], \"vocab_size\": \"5\"}", NULL,
         GUFO_E_MALFORMED, "vocab_size is a text"},
        {"{\"architectures\": [\"NomicBertModel\"], \"n_positions\": 5}", NULL, GUFO_E_TYPE,
         "n_positions"},
    };
    static const failure generic[] = {
        {"{}", NULL, GUFO_E_ARGUMENT, "needs a name"},
        {"{}", "a.b", GUFO_E_ARGUMENT, "cannot begin a key"},
        {"7", "x", GUFO_E_MALFORMED, "not an object"},
    };
    static const failure towers[] = {
        {"{}", NULL, GUFO_E_TYPE, "the class \"\" is not known"},
        {"{\"architectures\": [\"LlamaForCausalLM\"]}", NULL, GUFO_E_TYPE,
         "the class \"LlamaForCausalLM\" is not known for a part that sees or hears"},
        {"{\"architectures\": [\"RADIOModel\"]}", NULL, GUFO_E_TYPE,
         "no rules for the part of the class \"RADIOModel\" that sees or hears"},
        {"{\"architectures\": [\"X\"], \"vision_config\": {\"architectures\": 3}}", NULL,
         GUFO_E_MALFORMED, "not a list"},
        {"{\"architectures\": [\"Qwen2VLModel\"], \"model_type\": 1, \"vision_config\": "
         "{\"depth\": 3}}",
         NULL, GUFO_E_MALFORMED, "no vision.num_heads"},
        {"{\"architectures\": [\"LlavaForConditionalGeneration\"]}", NULL, GUFO_E_TYPE,
         "the tokenizer has no token [IMG_BREAK]"},
        {"{\"architectures\": [\"InternVisionModel\"], \"vision_config\": {\"image_size\": []}}",
         NULL, GUFO_E_MALFORMED, "image_size"},
        {"{\"architectures\": [\"JanusForConditionalGeneration\"], \"vision_config\":"
         " {\"hidden_size\": \"x\", \"mlp_ratio\": 2}}",
         NULL, GUFO_E_MALFORMED, "vision.hidden_size is a text"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_failure(&rows[i], CONFIG_OF_MODEL);
    for (size_t i = 0; i < COUNT_OF(generic); i++)
        check_failure(&generic[i], CONFIG_GENERIC);
    for (size_t i = 0; i < COUNT_OF(towers); i++)
        check_failure(&towers[i], CONFIG_OF_TOWER);
}

/* 10,000 lists inside one another. */
static void test_deep(void **state)
{
    enum { DEPTH = 10000 };
    char *json = malloc(2 * DEPTH + 32);
    failure row = {json, NULL, GUFO_E_LIMIT, "nested objects"};

    (void)state;
    assert_non_null(json);
    memcpy(json, "{\"a\": ", 6);
    memset(json + 6, '[', DEPTH);
    memset(json + 6 + DEPTH, ']', DEPTH);
    memcpy(json + 6 + 2 * DEPTH, "}", 2);
    check_failure(&row, CONFIG_OF_MODEL);
    free(json);
}

/* Files beside the configuration: a bad tokenizer_config.json stops, generation_config.json is only
 * taken where it can be read. */
static void test_other_files(void **state)
{
    static const char json[] = "{\"architectures\": [\"LlamaForCausalLM\"]}";
    folder f = folder_new();
    model_config config;
    gufo_error error = no_error();

    (void)state;
    write_text(&f, "config.json", json);
    write_text(&f, "generation_config.json", "{\"a\": ");
    write_text(&f, "tokenizer_config.json", "{\"add_prefix_space\": true}");
    check_ok(config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_OF_MODEL, NULL, NULL, &error),
             &error, "all");
    assert_null(config.generation);
    check_condition(&config, "tokcfg.add_prefix_space", true);
    config_close(&config);
    write_text(&f, "generation_config.json", "{\"top_k\": 5}");
    check_ok(config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_OF_MODEL, NULL, NULL, &error),
             &error, "all");
    assert_non_null(config.generation);
    config_close(&config);
    write_text(&f, "tokenizer_config.json", "{\"a\": 1,}");
    assert_int_equal(
        config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_OF_MODEL, NULL, NULL, &error),
        GUFO_E_MALFORMED);
    assert_non_null(strstr(error.file, "tokenizer_config.json"));
    folder_remove(&f);
}

/* Numbers of the tensors' expressions that do not fit. */
static void test_numbers(void **state)
{
    folder f;
    model_config config = config_of(&f,
                                    "{\"architectures\": [\"LlamaForCausalLM\"], \"a\": -1,"
                                    " \"b\": 0.5, \"c\": \"x\", \"d\": 4.0}",
                                    NULL);
    gufo_error error = no_error();
    uint64_t number;

    (void)state;
    check_number(&config, "d", 4);
    assert_int_equal(config_number(&config, "a", &number, &error), GUFO_E_RANGE);
    assert_int_equal(config_number(&config, "b", &number, &error), GUFO_E_MALFORMED);
    assert_int_equal(config_number(&config, "c", &number, &error), GUFO_E_MALFORMED);
    assert_int_equal(config_number(&config, "e|f", &number, &error), GUFO_E_MALFORMED);
    assert_string_equal(error.message, "none of e, f");
    assert_non_null(strstr(error.file, "config.json"));
    config_done(&f, &config);
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Every request for memory that fails makes opening fail, and nothing is lost. */
static void test_memory(void **state)
{
    folder f = folder_new();
    counter memory;
    gufo_allocator allocator;
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    counter_init(&memory);
    allocator = counter_allocator(&memory);
    write_text(&f, "config.json", "{\"ssm_cfg\": {}, \"vocab_size\": 10}");
    for (size_t i = 1; status != GUFO_OK; i++) {
        model_config config;
        gufo_error error = no_error();

        memory.calls = 0;
        memory.fail_at = i;
        status = config_open(&config, FOLDER_AT(f.path), NULL, CONFIG_OF_MODEL, NULL, &allocator,
                             &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%zu: %s", i, error.message);
        if (status == GUFO_OK)
            config_close(&config);
        check_u64(memory.in_use, 0, "request %zu", i);
        assert_true(i < 100);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),     cmocka_unit_test(test_given_architecture),
        cmocka_unit_test(test_generic),     cmocka_unit_test(test_text_part),
        cmocka_unit_test(test_edits),       cmocka_unit_test(test_ropes),
        cmocka_unit_test(test_mistral),     cmocka_unit_test(test_tower),
        cmocka_unit_test(test_failures),    cmocka_unit_test(test_deep),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
