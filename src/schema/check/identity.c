/* A sum over the tensors of hash(name, shape, numbers), so that their order does not count.  Norms and
 * biases tell a fine-tuned model from its parent; they stay floats when a model is quantized, and what
 * narrower floats they may be has the same numbers. */
#include "schema/check/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

enum { LONGEST_ROW = 1 << 20 };

static void add_number(uint64_t *hash, uint64_t number)
{
    uint8_t bytes[8];

    store_u64(bytes, number, HOST_IS_BIG_ENDIAN);
    hash_chain(hash, bytes, sizeof bytes);
}

static gufo_status add_rows(const gufo_model *model, const gufo_tensor *tensor,
                            const gufo_allocator *allocator, uint64_t *hash, gufo_error *error)
{
    const gufo_run run = {.threads = 1, .allocator = allocator};
    const uint64_t columns = tensor->dims[0], rows = tensor->elements / columns;
    float *row = mem_array(allocator, columns, sizeof *row);
    gufo_status status = row == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = 0; i < rows && status == GUFO_OK; i++) {
        status = gufo_tensor_decode(model, tensor, i, 1, row, &run, error);
        if (status == GUFO_OK && HOST_IS_BIG_ENDIAN)
            copy_numbers(row, row, columns, sizeof *row, true);
        if (status == GUFO_OK)
            hash_chain(hash, row, (size_t)columns * sizeof *row);
    }
    mem_free(allocator, row);
    return status;
}

static bool has_numbers(const gufo_model *model, const gufo_tensor *tensor, identity_depth depth)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    return type != NULL && (type->flags & GUFO_ELEMENT_DECODES) != 0 && tensor->elements > 0 &&
           tensor->dims[0] <= LONGEST_ROW &&
           (depth == IDENTITY_ALL || tensor->elements == tensor->dims[0]) &&
           gufo_model_has_data(gufo_model_shard(model, tensor->shard));
}

gufo_status identity_add(const gufo_model *model, identity_depth depth,
                         const gufo_allocator *allocator, uint64_t *hash, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;
    uint64_t sum = 0;

    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(model, i, &tensor); i++) {
        uint64_t one = *hash;

        hash_chain(&one, tensor.name.data, tensor.name.len);
        for (size_t k = 0; k < GUFO_MAX_DIMS; k++)
            add_number(&one, tensor.dims[k]);
        if (has_numbers(model, &tensor, depth))
            status = add_rows(model, &tensor, allocator, &one, error);
        sum += one;
    }
    add_number(hash, sum);
    return status;
}

gufo_status identity_of_weights(const gufo_model *model, const gufo_allocator *allocator,
                                char out[IDENTITY_DIGITS + 1], gufo_error *error)
{
    uint64_t hash = 0;
    gufo_status status = identity_add(model, IDENTITY_VECTORS, allocator, &hash, error);

    (void)snprintf(out, IDENTITY_DIGITS + 1, "%016" PRIx64, hash);
    return status;
}
