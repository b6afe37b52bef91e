/* Names of tensors: two tables, and the functions that look names up in them. */
#include "quant/recipes/names.h"

#include <string.h>

#include "base/text.h"
#include "gufo/quant.h"

/* ---- matching ------------------------------------------------------------------------------- */

typedef enum match { PART, WHOLE } match;

static bool matches(gufo_str name, const char *text, match how)
{
    return how == WHOLE ? gufo_str_equal(name, gufo_str_of(text))
                        : str_search(name, gufo_str_of(text)) != NULL;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

/* The first row that matches counts.  Experts are "ffn_down_exps" and the like. */
static const struct {
    const char *text;
    match how;
    tensor_kind kind;
} kinds[] = {
    {"output.weight", WHOLE, KIND_OUTPUT},
    {"token_embd.weight", WHOLE, KIND_EMBEDDING},
    {"per_layer_token_embd.weight", WHOLE, KIND_EMBEDDING},
    {"attn_qkv.weight", PART, KIND_V},
    {"attn_kv_b.weight", PART, KIND_V},
    {"attn_v.weight", PART, KIND_V},
    {"attn_k.weight", PART, KIND_K},
    {"attn_q.weight", PART, KIND_Q},
    {"attn_output.weight", PART, KIND_ATTENTION_OUTPUT},
    {"ffn_up", PART, KIND_UP},
    {"ffn_gate", PART, KIND_GATE},
    {"ffn_down", PART, KIND_DOWN},
};

tensor_kind recipe_kind(gufo_str name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (matches(name, kinds[i].text, kinds[i].how))
            return kinds[i].kind;
    return KIND_OTHER;
}

int64_t recipe_layer(gufo_str name)
{
    static const char prefix[] = "blk.";
    enum { PREFIX_LEN = sizeof prefix - 1, MOST_DIGITS = 9 };
    size_t at = PREFIX_LEN;
    int64_t layer = 0;

    if (name.len < PREFIX_LEN || memcmp(name.data, prefix, PREFIX_LEN) != 0)
        return -1;
    while (at < name.len && name.data[at] >= '0' && name.data[at] <= '9' &&
           at < PREFIX_LEN + MOST_DIGITS)
        layer = layer * 10 + (name.data[at++] - '0');
    return at > PREFIX_LEN ? layer : -1;
}

/* ---- what is kept --------------------------------------------------------------------------- */

/* Small, or too sensitive, though they have two dimensions. */
static const struct {
    const char *text;
    match how;
} kept[] = {
    {"_norm.weight", PART},
    {"position_embd.weight", WHOLE},
    {"token_types.weight", WHOLE},
    /* the choice of experts */
    {"ffn_gate_inp.weight", PART},
    {"ffn_gate_tid2eid.weight", PART},
    /* gemma3n */
    {"altup", PART},
    {"laurel", PART},
    {"per_layer_model_proj", PART},
    /* short convolutions */
    {"ssm_conv1d", PART},
    {"shortconv.conv.weight", PART},
    /* sparse attention */
    {"indexer.k_proj.weight", PART},
    {"indexer.q_proj.weight", PART},
    /* T5: relative positions */
    {"attn_rel_b.weight", PART},
    /* RWKV */
    {"time_mix_first.weight", PART},
    {"time_mix_w0.weight", PART},
    {"time_mix_w1.weight", PART},
    {"time_mix_w2.weight", PART},
    {"time_mix_v0.weight", PART},
    {"time_mix_v1.weight", PART},
    {"time_mix_v2.weight", PART},
    {"time_mix_a0.weight", PART},
    {"time_mix_a1.weight", PART},
    {"time_mix_a2.weight", PART},
    {"time_mix_g1.weight", PART},
    {"time_mix_g2.weight", PART},
    {"time_mix_decay_w1.weight", PART},
    {"time_mix_decay_w2.weight", PART},
    {"time_mix_lerp_fused.weight", PART},
    /* vision and audio */
    {".position_embd", PART},
    {"sam.pos_embd", PART},
    {"sam.neck.", PART},
    {"sam.net_", PART},
    {".rel_pos", PART},
    {".patch_embd", PART},
    {".patch_merger", PART},
    {"a.rvq.codebook", PART},
    {"mm.a.code_embd", PART},
};

const char *recipe_kept_name(gufo_str name)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (matches(name, kept[i].text, kept[i].how))
            return kept[i].text;
    return NULL;
}

bool recipe_is_weight(gufo_str name)
{
    return str_ends(name, "weight");
}
