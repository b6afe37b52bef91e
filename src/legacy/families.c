/* The tables of families (docs/legacy.md). */
#include "legacy/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "import/architectures/operations/names.h"

/* ---- names ---------------------------------------------------------------------------------- */

/* A pair has .weight and .bias.  Pages of the registry say what a name of a framework means; OWN says it itself. */
#define ORDERED(old, shape_, order_) .old_name = old, .shape = shape_, .order = order_
#define AT_WILL(old, shape_, need_) .old_name = old, .shape = shape_, .need = need_
#define COLUMNS(old, shape_) .old_name = old, .shape = shape_, .division = DIVIDED_COLUMNS
#define OWN(old, new, shape_) .old_name = old, .name = new, .shape = shape_
#define PAIR(old, weight_shape, bias_shape, order) \
    ROW(ORDERED(old ".weight", weight_shape, order)), ROW(ORDERED(old ".bias", bias_shape, order))
#define NORM(old) PAIR(old, "E", "E", ORDER_AS_IS)

static const legacy_name llama_names[] = {
    {COLUMNS("tok_embeddings.weight", "EV")},
    {NAME("norm.weight", "E")},
    {NAME("output.weight", "EV")},
    {NAME("layers.%.attention.wq.weight", "EE")},
    {NAME("layers.%.attention.wk.weight", "EK")},
    {NAME("layers.%.attention.wv.weight", "EK")},
    {COLUMNS("layers.%.attention.wo.weight", "EE")},
    {NAME("layers.%.attention_norm.weight", "E")},
    {NAME("layers.%.feed_forward.w1.weight", "EF")},
    {COLUMNS("layers.%.feed_forward.w2.weight", "FE")},
    {NAME("layers.%.feed_forward.w3.weight", "EF")},
    {NAME("layers.%.ffn_norm.weight", "E")},
    {DROPPED("rope.freqs")},
    {DROPPED("layers.%.attention.inner_attention.rope.freqs")},
    {.old_name = NULL},
};

/* gpt-2 calls weight and bias g and b, or w and b. */
#define GPT2_NORM(old) ROW(NAME(old "/g", "E")), ROW(NAME(old "/b", "E"))
#define GPT2_PAIR(old, weight_shape, bias_shape, order) \
    ROW(ORDERED(old "/w", weight_shape, order)), ROW(NAME(old "/b", bias_shape))
#define GPT2_AROUND                                                                      \
    ROW(NAME("model/wte", "EV")), ROW(NAME("model/wpe", "EC")), GPT2_NORM("model/ln_f"), \
        ROW(AT_WILL("model/lm_head", "EV", OPTIONAL)), GPT2_NORM("model/h%/ln_1"),       \
        GPT2_NORM("model/h%/ln_2")

static const legacy_spelling gpt2_spellings[] = {
    {"model/lm_head", "lm_head"},
    {"model/", "transformer."},
    {"h%/", "h.%."},
    {"/w", ".weight"},
    {"/g", ".weight"},
    {"/b", ".bias"},
    {"/", "."},
    {NULL, NULL},
};

static const legacy_name gpt2_names[] = {
    GPT2_AROUND,
    GPT2_PAIR("model/h%/attn/c_attn", "EQ", "Q", ORDER_FLIPPED),
    GPT2_PAIR("model/h%/attn/c_proj", "EE", "E", ORDER_FLIPPED),
    GPT2_PAIR("model/h%/mlp/c_fc", "EF", "F", ORDER_FLIPPED),
    GPT2_PAIR("model/h%/mlp/c_proj", "FE", "E", ORDER_AS_IS),
    {.old_name = NULL},
};

static const legacy_name starcoder_names[] = {
    GPT2_AROUND,
    {ORDERED("model/h%/attn/c_attn/w", "EQ", ORDER_ONE_KV)},
    {ORDERED("model/h%/attn/c_attn/b", "Q", ORDER_ONE_KV)},
    GPT2_PAIR("model/h%/attn/c_proj", "EE", "E", ORDER_AS_IS),
    GPT2_PAIR("model/h%/mlp/c_fc", "EF", "F", ORDER_AS_IS),
    GPT2_PAIR("model/h%/mlp/c_proj", "FE", "E", ORDER_AS_IS),
    {.old_name = NULL},
};

static const legacy_name gptj_names[] = {
    {NAME("transformer.wte.weight", "EV")},
    PAIR("transformer.ln_f", "E", "E", ORDER_AS_IS),
    {NAME("lm_head.weight", "EV")},
    {NAME("lm_head.bias", "V")},
    PAIR("transformer.h.%.ln_1", "E", "E", ORDER_AS_IS),
    {ORDERED("transformer.h.%.attn.q_proj.weight", "EE", ORDER_FLIPPED)},
    {ORDERED("transformer.h.%.attn.k_proj.weight", "EE", ORDER_FLIPPED)},
    {ORDERED("transformer.h.%.attn.v_proj.weight", "EE", ORDER_FLIPPED)},
    {ORDERED("transformer.h.%.attn.out_proj.weight", "EE", ORDER_FLIPPED)},
    {ORDERED("transformer.h.%.mlp.fc_in.weight", "EF", ORDER_FLIPPED)},
    {NAME("transformer.h.%.mlp.fc_in.bias", "F")},
    PAIR("transformer.h.%.mlp.fc_out", "FE", "E", ORDER_AS_IS),
    {DROPPED("transformer.h.%.attn.bias")},
    {DROPPED("transformer.h.%.attn.masked_bias")},
    {.old_name = NULL},
};

static const legacy_name gptneox_names[] = {
    {NAME("gpt_neox.embed_in.weight", "EV")},
    PAIR("gpt_neox.final_layer_norm", "E", "E", ORDER_AS_IS),
    {NAME("embed_out.weight", "EV")},
    PAIR("gpt_neox.layers.%.input_layernorm", "E", "E", ORDER_AS_IS),
    PAIR("gpt_neox.layers.%.post_attention_layernorm", "E", "E", ORDER_AS_IS),
    PAIR("gpt_neox.layers.%.attention.query_key_value", "EQ", "Q", ORDER_HEADS),
    PAIR("gpt_neox.layers.%.attention.dense", "EE", "E", ORDER_AS_IS),
    PAIR("gpt_neox.layers.%.mlp.dense_h_to_4h", "EF", "F", ORDER_AS_IS),
    PAIR("gpt_neox.layers.%.mlp.dense_4h_to_h", "FE", "E", ORDER_AS_IS),
    {DROPPED("gpt_neox.layers.%.attention.bias")},
    {DROPPED("gpt_neox.layers.%.attention.masked_bias")},
    {DROPPED("gpt_neox.layers.%.attention.rotary_emb.inv_freq")},
    {.old_name = NULL},
};

static const legacy_name mpt_names[] = {
    {NAME("transformer.wte.weight", "EV")},
    {NAME("transformer.norm_f.weight", "E")},
    {NAME("transformer.blocks.%.norm_1.weight", "E")},
    {NAME("transformer.blocks.%.norm_2.weight", "E")},
    {NAME("transformer.blocks.%.attn.Wqkv.weight", "EQ")},
    {NAME("transformer.blocks.%.attn.out_proj.weight", "EE")},
    {NAME("transformer.blocks.%.ffn.up_proj.weight", "EF")},
    {NAME("transformer.blocks.%.ffn.down_proj.weight", "FE")},
    {.old_name = NULL},
};

static const legacy_spelling bloom_spellings[] = {
    {"layers.%.attention.query_key_value", "h.%.self_attention.query_key_value"},
    {"layers.%.feed_forward.w1", "h.%.mlp.dense_h_to_4h"},
    {NULL, NULL},
};

/* "norm" is output_norm elsewhere. */
static const legacy_name bloom_names[] = {
    {NAME("tok_embeddings.weight", "EV")},
    {OWN("norm.weight", "token_embd_norm.weight", "E")},
    {OWN("norm.bias", "token_embd_norm.bias", "E")},
    NORM("output_norm"),
    {AT_WILL("output.weight", "EV", OPTIONAL)},
    NORM("layers.%.attention_norm"),
    NORM("layers.%.ffn_norm"),
    PAIR("layers.%.attention.query_key_value", "EQ", "Q", ORDER_AS_IS),
    PAIR("layers.%.attention.wo", "EE", "E", ORDER_AS_IS),
    PAIR("layers.%.feed_forward.w1", "EF", "F", ORDER_AS_IS),
    PAIR("layers.%.feed_forward.w2", "FE", "E", ORDER_AS_IS),
    {.old_name = NULL},
};

/* A layer has input_layernorm (7B), or ln_attn and ln_mlp (40B). */
static const legacy_name falcon_names[] = {
    {NAME("transformer.word_embeddings.weight", "EV")},
    PAIR("transformer.ln_f", "E", "E", ORDER_AS_IS),
    {NAME("lm_head.weight", "EV")},
    {AT_WILL("transformer.h.%.input_layernorm.weight", "E", ONE_WAY)},
    {AT_WILL("transformer.h.%.input_layernorm.bias", "E", ONE_WAY)},
    {AT_WILL("transformer.h.%.ln_attn.weight", "E", OTHER_WAY)},
    {AT_WILL("transformer.h.%.ln_attn.bias", "E", OTHER_WAY)},
    {AT_WILL("transformer.h.%.ln_mlp.weight", "E", OTHER_WAY)},
    {AT_WILL("transformer.h.%.ln_mlp.bias", "E", OTHER_WAY)},
    {ORDERED("transformer.h.%.self_attention.query_key_value.weight", "Eq", ORDER_GROUPS)},
    {NAME("transformer.h.%.self_attention.dense.weight", "EE")},
    {NAME("transformer.h.%.mlp.dense_h_to_4h.weight", "EF")},
    {NAME("transformer.h.%.mlp.dense_4h_to_h.weight", "FE")},
    {.old_name = NULL},
};

/* Names that stay: tensors that every model has, among many others. */
static const legacy_name whisper_fixed[] = {
    {NAME("encoder.positional_embedding", "SO")},
    {NAME("encoder.conv1.weight", "3BS")},
    {NAME("encoder.ln_post.weight", "S")},
    {NAME("encoder.ln_post.bias", "S")},
    {NAME("decoder.positional_embedding", "TP")},
    {NAME("decoder.token_embedding.weight", "TV")},
    {NAME("decoder.ln.weight", "T")},
    {NAME("decoder.ln.bias", "T")},
    {.old_name = NULL},
};

static const legacy_name rwkv_fixed[] = {
    {NAME("emb.weight", "EV")},   {NAME("blocks.0.ln0.weight", "E")},
    {NAME("ln_out.weight", "E")}, {NAME("head.weight", "EV")},
    {.old_name = NULL},
};

/* ---- keys ----------------------------------------------------------------------------------- */

#define U32 GUFO_VALUE_UINT32
#define U64 GUFO_VALUE_UINT64
#define F32 GUFO_VALUE_FLOAT32
#define FIELD(key_, type_, field_) LEGACY_KEY(key_, type_, FROM_FIELD), .field = field_
#define SHAPE(key_, letter) LEGACY_KEY(key_, U32, FROM_SHAPE), .shape = letter
#define TABLE(key_, type_, number_) LEGACY_KEY(key_, type_, FROM_TABLE), .number = number_
#define GUESS(key_, type_, number_, why_) \
    LEGACY_KEY(key_, type_, ASSUMED), .number = number_, .why = why_

#define BUILT_IN "the programs that ran these files had it built in"
#define LAYER_NORM GUESS("attention.layer_norm_epsilon", F32, 1e-5, BUILT_IN)
#define ROPE_BASE GUESS("rope.freq_base", F32, 10000, BUILT_IN)
#define CONTEXT_2048                   \
    GUESS("context_length", U32, 2048, \
          "the file does not say it; most models of the family have it")

static const legacy_key llama_keys[] = {
    {GUESS("context_length", U32, 2048, "LLaMA has 2048, Llama 2 has 4096")},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {SHAPE("feed_forward_length", 'F')},
    {LEGACY_KEY("rope.dimension_count", U32, FROM_HEAD_SIZE)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {LEGACY_KEY("attention.head_count_kv", U32, FROM_KV_SHAPE), .shape = 'K'},
    {GUESS("attention.layer_norm_rms_epsilon", F32, 5e-6,
           "between LLaMA, which has 1e-6, and Llama 2, which has 1e-5")},
    {GUESS("rope.freq_base", F32, 10000, "LLaMA and Llama 2 have it, Code Llama has 1000000")},
    {.key = NULL},
};

#define CONTEXT(embedding, layers, vocabulary, groups, number, why) \
    embedding, layers, vocabulary, groups, "{arch}.context_length", number, why
#define EPSILON(embedding, layers, vocabulary, groups, number, why) \
    embedding, layers, vocabulary, groups, "{arch}.attention.layer_norm_rms_epsilon", number, why
#define BASE(embedding, layers, vocabulary, groups, number, why) \
    embedding, layers, vocabulary, groups, "{arch}.rope.freq_base", number, why
#define CODE_LLAMA(embedding, layers, vocabulary, groups)                               \
    ROW(CONTEXT(embedding, layers, vocabulary, groups, 16384, "Code Llama has it")),    \
        ROW(EPSILON(embedding, layers, vocabulary, groups, 1e-5, "Code Llama has it")), \
        ROW(BASE(embedding, layers, vocabulary, groups, 1e6, "Code Llama has it"))

/* Sizes that only one of LLaMA, Llama 2 and Code Llama has. */
static const legacy_size llama_sizes[] = {
    {CONTEXT(3200, 26, 0, false, 2048, "OpenLLaMA 3B has it")},
    {EPSILON(3200, 26, 0, false, 1e-6, "OpenLLaMA 3B has it")},
    CODE_LLAMA(4096, 32, 32016, false),
    CODE_LLAMA(5120, 40, 32016, false),
    CODE_LLAMA(8192, 48, 0, true),
    {CONTEXT(6656, 60, 0, false, 2048, "LLaMA 30B has it")},
    {EPSILON(6656, 60, 0, false, 1e-6, "LLaMA 30B has it")},
    {CONTEXT(8192, 80, 0, false, 2048, "LLaMA 65B has it")},
    {CONTEXT(8192, 80, 0, true, 4096, "Llama 2 70B has it")},
    {EPSILON(8192, 80, 0, true, 1e-5, "Llama 2 70B has it")},
    {0, 0, 0, false, NULL, 0, NULL},
};

static const legacy_key gpt2_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {LAYER_NORM},
    {.key = NULL},
};

static const legacy_key starcoder_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {TABLE("attention.head_count_kv", U32, 1)},
    {LAYER_NORM},
    {.key = NULL},
};

static const legacy_key gptj_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {FIELD("rope.dimension_count", U32, FIELD_ROT)},
    {LAYER_NORM},
    {ROPE_BASE},
    {.key = NULL},
};

static const legacy_key gptneox_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("rope.dimension_count", U32, FIELD_ROT)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {FIELD("use_parallel_residual", GUFO_VALUE_BOOL, FIELD_PARALLEL)},
    {LAYER_NORM},
    {ROPE_BASE},
    {.key = NULL},
};

static const legacy_key mpt_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {LAYER_NORM},
    {FIELD("attention.clamp_kqv", F32, FIELD_CLIP)},
    {FIELD("attention.max_alibi_bias", F32, FIELD_ALIBI)},
    {.key = NULL},
};

static const legacy_key replit_keys[] = {
    {FIELD("context_length", U32, FIELD_CTX)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {LAYER_NORM},
    {TABLE("attention.clamp_kqv", F32, 0)},
    {GUESS("attention.max_alibi_bias", F32, 8, BUILT_IN)},
    {.key = NULL},
};

static const legacy_key bloom_keys[] = {
    {CONTEXT_2048},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {FIELD("attention.head_count_kv", U32, FIELD_HEAD)},
    {LAYER_NORM},
    {.key = NULL},
};

static const legacy_key falcon_keys[] = {
    {CONTEXT_2048},
    {LEGACY_KEY("tensor_data_layout", GUFO_VALUE_STRING, FROM_TABLE), .text = "jploski"},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {SHAPE("feed_forward_length", 'F')},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("attention.head_count", U32, FIELD_HEAD)},
    {FIELD("attention.head_count_kv", U32, FIELD_HEAD_KV)},
    {LEGACY_KEY("attention.use_norm", GUFO_VALUE_BOOL, FROM_TENSOR),
     .text = "transformer.h.0.ln_attn.weight"},
    {LAYER_NORM},
    {.key = NULL},
};

static const legacy_key whisper_keys[] = {
    {FIELD("encoder.context_length", U64, FIELD_AUDIO_CTX)},
    {FIELD("encoder.embedding_length", U64, FIELD_AUDIO_STATE)},
    {FIELD("encoder.block_count", U64, FIELD_AUDIO_LAYER)},
    {FIELD("encoder.mels_count", U64, FIELD_MELS)},
    {FIELD("encoder.attention.head_count", U64, FIELD_AUDIO_HEAD)},
    {FIELD("decoder.context_length", U64, FIELD_TEXT_CTX)},
    {FIELD("decoder.embedding_length", U64, FIELD_TEXT_STATE)},
    {FIELD("decoder.block_count", U64, FIELD_TEXT_LAYER)},
    {FIELD("decoder.attention.head_count", U64, FIELD_TEXT_HEAD)},
    {.key = NULL},
};

static const legacy_key rwkv_keys[] = {
    {GUESS("context_length", U32, 1024,
           "the file does not say it; the first models were trained with it")},
    {FIELD("block_count", U32, FIELD_LAYER)},
    {FIELD("embedding_length", U32, FIELD_EMBD)},
    {.key = NULL},
};

/* ---- families ------------------------------------------------------------------------------- */

static const legacy_family llama = {
    .name = "llama",
    .arch = "llama",
    .text = {LEGACY_TEXTS_PIECES, "llama", "default", 1, 2, 0, -1},
    .names = llama_names,
    .keys = llama_keys,
    .sizes = llama_sizes,
};
static const legacy_family gpt2 = {
    .name = "gpt2",
    .arch = "gpt2",
    .text = {LEGACY_TEXTS_BYTES, "gpt2", "gpt-2", 50256, 50256, -1, -1},
    .names = gpt2_names,
    .spellings = gpt2_spellings,
    .keys = gpt2_keys,
};
const legacy_family legacy_starcoder = {
    .name = "starcoder",
    .arch = "starcoder",
    .text = {LEGACY_TEXTS_BYTES, "gpt2", "starcoder", 0, 0, -1, -1},
    .names = starcoder_names,
    .spellings = gpt2_spellings,
    .keys = starcoder_keys,
    .like = "gpt2",
};
static const legacy_family gptj = {
    .name = "gptj",
    .arch = "gptj",
    .text = {LEGACY_TEXTS_BYTES, "gpt2", "gpt-2", 50256, 50256, -1, -1},
    .names = gptj_names,
    .keys = gptj_keys,
};
static const legacy_family gptneox = {
    .name = "gptneox",
    .arch = "gptneox",
    .text = {LEGACY_TEXTS_DECODED, "gpt2", "olmo", 0, 0, -1, 1},
    .names = gptneox_names,
    .keys = gptneox_keys,
};
static const legacy_family mpt = {
    .name = "mpt",
    .arch = "mpt",
    .text = {LEGACY_TEXTS_LATIN, "gpt2", "mpt", 0, 0, -1, 1},
    .names = mpt_names,
    .keys = mpt_keys,
};
static const legacy_family replit = {
    .name = "replit",
    .arch = "mpt",
    .text = {LEGACY_TEXTS_UNIGRAM, "t5", NULL, 1, 2, 0, -1},
    .names = mpt_names,
    .keys = replit_keys,
};
static const legacy_family bloom = {
    .name = "bloom",
    .arch = "bloom",
    .text = {LEGACY_TEXTS_DECODED, "gpt2", "bloom", 1, 2, 0, 3},
    .names = bloom_names,
    .spellings = bloom_spellings,
    .keys = bloom_keys,
};
static const legacy_family falcon = {
    .name = "falcon",
    .arch = "falcon",
    .text = {LEGACY_TEXTS_BYTES, "gpt2", "falcon", 11, 11, -1, -1},
    .names = falcon_names,
    .keys = falcon_keys,
};
static const legacy_family whisper = {
    .name = "whisper",
    .arch = "whisper",
    .text = {LEGACY_TEXTS_WHISPER, "gpt2", "gpt-2", -1, -1, -1, -1},
    .keys = whisper_keys,
    .blocks = {{"encoder.blocks.", FIELD_AUDIO_LAYER}, {"decoder.blocks.", FIELD_TEXT_LAYER}},
    .fixed = whisper_fixed,
};
static const legacy_family rwkv = {
    .name = "rwkv",
    .arch = "rwkv",
    .keys = rwkv_keys,
    .blocks = {{"blocks.", FIELD_LAYER}},
    .fixed = rwkv_fixed,
};

/* ---- headers -------------------------------------------------------------------------------- */

/* What most headers begin with, or are. */
#define GPT2_HEADER FIELD_VOCAB, FIELD_CTX, FIELD_EMBD, FIELD_HEAD, FIELD_LAYER
#define LLAMA_HEADER \
    FIELD_VOCAB, FIELD_EMBD, FIELD_MULT, FIELD_HEAD, FIELD_LAYER, FIELD_ROT, FIELD_FTYPE
#define MPT_HEADER FIELD_EMBD, FIELD_CTX, FIELD_HEAD, FIELD_LAYER, FIELD_VOCAB
#define FALCON_HEADER FIELD_VOCAB, FIELD_EMBD, FIELD_HEAD, FIELD_HEAD_KV, FIELD_LAYER
#define WHISPER_HEADER                                                                    \
    FIELD_VOCAB, FIELD_AUDIO_CTX, FIELD_AUDIO_STATE, FIELD_AUDIO_HEAD, FIELD_AUDIO_LAYER, \
        FIELD_TEXT_CTX, FIELD_TEXT_STATE, FIELD_TEXT_HEAD, FIELD_TEXT_LAYER, FIELD_MELS
#define FALCON_NAMES "transformer. lm_head."
#define LLAMA_NAMES "tok_embeddings. layers. norm. output. rope."

#define FORM(family_, container_, flags_, ...) \
    .family = &family_, .container = container_, .flags = flags_, .fields = {__VA_ARGS__}
#define VERSIONS(first, last) .first_version = first, .last_version = last

const legacy_form legacy_forms[] = {
    {FORM(whisper, CONTAINER_GGML, FORM_VOCAB | FORM_COUNTED | FORM_FEWER | FORM_MELS | FORM_EMPTY,
          WHISPER_HEADER, FIELD_FTYPE),
     .name_start = "encoder. decoder."},
    {FORM(gpt2, CONTAINER_GGML, FORM_VOCAB | FORM_COUNTED, GPT2_HEADER, FIELD_FTYPE),
     .name_start = "model/"},
    {FORM(gptj, CONTAINER_GGML, FORM_VOCAB | FORM_COUNTED, GPT2_HEADER, FIELD_ROT, FIELD_FTYPE),
     .name_start = "transformer. lm_head."},
    {FORM(gptneox, CONTAINER_GGML, FORM_VOCAB, GPT2_HEADER, FIELD_ROT, FIELD_PARALLEL, FIELD_FTYPE),
     .name_start = "gpt_neox. embed_out."},
    {FORM(gptneox, CONTAINER_GGML, FORM_VOCAB, GPT2_HEADER, FIELD_ROT, FIELD_FTYPE),
     .name_start = "gpt_neox. embed_out."},
    {FORM(mpt, CONTAINER_GGML, FORM_VOCAB, MPT_HEADER, FIELD_ALIBI, FIELD_CLIP, FIELD_FTYPE),
     .name_start = "transformer."},
    {FORM(replit, CONTAINER_GGML, FORM_VOCAB | FORM_SCORES, MPT_HEADER, FIELD_FTYPE),
     .name_start = "transformer."},
    {FORM(llama, CONTAINER_GGML, FORM_VOCAB | FORM_PARTS, LLAMA_HEADER), .name_start = LLAMA_NAMES},
    /* Some builds of July 2023 took a score for granted here, too. */
    {FORM(llama, CONTAINER_GGML, FORM_VOCAB | FORM_SCORES | FORM_PARTS, LLAMA_HEADER),
     .name_start = LLAMA_NAMES},
    {FORM(bloom, CONTAINER_GGML, FORM_VOCAB, FIELD_VOCAB, FIELD_EMBD, FIELD_MULT, FIELD_HEAD,
          FIELD_LAYER, FIELD_FTYPE),
     .name_start = "tok_embeddings. layers. norm. output"},
    {FORM(falcon, CONTAINER_GGML, FORM_VOCAB, FALCON_HEADER, FIELD_RELEASE, FIELD_FTYPE),
     .name_start = FALCON_NAMES,
     .doubt = "Falcon files of 13 and 14 June 2023 have the same header and q, k and v in another "
              "order"},
    {FORM(falcon, CONTAINER_GGML, FORM_VOCAB | FORM_GROUPED, FALCON_HEADER, FIELD_FTYPE),
     .name_start = FALCON_NAMES},
    {FORM(falcon, CONTAINER_GGML, FORM_VOCAB, FIELD_VOCAB, FIELD_EMBD, FIELD_HEAD, FIELD_LAYER,
          FIELD_FTYPE),
     .name_start = FALCON_NAMES},
    {FORM(llama, CONTAINER_GGMF, FORM_VOCAB | FORM_SCORES | FORM_PARTS, LLAMA_HEADER),
     VERSIONS(1, 1), .name_start = LLAMA_NAMES},
    {FORM(falcon, CONTAINER_GGMF, FORM_VOCAB | FORM_SCORES, FALCON_HEADER, FIELD_RELEASE,
          FIELD_FTYPE),
     VERSIONS(1, 1), .name_start = FALCON_NAMES},
    {FORM(llama, CONTAINER_GGJT, FORM_VOCAB | FORM_SCORES | FORM_ALIGNED, LLAMA_HEADER),
     VERSIONS(1, 3), .name_start = LLAMA_NAMES},
    {FORM(falcon, CONTAINER_GGJT, FORM_VOCAB | FORM_SCORES | FORM_ALIGNED, FALCON_HEADER,
          FIELD_RELEASE, FIELD_FTYPE),
     VERSIONS(3, 3), .name_start = FALCON_NAMES},
    {FORM(falcon, CONTAINER_GGCC, FORM_VOCAB | FORM_SCORES | FORM_ALIGNED, FALCON_HEADER,
          FIELD_RELEASE, FIELD_FTYPE, FIELD_MERGES),
     VERSIONS(10, 10), .name_start = FALCON_NAMES},
    {FORM(rwkv, CONTAINER_RWKV, 0, FIELD_VOCAB, FIELD_EMBD, FIELD_LAYER, FIELD_FTYPE),
     VERSIONS(100, 101), .name_start = "emb. blocks. ln_out. head."},
    {.family = NULL},
};

/* ---- finding -------------------------------------------------------------------------------- */

enum { WITHOUT_HEADER = 3 };

static const legacy_family *const without_header[WITHOUT_HEADER] = {&legacy_starcoder,
                                                                    &legacy_rwkv6, &legacy_rwkv7};

/* All families, some of them more than once; NULL past the last. */
static const legacy_family *family_at(size_t index)
{
    return index < WITHOUT_HEADER ? without_header[index]
                                  : legacy_forms[index - WITHOUT_HEADER].family;
}

const legacy_family *legacy_family_find(const char *name)
{
    const legacy_family *family;

    for (size_t i = 0; (family = family_at(i)) != NULL; i++)
        if (strcmp(family->name, name) == 0)
            return family;
    return NULL;
}

bool legacy_is_arch(gufo_str name)
{
    const legacy_family *family;

    for (size_t i = 0; (family = family_at(i)) != NULL; i++)
        if (gufo_str_equal(name, gufo_str_of(family->arch)))
            return true;
    return false;
}

/* Whether a name is `pattern`; the number in the place of % into *layer. */
static bool matches(const char *pattern, gufo_str name, uint64_t *layer)
{
    size_t at = 0;

    *layer = UINT64_MAX;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%') {
            if (at == name.len || name.data[at] != *pattern)
                return false;
            at++;
            continue;
        }
        size_t digits = str_digits(name, at);

        if (digits == 0 || digits > 9 || !str_number((gufo_str){name.data + at, digits}, layer))
            return false;
        at += digits;
    }
    return at == name.len;
}

const legacy_name *legacy_name_find(const legacy_family *family, gufo_str name, uint64_t *layer)
{
    for (const legacy_name *row = family->names; row->old_name != NULL; row++)
        if (matches(row->old_name, name, layer))
            return row;
    return NULL;
}

static void write_pattern(const char *pattern, uint64_t layer, char *out, size_t size)
{
    const char *number = strchr(pattern, '%');

    if (number == NULL)
        (void)snprintf(out, size, "%s", pattern);
    else
        (void)snprintf(out, size, "%.*s%" PRIu64 "%s", (int)(number - pattern), pattern, layer,
                       number + 1);
}

/* Writes a pattern as the frameworks spell it. */
static void respell(const legacy_spelling *spellings, const char *pattern, char *out, size_t size)
{
    char before[GUFO_MAX_NAME + 1];

    (void)snprintf(out, size, "%s", pattern);
    for (; spellings != NULL && spellings->ours != NULL; spellings++) {
        const char *at;

        (void)snprintf(before, sizeof before, "%s", out);
        at = strstr(before, spellings->ours);
        if (at != NULL)
            (void)snprintf(out, size, "%.*s%s%s", (int)(at - before), before, spellings->theirs,
                           at + strlen(spellings->ours));
    }
}

void legacy_name_write(const legacy_family *family, const char *old_name, uint64_t layer,
                       char out[GUFO_MAX_NAME + 1])
{
    char pattern[GUFO_MAX_NAME + 1], name[GUFO_MAX_NAME + 1];
    size_t len;

    respell(family->spellings, old_name, pattern, sizeof pattern);
    write_pattern(pattern, layer, name, sizeof name);
    if (!names_map(family->arch, gufo_str_of(name), out))
        *out = '\0'; /* no row is without one */
    len = strlen(out);
    if (len > 0 && !str_ends(gufo_str_of(out), ".weight") && !str_ends(gufo_str_of(out), ".bias"))
        (void)snprintf(out + len, GUFO_MAX_NAME + 1 - len, ".weight");
}

void legacy_name_write_new(const legacy_family *family, const legacy_name *row, uint64_t layer,
                           char out[GUFO_MAX_NAME + 1])
{
    if (row->name != NULL)
        write_pattern(row->name, layer, out, GUFO_MAX_NAME + 1);
    else
        legacy_name_write(family, row->old_name, layer, out);
}

void legacy_name_write_old(const legacy_name *row, uint64_t layer, char *out, size_t size)
{
    write_pattern(row->old_name, layer, out, size);
}
