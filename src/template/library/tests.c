/* Tests: `x is defined` ... */
#include "template/syntax/parser.h"
#include "template/library/natives.h"

#define KIND_TEST(name, condition)                                   \
    value name(machine *m, const value *given, const arguments *all) \
    {                                                                \
        value v = given[0];                                          \
                                                                     \
        (void)m;                                                     \
        (void)all;                                                   \
        return value_bool(condition);                                \
    }

KIND_TEST(test_boolean, v.kind == VALUE_BOOL)
KIND_TEST(test_callable, value_is_callable(v))
KIND_TEST(test_defined, v.kind != VALUE_UNDEFINED)
KIND_TEST(test_escaped, v.kind == VALUE_STRING && v.as.string->markup)
KIND_TEST(test_false, v.kind == VALUE_BOOL && !v.as.truth)
KIND_TEST(test_float, v.kind == VALUE_FLOAT)
KIND_TEST(test_integer, v.kind == VALUE_INT || v.kind == VALUE_BIG)
KIND_TEST(test_iterable, value_is_iterable(v))
KIND_TEST(test_mapping, v.kind == VALUE_DICT)
KIND_TEST(test_none, v.kind == VALUE_NONE)
KIND_TEST(test_number, value_is_number(v))
KIND_TEST(test_sequence, value_has_length(v) && v.kind != VALUE_VIEW && v.kind != VALUE_LOOP)
KIND_TEST(test_string, v.kind == VALUE_STRING)
KIND_TEST(test_true, v.kind == VALUE_BOOL && v.as.truth)
KIND_TEST(test_undefined, v.kind == VALUE_UNDEFINED)

#define COMPARISON_TEST(name, op)                                       \
    value name(machine *m, const value *given, const arguments *all)    \
    {                                                                   \
        (void)all;                                                      \
        return value_bool(value_compares(m, (op), given[0], given[1])); \
    }

COMPARISON_TEST(test_eq, TOKEN_EQUAL)
COMPARISON_TEST(test_ne, TOKEN_NOT_EQUAL)
COMPARISON_TEST(test_lt, TOKEN_LESS)
COMPARISON_TEST(test_le, TOKEN_LESS_EQUAL)
COMPARISON_TEST(test_gt, TOKEN_GREATER)
COMPARISON_TEST(test_ge, TOKEN_GREATER_EQUAL)
COMPARISON_TEST(test_in, COMPARE_IN)

/* Whether `v % by` is `rest`. */
static value leaves(machine *m, value v, value by, int64_t rest)
{
    value left = operate(m, TOKEN_REMAINDER, v, by);

    return is_failed(left) ? left : value_bool(value_equal(m, left, value_int(rest)));
}

value test_even(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return leaves(m, given[0], value_int(2), 0);
}

value test_odd(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return leaves(m, given[0], value_int(2), 1);
}

value test_divisibleby(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return leaves(m, given[0], given[1], 0);
}

static value is_row(machine *m, const table *rows, value name)
{
    (void)m;
    return value_bool(name.kind == VALUE_STRING && table_find(rows, bytes_of(name.as.string)) != 0);
}

value test_filter(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return is_row(m, m->language->tables.filters, given[0]);
}

value test_test(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return is_row(m, m->language->tables.tests, given[0]);
}

static value text_is(machine *m, value v, native_call *call)
{
    value text = text_of(m, v);

    return is_failed(text) ? text : call(m, &text, NULL);
}

value test_lower(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return text_is(m, given[0], str_islower);
}

value test_upper(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return text_is(m, given[0], str_isupper);
}

/* Whether two values are one object: small values are, others by their memory. */
value test_sameas(machine *m, const value *given, const arguments *all)
{
    value a = given[0], b = given[1];

    (void)all;
    if (a.kind != b.kind)
        return value_bool(false);
    if (!machine_spend_key(m, a))
        return FAILED;
    switch (a.kind) {
    case VALUE_NONE:
        return value_bool(true);
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG:
    case VALUE_FLOAT:
    case VALUE_STRING:
        return value_bool(value_same_key(a, b));
    default:
        return value_bool(a.as.loop == b.as.loop);
    }
}
