/* Changes of elements, and tokens by their text: each in one walk over the array. */
#include "gufo/value.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "format/document/document.h"
#include "format/file/records.h"
#include "format/value/value.h"

/* ---- elements ------------------------------------------------------------------------------- */

/* The changes in the order of elements, by their numbers. */
typedef struct ordered {
    const gufo_element_change *changes;
    uint32_t *order;
    size_t count;
} ordered;

static bool comes_before(const void *owner, uint32_t a, uint32_t b)
{
    const gufo_element_change *changes = owner;

    return changes[a].index != changes[b].index ? changes[a].index < changes[b].index : a < b;
}

static bool encode_element(encoder *e, const gufo_value *value)
{
    uint8_t bytes[8];

    if (value->type == GUFO_VALUE_STRING)
        return encode_string(e, value->as.str);
    number_bytes(value, bytes);
    return encode_bytes(e, bytes, gufo_value_type_size(value->type));
}

static gufo_status encode_changed(encoder *e, const gufo_array *array, const ordered *o,
                                  gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;
    size_t next = 0;

    for (uint64_t i = 0; gufo_array_next(&iter, &value); i++) {
        for (; next < o->count && o->changes[o->order[next]].index == i; next++)
            value = o->changes[o->order[next]].value;
        if (!encode_element(e, &value))
            return fail_memory(error);
    }
    return iter.changed ? array_fail_changed(error) : GUFO_OK;
}

static gufo_status check_changes(const gufo_document_entry *entry, const char *key,
                                 const gufo_element_change *changes, size_t count,
                                 gufo_error *error)
{
    const gufo_array *array = &entry->value.as.array;

    if (entry->value.type != GUFO_VALUE_ARRAY || array->type == GUFO_VALUE_ARRAY)
        return refuse(error, GUFO_E_TYPE, "%s is not an array of numbers or strings",
                      QUOTED(gufo_str_of(key)));
    if (count > GUFO_MAX_COUNT)
        return refuse(error, GUFO_E_LIMIT, "too many changes");
    for (size_t i = 0; i < count; i++) {
        if (reserved_check(changes[i].reserved, "gufo_element_change", error) != GUFO_OK)
            return GUFO_E_ARGUMENT;
        if (changes[i].value.type != array->type || !value_fits(&changes[i].value))
            return refuse(error, GUFO_E_TYPE, "elements of %s have type %s",
                          QUOTED(gufo_str_of(key)), gufo_value_type_name(array->type));
        if (changes[i].index >= array->count)
            return refuse(error, GUFO_E_RANGE, "%s has %s elements", QUOTED(gufo_str_of(key)),
                          GROUPED(array->count));
    }
    return GUFO_OK;
}

static gufo_status set_ordered(gufo_document *document, const char *key,
                               const gufo_document_entry *entry, const ordered *o,
                               gufo_error *error)
{
    encoder e = {.out.allocator = &document->allocator, .big = HOST_IS_BIG_ENDIAN};
    gufo_status status = encode_changed(&e, &entry->value.as.array, o, error);
    gufo_value value = entry->value;

    value.as.array.data = e.out.data;
    value.as.array.size = e.out.len;
    value.as.array.encoding = (gufo_encoding){3, HOST_IS_BIG_ENDIAN};
    if (status == GUFO_OK)
        status = gufo_document_set(document, key, &value, error);
    buffer_free(&e.out);
    return status;
}

gufo_status gufo_document_set_elements(gufo_document *document, const char *key,
                                       const gufo_element_change *changes, size_t count,
                                       gufo_error *error)
{
    gufo_document_entry entry;
    ordered o = {.changes = changes, .count = count};
    gufo_status status;

    if (!gufo_document_find(document, key, &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "no key %s", QUOTED(gufo_str_of(key)));
    status = check_changes(&entry, key, changes, count, error);
    if (status != GUFO_OK || count == 0)
        return status;
    o.order = mem_array(&document->allocator, count, sizeof *o.order);
    if (o.order == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        o.order[i] = (uint32_t)i;
    sort_indices(o.order, count, comes_before, changes);
    status = set_ordered(document, key, &entry, &o, error);
    mem_free(&document->allocator, o.order);
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static gufo_str text_of(const void *owner, uint64_t index)
{
    return ((const gufo_token_search *)owner)[index].text;
}

static bool find_all(name_index *index, const gufo_array *array, gufo_token_search *tokens)
{
    gufo_array_iter iter = gufo_array_start(array);
    uint64_t number;
    gufo_value token;

    for (uint64_t id = 0; gufo_array_next(&iter, &token); id++)
        if (name_index_find(index, token.as.str, &number) && tokens[number].times++ == 0)
            tokens[number].id = id;
    return !iter.changed;
}

gufo_status gufo_document_find_tokens(const gufo_document *document, gufo_token_search *tokens,
                                      size_t count, gufo_error *error)
{
    const gufo_allocator *allocator = &document->allocator;
    gufo_document_entry entry;
    const gufo_array *array = &entry.value.as.array;
    uint64_t first;
    name_index index;
    gufo_status status;

    if (!gufo_document_find(document, "tokenizer.ggml.tokens", &entry) ||
        entry.value.type != GUFO_VALUE_ARRAY || array->type != GUFO_VALUE_STRING)
        return refuse(error, GUFO_E_NOT_FOUND, "no vocabulary (tokenizer.ggml.tokens)");
    for (size_t i = 0; i < count; i++)
        if (reserved_check(tokens[i].reserved, "gufo_token_search", error) != GUFO_OK)
            return GUFO_E_ARGUMENT;
    status = name_index_new(&index, count, text_of, tokens, allocator, error);
    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        tokens[i].times = 0;
        (void)name_index_add(&index, i, &first);
    }
    if (!find_all(&index, array, tokens))
        status = array_fail_changed(error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        if (name_index_find(&index, tokens[i].text, &first)) {
            tokens[i].id = tokens[first].id;
            tokens[i].times = tokens[first].times;
        }
    name_index_free(&index, allocator);
    return status;
}
