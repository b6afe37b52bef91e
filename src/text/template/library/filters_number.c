/* Filters of numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "text/template/syntax/lexer.h"
#include "text/template/library/natives.h"
#include "text/template/values/number.h"

value filter_abs(machine *m, const value *given, const arguments *all)
{
    value v = given[0];
    int64_t integer;

    (void)all;
    if (v.kind == VALUE_FLOAT)
        return value_float(fabs(v.as.real));
    if (!take_integer(m, v, 0, &integer))
        return FAILED;
    return integer < 0 ? operate_sign(m, TOKEN_SUBTRACT, value_int(integer)) : value_int(integer);
}

/* A float as Python reads it: blanks around it, inf and nan. */
static bool read_float(gufo_str text, double *out)
{
    static const struct {
        const char *name;
        double number;
    } names[] = {{"inf", INFINITY}, {"infinity", INFINITY}, {"nan", NAN}};
    gufo_str bare;

    text = strip_text(text, NULL, true, true);
    bare = text.len != 0 && memchr("+-", *text.data, 2) != NULL ? str_from(text, 1) : text;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (str_same_folded(bare, gufo_str_of(names[i].name))) {
            *out = *text.data == '-' ? -names[i].number : names[i].number;
            return true;
        }
    return number_read_real(text, out);
}

static bool to_float(value v, double *out)
{
    if (v.kind == VALUE_STRING)
        return read_float(bytes_of(v.as.string), out);
    if (!value_is_number(v))
        return false;
    *out = value_real(v);
    return true;
}

value filter_float(machine *m, const value *given, const arguments *all)
{
    double real;

    (void)all;
    if (given[0].kind == VALUE_UNDEFINED)
        return fail_undefined(m, given[0]);
    if (given[0].kind == VALUE_STRING && !machine_spend_bytes(m, given[0].as.string->len * 4))
        return FAILED;
    if (to_float(given[0], &real))
        return value_float(real);
    return is_given(given[1]) ? given[1] : value_float(0);
}

value filter_int(machine *m, const value *given, const arguments *all)
{
    int64_t base, integer;
    double real;

    (void)all;
    if (given[0].kind == VALUE_UNDEFINED)
        return fail_undefined(m, given[0]);
    if (given[0].kind == VALUE_BIG)
        return given[0];
    if (!take_integer(m, given[2], 10, &base))
        return FAILED;
    if (given[0].kind == VALUE_STRING && !machine_spend_bytes(m, given[0].as.string->len * 4))
        return FAILED;
    if (value_integer(given[0], &integer))
        return value_int(integer);
    if (given[0].kind == VALUE_STRING && (base == 0 || (base >= 2 && base <= 36)) &&
        number_parse(strip_text(bytes_of(given[0].as.string), NULL, true, true), (int)base,
                     &integer))
        return value_int(integer);
    if (to_float(given[0], &real) && isfinite(real)) {
        if (fabs(real) >= 9.2e18)
            return fail_limit(m, "an integer beyond 64 bits");
        return value_int((int64_t)real);
    }
    return is_given(given[1]) ? given[1] : value_int(0);
}

/* Rounds to a place behind the point, halves to even, of the exact decimal value. */
static double round_real(double number, int64_t places)
{
    char text[400];
    double scale, result;

    if (!isfinite(number) || places > 300)
        return number;
    if (places < 0) {
        scale = pow(10, (double)-places);
        return isfinite(scale) ? nearbyint(number / scale) * scale : 0;
    }
    if (number_print_real(text, sizeof(text), 'f', (int)(places > 60 ? 60 : places), false,
                          number) == 0)
        return number;
    return number_read_real(gufo_str_of(text), &result) ? result : number;
}

value filter_round(machine *m, const value *given, const arguments *all)
{
    string common = {.data = "common", .len = 6, .chars = 6};
    const string *how = is_given(given[2]) ? take_string(m, given[2], "the method") : &common;
    int64_t places, integer;
    double scale, real;

    (void)all;
    if (how == NULL || !take_integer(m, given[1], 0, &places))
        return FAILED;
    if (!value_is_number(given[0]))
        return given[0].kind == VALUE_UNDEFINED
                   ? fail_undefined(m, given[0])
                   : fail_type(m, "'%s' cannot be rounded", value_type(given[0]));
    real = value_real(given[0]);
    if (gufo_str_equal(bytes_of(how), gufo_str_of("common"))) {
        if (value_integer(given[0], &integer) && places >= 0)
            return value_int(integer);
        real = round_real(real, places);
        if (!value_is_integer(given[0]))
            return value_float(real);
        return fabs(real) < 9.2e18 ? value_int((int64_t)real)
                                   : fail_limit(m, "an integer beyond 64 bits");
    }
    if (!gufo_str_equal(bytes_of(how), gufo_str_of("ceil")) &&
        !gufo_str_equal(bytes_of(how), gufo_str_of("floor")))
        return fail_type(m, "the method of 'round' is common, ceil or floor");
    scale = pow(10, (double)places);
    real = how->data[0] == 'c' ? ceil(real * scale) : floor(real * scale);
    return value_float(real / scale);
}

value filter_filesizeformat(machine *m, const value *given, const arguments *all)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
    bool binary = is_given(given[1]) && value_truth(given[1]);
    double bytes, base = binary ? 1024 : 1000, unit;
    char line[400], binary_unit[8];
    size_t at = 0;

    (void)all;
    if (!to_float(given[0], &bytes))
        return fail_type(m, "a size is expected");
    if (bytes == 1)
        return string_new(&m->memory, gufo_str_of("1 Byte"));
    if (bytes < base) {
        (void)snprintf(line, sizeof(line), "%.0f Bytes", trunc(bytes));
        return string_new(&m->memory, gufo_str_of(line));
    }
    for (unit = base * base; at < 7 && bytes >= unit; at++)
        unit *= base;
    at = at > 7 ? 7 : at;
    if (number_print_real(line, sizeof(line) - 10, 'f', 1, false, base * bytes / unit) == 0)
        return fail_type(m, "a size is expected");
    (void)snprintf(binary_unit, sizeof(binary_unit), "%ciB", at == 0 ? 'K' : units[at][0]);
    (void)strcat(strcat(line, " "), binary ? binary_unit : units[at]);
    return string_new(&m->memory, gufo_str_of(line));
}
