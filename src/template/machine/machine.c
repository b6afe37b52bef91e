/* Limits, failures and output of a rendering; truth, length and size of values. */
#include "base/error.h"
#include "base/memory.h"
#include "template/machine/machine.h"
#include "template/values/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

value machine_fail(machine *m, gufo_status status, const char *format, ...)
{
    char sentence[GUFO_MESSAGE_SIZE];
    va_list rest;

    if (machine_failed(m))
        return FAILED;
    va_start(rest, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, rest);
    va_end(rest);
    m->memory.status = refuse(m->memory.error, status, "%s", sentence);
    return FAILED;
}

bool machine_spend(machine *m, uint64_t steps)
{
    if (m->steps >= steps) {
        m->steps -= steps;
        return !machine_failed(m);
    }
    m->steps = 0;
    (void)fail_limit(m, "the template takes too many steps");
    return false;
}

bool machine_spend_key(machine *m, value key)
{
    return machine_spend(m, value_key_cost(key, m->steps + 1));
}

bool machine_enter(machine *m)
{
    if (m->depth < MACHINE_DEPTH) {
        m->depth++;
        return true;
    }
    (void)fail_limit(m, "the template is nested too deep");
    return false;
}

static bool out_reserve(machine *m, size_t more)
{
    size_t room = m->out_room < 1024 ? 1024 : m->out_room;
    char *grown;

    if (m->out_room - m->out_len >= more)
        return true;
    if (m->out_len > m->out_limit || more > m->out_limit - m->out_len) {
        (void)fail_limit(m, "the output takes more than %llu bytes",
                         (unsigned long long)m->out_limit);
        return false;
    }
    while (room - m->out_len < more)
        room *= 2; /* no overflow: the limit is at most a quarter of the address space */
    grown = mem_resize(&m->memory.allocator, m->out, room);
    if (grown == NULL) {
        if (!machine_failed(m))
            m->memory.status = fail_memory(m->memory.error);
        return false;
    }
    m->out = grown;
    m->out_room = room;
    return true;
}

bool out_write(machine *m, gufo_str text)
{
    if (!out_reserve(m, text.len))
        return false;
    if (text.len != 0)
        memcpy(m->out + m->out_len, text.data, text.len);
    m->out_len += text.len;
    return true;
}

bool out_text(machine *m, const char *text)
{
    return out_write(m, gufo_str_of(text));
}

bool out_repeat(machine *m, gufo_str text, uint64_t times)
{
    if (text.len != 0 && times > m->out_limit / text.len) {
        (void)fail_limit(m, "a text of more than %llu bytes", (unsigned long long)m->out_limit);
        return false;
    }
    if (!machine_spend_bytes(m, text.len * times) || !out_reserve(m, (size_t)(text.len * times)))
        return false;
    for (uint64_t i = 0; text.len != 0 && i < times; i++)
        (void)out_write(m, text);
    return true;
}

gufo_str out_since(const machine *m, size_t mark)
{
    return m->out_len == mark ? (gufo_str){"", 0} : (gufo_str){m->out + mark, m->out_len - mark};
}

value out_cut(machine *m, size_t mark)
{
    value text;

    if (machine_failed(m))
        return FAILED;
    text = string_new(&m->memory, out_since(m, mark));
    m->out_len = mark;
    (void)machine_spend_bytes(m, is_failed(text) ? 0 : text.as.string->len);
    return text;
}

frame *frame_new(machine *m, frame *parent)
{
    frame *made = HEAP_NEW(&m->memory, frame);

    if (made == NULL)
        return NULL;
    *made = (frame){parent, dict_new(&m->memory)};
    return made->names == NULL ? NULL : made;
}

bool assign_name(machine *m, value name, value v)
{
    return !is_failed(name) && machine_spend_key(m, name) &&
           dict_set(&m->memory, m->frame->names, m->key, name, v);
}

/* Truth, length and size of values. */

bool value_truth(value v)
{
    switch (v.kind) {
    case VALUE_BOOL:
        return v.as.truth;
    case VALUE_INT:
        return v.as.integer != 0;
    case VALUE_FLOAT:
        return v.as.real != 0;
    case VALUE_STRING:
        return v.as.string->len != 0;
    case VALUE_LIST:
    case VALUE_TUPLE:
        return v.as.list->count != 0;
    case VALUE_DICT:
        return v.as.dict->count != 0;
    case VALUE_RANGE:
        return v.as.range->count != 0;
    case VALUE_VIEW:
        return v.as.view->dict->count != 0;
    default:
        return v.kind > VALUE_NONE;
    }
}

bool value_has_length(value v)
{
    switch (v.kind) {
    case VALUE_UNDEFINED:
    case VALUE_STRING:
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_RANGE:
    case VALUE_VIEW:
    case VALUE_LOOP:
        return true;
    default:
        return false;
    }
}

value value_length(machine *m, value v)
{
    switch (v.kind) {
    case VALUE_UNDEFINED:
        return value_int(0);
    case VALUE_STRING:
        return value_int((int64_t)v.as.string->chars);
    case VALUE_LIST:
    case VALUE_TUPLE:
        return value_int((int64_t)v.as.list->count);
    case VALUE_DICT:
        return value_int(v.as.dict->count);
    case VALUE_RANGE:
        return value_int((int64_t)v.as.range->count);
    case VALUE_VIEW:
        return value_int(v.as.view->dict->count);
    case VALUE_LOOP:
        return m->language->loop_length(m, v.as.loop);
    default:
        return fail_type(m, "a value of type '%s' has no length", value_type(v));
    }
}

bool value_as_real(machine *m, value v, double *out)
{
    if (v.kind == VALUE_FLOAT) {
        *out = v.as.real;
        return true;
    }
    *out = integer_real(v);
    return !isinf(*out) || !is_failed(fail_limit(m, "an integer that no float holds"));
}

bool value_as_index(value v, int64_t *out)
{
    if (v.kind == VALUE_BIG)
        *out = integer_sign(v) < 0 ? INT64_MIN : INT64_MAX;
    return v.kind == VALUE_BIG || value_integer(v, out);
}

value range_item(machine *m, const range *r, size_t index)
{
    value way;

    if (!machine_spend(m, integer_work(r->step, r->start)))
        return FAILED;
    way = integer_multiply(&m->memory, r->step, value_int((int64_t)index));
    return is_failed(way) ? way : integer_add(&m->memory, r->start, way);
}
