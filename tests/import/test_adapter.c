/* Adapters of PEFT: settings, names, keys, scales, and what is refused.  (test_adapter_architectures.c
 * compares their numbers with those of changed models.)  llama.cpp's convert_lora_to_gguf.py gives the same
 * tensors and keys for adapters of small models of llama, Mixtral, phi3, Qwen3, Gemma 2 and GPT-NeoX. */
#include "../support/check.h"
#include "../support/safetensors_maker.h"
#include "config_folder.h"

#include "gufo/import.h"

#include <math.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "codec/half.h"

static const char llama[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 4, \"num_hidden_layers\": 1,"
    " \"num_attention_heads\": 1, \"tie_word_embeddings\": false}";
static const char mixtral[] =
    "{\"architectures\": [\"MixtralForCausalLM\"], \"hidden_size\": 4, \"num_hidden_layers\": 1,"
    " \"num_attention_heads\": 1, \"num_local_experts\": 2}";

#define SETTINGS "\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 4"
#define MODULE "base_model.model.model.layers.0.mlp.up_proj"
#define EXPERT(n) "base_model.model.model.layers.0.block_sparse_moe.experts." n
#define EMBEDDING "base_model.model.model.embed_tokens"

/* Of 1, 2, 3 ... */
static float numbers[64];

/* [in = 4, rank 2]: a pair whose product has 6 rows. */
#define HALF_A                                             \
    {                                                      \
        MODULE ".lora_A.weight", "F32", 2, {2, 4}, numbers \
    }
#define HALF_B                                             \
    {                                                      \
        MODULE ".lora_B.weight", "F32", 2, {6, 2}, numbers \
    }

static const safetensor plain[] = {HALF_A, HALF_B};

/* A folder with an adapter, "lora", and one with the configuration of a base, "base". */
typedef struct world {
    folder folder;
    path_text adapter, base;
} world;

static world world_new(const char *config, const char *settings, const safetensor *tensors,
                       size_t count)
{
    world w = {.folder = folder_new()};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        store_u32((uint8_t *)&numbers[i], float_to_bits((float)i + 1), bytes_swapped(false));
    w.adapter = folder_path(&w.folder, "lora");
    w.base = folder_path(&w.folder, "base");
    assert_int_equal(mkdir(w.adapter.text, 0777) + mkdir(w.base.text, 0777), 0);
    write_text(&w.folder, "base/config.json", config);
    if (settings != NULL)
        write_text(&w.folder, "lora/adapter_config.json", settings);
    safetensors_write(path_join(w.adapter.text, "adapter_model.safetensors").text, tensors, count);
    return w;
}

static gufo_import *world_open(const world *w, gufo_error *error)
{
    const gufo_checkpoint_options options = {.base = w->base.text};

    return gufo_import_checkpoint(w->adapter.text, &options, error);
}

static gufo_import *world_import(const world *w)
{
    gufo_error error = no_error();
    gufo_import *import = world_open(w, &error);

    check(import != NULL, "%s: %s", error.file, error.message);
    return import;
}

/* The numbers of a tensor, which has these dimensions. */
static void read_tensor(const gufo_import *import, const char *name, uint64_t columns,
                        uint64_t rows, float *out)
{
    const gufo_model *model = gufo_import_model(import);
    gufo_error error = no_error();
    gufo_tensor t;

    check(gufo_model_tensor_find(model, name, &t), "no %s", name);
    check_u64(t.dims[0], columns, "%s", name);
    check_u64(t.dims[1], rows, "%s", name);
    check_ok(gufo_tensor_decode(model, &t, 0, t.elements / columns, out, NULL, &error), &error,
             "%s", name);
}

static double real_of(const gufo_import *import, const char *key)
{
    gufo_entry entry;

    check(gufo_model_find(gufo_import_model(import), key, &entry), "no %s", key);
    return entry.value.as.f;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_settings(void **state)
{
    static const struct {
        const char *settings;
        gufo_status status;
        const char *message; /* a part of it */
    } rows[] = {
        {NULL, GUFO_E_NOT_FOUND, "no such file: an adapter is a folder with adapter_config.json"},
        {"[]", GUFO_E_MALFORMED, "not an object"},
        {"{", GUFO_E_TRUNCATED, ""},
        {"{\"r\": 2, \"lora_alpha\": 4}", GUFO_E_TYPE, "peft_type is missing"},
        {"{\"peft_type\": \"IA3\"}", GUFO_E_TYPE, "peft_type is \"IA3\": only"},
        {"{\"peft_type\": \"LORA\", \"lora_alpha\": 4}", GUFO_E_MALFORMED, "r is not a rank"},
        {"{\"peft_type\": \"LORA\", \"r\": 0, \"lora_alpha\": 4}", GUFO_E_MALFORMED, "r is not"},
        {"{\"peft_type\": \"LORA\", \"r\": 1.5, \"lora_alpha\": 4}", GUFO_E_MALFORMED, "r is not"},
        {"{\"peft_type\": \"LORA\", \"r\": -2, \"lora_alpha\": 4}", GUFO_E_MALFORMED, "r is not"},
        {"{\"peft_type\": \"LORA\", \"r\": 1e30, \"lora_alpha\": 4}", GUFO_E_MALFORMED, "r is not"},
        {"{\"peft_type\": \"LORA\", \"r\": 2}", GUFO_E_MALFORMED, "lora_alpha is not a scale"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 0}", GUFO_E_MALFORMED,
         "lora_alpha is not a scale"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": NaN}", GUFO_E_MALFORMED, "NaN"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 1e99}", GUFO_E_MALFORMED,
         "beyond F32"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": \"4\"}", GUFO_E_MALFORMED,
         "lora_alpha is not a scale"},
        {"{" SETTINGS ", \"use_dora\": true}", GUFO_E_TYPE, "DoRA"},
        {"{" SETTINGS ", \"layer_replication\": [[0, 2]]}", GUFO_E_TYPE, "layer_replication"},
        {"{" SETTINGS ", \"target_parameters\": [\"experts\"]}", GUFO_E_TYPE, "target_parameters"},
        {"{" SETTINGS ", \"rank_pattern\": {\"up_proj\": 3}}", GUFO_E_MALFORMED,
         "has rank 2, but adapter_config.json says 3"},
        {"{" SETTINGS ", \"rank_pattern\": {\"up_proj\": \"2\"}}", GUFO_E_MALFORMED,
         "a value of rank_pattern is not a rank"},
        {"{" SETTINGS ", \"alpha_pattern\": {\"up_proj\": 0}}", GUFO_E_MALFORMED,
         "a value of alpha_pattern is not a scale"},
        {"{" SETTINGS ", \"alpha_pattern\": {\".*proj\": 8}}", GUFO_E_TYPE, "expressions"},
        {"{" SETTINGS ", \"alpha_pattern\": 8}", GUFO_E_MALFORMED,
         "alpha_pattern is not an object"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 1e-30, "
         "\"alpha_pattern\": {\"up_proj\": 1e30}}",
         GUFO_E_MALFORMED, "scales the pair of"},
        {"{" SETTINGS ", \"alora_invocation_tokens\": [1, -1]}", GUFO_E_MALFORMED,
         "alora_invocation_tokens"},
        {"{" SETTINGS ", \"alora_invocation_tokens\": 5}", GUFO_E_MALFORMED,
         "alora_invocation_tokens"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        world w = world_new(llama, rows[i].settings, plain, COUNT_OF(plain));
        gufo_error error = no_error();

        check(world_open(&w, &error) == NULL, "%s", rows[i].settings);
        check(error.code == rows[i].status && strstr(error.message, rows[i].message) != NULL,
              "%s: %s (%d)", rows[i].settings, error.message, (int)error.code);
        check(strstr(error.file, "/adapter_config.json") != NULL, "%s: %s", rows[i].settings,
              error.file);
        folder_remove(&w.folder);
    }
}

static void test_tensors(void **state)
{
    static const struct {
        const char *config;
        safetensor tensors[3];
        gufo_status status;
        const char *message;
    } rows[] = {
        {llama, {HALF_A}, GUFO_E_MALFORMED, "has no other half: lora_B is missing"},
        {llama, {HALF_B}, GUFO_E_MALFORMED, "has no other half: lora_A is missing"},
        {llama,
         {HALF_A, {MODULE ".lora_B.weight", "F32", 2, {6, 3}, NULL}},
         GUFO_E_MALFORMED,
         "has rank 3, but its other half"},
        {llama,
         {HALF_A, HALF_B, {MODULE ".lora_A.other.weight", "F32", 2, {2, 4}, NULL}},
         GUFO_E_MALFORMED,
         "several adapters"},
        {llama,
         {HALF_A, HALF_B, {MODULE ".lora_magnitude_vector.weight", "F32", 1, {6}, NULL}},
         GUFO_E_TYPE,
         "DoRA"},
        {llama,
         {HALF_A, HALF_B, {EMBEDDING ".weight", "F32", 2, {8, 4}, NULL}},
         GUFO_E_TYPE,
         "tokens were added"},
        {llama,
         {HALF_A, HALF_B, {"base_model.model.lm_head.weight", "F32", 2, {8, 4}, NULL}},
         GUFO_E_TYPE,
         "modules_to_save"},
        {llama, {HALF_A, HALF_B, {MODULE ".bias", "F32", 1, {6}, NULL}}, GUFO_E_TYPE, "biases"},
        {llama,
         {HALF_A, HALF_B, {MODULE ".lora_B.bias", "F32", 1, {6}, NULL}},
         GUFO_E_TYPE,
         "biases"},
        {llama,
         {HALF_A, HALF_B, {"base_model.model.score.weight", "F32", 2, {2, 4}, NULL}},
         GUFO_E_TYPE,
         "is neither half of a pair"},
        {llama,
         {{"model.layers.0.mlp.up_proj.lora_a", "F32", 2, {4, 2}, NULL}},
         GUFO_E_TYPE,
         "MLX"},
        {llama,
         {{MODULE ".lora_A.weight", "F32", 3, {2, 4, 3}, NULL},
          {MODULE ".lora_B.weight", "F32", 2, {6, 2}, NULL}},
         GUFO_E_TYPE,
         "is not a matrix"},
        {llama,
         {{"base_model.model.model.layers.0.nothing.lora_A.weight", "F32", 2, {2, 4}, NULL},
          {"base_model.model.model.layers.0.nothing.lora_B.weight", "F32", 2, {6, 2}, NULL}},
         GUFO_E_TYPE,
         "no rule for tensor"},
        {llama,
         {{"base_model.model.model.norm.weight", "F32", 1, {4}, NULL}},
         GUFO_E_NOT_FOUND,
         "has no pairs"},
        {mixtral,
         {{EXPERT("0.w1.lora_A.weight"), "F32", 2, {2, 4}, NULL},
          {EXPERT("0.w1.lora_B.weight"), "F32", 2, {6, 2}, NULL}},
         GUFO_E_MALFORMED,
         "is one of 2 that become"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count = 1;
        gufo_error error = no_error();
        world w;

        while (count < 3 && rows[i].tensors[count].name != NULL)
            count++;
        w = world_new(rows[i].config, "{" SETTINGS "}", rows[i].tensors, count);
        check(world_open(&w, &error) == NULL, "%s", rows[i].message);
        check(error.code == rows[i].status && strstr(error.message, rows[i].message) != NULL,
              "%s: %s (%d)", rows[i].message, error.message, (int)error.code);
        folder_remove(&w.folder);
    }
}

/* ---- keys and scales ------------------------------------------------------------------------ */

static void check_text(const gufo_import *import, const char *key, const char *expected)
{
    gufo_str text;

    check(gufo_model_get_str(gufo_import_model(import), key, &text, NULL) == GUFO_OK, "no %s", key);
    check_str(text, expected, "%s", key);
}

static void test_keys(void **state)
{
    world w = world_new(llama,
                        "{" SETTINGS ", \"base_model_name_or_path\": \"some-org/Tiny-Llama\","
                        " \"alora_invocation_tokens\": [7, 9], \"init_lora_weights\": \"pissa\"}",
                        plain, COUNT_OF(plain));
    gufo_import *import = world_import(&w);
    gufo_entry entry;

    (void)state;
    check_text(import, "general.architecture", "llama");
    check_text(import, "general.type", "adapter");
    check_text(import, "general.name", "Lora");
    check_text(import, "general.base_model.0.name", "Tiny Llama");
    check_text(import, "adapter.type", "lora");
    check(real_of(import, "adapter.lora.alpha") == 4, "alpha");
    check(gufo_model_find(gufo_import_model(import), "adapter.alora.invocation_tokens", &entry) &&
              entry.value.as.array.count == 2 && entry.value.as.array.type == GUFO_VALUE_UINT32,
          "tokens");
    check(!gufo_model_find(gufo_import_model(import), "general.size_label", NULL) &&
              !gufo_model_find(gufo_import_model(import), "general.file_type", NULL) &&
              !gufo_model_find(gufo_import_model(import), "llama.block_count", NULL),
          "keys of a model");
    check(strstr(gufo_import_warning_at(import, 0), "pissa") != NULL, "warning");
    check(strcmp(gufo_import_main_type(import)->name, "F32") == 0, "type");
    gufo_import_free(import);
    folder_remove(&w.folder);
}

/* The scale that readers give to a pair, by what its B is multiplied by. */
static void test_scales(void **state)
{
    static const struct {
        const char *settings;
        double scale; /* of B A, with rank 2 */
    } rows[] = {
        {"{" SETTINGS "}", 4.0 / 2},
        {"{\"peft_type\": \"LORA\", \"r\": 2.0, \"lora_alpha\": 0.5}", 0.25},
        {"{" SETTINGS ", \"use_rslora\": true}", 4 / 1.4142135623730951},
        {"{" SETTINGS ", \"alpha_pattern\": {\"up_proj\": 6}}", 6.0 / 2},
        {"{" SETTINGS ", \"alpha_pattern\": {\"p_proj\": 6, \"mlp.up_proj\": 1}}", 1.0 / 2},
        {"{" SETTINGS ", \"alpha_pattern\": {\"layers.1.mlp.up_proj\": 6}}", 4.0 / 2},
        {"{" SETTINGS ", \"alpha_pattern\": {\"up_proj\": 6, \"mlp.up_proj\": 1}}", 6.0 / 2},
        {"{" SETTINGS ", \"alpha_pattern\": {\"mlp.up_proj\": 1, \"up_proj\": 6}}", 1.0 / 2},
        {"{\"peft_type\": \"LORA\", \"r\": 8, \"lora_alpha\": 4, \"rank_pattern\": {\"up_proj\": "
         "2}}",
         4.0 / 2},
        {"{\"peft_type\": \"LORA\", \"r\": 8, \"lora_alpha\": 4, \"rank_pattern\": {\".*up.*\": "
         "2}}",
         4.0 / 2},
        {"{\"peft_type\": \"LORA\", \"r\": 8, \"lora_alpha\": 4, \"rank_pattern\": {\"up_proj\": "
         "2},"
         " \"use_rslora\": true}",
         4 / 1.4142135623730951},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        world w = world_new(llama, rows[i].settings, plain, COUNT_OF(plain));
        gufo_import *import = world_import(&w);
        float b[12];
        double scale;

        read_tensor(import, "blk.0.ffn_up.weight.lora_b", 2, 6, b);
        scale = (double)b[3] / 4 * real_of(import, "adapter.lora.alpha") / 2;
        check(fabs(scale - rows[i].scale) <= 1e-6 * rows[i].scale, "%s: %g", rows[i].settings,
              scale);
        gufo_import_free(import);
        folder_remove(&w.folder);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    static const safetensor tensors[] = {
        {MODULE ".lora_A.default.weight", "F32", 2, {2, 4}, numbers},
        {MODULE ".lora_B.default.weight", "F32", 2, {6, 2}, numbers},
        {MODULE ".base_layer.weight", "F32", 2, {6, 4}, numbers},
        {EMBEDDING ".lora_embedding_A", "F32", 2, {2, 5}, numbers},
        {EMBEDDING ".lora_embedding_B", "F32", 2, {4, 2}, numbers},
        {"base_model.model.model.layers.0.input_layernorm.weight", "F32", 1, {4}, numbers},
    };
    world w = world_new(llama, "{" SETTINGS "}", tensors, COUNT_OF(tensors));
    gufo_import *import = world_import(&w);
    float a[16];

    (void)state;
    check_u64(gufo_model_tensor_count(gufo_import_model(import)), 5, "tensors");
    read_tensor(import, "blk.0.ffn_up.weight.lora_a", 4, 2, a);
    check(a[5] == 6, "A as it is");
    read_tensor(import, "token_embd.weight.lora_a", 2, 5, a);
    check(a[1] == 6 && a[2] == 2, "the embedding's A the other way round");
    read_tensor(import, "token_embd.weight.lora_b", 2, 4, a);
    check(a[1] == 2, "the embedding's B as it is");
    read_tensor(import, "blk.0.attn_norm.weight", 4, 1, a);
    gufo_import_free(import);
    folder_remove(&w.folder);
}

/* Both experts of one matrix, and none of the others. */
static void test_experts(void **state)
{
    static const safetensor tensors[] = {
        {EXPERT("0.w2.lora_A.weight"), "F32", 2, {2, 6}, numbers},
        {EXPERT("0.w2.lora_B.weight"), "F32", 2, {4, 2}, numbers},
        {EXPERT("1.w2.lora_A.weight"), "F32", 2, {2, 6}, numbers + 1},
        {EXPERT("1.w2.lora_B.weight"), "F32", 2, {4, 2}, numbers + 2},
    };
    world w = world_new(mixtral, "{" SETTINGS "}", tensors, COUNT_OF(tensors));
    gufo_import *import = world_import(&w);
    float a[24];

    (void)state;
    check_u64(gufo_model_tensor_count(gufo_import_model(import)), 2, "tensors");
    read_tensor(import, "blk.0.ffn_down_exps.weight.lora_a", 6, 2, a);
    check(a[0] == 1 && a[12] == 2, "A of both");
    read_tensor(import, "blk.0.ffn_down_exps.weight.lora_b", 2, 4, a);
    check(a[0] == 1 && a[8] == 3, "B of both");
    gufo_import_free(import);
    folder_remove(&w.folder);
}

/* ---- the base ------------------------------------------------------------------------------- */

static void test_base(void **state)
{
    static const char *const named[] = {"some-org/base", "../base", "/nowhere/base/"};
    static const char *const unknown[] = {"some-org/other", "..", ".", "", "base/.."};
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(named) + COUNT_OF(unknown); i++) {
        bool known = i < COUNT_OF(named);
        char settings[256];
        gufo_import *import;
        world w;

        (void)snprintf(settings, sizeof settings,
                       "{" SETTINGS ", \"base_model_name_or_path\": \"%s\"}",
                       known ? named[i] : unknown[i - COUNT_OF(named)]);
        w = world_new(llama, settings, plain, COUNT_OF(plain));
        error = no_error();
        import = gufo_import_checkpoint(w.adapter.text, NULL, &error);
        check((import != NULL) == known, "%s: %s", settings, error.message);
        check(known || (error.code == GUFO_E_NOT_FOUND && error.advice == GUFO_ADVICE_BASE),
              "%s: %s", settings, error.message);
        check(!known || strstr(gufo_import_warning_at(import, 0), "as the base") != NULL, "%s",
              settings);
        gufo_import_free(import);
        folder_remove(&w.folder);
    }
}

static bool count_down(void *context, uint64_t done, uint64_t total)
{
    unsigned *left = context;

    check(done <= total, "%" PRIu64 " of %" PRIu64, done, total);
    return --*left > 0;
}

/* Opening stops at each of its steps when its caller says so. */
static void check_stops(const char *path, const gufo_checkpoint_options *like)
{
    for (unsigned steps = 1; steps <= 4; steps++) {
        unsigned left = steps;
        const gufo_run run = {.progress = count_down, .progress_context = &left};
        gufo_checkpoint_options options = *like;
        gufo_error error = no_error();

        options.run = &run;
        check(gufo_import_checkpoint(path, &options, &error) == NULL, "step %u", steps);
        check_u64(error.code, GUFO_E_STOPPED, "step %u: %s", steps, error.message);
    }
}

/* A model with heads, whose tensors are there, and an adapter of it. */
static const char of_heads[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1,"
    " \"intermediate_size\": 16, \"num_attention_heads\": 2, \"vocab_size\": 4,"
    " \"rms_norm_eps\": 1e-5, \"max_position_embeddings\": 64}";
static const safetensor embedding[] = {{"model.embed_tokens.weight", "F32", 2, {4, 8}, NULL}};
static const safetensor of_queries[] = {
    {"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", 2, {2, 8}, numbers},
    {"base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", "F32", 2, {8, 2}, numbers},
};

/* A GGUF file says how many heads a model has, as its folder does. */
static void test_gguf_base(void **state)
{
    static const gufo_checkpoint_options alone = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY |
                                                           GUFO_CHECKPOINT_NO_CHECK};
    world w = world_new(of_heads, "{" SETTINGS "}", of_queries, COUNT_OF(of_queries));
    path_text out = folder_path(&w.folder, "base.gguf");
    const gufo_job_options job_options = {.path = out.text};
    const gufo_checkpoint_options options = {.base = out.text};
    gufo_error error = no_error();
    gufo_import *import;
    gufo_job *job;
    float by_folder[16], by_file[16];

    (void)state;
    safetensors_write(path_join(w.base.text, "model.safetensors").text, embedding,
                      COUNT_OF(embedding));
    check_stops(w.base.text, &alone);
    import = gufo_import_checkpoint(w.base.text, &alone, &error);
    check(import != NULL, "%s", error.message);
    job = gufo_import_job(import, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &job_options, NULL, &error), &error, "base");
    gufo_job_free(job);
    gufo_import_free(import);
    import = gufo_import_checkpoint(w.adapter.text, &options, &error);
    check(import != NULL, "%s", error.message);
    read_tensor(import, "blk.0.attn_q.weight.lora_b", 2, 8, by_file);
    check(by_file[2] == 5, "rows of a head are in the order of rotation");
    check(gufo_import_describe(import).base_called == NULL,
          "nothing comes from the path of a file");
    gufo_import_free(import);
    import = world_import(&w);
    read_tensor(import, "blk.0.attn_q.weight.lora_b", 2, 8, by_folder);
    assert_memory_equal(by_folder, by_file, sizeof by_file);
    gufo_import_free(import);
    folder_remove(&w.folder);
}

static void check_called(const gufo_import *import, const char *called, const char *base)
{
    const gufo_import_facts facts = gufo_import_describe(import);

    check_str(gufo_str_of(facts.called), called, "called");
    check_str(gufo_str_of(facts.base_called), base, "the base");
}

/* Folders are called as the caller says, so that a model in others becomes the same file. */
static void test_called(void **state)
{
    static const char hub[] = "https://huggingface.co/some-org/Tiny-7B-v2.0",
                      other[] = "Other-Base";
    static const char *const wrong[] = {"a/b", "https://huggingface.co/", "no\xff"};
    world w = world_new(of_heads, "{" SETTINGS "}", of_queries, COUNT_OF(of_queries));
    gufo_checkpoint_options options = {.base = w.base.text};
    gufo_error error = no_error();
    gufo_import *import;

    (void)state;
    safetensors_write(path_join(w.base.text, "model.safetensors").text, embedding,
                      COUNT_OF(embedding));
    import = world_import(&w);
    check_called(import, "lora", "base");
    check_text(import, "general.name", "Lora");
    check_text(import, "general.base_model.0.name", "Base");
    gufo_import_free(import);
    options.called = hub;
    options.base_called = other;
    import = gufo_import_checkpoint(w.adapter.text, &options, &error);
    check(import != NULL, "%s", error.message);
    check_called(import, hub, other);
    check_text(import, "general.name", "Tiny 7B v2.0");
    check_text(import, "general.source.repo_url", hub);
    check_text(import, "general.base_model.0.name", "Other Base");
    gufo_import_free(import);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        options.called = wrong[i];
        check_status(gufo_import_checkpoint(w.adapter.text, &options, &error) == NULL ? error.code
                                                                                      : GUFO_OK,
                     GUFO_E_ARGUMENT, &error, "%s", wrong[i]);
    }
    folder_remove(&w.folder);
}

static void test_options(void **state)
{
    static const gufo_checkpoint_options generic = {
        .flags = GUFO_CHECKPOINT_GENERIC | GUFO_CHECKPOINT_NO_VOCABULARY, .arch = "any"};
    world w = world_new(llama, "{" SETTINGS "}", plain, COUNT_OF(plain));
    path_text nothing = folder_path(&w.folder, "nothing");
    gufo_checkpoint_options options = {.base = nothing.text};
    gufo_error error = no_error();
    gufo_import *import;

    (void)state;
    check(gufo_import_checkpoint(w.adapter.text, &options, &error) == NULL &&
              error.code == GUFO_E_IO,
          "%s", error.message);
    safetensors_write(path_join(w.base.text, "model.safetensors").text, plain, COUNT_OF(plain));
    options =
        (gufo_checkpoint_options){.base = w.base.text, .flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    check(gufo_import_checkpoint(w.base.text, &options, &error) == NULL &&
              error.code == GUFO_E_ARGUMENT,
          "%s", error.message);
    import = gufo_import_checkpoint(w.adapter.text, &generic, &error);
    check(import != NULL, "%s", error.message);
    check(gufo_model_tensor_find(gufo_import_model(import), plain[0].name, NULL), "its own names");
    gufo_import_free(import);
    check_str(gufo_str_of(gufo_checkpoint_recognise(w.adapter.text)), "PEFT adapter", "kind");
    folder_remove(&w.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings), cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_scales),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_experts),
        cmocka_unit_test(test_base),     cmocka_unit_test(test_gguf_base),
        cmocka_unit_test(test_called),   cmocka_unit_test(test_options)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
