#include "legacy_writer.h"

/* ---- the samples ---------------------------------------------------------------------------- */

#define LLAMA_TENSORS                                                                    \
    {                                                                                    \
        {"tok_embeddings.weight", "EV", NULL}, {"norm.weight", "E", NULL},               \
            {"output.weight", "EV", NULL}, {"layers.0.attention.wq.weight", "EE", NULL}, \
            {"layers.0.attention.wk.weight", "EK", NULL},                                \
            {"layers.0.attention.wv.weight", "EK", NULL},                                \
            {"layers.0.attention.wo.weight", "EE", NULL},                                \
            {"layers.0.feed_forward.w1.weight", "EF", NULL},                             \
            {"layers.0.feed_forward.w2.weight", "FE", NULL},                             \
            {"layers.0.feed_forward.w3.weight", "EF", NULL},                             \
            {"layers.0.attention_norm.weight", "E", NULL},                               \
        {                                                                                \
            "layers.0.ffn_norm.weight", "E", NULL                                        \
        }                                                                                \
    }

#define BLOOM_TENSORS                                                                           \
    {                                                                                           \
        {"tok_embeddings.weight", "EV", NULL}, {"norm.weight", "E", NULL},                      \
            {"norm.bias", "E", NULL}, {"output_norm.weight", "E", NULL},                        \
            {"output_norm.bias", "E", NULL}, {"output.weight", "EV", NULL},                     \
            {"layers.0.attention_norm.weight", "E", NULL},                                      \
            {"layers.0.attention_norm.bias", "E", NULL},                                        \
            {"layers.0.attention.query_key_value.weight", "EQ", NULL},                          \
            {"layers.0.attention.query_key_value.bias", "Q", NULL},                             \
            {"layers.0.attention.wo.weight", "EE", NULL},                                       \
            {"layers.0.attention.wo.bias", "E", NULL}, {"layers.0.ffn_norm.weight", "E", NULL}, \
            {"layers.0.ffn_norm.bias", "E", NULL},                                              \
            {"layers.0.feed_forward.w1.weight", "EF", NULL},                                    \
            {"layers.0.feed_forward.w1.bias", "F", NULL},                                       \
            {"layers.0.feed_forward.w2.weight", "FE", NULL},                                    \
        {                                                                                       \
            "layers.0.feed_forward.w2.bias", "E", NULL                                          \
        }                                                                                       \
    }

/* In the files of 2022 some matrices are the other way round. */
#define GPT2_TENSORS(attn, up)                                                               \
    {                                                                                        \
        {"model/ln_f/g", "E", NULL}, {"model/ln_f/b", "E", NULL}, {"model/wte", "EV", NULL}, \
            {"model/wpe", "EC", "F32"}, {"model/h0/ln_1/g", "E", NULL},                      \
            {"model/h0/ln_1/b", "E", NULL}, {"model/h0/ln_2/g", "E", NULL},                  \
            {"model/h0/ln_2/b", "E", NULL}, {"model/h0/attn/c_attn/w", attn, NULL},          \
            {"model/h0/attn/c_attn/b", "Q", NULL}, {"model/h0/attn/c_proj/w", "EE", NULL},   \
            {"model/h0/attn/c_proj/b", "E", NULL}, {"model/h0/mlp/c_fc/w", up, NULL},        \
            {"model/h0/mlp/c_fc/b", "F", NULL}, {"model/h0/mlp/c_proj/w", "FE", NULL},       \
        {                                                                                    \
            "model/h0/mlp/c_proj/b", "E", NULL                                               \
        }                                                                                    \
    }

#define GPTJ_TENSORS                                                                    \
    {                                                                                   \
        {"transformer.wte.weight", "EV", NULL}, {"transformer.ln_f.weight", "E", NULL}, \
            {"transformer.ln_f.bias", "E", NULL}, {"lm_head.weight", "EV", NULL},       \
            {"lm_head.bias", "V", NULL}, {"transformer.h.0.ln_1.weight", "E", NULL},    \
            {"transformer.h.0.ln_1.bias", "E", NULL},                                   \
            {"transformer.h.0.attn.q_proj.weight", "EE", NULL},                         \
            {"transformer.h.0.attn.k_proj.weight", "EE", NULL},                         \
            {"transformer.h.0.attn.v_proj.weight", "EE", NULL},                         \
            {"transformer.h.0.attn.out_proj.weight", "EE", NULL},                       \
            {"transformer.h.0.mlp.fc_in.weight", "EF", NULL},                           \
            {"transformer.h.0.mlp.fc_in.bias", "F", NULL},                              \
            {"transformer.h.0.mlp.fc_out.weight", "FE", NULL},                          \
        {                                                                               \
            "transformer.h.0.mlp.fc_out.bias", "E", NULL                                \
        }                                                                               \
    }

#define GPTNEOX_TENSORS                                                                            \
    {                                                                                              \
        {"gpt_neox.embed_in.weight", "EV", NULL}, {"gpt_neox.final_layer_norm.weight", "E", NULL}, \
            {"gpt_neox.final_layer_norm.bias", "E", NULL}, {"embed_out.weight", "EV", NULL},       \
            {"gpt_neox.layers.0.input_layernorm.weight", "E", NULL},                               \
            {"gpt_neox.layers.0.input_layernorm.bias", "E", NULL},                                 \
            {"gpt_neox.layers.0.post_attention_layernorm.weight", "E", NULL},                      \
            {"gpt_neox.layers.0.post_attention_layernorm.bias", "E", NULL},                        \
            {"gpt_neox.layers.0.attention.query_key_value.weight", "EQ", NULL},                    \
            {"gpt_neox.layers.0.attention.query_key_value.bias", "Q", NULL},                       \
            {"gpt_neox.layers.0.attention.dense.weight", "EE", NULL},                              \
            {"gpt_neox.layers.0.attention.dense.bias", "E", NULL},                                 \
            {"gpt_neox.layers.0.mlp.dense_h_to_4h.weight", "EF", NULL},                            \
            {"gpt_neox.layers.0.mlp.dense_h_to_4h.bias", "F", NULL},                               \
            {"gpt_neox.layers.0.mlp.dense_4h_to_h.weight", "FE", NULL},                            \
        {                                                                                          \
            "gpt_neox.layers.0.mlp.dense_4h_to_h.bias", "E", NULL                                  \
        }                                                                                          \
    }

#define MPT_TENSORS                                                                       \
    {                                                                                     \
        {"transformer.wte.weight", "EV", NULL}, {"transformer.norm_f.weight", "E", NULL}, \
            {"transformer.blocks.0.norm_1.weight", "E", NULL},                            \
            {"transformer.blocks.0.norm_2.weight", "E", NULL},                            \
            {"transformer.blocks.0.attn.Wqkv.weight", "EQ", NULL},                        \
            {"transformer.blocks.0.attn.out_proj.weight", "EE", NULL},                    \
            {"transformer.blocks.0.ffn.up_proj.weight", "EF", NULL},                      \
        {                                                                                 \
            "transformer.blocks.0.ffn.down_proj.weight", "FE", NULL                       \
        }                                                                                 \
    }

#define FALCON_7B_TENSORS                                                                          \
    {                                                                                              \
        {"transformer.word_embeddings.weight", "EV", NULL},                                        \
            {"transformer.ln_f.weight", "E", NULL}, {"transformer.ln_f.bias", "E", NULL},          \
            {"lm_head.weight", "EV", NULL}, {"transformer.h.0.input_layernorm.weight", "E", NULL}, \
            {"transformer.h.0.input_layernorm.bias", "E", NULL},                                   \
            {"transformer.h.0.self_attention.query_key_value.weight", "EQ", NULL},                 \
            {"transformer.h.0.self_attention.dense.weight", "EE", NULL},                           \
            {"transformer.h.0.mlp.dense_h_to_4h.weight", "EF", NULL},                              \
        {                                                                                          \
            "transformer.h.0.mlp.dense_4h_to_h.weight", "FE", NULL                                 \
        }                                                                                          \
    }

#define FALCON_40B_TENSORS                                                                 \
    {                                                                                      \
        {"transformer.word_embeddings.weight", "EV", NULL},                                \
            {"transformer.ln_f.weight", "E", NULL}, {"transformer.ln_f.bias", "E", NULL},  \
            {"lm_head.weight", "EV", NULL}, {"transformer.h.0.ln_attn.weight", "E", NULL}, \
            {"transformer.h.0.ln_attn.bias", "E", NULL},                                   \
            {"transformer.h.0.ln_mlp.weight", "E", NULL},                                  \
            {"transformer.h.0.ln_mlp.bias", "E", NULL},                                    \
            {"transformer.h.0.self_attention.query_key_value.weight", "EQ", NULL},         \
            {"transformer.h.0.self_attention.dense.weight", "EE", NULL},                   \
            {"transformer.h.0.mlp.dense_h_to_4h.weight", "EF", NULL},                      \
        {                                                                                  \
            "transformer.h.0.mlp.dense_4h_to_h.weight", "FE", NULL                         \
        }                                                                                  \
    }

/* Nobody checks the shapes of layers: one of each layout. */
#define WHISPER_TENSORS                                                                            \
    {                                                                                              \
        {"encoder.conv1.weight", "3KE", "F16"}, {"encoder.conv1.bias", "1E", "F32"},               \
            {"encoder.blocks.0.attn.query.weight", "E2", "Q4_0"},                                  \
            {"encoder.blocks.0.attn.key.weight", "E2", "Q4_1"},                                    \
            {"encoder.blocks.0.attn.value.weight", "E2", "Q8_0"},                                  \
            {"encoder.blocks.0.attn.out.weight", "E2", "Q5_0"},                                    \
            {"encoder.positional_embedding", "EC", "F32"}, {"encoder.ln_post.weight", "E", "F32"}, \
            {"encoder.ln_post.bias", "E", "F32"}, {"decoder.positional_embedding", "EC", "F32"},   \
            {"decoder.token_embedding.weight", "EV", "Q5_1"},                                      \
            {"decoder.blocks.0.attn_ln.weight", "E", "F32"}, {"decoder.ln.weight", "E", "F32"},    \
        {                                                                                          \
            "decoder.ln.bias", "E", "F32"                                                          \
        }                                                                                          \
    }

#define RWKV_TENSORS(one, two, three)                                                        \
    {                                                                                        \
        {"emb.weight", "EV", "F16"}, {"blocks.0.ln0.weight", "E", "F32"},                    \
            {"blocks.0.att.time_decay", "E", "F32"}, {"blocks.0.att.key.weight", "E1", one}, \
            {"blocks.0.att.value.weight", "E1", two},                                        \
            {"blocks.0.att.receptance.weight", "E1", three},                                 \
            {"blocks.0.att.output.weight", "E1", "Q4_0"},                                    \
            {"blocks.0.ffn.key.weight", "EF", "Q4_1"},                                       \
            {"blocks.0.ffn.value.weight", "E1", "Q5_0"},                                     \
            {"blocks.0.ffn.receptance.weight", "E1", "Q5_1"}, {"ln_out.weight", "E", "F32"}, \
        {                                                                                    \
            "head.weight", "EV", "Q8_0"                                                      \
        }                                                                                    \
    }

#define SMALL                                             \
    {                                                     \
        {'E', 4}, {'V', 6}, {'C', 3}, {'F', 8}, {'K', 2}, \
        {                                                 \
            'Q', 12                                       \
        }                                                 \
    }
#define LLAMA_SMALL {6, 4, 256, 2, 1, 2, 0}, 7, 6, SMALL, LLAMA_TENSORS
/* Half blocks fill rows of 16. */
#define LLAMA_BLOCKS(ftype) \
    {6, 16, 256, 2, 1, 8, ftype}, 7, 6, {{'E', 16}, {'V', 6}, {'F', 16}, {'K', 8}}, LLAMA_TENSORS
#define GGJT (SAMPLE_TOKENS | SAMPLE_SCORES | SAMPLE_ALIGNED)
/* Two heads of 2 in one group, or four in two. */
#define FALCON_7B {{'E', 4}, {'V', 12}, {'F', 8}, {'Q', 8}}, FALCON_7B_TENSORS
#define FALCON_40B {{'E', 8}, {'V', 12}, {'F', 8}, {'Q', 16}}, FALCON_40B_TENSORS
#define FALCON_BYTES (SAMPLE_TOKENS | SAMPLE_MATRICES)
#define FALCON_ALIGNED (FALCON_BYTES | SAMPLE_SCORES | SAMPLE_ALIGNED)
#define FLOAT_8 0x41000000

/* A call keeps a row together. */
#define SAMPLE(...) \
    {               \
        __VA_ARGS__ \
    }

static const legacy_sample samples[] = {
    SAMPLE("llama-ggml", "llama", "GGML", 0, 0, SAMPLE_TOKENS, NULL, LLAMA_SMALL),
    SAMPLE("llama-ggmf1", "llama", "GGMF", 1, 0, SAMPLE_TOKENS | SAMPLE_SCORES, NULL, LLAMA_SMALL),
    SAMPLE("llama-ggjt1-q4_2", "llama", "GGJT", 1, 0, GGJT | SAMPLE_MATRICES, "Q4_2",
           LLAMA_BLOCKS(5)),
    SAMPLE("llama-ggjt1-q4_3", "llama", "GGJT", 1, 0, GGJT | SAMPLE_MATRICES, "Q4_3",
           LLAMA_BLOCKS(6)),
    SAMPLE("llama-ggjt2", "llama", "GGJT", 2, 1, GGJT | SAMPLE_MATRICES, "F16", LLAMA_SMALL),
    SAMPLE("llama-ggjt3", "llama", "GGJT", 3, 2, GGJT, NULL, LLAMA_SMALL),
    SAMPLE("bloom", "bloom", "GGML", 0, 0, SAMPLE_TOKENS, NULL, {6, 4, 1, 2, 1, 0}, 6, 6, SMALL,
           BLOOM_TENSORS),
    SAMPLE("gpt2", "gpt2", "GGML", 0, 0, SAMPLE_TOKENS | SAMPLE_COUNTED, NULL, {6, 3, 4, 2, 1, 0},
           6, 6, SMALL, GPT2_TENSORS("EQ", "EF")),
    SAMPLE("gpt2-2022", "gpt2", "GGML", 0, 0, SAMPLE_TOKENS | SAMPLE_COUNTED | SAMPLE_MATRICES,
           "F16", {6, 3, 4, 2, 1, 1}, 6, 6, SMALL, GPT2_TENSORS("QE", "FE")),
    SAMPLE("starcoder", "starcoder", "GGML", 0, 0,
           SAMPLE_TOKENS | SAMPLE_COUNTED | SAMPLE_SAME_ROWS, NULL, {6, 3, 4, 2, 1, 0}, 6, 6, SMALL,
           GPT2_TENSORS("EQ", "EF")),
    SAMPLE("gptj", "gptj", "GGML", 0, 0, SAMPLE_TOKENS | SAMPLE_COUNTED, NULL,
           {6, 3, 4, 2, 1, 2, 0}, 7, 6, SMALL, GPTJ_TENSORS),
    SAMPLE("gptneox-7", "gptneox", "GGML", 0, 0, SAMPLE_TOKENS, NULL, {6, 3, 4, 2, 1, 2, 0}, 7, 6,
           SMALL, GPTNEOX_TENSORS),
    SAMPLE("gptneox-8", "gptneox", "GGML", 0, 1, SAMPLE_TOKENS, NULL, {6, 3, 4, 2, 1, 2, 0, 1000},
           8, 6, SMALL, GPTNEOX_TENSORS),
    SAMPLE("mpt", "mpt", "GGML", 0, 0, SAMPLE_TOKENS, NULL, {4, 3, 2, 1, 6, FLOAT_8, 0, 0}, 8, 6,
           SMALL, MPT_TENSORS),
    SAMPLE("replit", "replit", "GGML", 0, 2, SAMPLE_TOKENS | SAMPLE_SCORES, NULL,
           {4, 3, 2, 1, 6, 2000}, 6, 6, SMALL, MPT_TENSORS),
    SAMPLE("falcon-5", "falcon", "GGML", 0, 0, FALCON_BYTES, "F16", {12, 4, 2, 1, 1}, 5, 12,
           FALCON_7B),
    SAMPLE("falcon-6", "falcon", "GGML", 0, 0, FALCON_BYTES, "F16", {12, 8, 4, 2, 1, 1}, 6, 12,
           FALCON_40B),
    SAMPLE("falcon-7", "falcon", "GGML", 0, 0, FALCON_BYTES, "F16", {12, 8, 4, 2, 1, 40, 1}, 7, 12,
           FALCON_40B),
    SAMPLE("falcon-ggmf1", "falcon", "GGMF", 1, 0, FALCON_BYTES | SAMPLE_SCORES, "F16",
           {12, 4, 2, 1, 1, 7, 1}, 7, 12, FALCON_7B),
    SAMPLE("falcon-ggjt3", "falcon", "GGJT", 3, 2, FALCON_ALIGNED, "F16", {12, 8, 4, 2, 1, 40, 1},
           7, 12, FALCON_40B),
    SAMPLE("falcon-ggcc10", "falcon", "GGCC", 10, 2, FALCON_ALIGNED | SAMPLE_MERGES, "F16",
           {12, 4, 2, 1, 1, 7, 1, 2}, 8, 12, FALCON_7B),
    SAMPLE("whisper", "whisper", "GGML", 0, 1, SAMPLE_TOKENS | SAMPLE_COUNTED | SAMPLE_MELS, NULL,
           {6, 3, 32, 2, 1, 3, 32, 2, 1, 2, 1002}, 11, 4, {{'E', 32}, {'K', 2}, {'C', 3}, {'V', 6}},
           WHISPER_TENSORS),
    SAMPLE("rwkv-100", "rwkv", "GGMF", 100, 0, 0, NULL, {2, 32, 1, 4}, 4, 0,
           {{'E', 32}, {'V', 2}, {'F', 2}}, RWKV_TENSORS("Q4_1_O", "Q4_2", "Q4_3")),
    SAMPLE("rwkv-101", "rwkv", "GGMF", 101, 2, 0, NULL, {2, 32, 1, 2}, 4, 0,
           {{'E', 32}, {'V', 2}, {'F', 2}}, RWKV_TENSORS("F32", "F16", "Q4_0")),
};

const legacy_sample *legacy_sample_at(size_t index)
{
    return index < COUNT_OF(samples) ? &samples[index] : NULL;
}

const legacy_sample *legacy_sample_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    check_failed(__FILE__, __LINE__, "a sample", "%s", name);
}

/* ---- types ---------------------------------------------------------------------------------- */

typedef struct sample_type {
    const char *name;
    uint32_t id, rwkv, length, bytes[3]; /* of a block in each generation */
} sample_type;

static const sample_type types[] = {
    {"F32", 0, 0, 1, {4, 4, 4}},      {"F16", 1, 1, 1, {2, 2, 2}},
    {"Q4_0", 2, 2, 32, {20, 20, 18}}, {"Q4_1", 3, 3, 32, {24, 24, 20}},
    {"Q4_2", 4, 5, 16, {10, 0, 0}},   {"Q4_3", 5, 6, 16, {12, 0, 0}},
    {"Q5_0", 6, 7, 32, {22, 22, 22}}, {"Q5_1", 7, 8, 32, {24, 24, 24}},
    {"Q8_0", 8, 9, 32, {36, 36, 34}}, {"Q4_1_O", 99, 4, 32, {24, 0, 0}},
};

static const sample_type *type_of(const legacy_sample *s, const sample_tensor *t)
{
    bool matrix = strlen(t->shape) > 1;
    const char *name = t->type != NULL                        ? t->type
                       : matrix && s->flags & SAMPLE_MATRICES ? s->type
                                                              : "F32";

    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    check_failed(__FILE__, __LINE__, "a type", "%s", name);
}

static uint32_t size_of(const legacy_sample *s, char letter)
{
    for (size_t i = 0; i < COUNT_OF(s->sizes); i++)
        if (s->sizes[i].letter == letter)
            return s->sizes[i].size;
    check(letter >= '1' && letter <= '9', "%s has no %c", s->name, letter);
    return (uint32_t)(letter - '0');
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put_count(builder *b, legacy_marks *marks, const char *what, uint32_t value)
{
    check(marks->count < SAMPLE_MARKS, "%s", what);
    marks->mark[marks->count++] = (legacy_mark){b->len, what};
    builder_u32(b, value);
}

static void put_text(builder *b, legacy_marks *marks, const char *text)
{
    put_count(b, marks, "the length of a token", (uint32_t)strlen(text));
    builder_raw(b, text, strlen(text));
}

static void put_mels(builder *b, legacy_marks *marks)
{
    put_count(b, marks, "mel filters", 2);
    put_count(b, marks, "numbers of a mel filter", 3);
    for (int i = 0; i < 6; i++)
        builder_f32(b, 0.25F * (float)i);
}

/* Three words that sentencepiece has first, bytes, and words. */
static void put_tokens(builder *b, const legacy_sample *s, legacy_marks *marks)
{
    static const char *const words[] = {
        " \xe2\x81\x87 ", "", "", "\t", " a", "a", "b", "ab", "c", "abc", "d", "<|endoftext|>"};

    if (s->flags & SAMPLE_COUNTED)
        put_count(b, marks, "the count of tokens", s->tokens);
    for (uint32_t i = 0; i < s->tokens; i++) {
        put_text(b, marks, words[i]);
        if (s->flags & SAMPLE_SCORES)
            builder_f32(b, -(float)i);
    }
    if ((s->flags & SAMPLE_MERGES) == 0)
        return;
    put_count(b, marks, "the count of merges", 2);
    put_text(b, marks, "a");
    put_text(b, marks, "b");
    put_text(b, marks, "ab");
    put_text(b, marks, "c");
}

/* Bytes that are sensible numbers, and scales, in every type: halves of 0.5 to 2, floats of 1e-5 to
 * 1; different in each tensor. */
static void put_data(builder *b, const legacy_sample *s, size_t tensor, size_t size,
                     size_t row_size)
{
    for (size_t i = 0; i < size; i++) {
        size_t place = s->flags & SAMPLE_SAME_ROWS ? i % row_size : i;

        builder_u8(b, (uint8_t)(0x38 | ((tensor + place * 5 + place / 8) & 7)));
    }
}

static void put_tensor(builder *b, const legacy_sample *s, const sample_tensor *t,
                       legacy_marks *marks)
{
    const sample_type *type = type_of(s, t);
    uint32_t n_dims = (uint32_t)strlen(t->shape), row = n_dims > 0 ? size_of(s, t->shape[0]) : 1;
    bool rwkv = strcmp(s->family, "rwkv") == 0;
    size_t row_size = row / type->length * type->bytes[s->generation], size = row_size;

    marks->records[marks->tensors] = b->len;
    put_count(b, marks, "n_dims", n_dims);
    put_count(b, marks, "the length of a name", (uint32_t)strlen(t->name));
    put_count(b, marks, "a type", rwkv ? type->rwkv : type->id);
    for (uint32_t i = 0; i < n_dims; i++) {
        put_count(b, marks, "a dimension", size_of(s, t->shape[i]));
        size *= i > 0 ? size_of(s, t->shape[i]) : 1;
    }
    builder_raw(b, t->name, strlen(t->name));
    if (s->flags & SAMPLE_ALIGNED)
        builder_pad(b, 32);
    marks->data[marks->tensors] = b->len;
    /* The numbers of a bias belong to rows, too. */
    put_data(b, s, marks->tensors, size, n_dims > 1 ? row_size : sizeof(float));
    marks->ends[marks->tensors++] = b->len;
}

void legacy_write(builder *b, const legacy_sample *s, legacy_marks *marks)
{
    legacy_marks unused;

    marks = marks != NULL ? marks : &unused;
    *marks = (legacy_marks){.count = 0};
    for (size_t i = 4; i-- > 0;) /* a number whose digits are the letters */
        builder_u8(b, (uint8_t)(s->container[i] | 0x20));
    if (s->version != 0)
        put_count(b, marks, "the version", s->version);
    for (uint32_t i = 0; i < s->field_count; i++)
        put_count(b, marks, "a number of the header", s->fields[i]);
    if (s->flags & SAMPLE_MELS)
        put_mels(b, marks);
    if (s->flags & SAMPLE_TOKENS)
        put_tokens(b, s, marks);
    for (size_t i = 0; i < SAMPLE_TENSORS && s->tensors[i].name != NULL; i++)
        put_tensor(b, s, &s->tensors[i], marks);
}
