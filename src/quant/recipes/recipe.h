/* What plans ask of recipes beyond their public functions. */
#ifndef GUFO_QUANT_RECIPE_H
#define GUFO_QUANT_RECIPE_H

#include "gufo/quant.h"

/* GUFO_E_ARGUMENT for what this version does not know. */
gufo_status recipe_check_options(const gufo_recipe_options *options, gufo_error *error);

/* Facts about the model that the user overrides count for the recipes, too. */
void recipe_model_override(gufo_recipe_model *model, const gufo_quantize_override *overrides,
                           size_t count);

#endif
