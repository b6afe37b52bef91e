/* Which model a file holds, whatever it is quantized to; what an adapter is. */
#ifndef GUFO_SCHEMA_IDENTITY_H
#define GUFO_SCHEMA_IDENTITY_H

#include "base/text.h"
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

/* Whether rows of an adapter's tensor are looked up and not multiplied with: then the adapter's two tensors
 * have changed places, A is [rank, rows] and B is [rank, columns]. */
static inline bool adapter_is_looked_up(gufo_str base)
{
    return gufo_str_equal(base, gufo_str_of("token_embd.weight"));
}

/* Whether it is a tensor of DoRA, which scales rows by a magnitude. */
static inline bool adapter_is_magnitude(gufo_str name)
{
    return str_search(name, gufo_str_of("lora_magnitude")) != NULL;
}

#endif
