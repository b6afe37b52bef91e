/* What a tensor's name says. */
#include "cli/core/records/tensor_role.h"

#include "base/text.h"

#include <string.h>

gufo_str tensor_role(gufo_str name, uint64_t *layer)
{
    static const char before[] = "blk.", after[] = ".weight";
    size_t at = sizeof before - 1, digits;
    uint64_t number = TENSOR_NO_LAYER;

    if (str_ends(name, after))
        name.len -= sizeof after - 1;
    if (str_begins(name, before)) {
        digits = str_digits(name, at);
        if (name.len > at + digits && name.data[at + digits] == '.' &&
            str_number((gufo_str){name.data + at, digits}, &number))
            name = str_from(name, at + digits + 1);
        else
            number = TENSOR_NO_LAYER;
    }
    if (layer != NULL)
        *layer = number;
    return name;
}
