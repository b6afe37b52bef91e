/* Truth, length and size of values. */
#include <math.h>

#include "template/machine/machine.h"
#include "template/values/integer.h"

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
