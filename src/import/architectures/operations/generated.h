/* Tensors that are computed from the configuration. */
#ifndef IMPORT_ARCHITECTURES_OPERATIONS_GENERATED_H
#define IMPORT_ARCHITECTURES_OPERATIONS_GENERATED_H

#include "import/architectures/operations/operation.h"

/* A view on `count` numbers, which are in the plan then. */
gufo_status generate_view(const operation_call *c, const float *values, uint64_t count,
                          gufo_error *error);

/* Parameters of rope_type llama3, and how many numbers of a head are rotated. */
typedef struct llama3_ropes {
    float base, factor, low, high, context, size;
} llama3_ropes;

/* The factor of frequency `index`. */
float llama3_factor(const llama3_ropes *l, uint64_t index);

/* Argument: the factor where the configuration has none. */
gufo_status generate_llama3(const operation_call *c, gufo_error *error);
/* Arguments: a field of the rotary parameters that is a list, and how many numbers it has. */
gufo_status generate_factors(const operation_call *c, gufo_error *error);
/* Arguments: the size of a head, and how many of its halves are rotated. */
gufo_status generate_proportional(const operation_call *c, gufo_error *error);
/* Arguments: samples in a second, samples of a transform, and filters. */
gufo_status generate_mels(const operation_call *c, gufo_error *error);

#endif
