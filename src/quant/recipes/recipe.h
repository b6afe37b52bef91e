/* What plans ask of recipes beyond their public functions. */
#ifndef GUFO_QUANT_RECIPE_H
#define GUFO_QUANT_RECIPE_H

#include "gufo/quant.h"

/* GUFO_E_ARGUMENT for what this version does not know. */
gufo_status recipe_check_options(const gufo_recipe_options *options, gufo_error *error);

#endif
