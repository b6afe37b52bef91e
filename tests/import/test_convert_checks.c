/* gufo_import_checkpoint refuses a configuration that contradicts the tensors, the vocabulary or itself,
 * and names the field. */
#include "../support/check.h"
#include "../support/safetensors_maker.h"
#include "config_folder.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gufo/check.h"
#include "gufo/document.h"
#include "gufo/import.h"

#define BASE                                                                      \
    "\"hidden_size\": 8, \"num_hidden_layers\": 2, \"intermediate_size\": 16,"    \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 5," \
    " \"rms_norm_eps\": 1e-5, \"max_position_embeddings\": 64, \"hidden_act\": \"silu\""
#define LLAMA "{\"architectures\": [\"LlamaForCausalLM\"], " BASE "}"

static const char tokenizer[] =
    "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
    "\"trim_offsets\": true}, \"model\":"
    " {\"type\": \"BPE\", \"vocab\": {\"X\": 0, \"Z\": 1, \"XZ\": 2, \"Q\": 3, \"J\": 4}, "
    "\"merges\":"
    " [\"X Z\"]}}";

#define LAYER(n)                                                                      \
    {"model.layers." n ".input_layernorm.weight", "BF16", 1, {8}, NULL},              \
        {"model.layers." n ".mlp.down_proj.weight", "BF16", 2, {8, 16}, NULL},        \
        {"model.layers." n ".mlp.gate_proj.weight", "BF16", 2, {16, 8}, NULL},        \
        {"model.layers." n ".mlp.up_proj.weight", "BF16", 2, {16, 8}, NULL},          \
        {"model.layers." n ".post_attention_layernorm.weight", "BF16", 1, {8}, NULL}, \
        {"model.layers." n ".self_attn.k_proj.weight", "BF16", 2, {4, 8}, NULL},      \
        {"model.layers." n ".self_attn.o_proj.weight", "BF16", 2, {8, 8}, NULL},      \
        {"model.layers." n ".self_attn.q_proj.weight", "BF16", 2, {8, 8}, NULL},      \
    {                                                                                 \
        "model.layers." n ".self_attn.v_proj.weight", "BF16", 2, {4, 8}, NULL         \
    }

static const safetensor tensors[] = {
    {"lm_head.weight", "BF16", 2, {5, 8}, NULL},
    {"model.embed_tokens.weight", "BF16", 2, {5, 8}, NULL},
    LAYER("0"),
    LAYER("1"),
    {"model.norm.weight", "BF16", 1, {8}, NULL},
};

static folder new_folder(void)
{
    folder f = folder_new();

    write_text(&f, "config.json", LLAMA);
    write_text(&f, "tokenizer.json", tokenizer);
    safetensors_write(folder_path(&f, "model.safetensors").text, tensors, COUNT_OF(tensors));
    return f;
}

/* Sets a field, "a" or "object.a", of the text model where the configuration has one. */
static void set_field(json_t *config, const char *field, json_t *value)
{
    json_t *text = json_object_get(config, "text_config");
    json_t *holder = json_is_object(text) ? text : config;
    const char *dot = strchr(field, '.');
    char name[64];

    if (dot != NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - field), field);
        holder = json_object_get(holder, name);
        field = dot + 1;
    }
    assert_int_equal(json_object_set_new(holder, field, value), 0);
}

/* Writes a configuration where a field has another value. */
static void write_config(const folder *f, const char *base, const char *field, const char *value)
{
    json_t *config = json_loads(base, 0, NULL), *other = json_loads(value, JSON_DECODE_ANY, NULL);
    char *text;

    check(config != NULL && other != NULL, "%s: %s", field, value);
    set_field(config, field, other);
    text = json_dumps(config, 0);
    assert_non_null(text);
    write_text(f, "config.json", text);
    free(text);
    json_decref(config);
}

/* Writes tensors of zeros; `list`: [name, dtype, shape]. */
static void write_zeros(const folder *f, const json_t *list)
{
    safetensor made[512];
    size_t count = 0;
    json_t *row, *size;
    size_t i, k;

    json_array_foreach((json_t *)list, i, row)
    {
        safetensor *t = &made[count++];

        assert_true(count <= COUNT_OF(made));
        *t = (safetensor){json_string_value(json_array_get(row, 0)),
                          json_string_value(json_array_get(row, 1)),
                          0,
                          {0},
                          NULL};
        json_array_foreach(json_array_get(row, 2), k, size) t->shape[t->n_dims++] =
            (uint64_t)json_integer_value(size);
    }
    safetensors_write(folder_path(f, "model.safetensors").text, made, count);
}

static bool warns(const gufo_import *import, const char *part)
{
    const char *text;

    for (uint64_t i = 0; (text = gufo_import_warning_at(import, i)) != NULL; i++)
        if (strstr(text, part) != NULL)
            return true;
    return false;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static const struct contradiction {
    const char *field, *value, *message;
} contradictions[] = {
    {"hidden_size", "12", "hidden_size (12): tensor \"output.weight\""},
    {"hidden_size", "9", "hidden_size (9): "},
    {"hidden_size", "0", "hidden_size (0): "},
    {"intermediate_size", "24", "intermediate_size (24): tensor \"blk.0.ffn_down.weight\""},
    {"intermediate_size", "0", "intermediate_size (0): the checkpoint has feed-forward parts"},
    {"head_dim", "4", "head_dim (4): tensor \"blk.0.attn_k.weight\""},
    {"head_dim", "0", "head_dim (0): "},
    {"num_key_value_heads", "1", "num_key_value_heads (1): tensor \"blk.0.attn_k.weight\""},
    {"num_hidden_layers", "0", "num_hidden_layers (0): "},
    {"num_hidden_layers", "1", "num_hidden_layers (1): block blk.1 has tensors"},
    {"num_hidden_layers", "7", "num_hidden_layers (7): blocks blk.2 to blk.6 have no tensors"},
    {"num_hidden_layers", "4000000000", "num_hidden_layers (4000000000): blocks blk.2 to"},
    {"max_position_embeddings", "0", "max_position_embeddings (0): "},
    {"vocab_size", "10", "vocab_size (10): "},
    {"vocab_size", "\"five\"", "vocab_size"},
    {"num_key_value_heads", "null", "num_key_value_heads"},
    {"attention_bias", "true", "attention_bias: the checkpoint has no biases"},
    {"mlp_bias", "true", "mlp_bias: the checkpoint has no biases"},
    {"use_qk_norm", "true", "use_qk_norm: the checkpoint has no norms"},
    {"rope_theta", "-1", "rope_theta (-1): "},
    {"rope_theta", "[]", "rope.rope_theta is a list"},
    {"num_local_experts", "8", "num_local_experts (8): "},
    {"hidden_act", "\"gelu\"", "hidden_act: readers of the architecture compute silu"},
    {"hidden_act", "0", "hidden_act (0): "},
    {"rope_scaling", "{\"rope_type\": \"spiral\", \"factor\": 2}", "rope_type: not a type"},
    {"rope_scaling", "{\"rope_type\": \"linear\"}", "rope_type: readers"},
    {"rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 0}",
     "rope_scaling.factor (0): not above"},
    {"rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": \"8\"}", "rope.factor is a text"},
    {"rope_scaling", "{\"rope_type\": \"longrope\", \"factor\": 8}", "rope_type: readers"},
    {"rope_scaling", "{\"rope_type\": \"llama3\", \"high_freq_factor\": \"4\"}",
     "rope_scaling.high_freq_factor: not a number"},
};

/* Fields of other architectures, on the models of tests/import/architectures. */
static const struct wrong_field {
    const char *model, *field, *value, *message;
} wrong_fields[] = {
    {"deepseek2-lite", "num_hidden_layers", "1", "num_hidden_layers (1): "},
    {"deepseek2-v3", "first_k_dense_replace", "2", "first_k_dense_replace (2): "},
    {"deepseek2-v3", "first_k_dense_replace", "0", "first_k_dense_replace (0): "},
    {"deepseek2-v3", "q_lora_rank", "null", "q_lora_rank"},
    {"deepseek2-v3", "n_group", "7", "n_group (7): "},
    {"afmoe", "n_group", "2", "n_group (2): "},
    {"afmoe", "num_dense_layers", "0", "num_dense_layers (0): "},
    {"glm4moe", "num_hidden_layers", "3", "num_hidden_layers (3)"},
    {"qwen2moe", "shared_expert_intermediate_size", "40", "shared_expert_intermediate_size (40): "},
    {"qwen3next", "shared_expert_intermediate_size", "9", "shared_expert_intermediate_size (9): "},
    {"hy_v3", "num_shared_experts", "3", "num_shared_experts (3)"},
    {"jamba", "attn_layer_offset", "0", "attn_layer_offset (0)"},
    {"gpt-oss", "head_dim", "16", "head_dim (16): "},
    {"glm-dsa", "index_head_dim", "3", "index_head_dim (3): "},
    {"whisper", "d_model", "64", "d_model (64): "},
    {"whisper", "encoder_layers", "3", "encoder_layers (3): "},
    {"starcoder", "n_inner", "7", "n_inner (7): "},
    {"phi2", "intermediate_size", "7", "intermediate_size (7): "},
    {"nomic-bert", "prenorm", "true", "prenorm: "},
    {"glm4moe", "attention_bias", "false", "attention_bias: the checkpoint has biases"},
    {"gemma4", "num_attention_heads", "8", "num_attention_heads (8): "},
    {"gemma4", "num_key_value_heads", "4", "num_key_value_heads (4)"},
    {"gemma4", "num_global_key_value_heads", "2", "num_global_key_value_heads (2)"},
    {"gemma4", "head_dim", "16", "head_dim (16): "},
    {"gemma4", "global_head_dim", "32", "global_head_dim (32): "},
    {"gemma4", "intermediate_size", "0", "intermediate_size (0): "},
    {"gemma4-moe", "hidden_size_per_layer_input", "8",
     "hidden_size_per_layer_input (8): the checkpoint has no embedding of blocks"},
    {"gemma4-moe", "num_kv_shared_layers", "3",
     "num_kv_shared_layers (3): more than there are blocks"},
    {"mimo2", "swa_head_dim", "16", "swa_head_dim (16): readers of the architecture take head_dim"},
    {"mimo2", "swa_v_head_dim", "8", "swa_v_head_dim (8): readers"},
    {"mimo2", "swa_num_attention_heads", "2", "swa_num_attention_heads (2): readers"},
    {"mimo2", "swa_num_key_value_heads", "-4", "is -4; counts are not below 0"},
    {"mimo2", "hybrid_layer_pattern", "[0]", "hybrid_layer_pattern: not one for each block"},
    {"mimo2", "hybrid_layer_pattern", "[7, 1]", "hybrid_layer_pattern: not 0 or 1"},
    {"minimax-m3", "sparse_attention_config.sparse_num_index_heads", "2",
     "sparse_attention_config.sparse_num_index_heads (2): "},
    {"minimax-m3", "sparse_attention_config.sparse_index_dim", "16",
     "sparse_attention_config.sparse_index_dim (16): "},
    {"rwkv4", "hidden_size", "64", "hidden_size (64): the embedding has other rows"},
    {"rwkv4", "attention_hidden_size", "64", "attention_hidden_size (64): "},
    {"rwkv4", "intermediate_size", "65", "intermediate_size (65): "},
    {"rwkv4", "num_hidden_layers", "3",
     "num_hidden_layers (3): the checkpoint has another number of blocks"},
    {"rwkv4", "vocab_size", "41", "vocab_size (41): the embedding has another number of rows"},
    {"rwkv7", "head_size", "7", "head_size (7): it does not divide"},
    {"rwkv7-fla", "intermediate_size", "64", "intermediate_size (64): tensor"},
    {"bert-labels", "id2label", "{\"0\": \"low\", \"1\": \"high\"}",
     "id2label: the classifier has another number of rows"},
    {"bert-labels", "type_vocab_size", "3", "type_vocab_size (3): the table of token types"},
    {"qwen2moe", "shared_expert_intermediate_size", "0",
     "shared_expert_intermediate_size (0): the checkpoint has a shared expert"},
    {"hy_v3", "num_shared_experts", "0",
     "num_shared_experts (0): the checkpoint has shared experts"},
    {"hunyuan-moe", "num_shared_expert", "[2, 2]",
     "num_shared_expert: the shared expert has another size"},
    {"nemotron_h_moe", "n_shared_experts", "0",
     "n_shared_experts (0): the checkpoint has shared experts"},
    {"nemotron_h_moe", "moe_intermediate_size", "32",
     "moe_intermediate_size (32): the experts have another size"},
    {"nemotron_h_moe", "moe_shared_expert_intermediate_size", "0",
     "moe_shared_expert_intermediate_size (0): "},
    {"ernie4_5-moe", "moe_num_shared_experts", "3", "moe_num_shared_experts (3): "},
    {"nomic-bert-moe", "moe_every_n_layers", "1", "moe_every_n_layers (1): readers"},
    {"granite", "head_dim", "16", "head_dim: the projection of queries has another number of rows"},
    {"granitehybrid", "mamba_d_head", "16", "mamba_d_head (16): "},
    {"falcon-h1", "mamba_n_heads", "8", "mamba_n_heads (8): "},
    {"mamba2", "num_heads", "4", "num_heads (4): "},
    {"kimi-linear", "linear_attn_config.num_heads", "8", "linear_attn_config.num_heads (8): "},
    {"kimi-linear", "linear_attn_config.head_dim", "16", "linear_attn_config.head_dim (16): "},
    {"kimi-linear", "linear_attn_config.full_attn_layers", "[1, 2]",
     "linear_attn_config.full_attn_layers: "},
    {"kimi-linear", "linear_attn_config.kda_layers", "[]", "linear_attn_config.kda_layers: "},
    {"chatglm", "padded_vocab_size", "64", "padded_vocab_size (64): "},
    {"chatglm", "kv_channels", "4", "kv_channels (4): "},
    {"deepseek2-lite", "q_lora_rank", "8",
     "q_lora_rank (8): the checkpoint has no compressed queries"},
    {"glm4moe", "num_hidden_layers", "1", "num_hidden_layers (1): the checkpoint has more blocks"},
    {"internlm2", "bias", "true", "bias: the checkpoint has"},
    {"lfm2moe", "use_expert_bias", "false",
     "use_expert_bias: the checkpoint has biases of experts"},
    {"t5", "num_decoder_layers", "0", "num_decoder_layers (0): the checkpoint has another number"},
    {"whisper", "encoder_ffn_dim", "32", "encoder_ffn_dim (32): "},
    {"whisper", "decoder_ffn_dim", "32", "decoder_ffn_dim (32): "},
    {"whisper", "vocab_size", "41", "vocab_size (41): the embedding"},
    {"qwen3next", "layer_types", "[\"full_attention\"]", "layer_types: not one for each block"},
    {"glm4moe", "topk_group", "2", "topk_group (2): more groups than there are"},
    {"hunyuan-dense", "num_experts", "2", "num_experts: the checkpoint has no experts"},
    {"granite", "num_local_experts", "2", "num_local_experts (2): "},
    {"llama-linear", "n_routed_experts", "2", "n_routed_experts (2): "},
    {"qwen2vl", "rope_scaling.mrope_section", "[16, 24]", "mrope_section: not three or four"},
    {"qwen3vl", "rope_scaling.mrope_interleaved", "false", "mrope_interleaved: readers"},
    {"qwen35", "rope_parameters.mrope_interleaved", "false", "mrope_interleaved: readers"},
    {"roberta", "pad_token_id", "-1", "pad_token_id (-1): positions begin after it"},
    {"cohere2", "num_attention_heads", "8", "num_attention_heads (8): the projection of queries"},
    {"grok", "num_attention_heads", "8", "num_attention_heads (8): the projection of queries"},
    {"nemotron", "num_attention_heads", "8", "num_attention_heads (8): the projection of queries"},
    {"exaone4", "sliding_window_pattern", "\"zzz\"", "sliding_window_pattern: not a number"},
    {"falcon-h1", "mlp_multipliers", "[1, 1, 1]", "mlp_multipliers: not two numbers"},
    {"falcon-h1", "ssm_multipliers", "[1, 1, 1, 1, 1, 1]", "ssm_multipliers: not five numbers"},
    {"gemma-embedding", "use_bidirectional_attention", "false",
     "use_bidirectional_attention: readers"},
    {"gemma3", "use_bidirectional_attention", "true", "use_bidirectional_attention: readers"},
    {"gemma3n", "activation_sparsity_pattern", "[]", "activation_sparsity_pattern: not one for"},
    {"gemma3n", "vocab_size_per_layer_input", "100", "vocab_size_per_layer_input (100): "},
    {"glm-dsa", "indexer_types", "[\"full\", \"shared\", \"full\"]",
     "indexer_types: not one for each block"},
    {"glm-dsa", "indexer_types", "[\"full\", \"half\"]", "indexer_types: not full or shared"},
    {"hunyuan-moe", "moe_topk", "[2]", "moe_topk: not one for each block"},
    {"hunyuan-moe", "moe_intermediate_size", "[48]", "moe_intermediate_size: not one for each"},
    {"hunyuan-moe", "num_shared_expert", "[1]", "num_shared_expert: not one for each block"},
    {"llada", "n_heads", "8", "n_heads (8): num_attention_heads is another number"},
    {"llada", "n_kv_heads", "4", "n_kv_heads (4): num_key_value_heads is another number"},
    {"llada", "hidden_size", "33", "hidden_size (33): d_model is another number"},
    {"llada", "intermediate_size", "96", "intermediate_size (96): mlp_hidden_size is another"},
    {"falcon-new", "new_decoder_architecture", "false",
     "new_decoder_architecture: the checkpoint has another number of norms"},
    {"falcon-new", "num_ln_in_parallel_attn", "1",
     "num_ln_in_parallel_attn (1): the checkpoint has another number of norms"},
    {"stablelm", "use_parallel_residual", "true",
     "use_parallel_residual: the checkpoint has norms before feed-forward"},
    {"stablelm-heads", "use_parallel_residual", "false",
     "use_parallel_residual: the checkpoint has no norms before feed-forward"},
    {"glm4moe", "num_nextn_predict_layers", "2",
     "num_nextn_predict_layers (2): the checkpoint has fewer blocks that predict"},
    {"mimo2", "num_nextn_predict_layers", "4",
     "num_nextn_predict_layers (4): the checkpoint has fewer blocks that predict"},
    {"mimo2", "topk_method", "\"greedy\"", "topk_method: readers"},
    {"minicpm3", "num_key_value_heads", "1", "num_key_value_heads (1): there are as many"},
    {"plm", "num_key_value_heads", "0", "num_key_value_heads (0): there are as many"},
    {"minimax-m2", "qk_norm_type", "\"per_head\"", "qk_norm_type: readers"},
    {"minimax-m3", "moe_layer_freq", "[0]", "moe_layer_freq: not one for each block"},
    {"qwen", "intermediate_size", "1", "intermediate_size (1): the feed-forward part"},
    {"qwen3next", "full_attention_interval", "4", "full_attention_interval (4): other blocks"},
    {"qwen35", "layer_types", "[\"full_attention\", \"full_attention\"]",
     "full_attention_interval: other blocks have full attention"},
    {"qwen35moe", "full_attention_interval", "0", "full_attention_interval (0): other blocks"},
    {"smallthinker", "sliding_window_layout", "[0]", "sliding_window_layout: not one for each"},
    {"whisper", "num_hidden_layers", "7", "num_hidden_layers (7): the encoder has another"},
};

/* The blocks of the Deci model: the first has attention, the second has one that is linear, the third has none. */
#define BLOCKS(first, second, third, last)                         \
    "[{\"attention\": {\"n_heads_in_group\": 2" first              \
    "}, \"ffn\": {\"ffn_mult\": 5.25}}, {\"attention\": {" second  \
    "}, \"ffn\": {\"ffn_mult\": 1.3125}}, {\"attention\": {" third \
    "}, \"ffn\": {\"ffn_mult\": 2.625" last "}}]"
#define LINEAR "\"replace_with_linear\": true"
#define NO_OP "\"no_op\": true"

static const struct wrong_field wrong_blocks[] = {
    {"deci", "block_configs", BLOCKS("", LINEAR, NO_OP, ""), NULL},
    {"deci", "block_configs", BLOCKS(", " NO_OP, LINEAR, NO_OP, ""), "with no_op has attention"},
    {"deci", "block_configs", BLOCKS("", NO_OP, NO_OP, ""), "with no_op has attention"},
    {"deci", "block_configs", BLOCKS("", LINEAR, "", ""), "without no_op has no attention"},
    {"deci", "block_configs", BLOCKS(", " LINEAR, LINEAR, NO_OP, ""),
     "with replace_with_linear has queries"},
    {"deci", "block_configs", BLOCKS("", "", NO_OP, ""),
     "without replace_with_linear has no queries"},
    {"deci", "block_configs", BLOCKS("", LINEAR, NO_OP, ", " NO_OP), "with no_op has a feed"},
    {"deci", "block_configs", BLOCKS("", LINEAR, NO_OP, ", " LINEAR), "with_linear has a feed"},
};

/* With the flag the model is opened all the same, and the sentence is a warning. */
static void check_forced(const folder *f, const struct contradiction *row)
{
    const gufo_checkpoint_options forced = {.flags = GUFO_CHECKPOINT_FORCE_CONFIG};
    gufo_error error = no_error();
    gufo_import *import = gufo_import_checkpoint(f->path, &forced, &error);

    if (import == NULL) { /* what cannot be a key at all */
        check(error.advice == GUFO_ADVICE_NONE, "%s %s: %s", row->field, row->value, error.message);
        return;
    }
    check(gufo_import_forced_at(import, 0) != NULL, "%s %s: a warning", row->field, row->value);
    gufo_import_free(import);
}

static void test_contradictions(void **state)
{
    folder f = new_folder();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(contradictions); i++) {
        const struct contradiction *row = &contradictions[i];
        gufo_error error = no_error();
        gufo_import *import;

        write_config(&f, LLAMA, row->field, row->value);
        import = gufo_import_checkpoint(f.path, NULL, &error);
        check(import == NULL, "%s %s: accepted", row->field, row->value);
        check(strstr(error.message, row->message) == error.message, "%s %s: %s", row->field,
              row->value, error.message);
        check(strstr(error.file, "config.json") != NULL, "%s %s: %s", row->field, row->value,
              error.file);
        check_forced(&f, row);
    }
    folder_remove(&f);
}

/* The configuration of a model of tests/import/architectures with another value of a field; its folder has
 * the same name. */
static void write_model(const folder *f, const char *model, const char *field, const char *value)
{
    const char *source = getenv("GUFO_SOURCE");
    char path[512];
    json_t *fixture, *config;
    char *base;

    (void)snprintf(path, sizeof path, "%s/tests/import/architectures/%s.json",
                   source != NULL ? source : ".", model);
    fixture = json_load_file(path, 0, NULL);
    check(fixture != NULL, "%s", path);
    config = json_object_get(fixture, "config");
    base = json_dumps(config, 0);
    write_config(f, base, field, value);
    write_zeros(f, json_object_get(fixture, "tensors"));
    free(base);
    json_decref(fixture);
}

/* Without a message the value is right. */
static void check_wrong_field(const struct wrong_field *row)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    folder f = folder_new();
    gufo_error error = no_error();
    gufo_import *import;

    write_model(&f, row->model, row->field, row->value);
    import = gufo_import_checkpoint(f.path, &options, &error);
    check((import != NULL) == (row->message == NULL), "%s %s %s: %s", row->model, row->field,
          row->value, import != NULL ? "accepted" : error.message);
    check(row->message == NULL || strstr(error.message, row->message) != NULL, "%s %s: %s",
          row->model, row->field, error.message);
    gufo_import_free(import);
    folder_remove(&f);
}

static void test_other_architectures(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong_fields); i++)
        check_wrong_field(&wrong_fields[i]);
    for (size_t i = 0; i < COUNT_OF(wrong_blocks); i++)
        check_wrong_field(&wrong_blocks[i]);
}

/* Blocks that are left out change nothing in the file: fewer of them are a warning. */
static void test_fewer_left_out(void **state)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    static const char *const values[] = {"1", "2"}; /* the checkpoint has one */

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        folder f = folder_new();
        gufo_error error = no_error();
        gufo_import *import;

        write_model(&f, "deepseek2-v3", "num_nextn_predict_layers", values[i]);
        import = gufo_import_checkpoint(f.path, &options, &error);
        check(import != NULL, "%s", error.message);
        check(warns(import, "num_nextn_predict_layers") == (i > 0), "%s", values[i]);
        check(gufo_import_forced_at(import, 0) == NULL, "nothing is forced");
        gufo_import_free(import);
        folder_remove(&f);
    }
}

/* What readers take for granted is written where the configuration says something else. */
static void test_bases(void **state)
{
    static const struct wrong_field rows[] = {{"gemma", "rope_theta", "20000", NULL},
                                              {"stablelm", "rope_theta", "20000", NULL},
                                              {"phi2", "rope_theta", "20000", NULL},
                                              {"falcon", "rope_theta", "20000", NULL}};
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f = folder_new();
        gufo_error error = no_error();
        gufo_import *import;
        char key[64];
        double base = 0;

        write_model(&f, rows[i].model, rows[i].field, rows[i].value);
        import = gufo_import_checkpoint(f.path, &options, &error);
        check(import != NULL, "%s: %s", rows[i].model, error.message);
        (void)snprintf(key, sizeof key, "%s.rope.freq_base", rows[i].model);
        check_ok(gufo_model_get_f64(gufo_import_model(import), key, &base, &error), &error, "%s",
                 key);
        check(base > 19999 && base < 20001, "%s is %g", key, base);
        gufo_import_free(import);
        folder_remove(&f);
    }
}

/* What is said and left out, or doubtful, but no contradiction. */
static void test_doubts(void **state)
{
    static const struct contradiction doubts[] = {
        {"rope_scaling", "{\"rope_type\": \"dynamic\", \"factor\": 2}",
         "rope_type: readers do not"},
        {"tie_word_embeddings", "true", "tie_word_embeddings: "},
        {"tie_word_embeddings", "1", "tie_word_embeddings (1): neither"},
        {"rms_norm_eps", "1", "rms_norm_eps (1): "},
        {"rms_norm_eps", "-1", "rms_norm_eps (-1): "},
        {"bos_token_id", "5", "bos_token_id (5): not the id of a token"},
        {"eos_token_id", "-1", "eos_token_id (-1): not the id of a token"},
    };
    folder f = new_folder();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(doubts); i++) {
        gufo_error error = no_error();
        gufo_import *import;

        write_config(&f, LLAMA, doubts[i].field, doubts[i].value);
        import = gufo_import_checkpoint(f.path, NULL, &error);
        check(import != NULL, "%s: %s", doubts[i].field, error.message);
        check(warns(import, doubts[i].message), "%s %s: no warning, but %s", doubts[i].field,
              doubts[i].value, gufo_import_warning_at(import, 0));
        gufo_import_free(import);
    }
    folder_remove(&f);
}

static const struct wrong_field other_doubts[] = {
    {"phimoe", "rope_scaling.long_mscale", "2.5", "rope_scaling.long_mscale (2.5): readers"},
    {"phimoe", "rope_scaling.short_mscale", "2.5", "rope_scaling.short_mscale (2.5): readers"},
    {"granitehybrid", "position_embedding_type", "\"rope\"", "position_embedding_type: readers"},
    {"dream", "mask_token_id", "40", "mask_token_id (40): not the id of a token"},
    {"bert", "pad_token_id", "40", "pad_token_id (40): not the id of a token"},
    {"t5", "decoder_start_token_id", "40", "decoder_start_token_id (40): not the id of a token"},
    {"lfm2moe", "norm_topk_prob", "7", "norm_topk_prob (7): neither true nor false"},
    {"gemma4", "layer_types", "[\"sliding_attention\", \"round_attention\"]",
     "layer_types: not a known kind of block"},
    {"qwen2vl", "rope_scaling.mrope_section", "[1, 1, 1]", "mrope_section: the parts do not add"},
};

/* Sections of a qwen2vl whose heads rotate all eight dimensions. */
static void test_sections(void **state)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    folder f = folder_new();
    gufo_error error = no_error();
    gufo_import *import;

    (void)state;
    write_model(&f, "qwen2vl", "rope_scaling.mrope_section", "[2, 1, 1]");
    import = gufo_import_checkpoint(f.path, &options, &error);
    check(import != NULL, "%s", error.message);
    check(!warns(import, "mrope_section"), "%s", gufo_import_warning_at(import, 0));
    gufo_import_free(import);
    folder_remove(&f);
}

static void test_other_doubts(void **state)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(other_doubts); i++) {
        const struct wrong_field *row = &other_doubts[i];
        folder f = folder_new();
        gufo_error error = no_error();
        gufo_import *import;

        write_model(&f, row->model, row->field, row->value);
        import = gufo_import_checkpoint(f.path, &options, &error);
        check(import != NULL, "%s %s: %s", row->model, row->field, error.message);
        check(warns(import, row->message), "%s %s: no warning, but %s", row->model, row->field,
              gufo_import_warning_at(import, 0));
        gufo_import_free(import);
        folder_remove(&f);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void test_sound(void **state)
{
    folder f = new_folder();
    gufo_error error = no_error();
    gufo_import *import = gufo_import_checkpoint(f.path, NULL, &error);

    (void)state;
    check(import != NULL, "%s", error.message);
    check(gufo_import_warning_at(import, 0) == NULL, "%s", gufo_import_warning_at(import, 0));
    gufo_import_free(import);
    folder_remove(&f);
}

/* A tensor with a dimension too many is to blame itself: no field is named. */
static void test_tensor(void **state)
{
    safetensor list[COUNT_OF(tensors)];
    folder f = new_folder();
    gufo_error error = no_error();

    (void)state;
    memcpy(list, tensors, sizeof list);
    list[9] = (safetensor){"model.layers.0.self_attn.q_proj.weight", "BF16", 3, {8, 8, 1}, NULL};
    safetensors_write(folder_path(&f, "model.safetensors").text, list, COUNT_OF(list));
    check(gufo_import_checkpoint(f.path, NULL, &error) == NULL, "accepted");
    check(strstr(error.message, "tensor \"blk.0.attn_q.weight\"") != NULL, "%s", error.message);
    check_u64(error.advice, GUFO_ADVICE_FORCE, "%s", error.message);
    folder_remove(&f);
}

/* Keys of the caller are not blamed on config.json. */
static void test_known(void **state)
{
    folder f = new_folder();
    gufo_error error = no_error();
    gufo_document *known = gufo_document_new(NULL, &error);
    gufo_checkpoint_options options = {.known = known};

    (void)state;
    assert_non_null(known);
    check_ok(gufo_document_set_u32(known, "llama.feed_forward_length", 17, &error), &error, "set");
    check(gufo_import_checkpoint(f.path, &options, &error) == NULL, "accepted");
    check(strstr(error.message, "intermediate_size") == NULL, "%s", error.message);
    check(strstr(error.message, "feed_forward_length") != NULL, "%s", error.message);
    gufo_document_free(known);
    folder_remove(&f);
}

/* Fields under another name: of Mistral's layout, and of the text model's part. */
static void test_names(void **state)
{
    folder f = new_folder();
    gufo_error error = no_error();

    (void)state;
    write_text(&f, "config.json",
               "{\"architectures\": [\"Mistral3ForConditionalGeneration\"], \"text_config\": {" BASE
               ", \"head_dim\": 3, \"model_type\": \"mistral\"}}");
    check(gufo_import_checkpoint(f.path, NULL, &error) == NULL, "accepted");
    check(strstr(error.message, "head_dim (3): ") == error.message, "%s", error.message);
    assert_int_equal(remove(folder_path(&f, "config.json").text), 0);
    write_text(
        &f, "params.json",
        "{\"dim\": 12, \"n_layers\": 2, \"n_heads\": 4, \"n_kv_heads\": 2, \"hidden_dim\": 16,"
        " \"norm_eps\": 1e-5, \"vocab_size\": 5, \"head_dim\": 2, \"max_seq_len\": 64}");
    error = no_error();
    check(gufo_import_checkpoint(f.path, NULL, &error) == NULL, "accepted");
    check(strstr(error.message, "dim (12): ") == error.message, "%s", error.message);
    check(strstr(error.file, "params.json") != NULL, "%s", error.file);
    folder_remove(&f);
}

/* ---- files beside the tensors ---------------------------------------------------------------- */

/* Puts something in the place of a file that cannot be read as one, by root either. */
static void spoil(const char *path, unsigned how)
{
    (void)remove(path);
    if (how == 0)
        assert_int_equal(mkdir(path, 0700), 0);
    else if (how == 1)
        assert_int_equal(mkfifo(path, 0600), 0);
    else
        assert_int_equal(symlink(how == 2 ? strrchr(path, '/') + 1 : "nowhere", path), 0);
}

enum { WAYS_TO_SPOIL = 4 };

/* A file that cannot be read never passes for one that is not there. */
static void test_unreadable(void **state)
{
    static const char *const names[] = {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "chat_template.json",
        "chat_template.jinja",
        "tokenizer.model",
        "gguf-metadata.json",
        "quantize_config.json",
        "model.safetensors.index.json",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (unsigned how = 0; how < WAYS_TO_SPOIL; how++) {
            folder f = new_folder();
            path_text path = folder_path(&f, names[i]);
            gufo_error error = no_error();

            spoil(path.text, how);
            check(gufo_import_checkpoint(f.path, NULL, &error) == NULL, "%s, %u: accepted",
                  names[i], how);
            check(strstr(error.file, names[i]) != NULL || strstr(error.message, names[i]) != NULL,
                  "%s, %u: %s: %s", names[i], how, error.file, error.message);
            (void)remove(path.text);
            folder_remove(&f);
        }
}

/* A model goes without these, with a warning. */
static void test_left_out(void **state)
{
    static const char *const names[] = {"generation_config.json", "README.md"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (unsigned how = 0; how <= WAYS_TO_SPOIL; how++) {
            folder f = new_folder();
            path_text path = folder_path(&f, names[i]);
            gufo_error error = no_error();
            gufo_import *import;

            if (how < WAYS_TO_SPOIL)
                spoil(path.text, how);
            else
                write_text(&f, names[i], i == 0 ? "{\"top_k\": 4" : "---\nlicense: [mit\n---\n");
            import = gufo_import_checkpoint(f.path, NULL, &error);
            check(import != NULL, "%s, %u: %s", names[i], how, error.message);
            check(gufo_import_warning_at(import, 0) != NULL, "%s, %u: no warning", names[i], how);
            gufo_import_free(import);
            (void)remove(path.text);
            folder_remove(&f);
        }
}

/* Those who look see the model as it is. */
static void test_unchecked(void **state)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_CHECK};
    folder f = new_folder();
    gufo_error error = no_error();
    gufo_import *import;

    (void)state;
    write_config(&f, LLAMA, "num_hidden_layers", "7");
    import = gufo_import_checkpoint(f.path, &options, &error);
    check(import != NULL, "%s", error.message);
    check(gufo_import_warning_at(import, 0) == NULL, "%s", gufo_import_warning_at(import, 0));
    gufo_import_free(import);
    write_config(&f, LLAMA, "hidden_act", "\"gelu\"");
    import = gufo_import_checkpoint(f.path, &options, &error);
    check(import != NULL && warns(import, "hidden_act"), "%s", error.message);
    gufo_import_free(import);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_other_architectures),
        cmocka_unit_test(test_fewer_left_out),
        cmocka_unit_test(test_other_doubts),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unchecked),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
