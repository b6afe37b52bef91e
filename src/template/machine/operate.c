/* Arithmetic and comparison of values. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "template/machine/machine.h"
#include "template/syntax/parser.h"
#include "template/values/number.h"

static value fail_operands(machine *m, uint8_t op, value a, value b)
{
    if (a.kind == VALUE_UNDEFINED)
        return fail_undefined(m, a);
    if (b.kind == VALUE_UNDEFINED)
        return fail_undefined(m, b);
    return fail_type(m, "'%s' does not work on '%s' and '%s'", token_name(op), value_type(a),
                     value_type(b));
}

static value fail_zero(machine *m)
{
    return fail_type(m, "division by zero");
}

static double float_remainder(double a, double b)
{
    double rest = fmod(a, b);

    if (rest != 0)
        return (rest < 0) != (b < 0) ? rest + b : rest;
    return copysign(0.0, b);
}

static double float_floor(double a, double b)
{
    double rest = fmod(a, b), quotient = (a - rest) / b, whole;

    if (rest != 0 && (b < 0) != (rest < 0))
        quotient -= 1.0;
    if (quotient == 0)
        return copysign(0.0, a / b);
    whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static value float_power(machine *m, double a, double b)
{
    double result = pow(a, b);

    if (a == 0 && b < 0)
        return fail_zero(m);
    if (isnan(result) && !isnan(a) && !isnan(b))
        return fail_type(m, "a power that is not a real number");
    if (isinf(result) && isfinite(a) && isfinite(b))
        return fail_limit(m, "a power that is too large");
    return value_float(result);
}

/* The power of an integer, by squares. */
static value integer_power(machine *m, value a, int64_t exponent)
{
    value result = value_int(1);

    for (; exponent > 0; exponent >>= 1) {
        if (!machine_spend(m, integer_work(a, a)))
            return FAILED;
        if ((exponent & 1) != 0)
            result = integer_multiply(&m->memory, result, a);
        if (exponent > 1)
            a = integer_multiply(&m->memory, a, a);
        if (is_failed(result) || is_failed(a))
            return FAILED;
    }
    return result;
}

static value power(machine *m, value a, value b)
{
    bool unit = integer_bits(a) <= 1; /* -1, 0 or 1 */
    int64_t exponent;
    value odd;
    double x, y;

    if (integer_sign(b) < 0)
        return value_as_real(m, a, &x) && value_as_real(m, b, &y) ? float_power(m, x, y) : FAILED;
    if (value_integer(b, &exponent))
        return integer_power(m, a, exponent);
    if (!unit)
        return fail_limit(m, "a power that is too large");
    return is_failed(integer_divide(&m->memory, b, value_int(2), &odd))
               ? FAILED
               : integer_power(m, a, integer_sign(odd) == 0 ? 2 : 1);
}

static value ratio(machine *m, value a, value b)
{
    double result;

    if (!integer_ratio(&m->memory, a, b, &result))
        return FAILED;
    return isinf(result) ? fail_limit(m, "a quotient that no float holds") : value_float(result);
}

static value operate_integers(machine *m, uint8_t op, value a, value b)
{
    value quotient, rest;

    if (op == TOKEN_POWER)
        return power(m, a, b);
    if (!machine_spend(m, integer_work(a, b)))
        return FAILED;
    switch (op) {
    case TOKEN_ADD:
        return integer_add(&m->memory, a, b);
    case TOKEN_SUBTRACT:
        return integer_subtract(&m->memory, a, b);
    case TOKEN_MULTIPLY:
        return integer_multiply(&m->memory, a, b);
    default:
        if (integer_sign(b) == 0)
            return fail_zero(m);
        if (op == TOKEN_DIVIDE)
            return ratio(m, a, b);
        quotient = integer_divide(&m->memory, a, b, &rest);
        return op == TOKEN_REMAINDER ? rest : quotient;
    }
}

static value operate_floats(machine *m, uint8_t op, value left, value right)
{
    double a, b;

    if (!value_as_real(m, left, &a) || !value_as_real(m, right, &b))
        return FAILED;
    switch (op) {
    case TOKEN_ADD:
        return value_float(a + b);
    case TOKEN_SUBTRACT:
        return value_float(a - b);
    case TOKEN_MULTIPLY:
        return value_float(a * b);
    case TOKEN_POWER:
        return float_power(m, a, b);
    default:
        if (b == 0)
            return fail_zero(m);
        return value_float(op == TOKEN_DIVIDE         ? a / b
                           : op == TOKEN_FLOOR_DIVIDE ? float_floor(a, b)
                                                      : float_remainder(a, b));
    }
}

/* A string that is safe stays so: what is added to it is escaped. */
static value add_strings(machine *m, const string *a, const string *b)
{
    size_t mark = m->out_len;
    value left = {.kind = VALUE_STRING, .as.string = a};
    value right = {.kind = VALUE_STRING, .as.string = b};

    if (!machine_spend_bytes(m, b->len))
        return FAILED;
    if (a->markup == b->markup)
        return string_add(&m->memory, a, bytes_of(b), a->markup);
    if (!print_escaped(m, a->markup ? right : left))
        return FAILED;
    if (a->markup)
        right = out_cut(m, mark);
    else
        left = out_cut(m, mark);
    if (is_failed(left) || is_failed(right))
        return FAILED;
    return string_add(&m->memory, left.as.string, bytes_of(right.as.string), true);
}

static value add(machine *m, value a, value b)
{
    const array *more = b.as.list;

    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING)
        return add_strings(m, a.as.string, b.as.string);
    if (a.kind == b.kind && (a.kind == VALUE_LIST || a.kind == VALUE_TUPLE))
        return machine_spend(m, more->count / 8)
                   ? list_add(&m->memory, a.kind, a.as.list, more->items, more->count)
                   : FAILED;
    return fail_operands(m, TOKEN_ADD, a, b);
}

static value repeat(machine *m, value a, value by)
{
    size_t mark = m->out_len;
    item_list list = {0};
    int64_t times;
    value made;

    if (!value_integer(by, &times))
        return fail_limit(m, "an integer that 64 bits do not hold");
    if (times < 0)
        times = 0;
    if (a.kind == VALUE_STRING) {
        if (!out_repeat(m, bytes_of(a.as.string), (uint64_t)times))
            return FAILED;
        made = out_cut(m, mark);
        return is_failed(made) ? made
                               : string_cast(&m->memory, made.as.string, a.as.string->markup);
    }
    for (int64_t i = 0; a.as.list->count != 0 && i < times; i++)
        for (size_t at = 0; at < a.as.list->count; at++)
            if (!machine_spend(m, 1) || !items_push(&m->memory, &list, a.as.list->items[at]))
                return FAILED;
    return list_take(&m->memory, a.kind, list.items, list.count);
}

static bool is_sequence(value v)
{
    return v.kind == VALUE_STRING || v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

value operate(machine *m, uint8_t op, value a, value b)
{
    if (value_is_integer(a) && value_is_integer(b))
        return operate_integers(m, op, a, b);
    if (value_is_number(a) && value_is_number(b))
        return operate_floats(m, op, a, b);
    if (op == TOKEN_ADD)
        return add(m, a, b);
    if (op == TOKEN_MULTIPLY && is_sequence(a) && value_is_integer(b))
        return repeat(m, a, b);
    if (op == TOKEN_MULTIPLY && is_sequence(b) && value_is_integer(a))
        return repeat(m, b, a);
    if (op == TOKEN_REMAINDER && a.kind == VALUE_STRING)
        return format_percent(m, a.as.string, b);
    return fail_operands(m, op, a, b);
}

value operate_sign(machine *m, uint8_t op, value a)
{
    value zero = value_int(0);

    if (a.kind == VALUE_FLOAT)
        return value_float(op == TOKEN_SUBTRACT ? -a.as.real : a.as.real);
    if (value_is_integer(a))
        return operate_integers(m, op, zero, a);
    if (a.kind == VALUE_UNDEFINED)
        return fail_undefined(m, a);
    return fail_type(m, "a sign does not work on '%s'", value_type(a));
}

static bool equal_lists(machine *m, const array *a, const array *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!value_equal(m, a->items[i], b->items[i]))
            return false;
    return true;
}

static bool equal_dicts(machine *m, const dict *a, const dict *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const dict_entry *other = NULL;

        if (machine_spend_key(m, a->entries[i].key))
            other = dict_find(b, m->key, a->entries[i].key);
        if (other == NULL || !value_equal(m, a->entries[i].value, other->value))
            return false;
    }
    return true;
}

/* Whether they have the same numbers. */
static bool equal_ranges(const range *a, const range *b)
{
    return a->count == b->count && (a->count == 0 || number_equal(a->start, b->start)) &&
           (a->count < 2 || number_equal(a->step, b->step));
}

bool value_equal(machine *m, value a, value b)
{
    bool equal;

    if (!machine_spend(m, 1))
        return false;
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING &&
        !machine_spend_bytes(m, b.as.string->len))
        return false;
    if (!machine_spend_number(m, b))
        return false;
    if (a.kind != b.kind || (a.kind != VALUE_LIST && a.kind != VALUE_TUPLE &&
                             a.kind != VALUE_DICT && a.kind != VALUE_RANGE))
        return value_same_key(a, b);
    if (a.kind == VALUE_RANGE)
        return equal_ranges(a.as.range, b.as.range);
    if (!machine_enter(m))
        return false;
    equal = a.kind == VALUE_DICT ? equal_dicts(m, a.as.dict, b.as.dict)
                                 : equal_lists(m, a.as.list, b.as.list);
    machine_leave(m);
    return equal && !machine_failed(m);
}

static bool before_lists(machine *m, const array *a, const array *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (!value_equal(m, a->items[i], b->items[i]))
            return !machine_failed(m) && value_before(m, a->items[i], b->items[i]);
    return a->count < b->count;
}

static bool before_strings(machine *m, const string *a, const string *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len == 0 ? 0 : memcmp(a->data, b->data, len);

    if (!machine_spend_bytes(m, len))
        return false;
    return order == 0 ? a->len < b->len : order < 0;
}

bool value_before(machine *m, value a, value b)
{
    bool before;

    if (!machine_spend(m, 1))
        return false;
    if (value_is_number(a) && value_is_number(b))
        return machine_spend_number(m, b) && number_before(a, b);
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING)
        return before_strings(m, a.as.string, b.as.string);
    if (a.kind != b.kind || (a.kind != VALUE_LIST && a.kind != VALUE_TUPLE)) {
        (void)fail_operands(m, TOKEN_LESS, a, b);
        return false;
    }
    if (!machine_enter(m))
        return false;
    before = before_lists(m, a.as.list, b.as.list);
    machine_leave(m);
    return before && !machine_failed(m);
}

static bool contains_key(machine *m, const dict *d, value item)
{
    uint64_t hash;

    if (!machine_spend_key(m, item))
        return false;
    if (!value_hash(m->key, item, &hash)) {
        (void)fail_type(m, "a value of type '%s' cannot be a key", value_type(item));
        return false;
    }
    return dict_find(d, m->key, item) != NULL;
}

static bool contains_text(machine *m, const string *text, value item)
{
    const string *part = item.as.string;

    if (item.kind != VALUE_STRING) {
        if (item.kind == VALUE_UNDEFINED)
            (void)fail_undefined(m, item);
        else
            (void)fail_type(m, "a text contains texts alone, not '%s'", value_type(item));
        return false;
    }
    return machine_spend_bytes(m, part->len < 2 ? text->len : text->len * 4) &&
           (part->len == 0 || (part->len <= text->len &&
                               memmem(text->data, text->len, part->data, part->len) != NULL));
}

static bool value_contains(machine *m, value container, value item)
{
    iteration it;
    value found;

    if (container.kind == VALUE_DICT)
        return contains_key(m, container.as.dict, item);
    if (container.kind == VALUE_VIEW && container.as.view->kind == VIEW_KEYS)
        return contains_key(m, container.as.view->dict, item);
    if (container.kind == VALUE_STRING)
        return contains_text(m, container.as.string, item);
    if (!iterate(m, container, &it))
        return false;
    while (iterate_next(m, &it, &found)) {
        if (value_equal(m, found, item))
            return true;
        if (machine_failed(m))
            return false;
    }
    return false;
}

static bool is_nan(value v)
{
    return v.kind == VALUE_FLOAT && isnan(v.as.real);
}

bool value_compares(machine *m, uint8_t op, value a, value b)
{
    if (op == COMPARE_IN)
        return value_contains(m, b, a);
    if (op == COMPARE_NOT_IN)
        return !value_contains(m, b, a) && !machine_failed(m);
    if (op == TOKEN_EQUAL)
        return value_equal(m, a, b);
    if (op == TOKEN_NOT_EQUAL)
        return !value_equal(m, a, b) && !machine_failed(m);
    if (value_is_number(a) && value_is_number(b) && (is_nan(a) || is_nan(b)))
        return false;
    if (op == TOKEN_LESS)
        return value_before(m, a, b);
    if (op == TOKEN_GREATER)
        return value_before(m, b, a);
    if (op == TOKEN_LESS_EQUAL)
        return !value_before(m, b, a) && !machine_failed(m);
    return !value_before(m, a, b) && !machine_failed(m);
}
