/* Looking into one open file: metadata, tensors, bytes. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/file/file.h"
#include "format/value/value.h"

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
