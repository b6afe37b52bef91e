/* The mixtures: which element type a file type gives to a kind of tensor. */
#ifndef GUFO_QUANT_RECIPE_MIX_H
#define GUFO_QUANT_RECIPE_MIX_H

#include "gufo/quant.h"
#include "quant/recipes/names.h"

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
