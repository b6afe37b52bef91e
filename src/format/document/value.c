/* Values of a document.
 *
 * A value is stored bytes and their encoding.  Bytes of a model are neither copied nor trusted: a
 * mapping may change, so encoding checks the bounds of every element again.  A value that is set is
 * encoded once, by the code that checks it, and then looks like an array of a model. */
#include "format/document/document.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/rules/rules.h"
#include "format/value/value.h"

static const gufo_encoding host = {3, HOST_IS_BIG_ENDIAN ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN};

/* ---- sizes ---------------------------------------------------------------------------------- */

/* The same for numbers and strings. */
static bool measure_leaf(const gufo_array *array, uint64_t *size)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    if (gufo_value_type_size(array->type) != 0) {
        *size += array->size;
        return true;
    }
    while (gufo_array_next(&iter, &element))
        *size += 8 + element.as.str.len;
    return !iter.changed;
}

/* Adds the bytes that elements take in the file.  Only lengths of version 1 have another size. */
static bool measure_elements(const gufo_array *array, uint64_t *size)
{
    array_event event = ARRAY_BEGIN;
    gufo_array inner;
    array_skip walk;

    if (array->encoding.version > 1) {
        *size += array->size;
        return true;
    }
    if (array->type != GUFO_VALUE_ARRAY)
        return measure_leaf(array, size);
    array_walk_start(&walk, array);
    while (event == ARRAY_BEGIN || event == ARRAY_LEAF || event == ARRAY_END) {
        event = array_walk_next(&walk, &inner);
        *size += event == ARRAY_BEGIN || event == ARRAY_LEAF ? 4 + 8 : 0;
        if (event == ARRAY_LEAF && !measure_leaf(&inner, size))
            return false;
    }
    return event == ARRAY_DONE;
}

static gufo_status measure(document_value *value, gufo_error *error)
{
    if (value->type == GUFO_VALUE_STRING)
        value->encoded = 4 + 8 + value->content.size;
    else if (value->type != GUFO_VALUE_ARRAY)
        value->encoded = 4 + gufo_value_type_size(value->type);
    else {
        value->encoded = 4 + 4 + 8;
        if (!measure_elements(&value->content, &value->encoded))
            return array_fail_changed(error);
    }
    return GUFO_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

/* Takes over what was encoded with `status`: type, count and elements of an array. */
static gufo_status take_encoded(document_value *out, encoder *e, gufo_status status,
                                gufo_value_type type, uint64_t count, gufo_error *error)
{
    const size_t head = array_header_size(host);
    uint8_t *fitting;

    if (status != GUFO_OK) {
        buffer_free(&e->out);
        return status;
    }
    fitting = mem_resize(e->out.allocator, e->out.data, e->out.len);
    *out = (document_value){
        .type = GUFO_VALUE_ARRAY,
        .content = {.type = type, .count = count, .size = e->out.len - head, .encoding = host},
        .block = fitting != NULL ? fitting : e->out.data};
    out->content.data = out->block + head;
    return measure(out, error);
}

static gufo_status copy_array(document_value *out, const gufo_array *array,
                              const gufo_allocator *allocator, gufo_error *error)
{
    encoder e = {.out.allocator = allocator, .big = HOST_IS_BIG_ENDIAN};

    if (!array_filled(array))
        return array_fail_unfilled(array, error);
    return take_encoded(out, &e, encode_array(&e, array, error), array->type, array->count, error);
}

gufo_status document_value_items(document_value *out, const gufo_items *items,
                                 const gufo_allocator *allocator, gufo_error *error)
{
    encoder e = {.out.allocator = allocator, .big = HOST_IS_BIG_ENDIAN};

    return take_encoded(out, &e, encode_items(&e, items, 1, error), items->type, items->count,
                        error);
}

static gufo_status copy_text(document_value *out, gufo_str text, const gufo_allocator *allocator,
                             gufo_error *error)
{
    out->block = mem_alloc(allocator, text.len + 1);
    if (out->block == NULL)
        return fail_memory(error);
    if (text.len > 0)
        memcpy(out->block, text.data, text.len);
    out->content.data = out->block;
    out->content.size = text.len;
    return measure(out, error);
}

gufo_status document_value_set(document_value *out, const gufo_value *value,
                               const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status = value_check(value, error);

    if (status != GUFO_OK)
        return status;
    *out = (document_value){.type = value->type, .content.encoding = host};
    if (value->type == GUFO_VALUE_ARRAY)
        return copy_array(out, &value->as.array, allocator, error);
    if (value->type == GUFO_VALUE_STRING)
        return copy_text(out, value->as.str, allocator, error);
    number_bytes(value, out->number);
    return measure(out, error);
}

/* The bits of a number are taken from the file: through a double, a signalling NaN would become
 * quiet. */
gufo_status document_value_view(document_value *out, const gufo_model *model,
                                const gufo_entry *entry, gufo_error *error)
{
    size_t width = gufo_value_type_size(entry->value.type);

    const gguf_file *file = model_file(model);

    *out = (document_value){.type = entry->value.type,
                            .content.encoding = file != NULL ? file->encoding : host};
    if (entry->value.type == GUFO_VALUE_ARRAY)
        out->content = entry->value.as.array;
    else if (entry->value.type == GUFO_VALUE_STRING) {
        out->content.data = (const uint8_t *)entry->value.as.str.data;
        out->content.size = entry->value.as.str.len;
    } else if (file != NULL)
        memcpy(out->number, file->source.base + entry->value_offset, width);
    else
        number_bytes(&entry->value, out->number);
    if (out->type == GUFO_VALUE_BOOL && out->number[0] > 1)
        return rule_failure(error, RULE_BOOL_VALUE, "a bool is %u; only 0 and 1 can be written",
                            out->number[0]);
    return measure(out, error);
}

void document_value_free(const document_value *value, const gufo_allocator *allocator)
{
    mem_free(allocator, value->block);
}

/* ---- using ---------------------------------------------------------------------------------- */

static gufo_str text_of(const document_value *value)
{
    return (gufo_str){(const char *)value->content.data, (size_t)value->content.size};
}

gufo_value document_value_get(const document_value *value)
{
    if (value->type == GUFO_VALUE_ARRAY)
        return (gufo_value){.type = GUFO_VALUE_ARRAY, .as.array = value->content};
    if (value->type == GUFO_VALUE_STRING)
        return (gufo_value){.type = GUFO_VALUE_STRING, .as.str = text_of(value)};
    return load_number(value->number, value->type, value->content.encoding);
}

gufo_status document_value_encode(encoder *e, const document_value *value, gufo_error *error)
{
    bool done = encode_u32(e, (uint32_t)value->type);

    if (done && value->type == GUFO_VALUE_ARRAY)
        return encode_array(e, &value->content, error);
    if (done && value->type == GUFO_VALUE_STRING)
        done = encode_string(e, text_of(value));
    else if (done)
        done = encode_numbers(e, value->number, 1, gufo_value_type_size(value->type),
                              encoding_swapped(value->content.encoding));
    return done ? GUFO_OK : fail_memory(error);
}

/* Whether the same bytes mean the same. */
static bool encoded_alike(gufo_encoding a, gufo_encoding b)
{
    return (a.version == 1) == (b.version == 1) && a.byte_order == b.byte_order;
}

static bool same_bytes(const document_value *a, const document_value *b)
{
    return memcmp(a->number, b->number, sizeof a->number) == 0 &&
           a->content.size == b->content.size &&
           (a->content.data == b->content.data || gufo_str_equal(text_of(a), text_of(b)));
}

static gufo_status compare_encoded(const document_value *a, const document_value *b,
                                   const gufo_allocator *allocator, bool *same, gufo_error *error)
{
    encoder first = {.out.allocator = allocator, .max_depth = GUFO_LARGEST_DEPTH}, second = first;
    gufo_status status = document_value_encode(&first, a, error);

    if (status == GUFO_OK)
        status = document_value_encode(&second, b, error);
    *same = status == GUFO_OK && first.out.len == second.out.len &&
            memcmp(first.out.data, second.out.data, first.out.len) == 0;
    buffer_free(&first.out);
    buffer_free(&second.out);
    return status;
}

gufo_status document_value_same(const document_value *a, const document_value *b,
                                const gufo_allocator *allocator, bool *same, gufo_error *error)
{
    *same = a->type == b->type && a->content.type == b->content.type &&
            a->content.count == b->content.count && a->encoded == b->encoded;
    if (!*same)
        return GUFO_OK;
    if (!encoded_alike(a->content.encoding, b->content.encoding) && a->type != GUFO_VALUE_STRING)
        return compare_encoded(a, b, allocator, same, error);
    *same = same_bytes(a, b);
    return GUFO_OK;
}
