/* Which model a file holds, whatever it is quantized to. */
#ifndef GUFO_SCHEMA_IDENTITY_H
#define GUFO_SCHEMA_IDENTITY_H

#include "gufo/format.h"

/* The key by which an adapter names its base, and how long its value is. */
#define IDENTITY_BASE_KEY "gufo.base_model.weights"
enum { IDENTITY_DIGITS = 16 };

/* What is hashed of each tensor besides its name and its shape. */
typedef enum identity_depth {
    IDENTITY_VECTORS, /* the numbers of vectors: norms and biases, which quantizing does not change */
    IDENTITY_ALL,     /* all numbers */
} identity_depth;

/* Adds the tensors of a model to *hash: the same for the same numbers, whatever their order, their
 * byte order and the machine.  Vectors of more than a million numbers count by their shapes. */
gufo_status identity_add(const gufo_model *model, identity_depth depth,
                         const gufo_allocator *allocator, uint64_t *hash, gufo_error *error);

/* The identity of a model's weights, which its quantizations share, in hexadecimal digits. */
gufo_status identity_of_weights(const gufo_model *model, const gufo_allocator *allocator,
                                char out[IDENTITY_DIGITS + 1], gufo_error *error);

#endif
