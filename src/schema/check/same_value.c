/* Comparing values. */
#include "schema/check/check.h"

#include <math.h>
#include <string.h>

static bool same_array(const gufo_array *a, const gufo_array *b)
{
    return a->type == b->type && a->count == b->count && a->size == b->size &&
           memcmp(a->data, b->data, (size_t)a->size) == 0;
}

/* Integers are compared as such: a double cannot represent all of them. */
static bool same_number(const gufo_value *a, const gufo_value *b)
{
    uint64_t u[2];
    int64_t i[2];
    double f[2];

    if (gufo_value_u64(a, &u[0], NULL) == GUFO_OK && gufo_value_u64(b, &u[1], NULL) == GUFO_OK)
        return u[0] == u[1];
    if (gufo_value_i64(a, &i[0], NULL) == GUFO_OK && gufo_value_i64(b, &i[1], NULL) == GUFO_OK)
        return i[0] == i[1];
    return gufo_value_f64(a, &f[0], NULL) == GUFO_OK && gufo_value_f64(b, &f[1], NULL) == GUFO_OK &&
           (f[0] == f[1] || (isnan(f[0]) && isnan(f[1])));
}

bool schema_same_value(const gufo_value *a, const gufo_value *b)
{
    if (a->type != b->type)
        return same_number(a, b);
    if (a->type == GUFO_VALUE_STRING)
        return gufo_str_equal(a->as.str, b->as.str);
    if (a->type == GUFO_VALUE_ARRAY)
        return same_array(&a->as.array, &b->as.array);
    return a->type == GUFO_VALUE_BOOL ? a->as.b == b->as.b : same_number(a, b);
}
