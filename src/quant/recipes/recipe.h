/* What plans ask of recipes beyond their public functions. */
#ifndef GUFO_QUANT_RECIPE_H
#define GUFO_QUANT_RECIPE_H

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

#endif
