/* Looking into one open file: metadata, tensors, bytes. */
#include "base/checked.h"

#include <inttypes.h>

#include "base/error.h"
#include "format/file/file.h"
#include "format/value/value.h"

/* How large a tensor is: the one place where dims become elements and bytes.
 *
 * All products are taken with zeros read as ones first.  A zero dim makes the tensor empty, but
 * must not hide that the strides of the other dims overflow in the next reader that computes
 * them. */

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

/* ---- metadata ------------------------------------------------------------------------------- */

/* In place, not by value: looking up keys copies nothing. */
static void read_value(const gguf_file *file, const entry_record *entry, gufo_value *out)
{
    const uint8_t *at = file->source.base + entry->value_at;

    switch (value_type_row(entry->type)->kind) {
    case KIND_STRING:
        *out = (gufo_value){.type = GUFO_VALUE_STRING,
                            .as.str = {(const char *)at, (size_t)entry->count}};
        return;
    case KIND_ARRAY:
        *out = (gufo_value){.type = GUFO_VALUE_ARRAY,
                            .as.array = {.type = (gufo_value_type)entry->element_type,
                                         .count = entry->count,
                                         .data = at,
                                         .size = entry->end - entry->value_at,
                                         .encoding = file->encoding}};
        return;
    default:
        *out = load_number(at, (gufo_value_type)entry->type, file->encoding);
    }
}

bool file_entry_at(const gguf_file *file, uint64_t index, gufo_entry *out)
{
    const entry_record *entry;

    if (index >= file->entries.count)
        return false;
    entry = file_entry(file, index);
    out->key = file_name(file, &entry->record);
    read_value(file, entry, &out->value);
    out->offset = entry->record.offset;
    out->value_offset = entry->value_at;
    out->end = entry->end;
    out->reserved[0] = out->reserved[1] = 0;
    return true;
}

bool file_entry_find(const gguf_file *file, gufo_str key, gufo_entry *out)
{
    uint64_t index;

    return name_index_find(&file->keys, key, &index) && file_entry_at(file, index, out);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Where data begins is not known in a damaged file that could not be read so far. */
static bool has_place(const gguf_file *file, const tensor_record *tensor)
{
    return file->data_offset != 0 && !(tensor->flags & TENSOR_UNPLACED);
}

/* How many of the tensor's bytes the file has. */
static uint64_t available_bytes(const gguf_file *file, const tensor_record *tensor)
{
    uint64_t behind = file->source.size > tensor->offset ? file->source.size - tensor->offset : 0;

    if ((tensor->flags & TENSOR_UNUSABLE) || !has_place(file, tensor))
        return 0;
    return tensor->size < behind ? tensor->size : behind;
}

bool file_tensor_at(const gguf_file *file, uint64_t index, gufo_tensor *out)
{
    const tensor_record *tensor;
    uint64_t elements, ignored;

    if (index >= file->tensors.count)
        return false;
    tensor = file_tensor(file, index);
    if ((tensor->flags & TENSOR_UNUSABLE) ||
        !tensor_measure(tensor->type, tensor->n_dims, tensor->dims, &elements, &ignored))
        elements = 0;
    *out =
        (gufo_tensor){.name = file_name(file, &tensor->record),
                      .type = tensor->type,
                      .n_dims = tensor->n_dims,
                      .elements = elements,
                      .offset = has_place(file, tensor) ? tensor->offset : GUFO_NO_OFFSET,
                      .size = tensor->size,
                      .available = available_bytes(file, tensor),
                      .info_offset = tensor->record.offset,
                      .size_known = (tensor->flags & (TENSOR_SIZE_UNKNOWN | TENSOR_UNUSABLE)) == 0,
                      .complete = has_place(file, tensor) && tensor_complete(file, tensor),
                      .overlaps = (tensor->flags & TENSOR_OVERLAPS) != 0};
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        out->dims[i] = i < tensor->n_dims ? tensor->dims[i] : 1;
    return true;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

gufo_status file_read(const gguf_file *file, uint64_t offset, void *out, size_t size,
                      gufo_error *error)
{
    if (!range_inside(offset, size, file->source.size))
        return refuse(error, GUFO_E_RANGE,
                      "file has %s bytes; %s bytes from %" PRIu64 " were asked for",
                      GROUPED(file->source.size), GROUPED(size), offset);
    if (size == 0)
        return GUFO_OK;
    return source_read(&file->source, offset, out, size, error);
}
