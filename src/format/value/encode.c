/* Encoding; value.h has the purpose. */
#include "format/value/value.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/rules/rules.h"

bool encode_bytes(encoder *e, const void *data, uint64_t size)
{
    void *to = buffer_extend(&e->out, size);

    if (to == NULL)
        return false;
    if (size > 0)
        memcpy(to, data, (size_t)size);
    return true;
}

bool encode_numbers(encoder *e, const void *data, uint64_t count, size_t width, bool swapped)
{
    uint64_t size;
    void *to;

    if (!checked_mul(count, width, &size))
        return false;
    to = buffer_extend(&e->out, size);
    if (to != NULL && count > 0)
        copy_numbers(to, data, count, width, swapped != bytes_swapped(e->big));
    return to != NULL;
}

bool encode_u32(encoder *e, uint32_t v)
{
    return encode_numbers(e, &v, 1, sizeof v, false);
}

bool encode_u64(encoder *e, uint64_t v)
{
    return encode_numbers(e, &v, 1, sizeof v, false);
}

bool encode_string(encoder *e, gufo_str text)
{
    return encode_u64(e, text.len) && encode_bytes(e, text.data, text.len);
}

bool encode_strings(encoder *e, const gufo_str *texts, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!encode_string(e, texts[i]))
            return false;
    return true;
}

bool encode_header(encoder *e, uint32_t version, uint64_t tensors, uint64_t entries)
{
    return encode_bytes(e, "GGUF", 4) && encode_u32(e, version) && encode_u64(e, tensors) &&
           encode_u64(e, entries);
}

bool encode_info(encoder *e, gufo_str name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                 uint64_t offset)
{
    return encode_string(e, name) && encode_u32(e, n_dims) &&
           encode_numbers(e, dims, n_dims, sizeof *dims, false) && encode_u32(e, type) &&
           encode_u64(e, offset);
}

/* The bits of a number, in the lowest bytes. */
static uint64_t bits_of(const gufo_value *value, const value_type_info *info)
{
    float single = (float)(info->kind == KIND_FLOAT ? value->as.f : 0);
    uint32_t narrow;

    if (info->kind == KIND_BOOL)
        return value->as.b;
    if (info->kind != KIND_FLOAT || info->size == 8)
        return value->as.u; /* signed and float64 share these bits */
    memcpy(&narrow, &single, sizeof narrow);
    return narrow;
}

void number_bytes(const gufo_value *value, uint8_t out[8])
{
    const value_type_info *info = value_type_row((uint32_t)value->type);
    uint64_t bits = bits_of(value, info);

    memcpy(out, (const uint8_t *)&bits + (HOST_IS_BIG_ENDIAN ? 8 - info->size : 0), info->size);
}

/* ---- arrays --------------------------------------------------------------------------------- */

static bool encode_array_header(encoder *e, gufo_value_type type, uint64_t count)
{
    return encode_u32(e, (uint32_t)type) && encode_u64(e, count);
}

static gufo_status or_memory(bool done, gufo_error *error)
{
    return done ? GUFO_OK : fail_memory(error);
}

static unsigned max_depth(const encoder *e)
{
    return e->max_depth > 0 ? e->max_depth : GUFO_MAX_DEPTH;
}

static gufo_status fail_depth(const encoder *e, gufo_error *error)
{
    return rule_failure(error, RULE_ARRAY_DEPTH, "arrays are nested more than %u deep",
                        max_depth(e));
}

static gufo_status fail_bool(unsigned value, gufo_error *error)
{
    return rule_failure(error, RULE_BOOL_VALUE, "a bool is %u; only 0 and 1 can be written", value);
}

/* Elements of fixed size are copied as they are: through a double, a signalling NaN would not
 * survive. */
static gufo_status encode_fixed(encoder *e, const gufo_array *array, size_t width,
                                gufo_error *error)
{
    if (!array_filled(array))
        return array_fail_changed(error);
    for (uint64_t i = 0; array->type == GUFO_VALUE_BOOL && i < array->count; i++)
        if (array->data[i] > 1)
            return fail_bool(array->data[i], error);
    return or_memory(
        encode_numbers(e, array->data, array->count, width, encoding_swapped(array->encoding)),
        error);
}

/* An array whose bytes are those of the result.  They are looked at after they are copied: in a
 * mapping, others may overwrite them at any moment. */
static gufo_status encode_as_it_is(encoder *e, const gufo_array *array, gufo_error *error)
{
    uint64_t begin = e->out.len;
    skip_result result;
    array_skip skip;

    if (!encode_array_header(e, array->type, array->count) ||
        !encode_bytes(e, array->data, array->size))
        return fail_memory(error);
    array_skip_start(&skip, e->out.data, begin, e->out.len, array->encoding);
    skip.max_depth = max_depth(e);
    result = array_skip_run(&skip);
    if (result == SKIP_TOO_DEEP)
        return fail_depth(e, error);
    if (result != SKIP_DONE || skip.position != e->out.len)
        return array_fail_changed(error);
    if (skip.bad_bool != UINT64_MAX)
        return fail_bool(e->out.data[skip.bad_bool], error);
    return GUFO_OK;
}

static bool is_as_it_will_be(const encoder *e, const gufo_array *array)
{
    return array->encoding.version > 1 && e->big == (array->encoding.byte_order == GUFO_BIG_ENDIAN);
}

/* An array of numbers or strings. */
static gufo_status encode_leaf(encoder *e, const gufo_array *array, gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    size_t width = gufo_value_type_size(array->type);
    gufo_status status = or_memory(encode_array_header(e, array->type, array->count), error);
    gufo_value element;

    if (status == GUFO_OK && width != 0)
        return encode_fixed(e, array, width, error);
    while (status == GUFO_OK && gufo_array_next(&iter, &element))
        status = or_memory(encode_string(e, element.as.str), error);
    if (status == GUFO_OK && iter.changed)
        return array_fail_changed(error);
    return status;
}

static gufo_status encode_nested(encoder *e, const gufo_array *array, gufo_error *error)
{
    gufo_status status = or_memory(encode_array_header(e, array->type, array->count), error);
    gufo_array inner;
    array_skip walk;

    array_walk_start(&walk, array);
    walk.max_depth = max_depth(e);
    while (status == GUFO_OK)
        switch (array_walk_next(&walk, &inner)) {
        case ARRAY_LEAF:
            status = encode_leaf(e, &inner, error);
            break;
        case ARRAY_BEGIN:
            status = or_memory(encode_array_header(e, inner.type, inner.count), error);
            break;
        case ARRAY_END:
            break;
        case ARRAY_DONE:
            return GUFO_OK;
        case ARRAY_TOO_DEEP:
            return fail_depth(e, error);
        case ARRAY_CHANGED:
            return array_fail_changed(error);
        }
    return status;
}

gufo_status encode_array(encoder *e, const gufo_array *array, gufo_error *error)
{
    if (is_as_it_will_be(e, array))
        return encode_as_it_is(e, array, error);
    return array->type == GUFO_VALUE_ARRAY ? encode_nested(e, array, error)
                                           : encode_leaf(e, array, error);
}

static bool encode_bools(encoder *e, const uint8_t *items, uint64_t count)
{
    uint8_t *to = buffer_extend(&e->out, count);

    for (uint64_t i = 0; to != NULL && i < count; i++)
        to[i] = items[i] != 0;
    return to != NULL;
}

gufo_status encode_items(encoder *e, const gufo_items *items, unsigned depth, gufo_error *error)
{
    const value_type_info *info = value_type_row((uint32_t)items->type);
    gufo_status status = GUFO_OK;

    if (info == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "element type %d does not exist", (int)items->type);
    if (depth > GUFO_MAX_DEPTH)
        return fail_depth(e, error);
    if (items->items == NULL && items->count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "the elements of an array are missing");
    if (!encode_array_header(e, items->type, items->count))
        return fail_memory(error);
    switch (info->kind) {
    case KIND_STRING:
        return or_memory(encode_strings(e, items->items, items->count), error);
    case KIND_BOOL:
        return or_memory(encode_bools(e, items->items, items->count), error);
    case KIND_ARRAY:
        for (uint64_t i = 0; i < items->count && status == GUFO_OK; i++)
            status = encode_items(e, (const gufo_items *)items->items + i, depth + 1, error);
        return status;
    default:
        return or_memory(encode_numbers(e, items->items, items->count, info->size, false), error);
    }
}
