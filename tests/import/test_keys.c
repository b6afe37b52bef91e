/* The keys of architectures: those of the delivered models, made configurations for what these do not
 * have, and configurations of strangers. */
#include "config_folder.h"
#include "place.h"

#include <math.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "import/architectures/configuration/keys.h"
#include "import/architectures/configuration/rules.h"

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
    check_ok(config_open(&config, FOLDER_AT(model.text), NULL, CONFIG_OF_MODEL, NULL, NULL, &error),
             &error, "%s", name);
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

/* ---- made configurations ----------------------------------------------------------------------- */

/* A file beside config.json. */
typedef struct other_file {
    const char *name, *text;
} other_file;

typedef struct made_config {
    const char *label, *class_name, *json; /* json: the fields, without braces */
    other_file others[2];
    const char *expected; /* "KEY value" with ; between, or "- KEY" for one that is not there */
} made_config;

/* The value of a key as text; "-" if it is not there. */
static void show(const gufo_document *document, gufo_str key, char *out, size_t size)
{
    gufo_document_entry entry;
    gufo_array_iter iter;
    gufo_value element;
    size_t len;

    if (!gufo_document_find_str(document, key, &entry)) {
        (void)snprintf(out, size, "-");
        return;
    }
    switch (entry.value.type) {
    case GUFO_VALUE_ARRAY:
        len = (size_t)snprintf(out, size, "[");
        iter = gufo_array_start(&entry.value.as.array);
        while (gufo_array_next(&iter, &element) && len < size)
            len +=
                (size_t)(element.type == GUFO_VALUE_STRING
                             ? snprintf(out + len, size - len, "%.*s,", (int)element.as.str.len,
                                        element.as.str.data)
                             : snprintf(out + len, size - len, "%g,",
                                        element.type == GUFO_VALUE_FLOAT32 ? element.as.f
                                        : element.type == GUFO_VALUE_BOOL  ? (double)element.as.b
                                                                           : (double)element.as.i));
        (void)snprintf(out + len, size - len, "]");
        break;
    case GUFO_VALUE_STRING:
        (void)snprintf(out, size, "%.*s", (int)entry.value.as.str.len, entry.value.as.str.data);
        break;
    case GUFO_VALUE_BOOL:
        (void)snprintf(out, size, "%s", entry.value.as.b ? "true" : "false");
        break;
    default:
        (void)snprintf(out, size, "%.7g",
                       entry.value.type == GUFO_VALUE_FLOAT32 ? entry.value.as.f
                                                              : (double)entry.value.as.u);
    }
}

static void check_made_keys(const made_config *row, const written *w, const char *architecture)
{
    const char *at = row->expected;

    while (*at != '\0') {
        size_t key_len = strcspn(at, " "), value_len = strcspn(at + key_len, ";");
        char key[256], value[1024], expected[1024];

        (void)snprintf(key, sizeof key, "%s%s%.*s",
                       strncmp(at, "tokenizer.", 10) == 0 ? "" : architecture,
                       strncmp(at, "tokenizer.", 10) == 0 ? "" : ".", (int)key_len, at);
        (void)snprintf(expected, sizeof expected, "%.*s", (int)value_len - 1, at + key_len + 1);
        show(w->import.document, gufo_str_of(key), value, sizeof value);
        check(strcmp(value, expected) == 0, "%s: %s is %s instead of %s", row->label, key, value,
              expected);
        at += key_len + value_len;
        at += *at == ';';
    }
}

static gufo_status open_made(const made_config *row, folder *f, model_config *config,
                             gufo_error *error)
{
    char json[2048];

    *f = folder_new();
    (void)snprintf(json, sizeof json, "{\"architectures\": [\"%s\"]%s%s}", row->class_name,
                   row->json[0] != '\0' ? ", " : "", row->json);
    write_text(f, "config.json", json);
    for (size_t i = 0; i < COUNT_OF(row->others); i++)
        if (row->others[i].name != NULL) {
            path_text path = folder_path(f, row->others[i].name);
            char *slash = strrchr(path.text, '/');

            *slash = '\0';
            (void)mkdir(path.text, 0700);
            *slash = '/';
            write_file(path.text, row->others[i].text, strlen(row->others[i].text));
        }
    return config_open(config, FOLDER_AT(f->path), NULL, CONFIG_OF_MODEL, NULL, NULL, error);
}

static void check_made(const made_config *row)
{
    folder f;
    model_config config;
    gufo_error error = no_error();
    written w;

    check_ok(open_made(row, &f, &config, &error), &error, "%s", row->label);
    check_ok(write_keys(&w, &config, &error), &error, "%s", row->label);
    check_made_keys(row, &w, config.architecture);
    written_free(&w);
    config_done(&f, &config);
}

#define LLAMA                                                                     \
    "\"num_hidden_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4, " \
    "\"vocab_size\": 100"
#define BERT                                                                           \
    "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"max_position_embeddings\": 514, " \
    "\"layer_norm_eps\": 1e-5"

static void test_made(void **state)
{
    static const made_config cases[] = {
        {"no rope",
         "LlamaForCausalLM",
         LLAMA,
         {{NULL, NULL}},
         "block_count 4;context_length -;embedding_length 64;attention.head_count_kv -;"
         "rope.scaling.type -;vocab_size 100;rope.dimension_count 16;attention.causal -"},
        {"whole reals, a float as integer",
         "LlamaForCausalLM",
         LLAMA ", \"max_position_embeddings\": 4096.0, \"rope_theta\": 10000, \"n_ctx\": 5,"
               " \"is_causal\": false",
         {{NULL, NULL}},
         "context_length 4096;rope.freq_base 10000;attention.causal false"},
        {"yarn",
         "LlamaForCausalLM",
         LLAMA ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4,"
               " \"original_max_position_embeddings\": 32, \"attn_factor\": 0.5,"
               " \"beta_fast\": null, \"beta_slow\": 2, \"mrope_section\": [1, 2]}",
         {{NULL, NULL}},
         "rope.scaling.type yarn;rope.scaling.factor 4;rope.scaling.original_context_length 32;"
         "rope.scaling.yarn_attn_factor 0.5;rope.scaling.yarn_beta_fast -;"
         "rope.scaling.yarn_beta_slow 2;rope.dimension_sections [1,2,0,0,]"},
        {"yarn without factor",
         "LlamaForCausalLM",
         LLAMA ", \"rope_scaling\": {\"rope_type\": \"yarn\"}",
         {{NULL, NULL}},
         "rope.scaling.type -;rope.scaling.factor -"},
        {"su",
         "LlamaForCausalLM",
         LLAMA ", \"rope_scaling\": {\"type\": \"su\"}",
         {{NULL, NULL}},
         "rope.scaling.type longrope"},
        {"both kinds of attention",
         "LlamaForCausalLM",
         LLAMA ", \"rope_parameters\": {\"full_attention\": {\"rope_theta\": 8, \"rope_type\":"
               " \"linear\", \"factor\": 2}, \"sliding_attention\": {\"rope_theta\": 3}}",
         {{NULL, NULL}},
         "rope.freq_base 8;rope.freq_base_swa 3;rope.scaling.type linear"},
        {"experts",
         "MixtralForCausalLM",
         LLAMA ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"n_group\": 4,"
               " \"topk_group\": 2, \"scoring_func\": \"sigmoid\"",
         {{NULL, NULL}},
         "expert_count 8;expert_used_count 2;expert_group_count 4;expert_group_used_count 2;"
         "expert_gating_func 2"},
        {"heads of each layer",
         "LlamaForCausalLM",
         LLAMA ", \"num_key_value_heads\": [4, 2, 2, 1]",
         {{NULL, NULL}},
         "attention.head_count_kv [4,2,2,1,]"},
        {"special vocabulary sizes",
         "LlamaForCausalLM",
         "\"n_layer\": 1, \"head_dim\": 4, \"vocab_size\": 32016",
         {{NULL, NULL}},
         "tokenizer.ggml.eot_token_id 32010;tokenizer.ggml.add_bos_token -;"
         "tokenizer.ggml.add_space_prefix -"},
        {"another one, and a prefix",
         "LlamaForCausalLM",
         "\"n_layer\": 1, \"head_dim\": 4, \"vocab_size\": 49152",
         {{"tokenizer_config.json", "{\"add_prefix_space\": false}"}},
         "tokenizer.ggml.eot_token_id -;tokenizer.ggml.add_bos_token false;"
         "tokenizer.ggml.add_space_prefix false"},
        {"multipliers that are 0",
         "GraniteForCausalLM",
         LLAMA ", \"head_dim\": 9, \"attention_multiplier\": 0.5, \"embedding_multiplier\": 0,"
               " \"logits_scaling\": null",
         {{NULL, NULL}},
         "attention.scale 0.5;embedding_scale -;residual_scale -;logit_scale -;"
         "rope.dimension_count 16;attention.key_length -"},
        {"all layers are global",
         "Llama4ForCausalLM",
         LLAMA ", \"intermediate_size\": 5, \"intermediate_size_mlp\": 6, \"layer_types\":"
               " [\"full_attention\"], \"interleave_moe_layer_step\": 1",
         {{NULL, NULL}},
         "feed_forward_length 6;expert_feed_forward_length 5;attention.sliding_window 0"},
        {"some are",
         "Llama4ForCausalLM",
         LLAMA ", \"intermediate_size\": 5, \"intermediate_size_mlp\": 6, \"layer_types\":"
               " [\"full_attention\", \"chunked\"], \"interleave_moe_layer_step\": 1",
         {{NULL, NULL}},
         "attention.sliding_window -"},
        {"factors of phi3, below",
         "Phi3ForCausalLM",
         LLAMA ", \"max_position_embeddings\": 64, \"original_max_position_embeddings\": 64,"
               " \"num_key_value_heads\": 4, \"intermediate_size\": 9, \"rms_norm_eps\": 1,"
               " \"rope_theta\": 4, \"sliding_window\": null,"
               " \"rope_scaling\": {\"type\": \"su\", \"long_factor\": [1]}",
         {{NULL, NULL}},
         "rope.scaling.attn_factor 1;attention.sliding_window 0"},
        {"factors of phi3, yarn",
         "Phi3ForCausalLM",
         LLAMA ", \"max_position_embeddings\": 128, \"original_max_position_embeddings\": 64,"
               " \"num_key_value_heads\": 4, \"intermediate_size\": 9, \"rms_norm_eps\": 1,"
               " \"rope_theta\": 4, \"partial_rotary_factor\": 0.5,"
               " \"rope_scaling\": {\"type\": \"yarn\", \"long_factor\": [1]}",
         {{NULL, NULL}},
         "rope.scaling.attn_factor 1.069315;rope.dimension_count 8"},
        {"pattern of letters",
         "Exaone4ForCausalLM",
         LLAMA ", \"sliding_window\": 8, \"sliding_window_pattern\": \"LLG\"",
         {{NULL, NULL}},
         "attention.sliding_window 8;attention.sliding_window_pattern [1,1,0,1,]"},
        {"pattern by number",
         "Exaone4ForCausalLM",
         LLAMA ", \"sliding_window\": 8, \"sliding_window_pattern\": 2",
         {{NULL, NULL}},
         "attention.sliding_window_pattern [1,0,1,0,]"},
        {"pattern by layers",
         "Exaone4ForCausalLM",
         LLAMA ", \"sliding_window\": 8, \"sliding_window_pattern\": 2, \"layer_types\":"
               " [\"sliding_attention\", \"x\"]",
         {{NULL, NULL}},
         "attention.sliding_window_pattern [1,0,]"},
        {"no window",
         "Exaone4ForCausalLM",
         LLAMA ", \"sliding_window\": null, \"sliding_window_pattern\": 2",
         {{NULL, NULL}},
         "attention.sliding_window -;attention.sliding_window_pattern -"},
        {"no linear positions",
         "NemotronForCausalLM",
         LLAMA ", \"norm_eps\": 1e-5, \"partial_rotary_factor\": 0.5",
         {{NULL, NULL}},
         "rope.scaling.type none;rope.dimension_count 8;tokenizer.ggml.unknown_token_id 1"},
        {"linear positions",
         "NemotronForCausalLM",
         LLAMA ", \"norm_eps\": 1e-5, \"rope_pct\": 0.5, \"factor\": 3",
         {{NULL, NULL}},
         "rope.scaling.type linear;rope.scaling.factor 3"},
        {"pooling",
         "Qwen2ForCausalLM",
         LLAMA,
         {{"modules.json", "[{\"type\": \"x.Transformer\", \"path\": \"\"}, {\"type\":"
                           " \"models.Pooling\", \"path\": \"1_Pooling\"}]"},
          {"1_Pooling/config.json", "{\"pooling_mode_cls_token\": false,"
                                    " \"pooling_mode_lasttoken\": true}"}},
         "pooling_type 3"},
        {"pooling by mode",
         "BertModel",
         BERT,
         {{"modules.json", "[{\"type\": \"models.Pooling\", \"path\": \"p\"}]"},
          {"p/config.json", "{\"pooling_mode\": \"cls\"}"}},
         "pooling_type 2;attention.causal false"},
        {"no pooling", "BertModel", BERT, {{"modules.json", "[]"}}, "pooling_type -"},
        {"labels",
         "BertForSequenceClassification",
         BERT ", \"id2label\": {\"0\": \"no\", \"10\": \"b\", \"2\": \"yes\"}",
         {{NULL, NULL}},
         "classifier.output_labels [no,b,yes,];context_length 514;"
         "tokenizer.ggml.token_type_count 1"},
        {"labels without names",
         "BertForSequenceClassification",
         BERT ", \"id2label\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"}",
         {{NULL, NULL}},
         "classifier.output_labels -"},
        {"positions of Roberta",
         "XLMRobertaModel",
         BERT ", \"pad_token_id\": 1",
         {{NULL, NULL}},
         "context_length 512"},
        {"positions of Camembert",
         "CamembertModel",
         BERT ", \"pad_token_id\": 1",
         {{NULL, NULL}},
         "context_length 514"},
        {"DistilBert",
         "DistilBertModel",
         "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"max_position_embeddings\": 9",
         {{NULL, NULL}},
         "attention.layer_norm_epsilon 1e-12"},
        {"an encoder of t5",
         "T5EncoderModel",
         "\"num_layers\": 2, \"d_model\": 8, \"d_ff\": 9, \"num_heads\": 2, \"d_kv\": 4,"
         " \"layer_norm_epsilon\": 1e-6, \"relative_attention_num_buckets\": 32,"
         " \"decoder_start_token_id\": 0, \"num_decoder_layers\": 2",
         {{NULL, NULL}},
         "decoder_block_count -;decoder_start_token_id -;context_length 512"},
        {"rank of time steps",
         "MambaForCausalLM",
         "\"num_hidden_layers\": 1, \"hidden_size\": 40, \"vocab_size\": 9,"
         " \"time_step_rank\": \"auto\"",
         {{NULL, NULL}},
         "ssm.time_step_rank 3;ssm.inner_size 80;ssm.dt_b_c_rms false;context_length 1048576"},
        {"another sort of gpt2",
         "RuGPT3XLForCausalLM",
         LLAMA ", \"max_position_embeddings\": 7",
         {{NULL, NULL}},
         "context_length 7;attention.head_count 4"},
        {"predicted tokens",
         "Qwen3_5ForCausalLM",
         LLAMA ", \"mtp_num_hidden_layers\": 1, \"linear_conv_kernel_dim\": 1,"
               " \"linear_key_head_dim\": 2, \"linear_num_key_heads\": 3,"
               " \"linear_num_value_heads\": 4, \"linear_value_head_dim\": 5",
         {{NULL, NULL}},
         "block_count 5;nextn_predict_layers 1;ssm.inner_size 20;rope.dimension_count 4;"
         "rope.dimension_sections [11,11,10,0,]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_made(&cases[i]);
}

/* ---- rerankers --------------------------------------------------------------------------------- */

static void test_rerankers(void **state)
{
    static const made_config cases[] = {
        {"by card",
         "Qwen3ForCausalLM",
         LLAMA,
         {{"README.md", "---\nlicense: mit\n---\n\n# Qwen3-Reranker-0.6B\n"}},
         "pooling_type 4;classifier.output_labels [yes,no,];tokenizer.chat_templates [rerank,]"},
        {"by name",
         "Qwen3ForCausalLM",
         LLAMA ", \"_name_or_path\": \"a/Qwen3-VL-Reranker\"",
         {{NULL, NULL}},
         "pooling_type 4"},
        {"of a model that sees",
         "Qwen3VLForConditionalGeneration",
         LLAMA ", \"vision_config\": {\"deepstack_visual_indexes\": [1]}",
         {{"README.md", "# Qwen3-VL-Reranker-2B\n"}},
         "pooling_type 4;tokenizer.chat_templates [rerank,]"},
        {"no",
         "Qwen3ForCausalLM",
         LLAMA,
         {{"README.md", "not a qwen3-reranker"}},
         "pooling_type -;classifier.output_labels -;tokenizer.chat_template.rerank -"},
        {"of another family",
         "Qwen2ForCausalLM",
         LLAMA,
         {{"README.md", "# Qwen3-Reranker"}},
         "pooling_type -"},
    };
    written w;
    folder f;
    model_config config;
    gufo_error error = no_error();
    gufo_document_entry entry;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_made(&cases[i]);
    check_ok(open_made(&cases[0], &f, &config, &error), &error, "card");
    check_ok(write_keys(&w, &config, &error), &error, "card");
    assert_true(gufo_document_find(w.import.document, "tokenizer.chat_template.rerank", &entry));
    assert_true(strncmp(entry.value.as.str.data, "<|im_start|>system\nJudge whether", 32) == 0);
    assert_non_null(
        memmem(entry.value.as.str.data, entry.value.as.str.len, "\"yes\" or \"no\".", 14));
    written_free(&w);
    config_done(&f, &config);
}

/* ---- the vocabulary ---------------------------------------------------------------------------- */

static void test_readers(void **state)
{
    static const struct {
        const char *class_name, *json;
        other_file others[2];
        const char *readers;
    } cases[] = {
        {"LlamaForCausalLM", LLAMA, {{NULL, NULL}}, "[mistral, spm, hf, bpe]"},
        {"LlamaForCausalLM", LLAMA, {{"tokenizer.json", "{}"}}, "[spm, hf, bpe]"},
        {"Qwen2ForCausalLM", LLAMA, {{NULL, NULL}}, "[spm, bpe]"},
        {"Phi3ForCausalLM", "", {{NULL, NULL}}, "[phi3]"},
        {"RobertaModel", BERT, {{NULL, NULL}}, "[bpe]"},
        {"XLMRobertaModel", BERT, {{NULL, NULL}}, "[xlmr]"},
        {"BertModel", BERT, {{NULL, NULL}}, "[wpm]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_config row = {"readers", cases[i].class_name, cases[i].json, {{NULL, NULL}}, ""};
        folder f;
        model_config config;
        gufo_error error = no_error();
        written w = {.import = {.allocator = default_allocator}};
        keys_request request = {.config = &config, .read_vocabulary = note_readers, .context = &w};

        memcpy(row.others, cases[i].others, sizeof row.others);
        check_ok(open_made(&row, &f, &config, &error), &error, "%s", row.class_name);
        w.import.document = gufo_document_new(NULL, &error);
        check_ok(keys_write(&w.import, &request, KEYS_VOCABULARY, &error), &error, "%s",
                 row.class_name);
        check(strcmp(w.readers, cases[i].readers) == 0, "%s: %s", row.class_name, w.readers);
        written_free(&w);
        config_done(&f, &config);
    }
}

/* Puts a vocabulary into the document, as a reader does. */
static gufo_status read_tokens(void *context, const char *readers, gufo_error *error)
{
    static const char *const texts[] = {"a", "<|user|>", "<|endoftext|>", "[gMASK]",
                                        "<|observation|>"};
    written *w = context;
    gufo_str tokens[COUNT_OF(texts)];
    const gufo_items items = {GUFO_VALUE_STRING, COUNT_OF(texts), tokens};

    (void)readers;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        tokens[i] = gufo_str_of(texts[i]);
    check_ok(gufo_document_set_u32(w->import.document, "tokenizer.ggml.eos_token_id", 7, error),
             error, "eos");
    check_ok(gufo_document_set_text(w->import.document, "tokenizer.ggml.model", "llama", error),
             error, "model");
    return gufo_document_set_array(w->import.document, "tokenizer.ggml.tokens", &items, error);
}

/* From GLM-4.5 on: a call of tools ends with <|observation|>. */
#define GLM                                                        \
    "tokenizer.ggml.bos_token_id 3;tokenizer.ggml.eos_token_id 7;" \
    "tokenizer.ggml.eot_token_id 1;tokenizer.ggml.eom_token_id 4;" \
    "tokenizer.ggml.unknown_token_id 2"

/* Rows behind the vocabulary see what it has. */
static void test_after_vocabulary(void **state)
{
    static const made_config cases[] = {
        {"glm4",
         "Glm4ForCausalLM",
         LLAMA,
         {{NULL, NULL}},
         "tokenizer.ggml.eos_token_id 7;tokenizer.ggml.eot_token_id 1;"
         "tokenizer.ggml.unknown_token_id 2;tokenizer.ggml.bos_token_id 2"},
        {"glm4moe", "Glm4MoeForCausalLM", LLAMA, {{NULL, NULL}}, GLM},
        {"glm4moe with images", "Glm4vMoeForConditionalGeneration", LLAMA, {{NULL, NULL}}, GLM},
        {"glm-dsa", "GlmMoeDsaForCausalLM", LLAMA, {{NULL, NULL}}, GLM},
        {"glm lite", "Glm4MoeLiteForCausalLM", LLAMA, {{NULL, NULL}}, GLM},
        {"deepseek2",
         "DeepseekV3ForCausalLM",
         LLAMA,
         {{NULL, NULL}},
         "tokenizer.ggml.bos_token_id -;tokenizer.ggml.eom_token_id -"},
        {"mpt",
         "MPTForCausalLM",
         "",
         {{NULL, NULL}},
         "tokenizer.ggml.eos_token_id 1;tokenizer.ggml.padding_token_id 3;"
         "tokenizer.ggml.add_bos_token false"},
        {"gemma3",
         "Gemma3ForCausalLM",
         "",
         {{NULL, NULL}},
         "tokenizer.ggml.add_space_prefix false"},
        {"nothing to add",
         "GPT2LMHeadModel",
         "",
         {{NULL, NULL}},
         "tokenizer.ggml.eos_token_id 7;tokenizer.ggml.eot_token_id -"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        folder f;
        model_config config;
        gufo_error error = no_error();
        written w = {.import = {.allocator = default_allocator}};
        keys_request request = {.config = &config, .read_vocabulary = read_tokens, .context = &w};

        check_ok(open_made(&cases[i], &f, &config, &error), &error, "%s", cases[i].label);
        w.import.document = gufo_document_new(NULL, &error);
        check_ok(keys_write(&w.import, &request, KEYS_VOCABULARY, &error), &error, "%s",
                 cases[i].label);
        check_made_keys(&cases[i], &w, config.architecture);
        written_free(&w);
        config_done(&f, &config);
    }
}

/* ---- failures ---------------------------------------------------------------------------------- */

/* However deep the rows of groups are, the key is named once. */
static void check_one_key(const char *message)
{
    static const char before[] = ", for ";
    const char *first = strstr(message, before);

    check(first == NULL || strstr(first + 1, before) == NULL, "%s", message);
}

static void test_failures(void **state)
{
    static const struct {
        const char *class_name, *json;
        other_file others[2];
        gufo_status status;
        const char *message;
    } cases[] = {
        {"LlamaForCausalLM",
         "",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "none of n_layers, num_hidden_layers, n_layer, num_layers, for llama.block_count"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1000000000000000000",
         {{NULL, NULL}},
         GUFO_E_RANGE,
         "n_layer gives 1000000000000000000"},
        {"LlamaForCausalLM",
         "\"n_layer\": 99999999999999999999999999",
         {{NULL, NULL}},
         GUFO_E_RANGE,
         "too large"},
        {"LlamaForCausalLM", "\"n_layer\": -1", {{NULL, NULL}}, GUFO_E_RANGE, "gives -1"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1.5",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "a whole number is"},
        {"LlamaForCausalLM", "\"n_layer\": \"4\"", {{NULL, NULL}}, GUFO_E_MALFORMED, "is a text"},
        {"LlamaForCausalLM",
         LLAMA ", \"num_key_value_heads\": []",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "num_key_value_heads is a list"},
        {"LlamaForCausalLM",
         "\"n_layer\": true",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "is true or false"},
        {"LlamaForCausalLM", "\"n_layer\": null", {{NULL, NULL}}, GUFO_E_MALFORMED, "is null"},
        {"LlamaForCausalLM", "\"n_layer\": {}", {{NULL, NULL}}, GUFO_E_MALFORMED, "is an object"},
        {"LlamaForCausalLM",
         "\"n_layer\": [1, \"x\"]",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "is a text"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"vocab_size\": 8, \"hidden_size\": 4,"
         " \"num_attention_heads\": 0",
         {{NULL, NULL}},
         GUFO_E_RANGE,
         "division by 0"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"vocab_size\": 8",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "not enough of head_dim, hidden_size, num_attention_heads, for "
         "llama.rope.dimension_count"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"rms_norm_eps\": \"x\"",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "rms_norm_eps is a text, and a number is needed"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"rms_norm_eps\": 1e300",
         {{NULL, NULL}},
         GUFO_E_RANGE,
         "too large"},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"scoring_func\": \"x\"",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "the router of experts is \"x\""},
        {"LlamaForCausalLM",
         "\"n_layer\": 1, \"rope_scaling\": {\"type\": \"yarn\","
         " \"factor\": 2}",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "no rope.original_max_position_embeddings"},
        {"Olmo2ForCausalLM",
         "\"num_hidden_layers\": 1000000, \"sliding_window\": 4",
         {{NULL, NULL}},
         GUFO_E_RANGE,
         "num_hidden_layers gives 1000000; 0 to 65536 is possible"},
        {"Gemma3ForCausalLM",
         "\"num_hidden_layers\": 1, \"attn_logit_softcapping\": 3",
         {{NULL, NULL}},
         GUFO_E_TYPE,
         "attn_logit_softcapping"},
        {"ExaoneForCausalLM",
         "\"activation_function\": \"gelu\"",
         {{NULL, NULL}},
         GUFO_E_TYPE,
         "silu"},
        {"Phi3ForCausalLM",
         "\"rope_scaling\": {\"type\": \"linear\", \"long_factor\": [1]}, \"n_positions\": 1,"
         " \"original_max_position_embeddings\": 1",
         {{NULL, NULL}},
         GUFO_E_TYPE,
         "long_factor"},
        {"MambaForCausalLM",
         "\"num_hidden_layers\": 1, \"hidden_size\": 4, \"vocab_size\": 8,"
         " \"intermediate_size\": 9",
         {{NULL, NULL}},
         GUFO_E_TYPE,
         "twice"},
        {"BertForSequenceClassification",
         BERT ", \"id2label\": {\"0\": 5}",
         {{NULL, NULL}},
         GUFO_E_MALFORMED,
         "a text is needed"},
        {"BertModel",
         BERT,
         {{"modules.json", "[{\"type\": \"Pooling\", \"path\": \"../../etc\"}]"}},
         GUFO_E_MALFORMED,
         "outside"},
        {"BertModel",
         BERT,
         {{"modules.json", "[{\"type\": \"Pooling\", \"path\": \"p\"}]"}},
         GUFO_E_NOT_FOUND,
         "missing"},
        {"BertModel",
         BERT,
         {{"modules.json", "[{\"type\": \"Pooling\", \"path\": \"p\"}]"},
          {"p/config.json", "{\"pooling_mode_max_tokens\": true}"}},
         GUFO_E_MALFORMED,
         "not mean, cls or last token"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        made_config row = {"bad", cases[i].class_name, cases[i].json, {{NULL, NULL}}, ""};
        folder f;
        model_config config;
        gufo_error error = no_error();
        written w;

        memcpy(row.others, cases[i].others, sizeof row.others);
        check_ok(open_made(&row, &f, &config, &error), &error, "%s", row.json);
        check_status(write_keys(&w, &config, &error), cases[i].status, &error, "%s", row.json);
        check_error_shape(&error, cases[i].status, row.json);
        check(strstr(error.message, cases[i].message) != NULL, "%s: %s", row.json, error.message);
        check(strstr(error.file, "/config.json") != NULL, "%s: %s", row.json, error.file);
        check_one_key(error.message);
        written_free(&w);
        config_done(&f, &config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivered),        cmocka_unit_test(test_made),
        cmocka_unit_test(test_rerankers),        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_after_vocabulary), cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
