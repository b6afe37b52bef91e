/* What plans ask of recipes beyond their public functions. */
#ifndef GUFO_QUANT_RECIPE_H
#define GUFO_QUANT_RECIPE_H

#include "gufo/quant.h"

/* GUFO_E_ARGUMENT for what this version does not know. */
gufo_status recipe_check_options(const gufo_recipe_options *options, gufo_error *error);

/* In gufo_recipe_choice.flags: the tensor cannot have the type of the target, and `type` is its own. */
#define RECIPE_UNFIT (UINT32_C(1) << 31)

/* As gufo_recipe_choose; with `marks_unfit` a target whose blocks the rows of a tensor do not fill, and
 * that has no fallback, is not a failure. */
gufo_status recipe_choose(const gufo_recipe_options *options, const gufo_recipe_model *model,
                          const gufo_tensor *tensors, size_t count, bool marks_unfit,
                          gufo_recipe_choice *choices, gufo_error *error);

/* Facts about the model that the user overrides count for the recipes, too. */
void recipe_model_override(gufo_recipe_model *model, const gufo_quantize_override *overrides,
                           size_t count);

#endif
