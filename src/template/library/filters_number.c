/* Filters of numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "template/syntax/parser.h"
#include "template/library/natives.h"
#include "template/values/number.h"
#include "template/values/number.h"

value filter_abs(machine *m, const value *given, const arguments *all)
{
    value v = given[0];
    int64_t index;

    (void)all;
    if (v.kind == VALUE_FLOAT)
        return value_float(fabs(v.as.real));
    if (!take_index(m, v, 0, &index))
        return FAILED;
    return operate_sign(m, index < 0 ? TOKEN_SUBTRACT : TOKEN_ADD, v);
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

/* False for what is no number, and on failure. */
static bool to_float(machine *m, value v, double *out)
{
    if (v.kind == VALUE_STRING)
        return machine_spend_bytes(m, v.as.string->len * 4) &&
               read_float(bytes_of(v.as.string), out);
    return value_is_number(v) && value_as_real(m, v, out);
}

value filter_float(machine *m, const value *given, const arguments *all)
{
    double real;

    (void)all;
    if (given[0].kind == VALUE_UNDEFINED)
        return fail_undefined(m, given[0]);
    if (to_float(m, given[0], &real))
        return value_float(real);
    return is_given(given[1]) ? given[1] : value_float(0);
}

/* An integer as int(text, base) reads it; ABSENT: the text is none. */
static value read_integer(machine *m, gufo_str text, int64_t base)
{
    size_t digits = text.len < INTEGER_DIGITS ? text.len : INTEGER_DIGITS;

    if (base != 0 && (base < 2 || base > 36))
        return value_of(VALUE_ABSENT);
    if (!machine_spend(m, text.len / 64 + digits * digits / 4096))
        return FAILED;
    return integer_read(&m->memory, strip_text(text, NULL, true, true), (int)base);
}

value filter_int(machine *m, const value *given, const arguments *all)
{
    value v = given[0], whole = value_of(VALUE_ABSENT);
    int64_t base;
    double real;

    (void)all;
    if (v.kind == VALUE_UNDEFINED)
        return fail_undefined(m, v);
    if (!take_integer(m, given[2], 10, &base))
        return FAILED;
    if (value_is_integer(v))
        return operate_sign(m, TOKEN_ADD, v);
    if (v.kind == VALUE_FLOAT && isinf(v.as.real))
        return fail_type(m, "an infinite number is not an integer");
    if (v.kind == VALUE_STRING)
        whole = read_integer(m, bytes_of(v.as.string), base);
    if (is_given(whole))
        return whole;
    if (to_float(m, v, &real) && isfinite(real))
        return integer_of_real(&m->memory, real);
    return is_given(given[1]) ? given[1] : value_int(0);
}

/* ==== Rounding =============================================================================== */

/* A float has nothing left of 10^309, nor right of 10^-1075: what is rounded there stays, or is 0. */
enum { REAL_PLACES = 1100 };

/* 10^places. */
static value ten_to(machine *m, int64_t places)
{
    return operate(m, TOKEN_POWER, value_int(10), value_int(places));
}

/* An integer as the nearest multiple of `unit`, halves to even; `more`: a fraction is behind it, away
 * from 0. */
static value round_to_multiple(machine *m, value integer, value unit, bool more)
{
    bool negative = integer_sign(integer) < 0;
    value size = negative ? operate_sign(m, TOKEN_SUBTRACT, integer) : integer;
    value rest = is_failed(size) ? size : operate(m, TOKEN_REMAINDER, size, unit);
    value whole = is_failed(rest) ? rest : operate(m, TOKEN_FLOOR_DIVIDE, size, unit);
    value twice = is_failed(whole) ? whole : operate(m, TOKEN_ADD, rest, rest);
    bool half = !is_failed(twice) && number_equal(twice, unit);
    value odd = is_failed(twice) ? twice : operate(m, TOKEN_REMAINDER, whole, value_int(2));

    if (is_failed(odd))
        return FAILED;
    if (number_before(unit, twice) || (half && (more || integer_sign(odd) != 0)))
        whole = operate(m, TOKEN_ADD, whole, value_int(1));
    size = is_failed(whole) ? whole : operate(m, TOKEN_MULTIPLY, whole, unit);
    return !is_failed(size) && negative ? operate_sign(m, TOKEN_SUBTRACT, size) : size;
}

/* Rounds a float to a place before its point. */
static value round_before_point(machine *m, double number, int64_t places)
{
    value whole = integer_of_real(&m->memory, number), unit = ten_to(m, -places);
    double real;

    if (is_failed(whole) || is_failed(unit))
        return FAILED;
    whole = round_to_multiple(m, whole, unit, trunc(number) != number);
    return !is_failed(whole) && value_as_real(m, whole, &real) ? value_float(copysign(real, number))
                                                               : FAILED;
}

/* Rounds a float to a place behind its point: halves to even, of the exact decimal value. */
static value round_real(machine *m, double number, int64_t places)
{
    char text[400];
    double result;

    if (!isfinite(number) || places > 323)
        return value_float(number);
    if (places < -REAL_PLACES)
        return value_float(copysign(0.0, number));
    if (places < 0)
        return round_before_point(m, number, places);
    if (number_print_real(text, sizeof(text), 'f', (int)places, false, number) == 0)
        return value_float(number);
    return value_float(number_read_real(gufo_str_of(text), &result) ? result : number);
}

/* An integer to a place before its end. */
static value round_integer(machine *m, value integer, int64_t places)
{
    value unit;

    if (places >= 0)
        return operate_sign(m, TOKEN_ADD, integer);
    if (places < -(int64_t)integer_bits(integer) - 1) /* 10^places is more than twice as large */
        return value_int(0);
    unit = ten_to(m, -places);
    return is_failed(unit) ? unit : round_to_multiple(m, integer, unit, false);
}

/* ceil(v * 10**places) / 10**places, and the same with floor. */
static value round_up_or_down(machine *m, value v, int64_t places, bool up)
{
    value scale = ten_to(m, places);
    value product = is_failed(scale) ? scale : operate(m, TOKEN_MULTIPLY, v, scale);

    if (product.kind == VALUE_FLOAT && !isfinite(product.as.real))
        return fail_type(m, "a number that is not finite cannot be rounded");
    if (product.kind == VALUE_FLOAT)
        product = integer_of_real(&m->memory, up ? ceil(product.as.real) : floor(product.as.real));
    return is_failed(product) ? product : operate(m, TOKEN_DIVIDE, product, scale);
}

value filter_round(machine *m, const value *given, const arguments *all)
{
    string common = {.data = "common", .len = 6, .chars = 6};
    const string *how = is_given(given[2]) ? take_string(m, given[2], "the method") : &common;
    value v = given[0];
    int64_t places;

    (void)all;
    if (how == NULL || !take_index(m, given[1], 0, &places))
        return FAILED;
    if (v.kind == VALUE_UNDEFINED)
        return fail_undefined(m, v);
    if (!value_is_number(v))
        return fail_type(m, "'%s' cannot be rounded", value_type(v));
    if (gufo_str_equal(bytes_of(how), gufo_str_of("common")))
        return v.kind == VALUE_FLOAT ? round_real(m, v.as.real, places)
                                     : round_integer(m, v, places);
    if (!gufo_str_equal(bytes_of(how), gufo_str_of("ceil")) &&
        !gufo_str_equal(bytes_of(how), gufo_str_of("floor")))
        return fail_type(m, "the method of 'round' is common, ceil or floor");
    return round_up_or_down(m, v, places, how->data[0] == 'c');
}

value filter_filesizeformat(machine *m, const value *given, const arguments *all)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
    bool binary = is_given(given[1]) && value_truth(given[1]);
    double bytes, base = binary ? 1024 : 1000, unit;
    char line[400], binary_unit[8];
    size_t at = 0;

    (void)all;
    if (!to_float(m, given[0], &bytes))
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
