/* How large a tensor is: the one place where dims become elements and bytes.
 *
 * All products are taken with zeros read as ones first.  A zero dim makes the tensor empty, but
 * must not hide that the strides of the other dims overflow in the next reader that computes
 * them. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/file/file.h"

/* Multiplies, and keeps within what a signed 64-bit reader can hold. */
static bool multiply(uint64_t *product, uint64_t factor)
{
    return checked_mul(*product, factor == 0 ? 1 : factor, product) && *product <= INT64_MAX;
}

bool tensor_measure(uint32_t type_id, uint32_t n_dims, const uint64_t *dims, uint64_t *elements,
                    uint64_t *size)
{
    const gufo_element_type *type = gufo_element_type_by_id(type_id);
    bool known = type != NULL && type->block_elements != 0;
    uint64_t row = n_dims > 0 ? dims[0] : 1;
    uint64_t count = 1, bytes = 1;
    bool empty = false;

    for (uint32_t i = 0; i < n_dims; i++) {
        empty |= dims[i] == 0;
        if (!multiply(&count, dims[i]) || (i > 0 && !multiply(&bytes, dims[i])))
            return false;
    }
    if (known &&
        (!multiply(&bytes, row / type->block_elements) || !multiply(&bytes, type->block_bytes)))
        return false;
    *elements = empty ? 0 : count;
    *size = empty || !known ? 0 : bytes;
    return true;
}

bool tensor_rows_fill_blocks(uint32_t type_id, uint32_t n_dims, const uint64_t *dims)
{
    const gufo_element_type *type = gufo_element_type_by_id(type_id);

    if (type == NULL || type->block_elements == 0)
        return true;
    return (n_dims > 0 ? dims[0] : 1) % type->block_elements == 0;
}

gufo_status tensor_check_shape(gufo_str name, uint32_t type_id, uint32_t n_dims,
                               const uint64_t *dims, bool is_new, uint64_t *elements,
                               uint64_t *size, gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(type_id);

    if (n_dims > GUFO_MAX_DIMS)
        return rule_failure(error, RULE_DIMS_COUNT,
                            "tensor %s has %s dimensions, at most %d are allowed", QUOTED(name),
                            GROUPED(n_dims), GUFO_MAX_DIMS);
    if (is_new && type != NULL && (type->flags & GUFO_ELEMENT_REMOVED))
        return rule_failure(error, RULE_TYPE_REMOVED,
                            "tensor %s has element type %s, which was removed from the format",
                            QUOTED(name), type->name);
    if (!tensor_measure(type_id, n_dims, dims, elements, size))
        return rule_failure(error, RULE_DIMS_OVERFLOW,
                            "elements or bytes of tensor %s do not fit into 63 bits", QUOTED(name));
    if (!tensor_rows_fill_blocks(type_id, n_dims, dims))
        return rule_failure(error, RULE_ROW_BLOCKS,
                            "rows of tensor %s are not a multiple of %" PRIu32
                            " elements, the block of %s",
                            QUOTED(name), type->block_elements, type->name);
    return GUFO_OK;
}
