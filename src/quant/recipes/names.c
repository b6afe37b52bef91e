/* ---- names of tensors: two tables, and the functions that look names up in them ----------------- */

#include <string.h>

#include "base/text.h"
#include "gufo/quant.h"
#include "quant/recipes/recipe.h"
#include "schema/registry/tables.h"

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

/* What TYPE on a command line means.
 *
 *             file types that quantizing makes     aliases         element types     COPY
 *     names   Q4_K_M, IQ3_XS, F16 ...              Q4_K: Q4_K_M    MXFP4, Q8_K       no type at all
 *
 * Several names belong to both a file type and an element type; then `pure` decides.  The format's
 * own names (MOSTLY_Q4_0, GGML_TYPE_Q4_0) are of one kind only. */

/* ---- tables --------------------------------------------------------------------------------- */

static const char copy_name[] = "COPY";

static const struct {
    const char *name;
    uint32_t file_type;
} aliases[] = {
    {"Q3_K", GUFO_FILE_TYPE_Q3_K_M},
    {"Q4_K", GUFO_FILE_TYPE_Q4_K_M},
    {"Q5_K", GUFO_FILE_TYPE_Q5_K_M},
};

enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

static bool is_made(const gufo_file_type *type)
{
    return (type->flags & GUFO_FILE_TYPE_NOT_MADE) == 0;
}

static bool has_encoder(const gufo_element_type *type)
{
    return (type->flags & GUFO_ELEMENT_ENCODES) != 0;
}

/* ---- look-up -------------------------------------------------------------------------------- */

/* A number of at most six digits and nothing else. */
static bool read_number(const char *text, uint32_t *out)
{
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len > 6 || text[len] != '\0')
        return false;
    *out = 0;
    for (; *text != '\0'; text++)
        *out = *out * 10 + (uint32_t)(*text - '0');
    return true;
}

static const gufo_file_type *find_file_type(const char *name)
{
    const gufo_str given = gufo_str_of(name);
    const gufo_file_type *type;
    uint32_t number;

    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (gufo_spelling_means(GUFO_SPELLING_FILE_TYPE, given, aliases[i].name))
            return gufo_file_type_by_id(aliases[i].file_type);
    for (size_t i = 0; (type = gufo_file_type_at(i)) != NULL; i++)
        if (is_made(type) && gufo_spelling_means(GUFO_SPELLING_FILE_TYPE, given, type->name))
            return type;
    type = read_number(name, &number) ? gufo_file_type_by_id(number) : NULL;
    return type != NULL && is_made(type) ? type : NULL;
}

static const gufo_element_type *find_element_type(const char *name)
{
    const gufo_element_type *type = gufo_element_type_meant(gufo_str_of(name));

    return type != NULL && has_encoder(type) ? type : NULL;
}

/* The file type that comes nearest to a file of just that element type: of that name, or the first
 * one based on it. */
static const gufo_file_type *nearest_file_type(const gufo_element_type *element)
{
    const gufo_file_type *type = find_file_type(element->name);

    if (type == NULL)
        type = gufo_file_type_by_name(element->name);
    for (size_t i = 0; type == NULL && i < schema_file_type_count(); i++)
        if (gufo_file_type_at(i)->base_type == element->id)
            type = gufo_file_type_at(i);
    return type;
}

bool gufo_quantize_target_by_name(const char *name, bool pure, gufo_quantize_target *out)
{
    const gufo_file_type *file_type = find_file_type(name);
    const gufo_element_type *element = find_element_type(name);
    gufo_quantize_target unwanted;

    if (out == NULL)
        out = &unwanted;
    if (gufo_spelling_means(GUFO_SPELLING_PLAIN, gufo_str_of(name), copy_name)) {
        *out = (gufo_quantize_target){.name = copy_name};
        return true;
    }
    if (element != NULL && (pure || file_type == NULL)) {
        *out = (gufo_quantize_target){.name = element->name,
                                      .file_type = nearest_file_type(element),
                                      .base_type = element,
                                      .pure = true};
        return true;
    }
    if (file_type != NULL)
        *out = (gufo_quantize_target){.name = file_type->name,
                                      .file_type = file_type,
                                      .base_type = gufo_element_type_by_id(file_type->base_type),
                                      .pure = pure};
    return file_type != NULL;
}

/* ---- list ----------------------------------------------------------------------------------- */

const char *gufo_quantize_target_name(size_t index)
{
    const gufo_file_type *file_type;
    const gufo_element_type *element;

    for (size_t i = 0; (file_type = gufo_file_type_at(i)) != NULL; i++)
        if (is_made(file_type) && index-- == 0)
            return file_type->name;
    if (index < ALIAS_COUNT)
        return aliases[index].name;
    index -= ALIAS_COUNT;
    for (size_t i = 0; (element = gufo_element_type_at(i)) != NULL; i++)
        if (has_encoder(element) && find_file_type(element->name) == NULL && index-- == 0)
            return element->name;
    return index == 0 ? copy_name : NULL;
}
