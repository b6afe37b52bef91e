/* What is known about tensors by their role: registry/sensitivity.tsv. */
#ifndef GUFO_QUANT_SENSITIVITY_H
#define GUFO_QUANT_SENSITIVITY_H

#include "gufo/quant.h"

/* Facts about a model that the table asks for. */
typedef struct sensitivity_facts {
    gufo_recipe_model model;
    bool is_tied; /* the token embedding is the output, too */
} sensitivity_facts;

/* The coefficient of a tensor. */
double sensitivity_of(const sensitivity_facts *facts, gufo_str name);
/* The least type of a tensor; NULL: any. */
const gufo_element_type *sensitivity_least(const sensitivity_facts *facts, gufo_str name);

#endif
