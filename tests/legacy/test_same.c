/* GPT-J, RWKV-4 and Whisper: a model of Hugging Face becomes the GGUF model that the same model in
 * an old file becomes: tensors by name, shape and numbers, and the keys of the architecture. */
#include "../support/folder.h"
#include "../support/legacy_writer.h"
#include "../support/safetensors_maker.h"

#include <math.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/import.h"

enum { MOST_NUMBERS = 256 };

typedef struct same_tensor {
    const char *old_name, *old_shape; /* the fastest dimension first */
    const char *name, *shape;         /* the slowest first; NULL: the old one, turned round */
    const char *type;
} same_tensor;

typedef struct same_model {
    const char *arch;
    const char *config;
    legacy_sample sample;
    const same_tensor *tensors;
    size_t count;
} same_model;

/* ---- GPT-J ---------------------------------------------------------------------------------- */

#define KEPT(name, shape, type)       \
    {                                 \
        name, shape, name, NULL, type \
    }
#define PAIR_KEPT(name, weight, bias) \
    KEPT(name ".weight", weight, "F16"), KEPT(name ".bias", bias, "F32")

static const same_tensor gptj_tensors[] = {
    KEPT("transformer.wte.weight", "EV", "F16"),
    PAIR_KEPT("transformer.ln_f", "E", "E"),
    PAIR_KEPT("lm_head", "EV", "V"),
    PAIR_KEPT("transformer.h.0.ln_1", "E", "E"),
    KEPT("transformer.h.0.attn.q_proj.weight", "EE", "F16"),
    KEPT("transformer.h.0.attn.k_proj.weight", "EE", "F16"),
    KEPT("transformer.h.0.attn.v_proj.weight", "EE", "F16"),
    KEPT("transformer.h.0.attn.out_proj.weight", "EE", "F16"),
    PAIR_KEPT("transformer.h.0.mlp.fc_in", "EF", "F"),
    PAIR_KEPT("transformer.h.0.mlp.fc_out", "FE", "E"),
};

/* ---- RWKV-4 --------------------------------------------------------------------------------- */

#define RENAMED(old, shape, name, type) \
    {                                   \
        old, shape, name, NULL, type    \
    }
#define MIXED(old, name)             \
    {                                \
        old, "E", name, "11E", "F32" \
    }
#define NORM(old, name)                                 \
    RENAMED(old ".weight", "E", name ".weight", "F32"), \
        RENAMED(old ".bias", "E", name ".bias", "F32")
#define RWKV_IN(part) "rwkv.blocks.0." part
#define RWKV_MATRIX(old, shape, name) \
    RENAMED("blocks.0." old ".weight", shape, RWKV_IN(name ".weight"), "F16")

static const same_tensor rwkv_tensors[] = {
    RENAMED("emb.weight", "EV", "rwkv.embeddings.weight", "F16"),
    NORM("blocks.0.ln0", RWKV_IN("pre_ln")),
    NORM("blocks.0.ln1", RWKV_IN("ln1")),
    NORM("blocks.0.ln2", RWKV_IN("ln2")),
    RENAMED("blocks.0.att.time_decay", "E", RWKV_IN("attention.time_decay"), "F32"),
    RENAMED("blocks.0.att.time_first", "E", RWKV_IN("attention.time_first"), "F32"),
    MIXED("blocks.0.att.time_mix_k", RWKV_IN("attention.time_mix_key")),
    MIXED("blocks.0.att.time_mix_v", RWKV_IN("attention.time_mix_value")),
    MIXED("blocks.0.att.time_mix_r", RWKV_IN("attention.time_mix_receptance")),
    RWKV_MATRIX("att.key", "EE", "attention.key"),
    RWKV_MATRIX("att.value", "EE", "attention.value"),
    RWKV_MATRIX("att.receptance", "EE", "attention.receptance"),
    RWKV_MATRIX("att.output", "EE", "attention.output"),
    MIXED("blocks.0.ffn.time_mix_k", RWKV_IN("feed_forward.time_mix_key")),
    MIXED("blocks.0.ffn.time_mix_r", RWKV_IN("feed_forward.time_mix_receptance")),
    RWKV_MATRIX("ffn.key", "EF", "feed_forward.key"),
    RWKV_MATRIX("ffn.value", "FE", "feed_forward.value"),
    RWKV_MATRIX("ffn.receptance", "EE", "feed_forward.receptance"),
    NORM("ln_out", "rwkv.ln_out"),
    RENAMED("head.weight", "EV", "head.weight", "F16"),
};

/* ---- Whisper -------------------------------------------------------------------------------- */

#define LINEAR(old, weight, bias, name)                    \
    RENAMED(old ".weight", weight, name ".weight", "F16"), \
        RENAMED(old ".bias", bias, name ".bias", "F32")
#define CONVOLUTION(name, shape)                                                       \
    RENAMED("encoder." name ".weight", shape, "model.encoder." name ".weight", "F16"), \
    {                                                                                  \
        "encoder." name ".bias", "1E", "model.encoder." name ".bias", "E", "F32"       \
    }
#define ATTENTION(old, name)                                            \
    LINEAR(old ".query", "EE", "E", name ".q_proj"),                    \
        RENAMED(old ".key.weight", "EE", name ".k_proj.weight", "F16"), \
        LINEAR(old ".value", "EE", "E", name ".v_proj"),                \
        LINEAR(old ".out", "EE", "E", name ".out_proj")
#define BLOCK(side)                                                                     \
    ATTENTION(side ".blocks.0.attn", "model." side ".layers.0.self_attn"),              \
        NORM(side ".blocks.0.attn_ln", "model." side ".layers.0.self_attn_layer_norm"), \
        LINEAR(side ".blocks.0.mlp.0", "EF", "F", "model." side ".layers.0.fc1"),       \
        LINEAR(side ".blocks.0.mlp.2", "FE", "E", "model." side ".layers.0.fc2"),       \
        NORM(side ".blocks.0.mlp_ln", "model." side ".layers.0.final_layer_norm")

static const same_tensor whisper_tensors[] = {
    CONVOLUTION("conv1", "3KE"),
    CONVOLUTION("conv2", "3EE"),
    RENAMED("encoder.positional_embedding", "EC", "model.encoder.embed_positions.weight", "F32"),
    BLOCK("encoder"),
    NORM("encoder.ln_post", "model.encoder.layer_norm"),
    RENAMED("decoder.positional_embedding", "ET", "model.decoder.embed_positions.weight", "F32"),
    RENAMED("decoder.token_embedding.weight", "EV", "model.decoder.embed_tokens.weight", "F16"),
    BLOCK("decoder"),
    ATTENTION("decoder.blocks.0.cross_attn", "model.decoder.layers.0.encoder_attn"),
    NORM("decoder.blocks.0.cross_attn_ln", "model.decoder.layers.0.encoder_attn_layer_norm"),
    NORM("decoder.ln", "model.decoder.layer_norm"),
};

/* ---- models --------------------------------------------------------------------------------- */

static const same_model models[] = {
    {"gptj",
     "{\"architectures\": [\"GPTJForCausalLM\"], \"n_positions\": 3, \"n_embd\": 4, \"n_layer\": "
     "1, "
     "\"n_head\": 2, \"n_inner\": null, \"rotary_dim\": 2, \"layer_norm_epsilon\": 1e-05}",
     {.name = "gptj",
      .family = "gptj",
      .container = "GGML",
      .flags = SAMPLE_TOKENS | SAMPLE_COUNTED,
      .fields = {6, 3, 4, 2, 1, 2, 1},
      .field_count = 7,
      .tokens = 6,
      .sizes = {{'E', 4}, {'V', 6}, {'F', 16}}},
     gptj_tensors,
     COUNT_OF(gptj_tensors)},
    {"rwkv",
     "{\"architectures\": [\"RwkvForCausalLM\"], \"context_length\": 1024, \"hidden_size\": 4, "
     "\"num_hidden_layers\": 1, \"attention_hidden_size\": 4, \"intermediate_size\": 6, "
     "\"rescale_every\": 6}",
     {.name = "rwkv",
      .family = "rwkv",
      .container = "GGMF",
      .version = 101,
      .generation = 2,
      .fields = {3, 4, 1, 1},
      .field_count = 4,
      .sizes = {{'E', 4}, {'V', 3}, {'F', 6}}},
     rwkv_tensors,
     COUNT_OF(rwkv_tensors)},
    {"whisper",
     "{\"architectures\": [\"WhisperForConditionalGeneration\"], \"d_model\": 4, "
     "\"encoder_layers\": "
     "1, \"decoder_layers\": 1, \"encoder_attention_heads\": 2, \"decoder_attention_heads\": 1, "
     "\"max_source_positions\": 3, \"max_target_positions\": 5, \"num_mel_bins\": 2}",
     {.name = "whisper",
      .family = "whisper",
      .container = "GGML",
      .flags = SAMPLE_TOKENS | SAMPLE_COUNTED | SAMPLE_MELS,
      .fields = {6, 3, 4, 2, 1, 5, 4, 1, 1, 2, 1},
      .field_count = 11,
      .tokens = 4,
      .sizes = {{'E', 4}, {'K', 2}, {'C', 3}, {'T', 5}, {'V', 6}, {'F', 8}}},
     whisper_tensors,
     COUNT_OF(whisper_tensors)},
};

/* ---- files ---------------------------------------------------------------------------------- */

static uint64_t size_of(const legacy_sample *s, char letter)
{
    for (size_t i = 0; i < COUNT_OF(s->sizes); i++)
        if (s->sizes[i].letter == letter)
            return s->sizes[i].size;
    return (uint64_t)(letter - '0');
}

/* rwkv.cpp stored -exp(w): small numbers become what the old file has of them. */
static void decay(uint8_t *old, uint8_t *numbers, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(float)) {
        float w = 0.25f * (float)(i / sizeof(float)) - 1;

        store_u32(numbers + i, float_to_bits(w), bytes_swapped(false));
        store_u32(old + i, float_to_bits((float)-exp((double)w)), bytes_swapped(false));
    }
}

/* The old file, and the folder with the same numbers. */
static void write_both(const same_model *m, const folder *place)
{
    static uint8_t decays[MOST_NUMBERS];
    legacy_sample sample = m->sample;
    safetensor tensors[SAMPLE_TENSORS];
    legacy_marks marks;
    builder b = builder_new((encoding){3, false});

    check(m->count < SAMPLE_TENSORS, "%s", m->arch);
    for (size_t i = 0; i < m->count; i++)
        sample.tensors[i] =
            (sample_tensor){m->tensors[i].old_name, m->tensors[i].old_shape,
                            strlen(m->tensors[i].old_shape) == 1 ? "F32" : m->tensors[i].type};
    legacy_write(&b, &sample, &marks);
    for (size_t i = 0; i < m->count; i++) {
        const same_tensor *t = &m->tensors[i];
        const char *shape = t->shape != NULL ? t->shape : t->old_shape;
        safetensor *made = &tensors[i];

        *made = (safetensor){.name = t->name,
                             .dtype = sample.tensors[i].type,
                             .n_dims = (uint32_t)strlen(shape),
                             .bytes = b.data + marks.data[i]};
        for (uint32_t d = 0; d < made->n_dims; d++)
            made->shape[d] = size_of(&sample, shape[t->shape != NULL ? d : made->n_dims - 1 - d]);
        if (strstr(t->name, "time_decay") == NULL)
            continue;
        check(safetensor_size(made) <= sizeof decays, "%s", t->name);
        decay(b.data + marks.data[i], decays, safetensor_size(made));
        made->bytes = decays;
    }
    write_file(folder_path(place, "old.bin").text, b.data, b.len);
    write_file(folder_path(place, "config.json").text, m->config, strlen(m->config));
    safetensors_write(folder_path(place, "model.safetensors").text, tensors, m->count);
    builder_free(&b);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Entries of the architecture in `a` are those of `b`. */
static uint64_t compare_keys(const gufo_model *a, const gufo_model *b, const char *arch)
{
    gufo_entry one, other;
    uint64_t count = 0;

    for (uint64_t i = 0; gufo_model_entry_at(a, i, &one); i++) {
        char key[128];

        (void)snprintf(key, sizeof key, "%.*s", (int)one.key.len, one.key.data);
        if (strncmp(key, arch, strlen(arch)) != 0 || key[strlen(arch)] != '.')
            continue;
        check(gufo_model_find(b, key, &other), "no %s", key);
        check(one.value.type == other.value.type, "%s has another type", key);
        check(one.value.type == GUFO_VALUE_FLOAT32 ? one.value.as.f == other.value.as.f
                                                   : one.value.as.u == other.value.as.u,
              "%s has another value", key);
        count++;
    }
    return count;
}

static void compare_numbers(const gufo_model *a, const gufo_tensor *one, const gufo_model *b,
                            const gufo_tensor *other, const char *name)
{
    float numbers[MOST_NUMBERS], expected[MOST_NUMBERS];
    gufo_error error = no_error();

    check(one->elements <= MOST_NUMBERS, "%s", name);
    check_ok(gufo_tensor_decode(a, one, 0, one->elements / one->dims[0], numbers, NULL, &error),
             &error, "%s", name);
    check_ok(gufo_tensor_decode(b, other, 0, one->elements / one->dims[0], expected, NULL, &error),
             &error, "%s", name);
    for (uint64_t i = 0; i < one->elements; i++)
        check(fabsf(numbers[i] - expected[i]) <= 2e-7f * fabsf(expected[i]),
              "%s: number %" PRIu64 " is %.9g instead of %.9g", name, i, (double)numbers[i],
              (double)expected[i]);
}

static void compare_tensors(const gufo_model *converted, const gufo_model *migrated)
{
    gufo_tensor one, other;
    uint64_t count = 0;

    for (; gufo_model_tensor_at(migrated, count, &other); count++) {
        char name[128];

        (void)snprintf(name, sizeof name, "%.*s", (int)other.name.len, other.name.data);
        check(gufo_model_tensor_find(converted, name, &one), "no tensor %s", name);
        check(one.n_dims == other.n_dims, "%s has %" PRIu32 " dimensions", name, one.n_dims);
        if (strcmp(name, "mel_filters") == 0) { /* those of the old file are made up */
            check(one.dims[0] == 201 && one.dims[1] == 2, "%s has another shape", name);
            continue;
        }
        check(memcmp(one.dims, other.dims, sizeof one.dims) == 0, "%s has another shape", name);
        check(one.type == other.type, "%s has another type", name);
        compare_numbers(converted, &one, migrated, &other, name);
    }
    check(!gufo_model_tensor_at(converted, count, &one), "more than %" PRIu64 " tensors", count);
}

static void compare(const same_model *m)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    gufo_error error = no_error();
    folder place = folder_new();
    gufo_import *converted, *migrated;
    const gufo_model *a, *b;

    write_both(m, &place);
    migrated = gufo_import_legacy(folder_path(&place, "old.bin").text, NULL, &error);
    check(migrated != NULL, "%s: %s", m->arch, error.message);
    converted = gufo_import_checkpoint(place.path, &options, &error);
    check(converted != NULL, "%s: %s", m->arch, error.message);
    a = gufo_import_model(converted);
    b = gufo_import_model(migrated);
    check(compare_keys(a, b, m->arch) > 0, "%s has no keys", m->arch);
    check(compare_keys(a, b, m->arch) == compare_keys(b, a, m->arch), "%s has other keys", m->arch);
    compare_tensors(a, b);
    gufo_import_free(converted);
    gufo_import_free(migrated);
    folder_remove(&place);
}

static void test_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++)
        compare(&models[i]);
}

/* ---- what is tied --------------------------------------------------------------------------- */

/* The tensors of a folder with these, "a b" ...; NULL: it is refused. */
static void check_made(const char *config, const safetensor *tensors, size_t count,
                       const char *expected)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    gufo_error error = no_error();
    folder place = folder_new();
    gufo_import *import;
    gufo_tensor tensor;
    char names[512] = "";

    write_file(folder_path(&place, "config.json").text, config, strlen(config));
    safetensors_write(folder_path(&place, "model.safetensors").text, tensors, count);
    import = gufo_import_checkpoint(place.path, &options, &error);
    check((import != NULL) == (expected != NULL), "%s", error.message);
    for (uint64_t i = 0;
         import != NULL && gufo_model_tensor_at(gufo_import_model(import), i, &tensor); i++) {
        size_t len = strlen(names);

        (void)snprintf(names + len, sizeof names - len, "%s%.*s", len > 0 ? " " : "",
                       (int)tensor.name.len, tensor.name.data);
    }
    check(expected == NULL || strcmp(names, expected) == 0, "%s", names);
    gufo_import_free(import);
    folder_remove(&place);
}

/* RWKV-4 gets its head; that of Whisper is the embedding, or an error. */
static void test_heads(void **state)
{
    static const uint8_t other[16] = {1};
    const safetensor embedding = {"rwkv.embeddings.weight", "F16", 2, {2, 4}, NULL};
    safetensor whisper[] = {{"model.decoder.embed_tokens.weight", "F16", 2, {2, 4}, NULL},
                            {"proj_out.weight", "F16", 2, {2, 4}, NULL}};

    (void)state;
    check_made(models[1].config, &embedding, 1, "emb.weight head.weight");
    check_made(models[2].config, whisper, 2, "mel_filters decoder.token_embedding.weight");
    whisper[1].bytes = other;
    check_made(models[2].config, whisper, 2, NULL);
}

/* Names that no rule is about, and numbers of filters that make no sense, are refused. */
static void test_refused(void **state)
{
    static const char *const configs[] = {
        "{\"architectures\": [\"WhisperForConditionalGeneration\"], "
        "\"num_mel_bins\": 0}",
        "{\"architectures\": [\"WhisperForConditionalGeneration\"], "
        "\"num_mel_bins\": 4611686018427387904}",
        "{\"architectures\": [\"WhisperForConditionalGeneration\"]}"};
    static const struct {
        size_t model;
        const char *name;
    } names[] = {{0, "transformer.h.0.attn.qkv_proj.weight"},
                 {1, "rwkv.blocks.0.attention.gate.weight"},
                 {1, "rwkv.blocks.0.attention.key.bias"},
                 {1, "rwkv.blocks.1.pre_ln.weight"},
                 {2, "model.encoder.layers.0.self_attn.k_proj.bias"},
                 {2, "model.encoder.layers.0.encoder_attn.q_proj.weight"},
                 {2, "model.encoder.conv3.weight"}};
    safetensor tensor = {"model.encoder.layer_norm.weight", "F32", 1, {4}, NULL};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(configs); i++)
        check_made(configs[i], &tensor, 1, NULL);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        tensor.name = names[i].name;
        check_made(models[names[i].model].config, &tensor, 1, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_heads),
                                       cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
