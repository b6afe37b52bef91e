/* What plans ask of recipes beyond their public functions. */
#ifndef GUFO_QUANT_RECIPE_H
#define GUFO_QUANT_RECIPE_H

#include "gufo/base.h"
#include "gufo/quant.h"

/* GUFO_E_ARGUMENT for what this version does not know. */
gufo_status recipe_check_options(const gufo_recipe_options *options, gufo_error *error);

/* In gufo_recipe_choice.flags: the tensor cannot have the type of the target, and `type` is its own. */
#define RECIPE_UNFIT (UINT32_C(1) << 15)

/* Tensors that are asked for one at a time, and who takes what is decided about each. */
typedef struct recipe_tensors {
    void *context;
    size_t count;
    gufo_str (*name_at)(const void *context, size_t index);
    gufo_tensor (*tensor_at)(const void *context, size_t index);
    gufo_status (*take)(void *context, size_t index, const gufo_recipe_choice *choice,
                        gufo_error *error);
} recipe_tensors;

/* As gufo_recipe_choose; with `marks_unfit` a target whose blocks the rows of a tensor do not fill, and
 * that has no fallback, is not a failure. */
gufo_status recipe_choose(const gufo_recipe_options *options, const gufo_recipe_model *model,
                          const recipe_tensors *tensors, bool marks_unfit, gufo_error *error);
/* gufo_recipe_choice.fallback_cost, from the other fields of the choice. */
int64_t recipe_fallback_cost(const gufo_tensor *tensor, const gufo_recipe_choice *choice);

/* Facts about the model that the user overrides count for the recipes, too. */
void recipe_model_override(gufo_recipe_model *model, const gufo_quantize_override *overrides,
                           size_t count);

/* ---- the meaning of a tensor's name: its kind, its layer, whether it is quantized at all -------- */

/* The kinds of tensors that recipes distinguish. */
typedef enum tensor_kind {
    KIND_OTHER,
    KIND_OUTPUT,    /* output.weight */
    KIND_EMBEDDING, /* of tokens */
    KIND_V,         /* values, also fused with queries and keys */
    KIND_K,
    KIND_Q,
    KIND_ATTENTION_OUTPUT,
    KIND_UP,
    KIND_GATE,
    KIND_DOWN,
    KIND_COUNT
} tensor_kind;

tensor_kind recipe_kind(gufo_str name);

/* N of a name that begins with "blk.N"; -1 for any other. */
int64_t recipe_layer(gufo_str name);

/* The rule by which a tensor with that name keeps its type: a part of such names.  NULL if it may
 * be quantized. */
const char *recipe_kept_name(gufo_str name);

/* Whether the name is one of a weight: the only tensors that are quantized. */
bool recipe_is_weight(gufo_str name);

/* ---- the mixtures: which element type a file type gives to a kind of tensor --------------------- */

/* What a rule may ask for.  Divisions are of whole numbers. */
enum {
    /* of the model */
    FACT_FALCON = 1 << 0,
    FACT_NOT_FALCON = 1 << 1,
    FACT_IMPORTANCE = 1 << 2,
    FACT_NO_IMPORTANCE = 1 << 3,
    FACT_4_HEADS = 1 << 4, /* or more share one head of keys and values */
    FACT_SHARED = 1 << 5,  /* that, or four experts or more */
    FACT_8_EXPERTS = 1 << 6,
    FACT_NOT_8_EXPERTS = 1 << 7,
    FACT_70B = 1 << 8,
    /* of the tensor */
    FACT_STACK = 1 << 9,   /* several matrices */
    FACT_MISFIT = 1 << 10, /* rows do not fill blocks of the file type's base type */
    /* of its place: the i-th of n tensors of the kind */
    FACT_FIRST_2 = 1 << 11,
    FACT_FIRST_4 = 1 << 12,
    FACT_FIRST_16TH = 1 << 13,
    FACT_FIRST_8TH = 1 << 14,
    FACT_MIDDLE = 1 << 15, /* neither in the first eighth nor in the last */
    FACT_MORE = 1 << 16,   /* in the first eighth, the last, or every third between */
};

/* Facts of the model; of the i-th of n tensors of a kind. */
uint32_t mix_model_facts(const gufo_recipe_model *model, bool importance);
uint32_t mix_place_facts(uint64_t i, uint64_t n);

/* Whether the file type takes the running count as the place of feed-forward tensors even where
 * experts make it doubtful. */
bool mix_counts_always(const gufo_file_type *file_type);

/* The element type for a tensor of the kind (an embedding that is the output too counts as output)
 * about which the facts hold. */
uint32_t mix_choose(const gufo_file_type *file_type, tensor_kind kind, uint32_t facts);

#endif
