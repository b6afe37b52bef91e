/* JSON comes from the caller: Jansson reads it, and objects keep their order.  Integers that 64 bits
 * do not hold, and texts with half a surrogate pair, are refused by it. */
#include "text/template/values/json_read.h"

#include <jansson.h>

#include "base/error.h"

static value convert(heap *memory, hash_key key, json_t *json);

static value convert_text(heap *memory, const char *text, size_t len)
{
    return string_new(memory, (gufo_str){text, len});
}

static value convert_array(heap *memory, hash_key key, json_t *json)
{
    size_t count = json_array_size(json);
    value *items = heap_array(memory, count, sizeof(value));

    for (size_t i = 0; items != NULL && i < count; i++) {
        items[i] = convert(memory, key, json_array_get(json, i));
        if (is_failed(items[i]))
            return FAILED;
    }
    return items == NULL ? FAILED : list_take(memory, VALUE_LIST, items, count);
}

static value convert_object(heap *memory, hash_key key, json_t *json)
{
    dict *made = dict_new(memory);

    for (void *at = json_object_iter(json); made != NULL && at != NULL;
         at = json_object_iter_next(json, at)) {
        value name = string_new(memory, gufo_str_of(json_object_iter_key(at)));
        value v = is_failed(name) ? name : convert(memory, key, json_object_iter_value(at));

        if (is_failed(v) || !dict_set(memory, made, key, name, v))
            return FAILED;
    }
    return made == NULL ? FAILED : (value){.kind = VALUE_DICT, .as.dict = made};
}

/* Jansson limits how deep values are within each other. */
static value convert(heap *memory, hash_key key, json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return convert_object(memory, key, json);
    case JSON_ARRAY:
        return convert_array(memory, key, json);
    case JSON_STRING:
        return convert_text(memory, json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
        return value_int(json_integer_value(json));
    case JSON_REAL:
        return value_float(json_real_value(json));
    case JSON_TRUE:
    case JSON_FALSE:
        return value_bool(json_is_true(json));
    default:
        return NONE;
    }
}

value json_read(heap *memory, hash_key key, gufo_str json)
{
    json_error_t fault;
    json_t *parsed = json_loadb(json.data == NULL ? "" : json.data, json.len,
                                JSON_DECODE_ANY | JSON_ALLOW_NUL, &fault);
    value made;

    if (parsed == NULL) {
        bool memory_short = json_error_code(&fault) == json_error_out_of_memory;

        memory->status = memory_short ? fail_memory(memory->error)
                                      : fail_with(memory->error, GUFO_E_MALFORMED,
                                                  fault.position < 0 ? 0 : (uint64_t)fault.position,
                                                  "line %d, column %d: not JSON: %s", fault.line,
                                                  fault.column, fault.text);
        return FAILED;
    }
    made = convert(memory, key, parsed);
    json_decref(parsed);
    return made;
}
