/* RWKV 6 and 7 with the names that today's programs look for: rwkv.cpp's files keep their own names
 * unless these are asked for.  rwkv.cpp already transposed matrices as today's programs have
 * them. */
#include "legacy/families.h"

#define NAME(old, new, shape)                                          \
    {                                                                  \
        old, new, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, NULL, NULL \
    }
#define SHAPED(old, new, shape, dims)                                  \
    {                                                                  \
        old, new, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, dims, NULL \
    }
#define STACKED(old, new, dims)                                        \
    {                                                                  \
        old, new, "?", ORDER_STACKED, DIVIDED_ROWS, NEEDED, dims, NULL \
    }
#define DROPPED(old)                                                   \
    {                                                                  \
        old, NULL, "?", ORDER_DROP, DIVIDED_ROWS, OPTIONAL, NULL, NULL \
    }
#define NORM(old, new) NAME(old ".weight", new ".weight", "E"), NAME(old ".bias", new ".bias", "E")
#define TWICE(old, new, shape, dims, also)                             \
    {                                                                  \
        old, new, shape, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, dims, also \
    }
#define LATER_ONES(old, new, shape, dims)                             \
    {                                                                 \
        old, new, shape, ORDER_AS_IS, DIVIDED_ROWS, LATER, dims, NULL \
    }

#define AROUND                                                                              \
    NAME("emb.weight", "token_embd.weight", "EV"), NORM("blocks.0.ln0", "token_embd_norm"), \
        NORM("ln_out", "output_norm"), NAME("head.weight", "output.weight", "EV"),          \
        NORM("blocks.%.ln1", "blk.%.attn_norm"), NORM("blocks.%.ln2", "blk.%.attn_norm_2"), \
        NORM("blocks.%.att.ln_x", "blk.%.time_mix_ln"),                                     \
        NAME("blocks.%.att.key.weight", "blk.%.time_mix_key.weight", "EE"),                 \
        NAME("blocks.%.att.value.weight", "blk.%.time_mix_value.weight", "EE"),             \
        NAME("blocks.%.att.receptance.weight", "blk.%.time_mix_receptance.weight", "EE"),   \
        NAME("blocks.%.att.output.weight", "blk.%.time_mix_output.weight", "EE"),           \
        NAME("blocks.%.ffn.key.weight", "blk.%.channel_mix_key.weight", "EF"),              \
        NAME("blocks.%.ffn.value.weight", "blk.%.channel_mix_value.weight", "FE")
#define END_OF_NAMES                                                    \
    {                                                                   \
        NULL, NULL, NULL, ORDER_AS_IS, DIVIDED_ROWS, NEEDED, NULL, NULL \
    }

#define FUSED "blk.%.time_mix_lerp_fused.weight"

static const legacy_name rwkv6_names[] = {
    AROUND,
    SHAPED("blocks.%.att.time_maa_x", "blk.%.time_mix_lerp_x.weight", "?", "E"),
    STACKED("blocks.%.att.time_maa_w", FUSED, "E115"),
    STACKED("blocks.%.att.time_maa_k", FUSED, "E115"),
    STACKED("blocks.%.att.time_maa_v", FUSED, "E115"),
    STACKED("blocks.%.att.time_maa_r", FUSED, "E115"),
    STACKED("blocks.%.att.time_maa_g", FUSED, "E115"),
    NAME("blocks.%.att.time_maa_w1", "blk.%.time_mix_w1.weight", "EM"),
    NAME("blocks.%.att.time_maa_w2", "blk.%.time_mix_w2.weight", "XE5"),
    SHAPED("blocks.%.att.time_decay", "blk.%.time_mix_decay.weight", "?", "E"),
    NAME("blocks.%.att.time_decay_w1", "blk.%.time_mix_decay_w1.weight", "ED"),
    NAME("blocks.%.att.time_decay_w2", "blk.%.time_mix_decay_w2.weight", "DE"),
    SHAPED("blocks.%.att.time_faaaa", "blk.%.time_mix_first.weight", "1HN", "HN"),
    NAME("blocks.%.att.gate.weight", "blk.%.time_mix_gate.weight", "EE"),
    SHAPED("blocks.%.ffn.time_maa_k", "blk.%.channel_mix_lerp_k.weight", "?", "E"),
    SHAPED("blocks.%.ffn.time_maa_r", "blk.%.channel_mix_lerp_r.weight", "?", "E"),
    NAME("blocks.%.ffn.receptance.weight", "blk.%.channel_mix_receptance.weight", "EE"),
    END_OF_NAMES,
};

/* The first layer has no values of its own: those of the gate's table stand there, too. */
static const legacy_name rwkv7_names[] = {
    AROUND,
    SHAPED("blocks.%.att.x_rwkvag", FUSED, "?", "E116"),
    SHAPED("blocks.%.att.w0", "blk.%.time_mix_w0.weight", "?", "E"),
    NAME("blocks.%.att.w1", "blk.%.time_mix_w1.weight", "EW"),
    NAME("blocks.%.att.w2", "blk.%.time_mix_w2.weight", "WE"),
    DROPPED("blocks.0.att.v0"),
    DROPPED("blocks.0.att.v1"),
    DROPPED("blocks.0.att.v2"),
    TWICE("blocks.0.att.a0", "blk.0.time_mix_a0.weight", "?", "E", "blk.0.time_mix_v0.weight"),
    TWICE("blocks.0.att.a1", "blk.0.time_mix_a1.weight", "EA", NULL, "blk.0.time_mix_v1.weight"),
    TWICE("blocks.0.att.a2", "blk.0.time_mix_a2.weight", "AE", NULL, "blk.0.time_mix_v2.weight"),
    LATER_ONES("blocks.%.att.a0", "blk.%.time_mix_a0.weight", "?", "E"),
    LATER_ONES("blocks.%.att.a1", "blk.%.time_mix_a1.weight", "EA", NULL),
    LATER_ONES("blocks.%.att.a2", "blk.%.time_mix_a2.weight", "AE", NULL),
    LATER_ONES("blocks.%.att.v0", "blk.%.time_mix_v0.weight", "?", "E"),
    LATER_ONES("blocks.%.att.v1", "blk.%.time_mix_v1.weight", "EL", NULL),
    LATER_ONES("blocks.%.att.v2", "blk.%.time_mix_v2.weight", "LE", NULL),
    NAME("blocks.%.att.g1", "blk.%.time_mix_g1.weight", "EG"),
    NAME("blocks.%.att.g2", "blk.%.time_mix_g2.weight", "GE"),
    SHAPED("blocks.%.att.k_k", "blk.%.time_mix_k_k.weight", "?", "E"),
    SHAPED("blocks.%.att.k_a", "blk.%.time_mix_k_a.weight", "?", "E"),
    SHAPED("blocks.%.att.r_k", "blk.%.time_mix_r_k.weight", "HN", "E"),
    SHAPED("blocks.%.ffn.x_k", "blk.%.channel_mix_lerp_k.weight", "?", "E"),
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
    .keys = rwkv6_keys,
    .like = "rwkv",
};
const legacy_family legacy_rwkv7 = {
    .name = "rwkv7",
    .arch = "rwkv7",
    .names = rwkv7_names,
    .keys = rwkv7_keys,
    .like = "rwkv",
};
