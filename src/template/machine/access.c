/* Attributes and items of values.
 *
 * `a.b` looks for an attribute first and then for an item, `a['b']` the other way round.  What does
 * not exist is undefined, and fails where it is used.  The sandbox hides names that begin with an
 * underscore and methods that change their object. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/values/characters.h"
#include "template/machine/machine.h"
#include "template/values/number.h"

static value make_undefined(machine *m, undefined u)
{
    undefined *made = HEAP_NEW(&m->memory, undefined);

    if (made == NULL)
        return FAILED;
    *made = u;
    return (value){.kind = VALUE_UNDEFINED, .as.undefined = made};
}

value undefined_name(machine *m, value name)
{
    return make_undefined(m, (undefined){.owner = value_of(VALUE_ABSENT), .name = name});
}

static value undefined_of(machine *m, value owner, value name, bool unsafe)
{
    return make_undefined(m, (undefined){.owner = owner, .name = name, .unsafe = unsafe});
}

value undefined_because(machine *m, const char *why)
{
    return make_undefined(m,
                          (undefined){.owner = value_of(VALUE_ABSENT), .name = NONE, .why = why});
}

bool dict_put(machine *m, dict *d, value key, value v)
{
    uint64_t hash;

    if (!machine_spend_key(m, key))
        return false;
    if (!value_hash(m->key, key, &hash))
        return !is_failed(fail_type(m, "a value of type '%s' cannot be a key", value_type(key)));
    return dict_set(&m->memory, d, m->key, key, v);
}

const native *find_method(const machine *m, value object, gufo_str name)
{
    const table *methods = m->language->methods(object.kind);
    uint32_t row = methods == NULL ? 0 : table_find(methods, name);

    return row == 0 ? NULL : &methods->rows[row - 1];
}

/* Attributes that are values, not methods; ABSENT: none of this name. */
static value plain_attribute(machine *m, value object, gufo_str name)
{
    const dict_entry *entry;

    switch (object.kind) {
    case VALUE_NAMESPACE:
        if (!machine_spend(m, name.len / 256))
            return FAILED;
        entry = dict_find_text(object.as.names, m->key, name);
        return entry == NULL ? value_of(VALUE_ABSENT) : entry->value;
    case VALUE_LOOP:
        return m->language->loop_attribute(m, object.as.loop, name);
    case VALUE_CYCLER:
        if (gufo_str_equal(name, gufo_str_of("current")) && object.as.cycler->items->count != 0)
            return object.as.cycler->items->items[object.as.cycler->at];
        return value_of(VALUE_ABSENT);
    case VALUE_TUPLE:
        if (object.as.list->is_group && gufo_str_equal(name, gufo_str_of("grouper")))
            return object.as.list->items[0];
        return object.as.list->is_group && gufo_str_equal(name, gufo_str_of("list"))
                   ? object.as.list->items[1]
                   : value_of(VALUE_ABSENT);
    case VALUE_MACRO:
        return m->language->macro_attribute(m, object.as.macro, name);
    default:
        return value_of(VALUE_ABSENT);
    }
}

static value attribute_only(machine *m, value object, value name)
{
    gufo_str text = bytes_of(name.as.string);
    const native *row = find_method(m, object, text);
    method *made;

    if (row != NULL && (row->flags & NATIVE_REFUSED) != 0)
        return undefined_of(m, object, name, true);
    if (row == NULL)
        return plain_attribute(m, object, text);
    made = HEAP_NEW(&m->memory, method);
    if (made == NULL)
        return FAILED;
    *made = (method){row, object};
    return (value){.kind = VALUE_METHOD, .as.method = made};
}

/* The index that a number is in a sequence; false if it is outside. */
static bool find_index(value key, size_t count, size_t *index)
{
    int64_t at;

    if (!value_integer(key, &at))
        return false;
    if (at < 0)
        at += (int64_t)count;
    if (at < 0 || (uint64_t)at >= count)
        return false;
    *index = (size_t)at;
    return true;
}

size_t string_offset(machine *m, const string *text, size_t character)
{
    size_t at = 0, byte = 0;

    if (string_is_ascii(text))
        return character;
    /* The place of the last look-up: going through a text by index takes linear time. */
    if (m->cursor.kind == VALUE_STRING && m->cursor.as.string == text) {
        at = m->cursor_char;
        byte = m->cursor_byte;
    }
    if (at > character && at - character > character)
        at = byte = 0;
    (void)machine_spend(m, (at > character ? at - character : character - at) / 256);
    for (; at < character; at++)
        do
            byte++;
        while (byte < text->len && ((uint8_t)text->data[byte] & 0xC0) == 0x80);
    for (; at > character; at--)
        do
            byte--;
        while (byte > 0 && ((uint8_t)text->data[byte] & 0xC0) == 0x80);
    m->cursor = (value){.kind = VALUE_STRING, .as.string = text};
    m->cursor_char = at;
    m->cursor_byte = byte;
    return byte;
}

static value string_item(machine *m, const string *text, size_t index)
{
    size_t at = string_offset(m, text, index), len;

    (void)point_at(str_from(bytes_of(text), at), &len);
    return string_part(&m->memory, text, at, len);
}

/* ABSENT: it has no such item. */
static value item_only(machine *m, value object, value key)
{
    const dict_entry *entry;
    size_t index;

    switch (object.kind) {
    case VALUE_DICT:
        if (!machine_spend_key(m, key))
            return FAILED;
        entry = dict_find(object.as.dict, m->key, key);
        return entry == NULL ? value_of(VALUE_ABSENT) : entry->value;
    case VALUE_LIST:
    case VALUE_TUPLE:
        return find_index(key, object.as.list->count, &index) ? object.as.list->items[index]
                                                              : value_of(VALUE_ABSENT);
    case VALUE_STRING:
        return find_index(key, object.as.string->chars, &index)
                   ? string_item(m, object.as.string, index)
                   : value_of(VALUE_ABSENT);
    case VALUE_RANGE:
        return find_index(key, object.as.range->count, &index)
                   ? range_item(m, object.as.range, index)
                   : value_of(VALUE_ABSENT);
    default:
        return value_of(VALUE_ABSENT);
    }
}

static bool is_hidden(value name)
{
    return name.kind == VALUE_STRING && str_begins(bytes_of(name.as.string), "_");
}

value get_attribute(machine *m, value object, value name)
{
    value found;

    if (is_failed(object))
        return object;
    if (object.kind == VALUE_UNDEFINED)
        return fail_undefined(m, object);
    if (!is_hidden(name)) {
        found = attribute_only(m, object, name);
        if (is_given(found))
            return found;
    }
    found = item_only(m, object, name);
    return is_given(found) ? found : undefined_of(m, object, name, is_hidden(name));
}

value get_item(machine *m, value object, value key)
{
    value found;

    if (is_failed(object) || is_failed(key))
        return FAILED;
    if (object.kind == VALUE_UNDEFINED)
        return fail_undefined(m, object);
    found = item_only(m, object, key);
    if (is_given(found))
        return found;
    if (key.kind == VALUE_STRING && !is_hidden(key)) {
        found = attribute_only(m, object, key);
        if (is_given(found))
            return found;
    }
    return undefined_of(m, object, key, is_hidden(key));
}

value get_path(machine *m, value object, value path)
{
    gufo_str rest;

    if (path.kind != VALUE_STRING)
        return get_item(m, object, path);
    rest = bytes_of(path.as.string);
    for (;;) {
        const char *dot = rest.len == 0 ? NULL : memchr(rest.data, '.', rest.len);
        gufo_str part = {rest.data, dot == NULL ? rest.len : (size_t)(dot - rest.data)};
        value key = value_of(VALUE_ABSENT);

        if (!machine_spend_bytes(m, part.len))
            return FAILED;
        if (part.len != 0 && str_digits(part, 0) == part.len)
            key = integer_read(&m->memory, part, 10);
        if (!is_given(key))
            key = string_view(&m->memory, part);
        object = get_item(m, object, key);
        if (dot == NULL || is_failed(object))
            return object;
        rest = str_from(rest, part.len + 1);
    }
}

/* A bound of a slice as Python clamps it; false if it is not an integer. */
static bool slice_bound(value given, int64_t count, int64_t low, int64_t high, int64_t absent,
                        int64_t *out)
{
    *out = absent;
    if (given.kind == VALUE_ABSENT || given.kind == VALUE_NONE)
        return true;
    if (!value_as_index(given, out))
        return false;
    if (*out < 0)
        *out = *out < -count ? low : *out + count;
    *out = *out < low ? low : *out > high ? high : *out;
    return true;
}

static value slice_string(machine *m, const string *text, int64_t first, int64_t step,
                          int64_t count)
{
    size_t mark = m->out_len, from, end;
    value made;

    if (step == 1 || count == 0) {
        from = count == 0 ? 0 : string_offset(m, text, (size_t)first);
        end = count == 0 ? 0 : string_offset(m, text, (size_t)(first + count));
        return string_part(&m->memory, text, from, end - from);
    }
    for (int64_t i = 0; i < count; i++) {
        size_t at = string_offset(m, text, (size_t)(first + i * step)), len;

        (void)point_at(str_from(bytes_of(text), at), &len);
        if (!out_write(m, (gufo_str){text->data + at, len}))
            return FAILED;
    }
    made = out_cut(m, mark);
    return is_failed(made) ? made : string_cast(&m->memory, made.as.string, text->markup);
}

static value slice_list(machine *m, value object, int64_t first, int64_t step, int64_t count)
{
    const array *whole = object.as.list;
    value *items;

    if (step == 1)
        return list_take(&m->memory, object.kind, count == 0 ? NULL : whole->items + first,
                         (size_t)count);
    items = heap_array(&m->memory, (uint64_t)count, sizeof(value));
    if (items == NULL || !machine_spend(m, (uint64_t)count / 8))
        return FAILED;
    for (int64_t i = 0; i < count; i++)
        items[i] = whole->items[first + i * step];
    return list_take(&m->memory, object.kind, items, (size_t)count);
}

/* The number that would be at a place of a range, which may be one before the first. */
static value range_place(machine *m, const range *r, int64_t place)
{
    value way = integer_multiply(&m->memory, r->step, value_int(place));

    return is_failed(way) ? way : integer_add(&m->memory, r->start, way);
}

static value slice_range(machine *m, const range *whole, int64_t first, int64_t last, value step,
                         int64_t count)
{
    range *made = HEAP_NEW(&m->memory, range);

    if (made == NULL || !machine_spend(m, integer_work(whole->step, step)))
        return FAILED;
    *made = (range){range_place(m, whole, first), range_place(m, whole, last),
                    integer_multiply(&m->memory, whole->step, step), (size_t)count};
    if (is_failed(made->start) || is_failed(made->stop) || is_failed(made->step))
        return FAILED;
    return (value){.kind = VALUE_RANGE, .as.range = made};
}

value get_slice(machine *m, value object, value from, value to, value step)
{
    int64_t by, first = 0, last = 0, length, count;
    bool bounded;

    if (object.kind == VALUE_UNDEFINED)
        return fail_undefined(m, object);
    if (object.kind != VALUE_STRING && object.kind != VALUE_LIST && object.kind != VALUE_TUPLE &&
        object.kind != VALUE_RANGE)
        return undefined_because(m, "only texts, lists, tuples and ranges have slices");
    if (step.kind == VALUE_ABSENT || step.kind == VALUE_NONE)
        step = value_int(1);
    if (!value_as_index(step, &by))
        return undefined_because(m, "a slice takes integers");
    length = value_length(m, object).as.integer;
    if (by > length) /* no second item */
        by = length + 1;
    if (by < -length)
        by = -length - 1;
    if (by == 0)
        return fail_type(m, "the step of a slice is 0");
    bounded = slice_bound(from, length, by < 0 ? -1 : 0, by < 0 ? length - 1 : length,
                          by < 0 ? length - 1 : 0, &first) &&
              slice_bound(to, length, by < 0 ? -1 : 0, by < 0 ? length - 1 : length,
                          by < 0 ? -1 : length, &last);
    if (!bounded)
        return undefined_because(m, "a slice takes integers");
    count = by > 0 ? (last > first ? (last - first - 1) / by + 1 : 0)
                   : (first > last ? (first - last - 1) / -by + 1 : 0);
    if (object.kind == VALUE_STRING)
        return slice_string(m, object.as.string, first, by, count);
    return object.kind == VALUE_RANGE ? slice_range(m, object.as.range, first, last, step, count)
                                      : slice_list(m, object, first, by, count);
}
