/* Applies the fix of a finding to the entries. */
#include "format/document/document.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/value/value.h"

/* How many bytes the first `count` elements of an array have. */
static gufo_status measure_first(const gufo_array *array, uint64_t count, uint64_t *size,
                                 gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    while (iter.index < count && gufo_array_next(&iter, &element))
        ;
    *size = iter.position;
    if (iter.changed)
        return refuse(error, GUFO_E_CHANGED, "the file was changed while it was open");
    return GUFO_OK;
}

/* The array keeps its first elements. */
static gufo_status shorten(gufo_document *document, gufo_str key, uint64_t count, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status;

    if (!gufo_document_find_str(document, key, &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
    if (entry.value.type != GUFO_VALUE_ARRAY || count > entry.value.as.array.count)
        return refuse(error, GUFO_E_ARGUMENT, "the array has no elements to remove");
    status = measure_first(&entry.value.as.array, count, &entry.value.as.array.size, error);
    entry.value.as.array.count = count;
    return status == GUFO_OK ? gufo_document_set(document, key, &entry.value, error) : status;
}

static gufo_status convert_all(buffer *out, const gufo_array *array, gufo_value_type type,
                               gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_status status = GUFO_OK;
    uint8_t bytes[8], *place;
    gufo_value element;

    while (status == GUFO_OK && gufo_array_next(&iter, &element)) {
        status = value_convert(&element, type, &element, error);
        if (status != GUFO_OK)
            break;
        place = buffer_extend(out, gufo_value_type_size(type));
        if (place == NULL)
            return fail_memory(error);
        number_bytes(&element, bytes);
        memcpy(place, bytes, gufo_value_type_size(type));
    }
    return status == GUFO_OK && iter.changed ? array_fail_changed(error) : status;
}

/* The elements of the array get another type. */
static gufo_status retype(gufo_document *document, gufo_str key, gufo_value_type type,
                          gufo_error *error)
{
    buffer out = {.allocator = &document->allocator};
    gufo_document_entry entry;
    gufo_array *array = &entry.value.as.array;
    gufo_status status;

    if (!gufo_document_find_str(document, key, &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
    if (entry.value.type != GUFO_VALUE_ARRAY)
        return refuse(error, GUFO_E_ARGUMENT, "key %s is not an array", QUOTED(key));
    status = convert_all(&out, array, type, error);
    if (status == GUFO_OK) {
        const gufo_encoding host = {3, HOST_IS_BIG_ENDIAN ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN};

        *array = (gufo_array){type, array->count, out.data, out.len, host};
        status = gufo_document_set(document, key, &entry.value, error);
    }
    buffer_free(&out);
    return status;
}

static gufo_status remove_key(gufo_document *document, gufo_str key, gufo_error *error)
{
    if (gufo_document_remove_key(document, key))
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
}

gufo_status gufo_document_fix(gufo_document *document, const gufo_fix *fix, gufo_error *error)
{
    gufo_status status;
    uint64_t count;
    gufo_str to;

    if (fix == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the fix is missing");
    switch (fix->kind) {
    case GUFO_FIX_SET:
        return gufo_document_set(document, fix->key, &fix->value, error);
    case GUFO_FIX_RENAME:
        status = gufo_value_str(&fix->value, &to, error);
        return status == GUFO_OK ? gufo_document_rename(document, fix->key, to, error) : status;
    case GUFO_FIX_SHORTEN:
        status = gufo_value_u64(&fix->value, &count, error);
        return status == GUFO_OK ? shorten(document, fix->key, count, error) : status;
    case GUFO_FIX_RETYPE:
        return retype(document, fix->key, fix->value.type, error);
    case GUFO_FIX_REMOVE:
        return remove_key(document, fix->key, error);
    case GUFO_FIX_RENAME_TENSOR:
        status = gufo_value_str(&fix->value, &to, error);
        return status == GUFO_OK ? gufo_document_rename_tensor(document, fix->key, to, error)
                                 : status;
    case GUFO_FIX_SUPPLY:
        return refuse(error, GUFO_E_ARGUMENT, "the value of key %s is not known", QUOTED(fix->key));
    case GUFO_FIX_NONE:
    case GUFO_FIX_REWRITE:
        break;
    }
    return GUFO_OK;
}
