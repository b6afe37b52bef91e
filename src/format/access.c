/* Looking into an open file: facts, metadata, tensors, data. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/file.h"
#include "format/value.h"

/* ---- facts ---------------------------------------------------------------------------------- */

uint32_t gufo_file_version(const gufo_file *file)
{
    return file->encoding.version;
}

gufo_byte_order gufo_file_byte_order(const gufo_file *file)
{
    return (gufo_byte_order)file->encoding.byte_order;
}

uint64_t gufo_file_size(const gufo_file *file)
{
    return file->source.size;
}

uint32_t gufo_file_alignment(const gufo_file *file)
{
    return file->alignment;
}

uint64_t gufo_file_data_offset(const gufo_file *file)
{
    return file->data_offset;
}

uint64_t gufo_file_data_size(const gufo_file *file)
{
    return file->data_end > file->data_offset ? file->data_end - file->data_offset : 0;
}

uint64_t gufo_file_infos_end(const gufo_file *file)
{
    return file->infos_end;
}

const gufo_error *gufo_file_damage(const gufo_file *file)
{
    return file->damaged ? &file->damage : NULL;
}

uint64_t gufo_file_claimed_metadata(const gufo_file *file)
{
    return file->claimed_metadata;
}

uint64_t gufo_file_claimed_tensors(const gufo_file *file)
{
    return file->claimed_tensors;
}

/* ---- metadata ------------------------------------------------------------------------------- */

static gufo_value value_of(const gufo_file *file, const entry_record *entry)
{
    const uint8_t *at = file->source.base + entry->value_at;
    gufo_value value = {.type = (gufo_value_type)entry->type};

    switch (value_form_of(entry->type)->kind) {
    case KIND_STRING:
        value.as.str = (gufo_str){(const char *)at, (size_t)entry->count};
        return value;
    case KIND_ARRAY:
        value.as.array = (gufo_array){.type = (gufo_value_type)entry->element_type,
                                      .count = entry->count,
                                      .data = at,
                                      .size = entry->end - entry->value_at,
                                      .encoding = file->encoding};
        return value;
    default:
        return load_number(at, value.type, file->encoding);
    }
}

uint64_t gufo_metadata_count(const gufo_file *file)
{
    return file->entries.count;
}

bool gufo_metadata_at(const gufo_file *file, uint64_t index, gufo_entry *out)
{
    const entry_record *entry;

    if (index >= file->entries.count)
        return false;
    entry = file_entry(file, index);
    *out = (gufo_entry){.key = file_entry_key(file, entry),
                        .value = value_of(file, entry),
                        .offset = entry->offset,
                        .value_offset = entry->value_at,
                        .end = entry->end};
    return true;
}

bool gufo_metadata_find_str(const gufo_file *file, gufo_str key, gufo_entry *out)
{
    uint64_t index;

    return name_index_find(&file->keys, key, &index) && gufo_metadata_at(file, index, out);
}

bool gufo_metadata_find(const gufo_file *file, const char *key, gufo_entry *out)
{
    return gufo_metadata_find_str(file, gufo_str_of(key), out);
}

static gufo_status find_value(const gufo_file *file, const char *key, gufo_entry *entry,
                              gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    if (gufo_metadata_find(file, key, entry))
        return GUFO_OK;
    if (error == NULL) /* whoever only wants to know whether it is there */
        return GUFO_E_NOT_FOUND;
    return fail_with(error, GUFO_E_NOT_FOUND, GUFO_NO_OFFSET, "no key %s",
                     quote_name(quoted, gufo_str_of(key)));
}

/* Adds to a failed conversion what the conversion could not know: which key, and where. */
static gufo_status name_failure(gufo_status status, const gufo_entry *entry, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_error reason;

    if (status == GUFO_OK || error == NULL)
        return status;
    reason = *error;
    return fail_with(error, status, entry->value_offset, "key %s: %.200s",
                     quote_name(quoted, entry->key), reason.message);
}

#define DEFINE_GETTER(name, type)                                                        \
    gufo_status gufo_get_##name(const gufo_file *file, const char *key, type *out,       \
                                gufo_error *error)                                       \
    {                                                                                    \
        gufo_entry entry;                                                                \
        gufo_status status = find_value(file, key, &entry, error);                       \
                                                                                         \
        if (status != GUFO_OK)                                                           \
            return status;                                                               \
        return name_failure(gufo_value_##name(&entry.value, out, error), &entry, error); \
    }

DEFINE_GETTER(u64, uint64_t)
DEFINE_GETTER(i64, int64_t)
DEFINE_GETTER(f64, double)
DEFINE_GETTER(bool, bool)
DEFINE_GETTER(str, gufo_str)

gufo_status gufo_get_array(const gufo_file *file, const char *key, gufo_value_type elements,
                           gufo_array *out, gufo_error *error)
{
    gufo_entry entry;
    gufo_status status = find_value(file, key, &entry, error);

    if (status != GUFO_OK)
        return status;
    return name_failure(gufo_value_array(&entry.value, elements, out, error), &entry, error);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Where data begins is not known in a damaged file that could not be read so far. */
static bool has_place(const gufo_file *file, const tensor_record *tensor)
{
    return file->data_offset != 0 && !(tensor->flags & TENSOR_UNPLACED);
}

/* How many of the tensor's bytes the file has. */
static uint64_t available_bytes(const gufo_file *file, const tensor_record *tensor)
{
    uint64_t behind = file->source.size > tensor->offset ? file->source.size - tensor->offset : 0;

    if ((tensor->flags & TENSOR_UNUSABLE) || !has_place(file, tensor))
        return 0;
    return tensor->size < behind ? tensor->size : behind;
}

uint64_t gufo_tensor_count(const gufo_file *file)
{
    return file->tensors.count;
}

bool gufo_tensor_at(const gufo_file *file, uint64_t index, gufo_tensor *out)
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
        (gufo_tensor){.name = file_tensor_name(file, tensor),
                      .type = tensor->type,
                      .n_dims = tensor->n_dims,
                      .elements = elements,
                      .offset = has_place(file, tensor) ? tensor->offset : GUFO_NO_OFFSET,
                      .size = tensor->size,
                      .available = available_bytes(file, tensor),
                      .info_offset = tensor->info_offset,
                      .size_known = (tensor->flags & (TENSOR_SIZE_UNKNOWN | TENSOR_UNUSABLE)) == 0,
                      .complete = has_place(file, tensor) && tensor_complete(file, tensor)};
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        out->dims[i] = i < tensor->n_dims ? tensor->dims[i] : 1;
    return true;
}

bool gufo_tensor_find_str(const gufo_file *file, gufo_str name, gufo_tensor *out)
{
    uint64_t index;

    return name_index_find(&file->names, name, &index) && gufo_tensor_at(file, index, out);
}

bool gufo_tensor_find(const gufo_file *file, const char *name, gufo_tensor *out)
{
    return gufo_tensor_find_str(file, gufo_str_of(name), out);
}

/* ---- data ----------------------------------------------------------------------------------- */

const void *gufo_tensor_data(const gufo_file *file, const gufo_tensor *tensor)
{
    const source *s = &file->source;

    if (s->buffer != NULL || tensor->available < tensor->size ||
        !range_inside(tensor->offset, tensor->size, s->have))
        return NULL;
    return s->base + tensor->offset;
}

gufo_status tensor_check_range(const gufo_tensor *tensor, uint64_t offset, uint64_t size,
                               gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    if (!range_inside(offset, size, tensor->size))
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "tensor %s has %" PRIu64 " bytes; %" PRIu64 " bytes from %" PRIu64
                         " were asked for",
                         quote_name(quoted, tensor->name), tensor->size, size, offset);
    if (!range_inside(offset, size, tensor->available))
        return fail_with(error, GUFO_E_TRUNCATED, tensor->offset + tensor->available,
                         "only %" PRIu64 " of %" PRIu64 " bytes of tensor %s are there",
                         tensor->available, tensor->size, quote_name(quoted, tensor->name));
    return GUFO_OK;
}

gufo_status gufo_tensor_read(const gufo_file *file, const gufo_tensor *tensor, uint64_t offset,
                             void *buffer, size_t size, gufo_error *error)
{
    gufo_status status = tensor_check_range(tensor, offset, size, error);

    if (status != GUFO_OK)
        return status;
    /* An empty tensor may lie behind the last byte of the file. */
    return size ? gufo_file_read(file, tensor->offset + offset, buffer, size, error) : GUFO_OK;
}

gufo_status gufo_file_read(const gufo_file *file, uint64_t offset, void *buffer, size_t size,
                           gufo_error *error)
{
    if (!range_inside(offset, size, file->source.size))
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "file has %" PRIu64 " bytes; %zu bytes from %" PRIu64 " were asked for",
                         file->source.size, size, offset);
    if (size == 0)
        return GUFO_OK;
    return source_read(&file->source, offset, buffer, size, error);
}

bool gufo_file_has_data(const gufo_file *file)
{
    return !file->source.sequential;
}

gufo_status gufo_file_unchanged(const gufo_file *file, gufo_error *error)
{
    return source_unchanged(&file->source, error);
}
