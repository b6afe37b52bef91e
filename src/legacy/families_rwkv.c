/* RWKV 6 and 7 with the names that today's programs look for: rwkv.cpp's files keep their own names
 * unless these are asked for.  rwkv.cpp already transposed matrices as today's programs have
 * them. */
#include "legacy/families.h"

#define SHAPED(old, shape_, dims_) .old_name = old, .shape = shape_, .dims = dims_
#define FUSED(old, order_, dims_) \
    SHAPED(old, "?", dims_), .name = "blk.%.time_mix_lerp_fused.weight", .order = order_
#define TWICE(old, shape, dims, also_) SHAPED(old, shape, dims), .also = also_
#define LATER_ONES(old, shape, dims) SHAPED(old, shape, dims), .need = LATER
#define NORM(old) ROW(NAME(old ".weight", "E")), ROW(NAME(old ".bias", "E"))
#define AROUND                                                                                     \
    ROW(NAME("emb.weight", "EV")), NORM("blocks.0.ln0"), NORM("ln_out"),                           \
        ROW(NAME("head.weight", "EV")), NORM("blocks.%.ln1"), NORM("blocks.%.ln2"),                \
        NORM("blocks.%.att.ln_x"), ROW(NAME("blocks.%.att.key.weight", "EE")),                     \
        ROW(NAME("blocks.%.att.value.weight", "EE")),                                              \
        ROW(NAME("blocks.%.att.receptance.weight", "EE")),                                         \
        ROW(NAME("blocks.%.att.output.weight", "EE")), ROW(NAME("blocks.%.ffn.key.weight", "EF")), \
        ROW(NAME("blocks.%.ffn.value.weight", "FE"))

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
    {SHAPED("blocks.%.att.time_maa_x", "?", "E")},
    {FUSED("blocks.%.att.time_maa_w", ORDER_STACKED, "E115")},
    {FUSED("blocks.%.att.time_maa_k", ORDER_STACKED, "E115")},
    {FUSED("blocks.%.att.time_maa_v", ORDER_STACKED, "E115")},
    {FUSED("blocks.%.att.time_maa_r", ORDER_STACKED, "E115")},
    {FUSED("blocks.%.att.time_maa_g", ORDER_STACKED, "E115")},
    {NAME("blocks.%.att.time_maa_w1", "EM")},
    {NAME("blocks.%.att.time_maa_w2", "XE5")},
    {SHAPED("blocks.%.att.time_decay", "?", "E")},
    {NAME("blocks.%.att.time_decay_w1", "ED")},
    {NAME("blocks.%.att.time_decay_w2", "DE")},
    {SHAPED("blocks.%.att.time_faaaa", "1HN", "HN")},
    {NAME("blocks.%.att.gate.weight", "EE")},
    {SHAPED("blocks.%.ffn.time_maa_k", "?", "E")},
    {SHAPED("blocks.%.ffn.time_maa_r", "?", "E")},
    {NAME("blocks.%.ffn.receptance.weight", "EE")},
    {.old_name = NULL},
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
    {FUSED("blocks.%.att.x_rwkvag", ORDER_AS_IS, "E116")},
    {SHAPED("blocks.%.att.w0", "?", "E")},
    {NAME("blocks.%.att.w1", "EW")},
    {NAME("blocks.%.att.w2", "WE")},
    {DROPPED("blocks.0.att.v0")},
    {DROPPED("blocks.0.att.v1")},
    {DROPPED("blocks.0.att.v2")},
    {TWICE("blocks.0.att.a0", "?", "E", "blocks.0.att.v0")},
    {TWICE("blocks.0.att.a1", "EA", NULL, "blocks.0.att.v1")},
    {TWICE("blocks.0.att.a2", "AE", NULL, "blocks.0.att.v2")},
    {LATER_ONES("blocks.%.att.a0", "?", "E")},
    {LATER_ONES("blocks.%.att.a1", "EA", NULL)},
    {LATER_ONES("blocks.%.att.a2", "AE", NULL)},
    {LATER_ONES("blocks.%.att.v0", "?", "E")},
    {LATER_ONES("blocks.%.att.v1", "EL", NULL)},
    {LATER_ONES("blocks.%.att.v2", "LE", NULL)},
    {NAME("blocks.%.att.g1", "EG")},
    {NAME("blocks.%.att.g2", "GE")},
    {SHAPED("blocks.%.att.k_k", "?", "E")},
    {SHAPED("blocks.%.att.k_a", "?", "E")},
    {SHAPED("blocks.%.att.r_k", "HN", "E")},
    {SHAPED("blocks.%.ffn.x_k", "?", "E")},
    {.old_name = NULL},
};

/* ---- keys ----------------------------------------------------------------------------------- */

#define U32 GUFO_VALUE_UINT32
#define FIELD(key_, field_) LEGACY_KEY(key_, U32, FROM_FIELD), .field = field_
#define SHAPE(key_, letter) LEGACY_KEY(key_, U32, FROM_SHAPE), .shape = letter
#define TABLE(key_, number_) LEGACY_KEY(key_, U32, FROM_TABLE), .number = number_
#define EPSILON                                                              \
    LEGACY_KEY("attention.layer_norm_epsilon", GUFO_VALUE_FLOAT32, ASSUMED), \
        .number = 1e-5, .why = "the programs that ran these files had it built in"
#define BOTH                                                                                    \
    ROW(TABLE("context_length", 1048576)), ROW(FIELD("embedding_length", FIELD_EMBD)),          \
        ROW(FIELD("block_count", FIELD_LAYER)), ROW(EPSILON), ROW(SHAPE("wkv.head_size", 'H')), \
        ROW(SHAPE("feed_forward_length", 'F')), ROW(TABLE("attention.head_count", 0))

static const legacy_key rwkv6_keys[] = {
    BOTH,
    {TABLE("rescale_every_n_layers", 0)}, /* rwkv.cpp did not rescale */
    {SHAPE("time_mix_extra_dim", 'X')},
    {SHAPE("time_decay_extra_dim", 'D')},
    {.key = NULL},
};

static const legacy_key rwkv7_keys[] = {
    BOTH,
    {SHAPE("attention.decay_lora_rank", 'W')},
    {SHAPE("attention.iclr_lora_rank", 'A')},
    {SHAPE("attention.value_residual_mix_lora_rank", 'L')},
    {SHAPE("attention.gate_lora_rank", 'G')},
    {.key = NULL},
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
