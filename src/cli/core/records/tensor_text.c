/* What a tensor is, in words. */
#include "cli/core/records/tensor_text.h"

#include <inttypes.h>
#include <stdio.h>

tensor_text tensor_type_text(uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);
    tensor_text t;

    if (type != NULL)
        snprintf(t.text, sizeof t.text, "%s", type->name);
    else
        snprintf(t.text, sizeof t.text, "type %" PRIu32, id);
    return t;
}

tensor_text tensor_shape_text(const gufo_tensor *tensor, const char *separator)
{
    tensor_text t = {"scalar"};
    size_t len = 0;

    for (uint32_t i = 0; i < tensor->n_dims && len < sizeof t.text; i++)
        len += (size_t)snprintf(t.text + len, sizeof t.text - len, "%s%" PRIu64,
                                i > 0 ? separator : "", tensor->dims[i]);
    return t;
}

double tensor_bits(uint64_t bytes, uint64_t weights)
{
    return weights > 0 ? 8 * (double)bytes / (double)weights : 0;
}
