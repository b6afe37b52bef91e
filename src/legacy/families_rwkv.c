/* RWKV 6 and 7 with the names that today's programs look for: rwkv.cpp's files keep their own names
 * unless these are asked for.  rwkv.cpp already transposed matrices as today's programs have
 * them. */
#include "legacy/families.h"

#define NAME(old, shape)                                                \
    {                                                                   \
        old, NULL, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, NULL, NULL \
    }
#define SHAPED(old, shape, dims)                                        \
    {                                                                   \
        old, NULL, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, dims, NULL \
    }
#define FUSED(old, order, dims)                                                               \
    {                                                                                         \
        old, "blk.%.time_mix_lerp_fused.weight", "?", order, DIVIDED_ROWS, NEEDED, dims, NULL \
    }
#define DROPPED(old)                                                   \
    {                                                                  \
        old, NULL, "?", ORDER_DROP, DIVIDED_ROWS, OPTIONAL, NULL, NULL \
    }
#define NORM(old) NAME(old ".weight", "E"), NAME(old ".bias", "E")
#define TWICE(old, shape, dims, also)                                   \
    {                                                                   \
        old, NULL, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, dims, also \
    }
#define LATER_ONES(old, shape, dims)                                   \
    {                                                                  \
        old, NULL, shape, ORDER_AS_IS, DIVIDED_ROWS, LATER, dims, NULL \
    }

#define AROUND                                                                                  \
    NAME("emb.weight", "EV"), NORM("blocks.0.ln0"), NORM("ln_out"), NAME("head.weight", "EV"),  \
        NORM("blocks.%.ln1"), NORM("blocks.%.ln2"), NORM("blocks.%.att.ln_x"),                  \
        NAME("blocks.%.att.key.weight", "EE"), NAME("blocks.%.att.value.weight", "EE"),         \
        NAME("blocks.%.att.receptance.weight", "EE"), NAME("blocks.%.att.output.weight", "EE"), \
        NAME("blocks.%.ffn.key.weight", "EF"), NAME("blocks.%.ffn.value.weight", "FE")
#define END_OF_NAMES                                                    \
    {                                                                   \
        NULL, NULL, NULL, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, NULL, NULL \
    }

static const legacy_spelling rwkv6_spellings[] = {
    {"emb.", "rwkv.embeddings."},
    {"ln_out", "rwkv.ln_out"},
    {"blocks.", "rwkv.blocks."},
    {".ln0.", ".pre_ln."},
    {".att.", ".attention."},
    {".ffn.", ".feed_forward."},
    {NULL, NULL},
};

static const legacy_name rwkv6_names[] = {
    AROUND,
    SHAPED("blocks.%.att.time_maa_x", "?", "E"),
    FUSED("blocks.%.att.time_maa_w", ORDER_STACKED, "E115"),
    FUSED("blocks.%.att.time_maa_k", ORDER_STACKED, "E115"),
    FUSED("blocks.%.att.time_maa_v", ORDER_STACKED, "E115"),
    FUSED("blocks.%.att.time_maa_r", ORDER_STACKED, "E115"),
    FUSED("blocks.%.att.time_maa_g", ORDER_STACKED, "E115"),
    NAME("blocks.%.att.time_maa_w1", "EM"),
    NAME("blocks.%.att.time_maa_w2", "XE5"),
    SHAPED("blocks.%.att.time_decay", "?", "E"),
    NAME("blocks.%.att.time_decay_w1", "ED"),
    NAME("blocks.%.att.time_decay_w2", "DE"),
    SHAPED("blocks.%.att.time_faaaa", "1HN", "HN"),
    NAME("blocks.%.att.gate.weight", "EE"),
    SHAPED("blocks.%.ffn.time_maa_k", "?", "E"),
    SHAPED("blocks.%.ffn.time_maa_r", "?", "E"),
    NAME("blocks.%.ffn.receptance.weight", "EE"),
    END_OF_NAMES,
};

static const legacy_spelling rwkv7_spellings[] = {
    {"emb.", "model.embeddings."}, {"ln_out", "model.norm"},
    {"head.", "lm_head."},         {"blocks.", "model.layers."},
    {".ln0.", ".pre_norm."},       {".att.", ".attention."},
    {".ffn.", ".feed_forward."},   {NULL, NULL},
};

/* The first layer has no values of its own: those of the gate's table stand there, too. */
static const legacy_name rwkv7_names[] = {
    AROUND,
    FUSED("blocks.%.att.x_rwkvag", ORDER_AS_IS, "E116"),
    SHAPED("blocks.%.att.w0", "?", "E"),
    NAME("blocks.%.att.w1", "EW"),
    NAME("blocks.%.att.w2", "WE"),
    DROPPED("blocks.0.att.v0"),
    DROPPED("blocks.0.att.v1"),
    DROPPED("blocks.0.att.v2"),
    TWICE("blocks.0.att.a0", "?", "E", "blocks.0.att.v0"),
    TWICE("blocks.0.att.a1", "EA", NULL, "blocks.0.att.v1"),
    TWICE("blocks.0.att.a2", "AE", NULL, "blocks.0.att.v2"),
    LATER_ONES("blocks.%.att.a0", "?", "E"),
    LATER_ONES("blocks.%.att.a1", "EA", NULL),
    LATER_ONES("blocks.%.att.a2", "AE", NULL),
    LATER_ONES("blocks.%.att.v0", "?", "E"),
    LATER_ONES("blocks.%.att.v1", "EL", NULL),
    LATER_ONES("blocks.%.att.v2", "LE", NULL),
    NAME("blocks.%.att.g1", "EG"),
    NAME("blocks.%.att.g2", "GE"),
    SHAPED("blocks.%.att.k_k", "?", "E"),
    SHAPED("blocks.%.att.k_a", "?", "E"),
    SHAPED("blocks.%.att.r_k", "HN", "E"),
    SHAPED("blocks.%.ffn.x_k", "?", "E"),
    END_OF_NAMES,
};

/* ---- keys ----------------------------------------------------------------------------------- */

#define U32 GUFO_VALUE_UINT32
#define FIELD(key, field)                                       \
    {                                                           \
        "{arch}." key, U32, FROM_FIELD, field, 0, 0, NULL, NULL \
    }
#define SHAPE(key, letter)                                               \
    {                                                                    \
        "{arch}." key, U32, FROM_SHAPE, FIELD_END, letter, 0, NULL, NULL \
    }
#define TABLE(key, number)                                               \
    {                                                                    \
        "{arch}." key, U32, FROM_TABLE, FIELD_END, 0, number, NULL, NULL \
    }
#define EPSILON                                                                                 \
    {                                                                                           \
        "{arch}.attention.layer_norm_epsilon", GUFO_VALUE_FLOAT32, ASSUMED, FIELD_END, 0, 1e-5, \
            NULL, "the programs that ran these files had it built in"                           \
    }
#define BOTH                                                                     \
    TABLE("context_length", 1048576), FIELD("embedding_length", FIELD_EMBD),     \
        FIELD("block_count", FIELD_LAYER), EPSILON, SHAPE("wkv.head_size", 'H'), \
        SHAPE("feed_forward_length", 'F'), TABLE("attention.head_count", 0)
#define END_OF_KEYS                                        \
    {                                                      \
        NULL, U32, FROM_TABLE, FIELD_END, 0, 0, NULL, NULL \
    }

static const legacy_key rwkv6_keys[] = {
    BOTH,
    TABLE("rescale_every_n_layers", 0), /* rwkv.cpp did not rescale */
    SHAPE("time_mix_extra_dim", 'X'),
    SHAPE("time_decay_extra_dim", 'D'),
    END_OF_KEYS,
};

static const legacy_key rwkv7_keys[] = {
    BOTH,
    SHAPE("attention.decay_lora_rank", 'W'),
    SHAPE("attention.iclr_lora_rank", 'A'),
    SHAPE("attention.value_residual_mix_lora_rank", 'L'),
    SHAPE("attention.gate_lora_rank", 'G'),
    END_OF_KEYS,
};

const legacy_family legacy_rwkv6 = {
    .name = "rwkv6",
    .arch = "rwkv6",
    .names = rwkv6_names,
    .spellings = rwkv6_spellings,
    .keys = rwkv6_keys,
    .like = "rwkv",
};
const legacy_family legacy_rwkv7 = {
    .name = "rwkv7",
    .arch = "rwkv7",
    .names = rwkv7_names,
    .spellings = rwkv7_spellings,
    .keys = rwkv7_keys,
    .like = "rwkv",
};
