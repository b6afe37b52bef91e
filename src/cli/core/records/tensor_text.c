/* What a tensor is, in words. */
#include "cli/core/values/str.h"
#include "cli/core/records/tensor_text.h"

#include "gufo/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* ---- what its name says ---------------------------------------------------------------------- */

gufo_str tensor_role(gufo_str name, uint64_t *layer)
{
    static const char before[] = "blk.", after[] = ".weight";
    size_t at = sizeof before - 1, digits;
    uint64_t number = TENSOR_NO_LAYER;
    const char *text;

    if (ends_with(name, after))
        name.len -= sizeof after - 1;
    if (begins_with(name, before)) {
        digits = span_of(name, at, DIGITS);
        text = name.data + at;
        if (name.len > at + digits && name.data[at + digits] == '.' &&
            gufo_number_read(&text, &number))
            name = rest_of(name, at + digits + 1);
        else
            number = TENSOR_NO_LAYER;
    }
    if (layer != NULL)
        *layer = number;
    return name;
}
