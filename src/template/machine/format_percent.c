/* The operator % of strings. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "template/machine/format.h"
#include "template/values/integer.h"

typedef struct percent {
    machine *m;
    gufo_str format;
    size_t at;
    value given;
    size_t next; /* of the values of a tuple */
    bool markup; /* what is put in is escaped */
    bool named;  /* a %(name) was there */
} percent;

static value next_value(percent *p)
{
    if (p->given.kind != VALUE_TUPLE) {
        if (p->next++ == 0)
            return p->given;
    } else if (p->next < p->given.as.list->count) {
        return p->given.as.list->items[p->next++];
    }
    return fail_type(p->m, "not enough values for the format");
}

/* %(name): the value of that name. */
static value named_value(percent *p)
{
    size_t from = ++p->at, depth = 1;
    value name;

    for (; p->at < p->format.len; p->at++) {
        depth += p->format.data[p->at] == '(';
        depth -= p->format.data[p->at] == ')';
        if (depth == 0)
            break;
    }
    if (depth != 0)
        return fail_type(p->m, "a name in the format does not end");
    name = string_view(&p->m->memory, (gufo_str){p->format.data + from, p->at - from});
    p->at++;
    p->named = true;
    if (p->given.kind != VALUE_DICT)
        return fail_type(p->m, "the format takes a dict");
    if (is_failed(name))
        return name;
    if (!machine_spend_key(p->m, name))
        return FAILED;
    if (dict_find(p->given.as.dict, p->m->key, name) == NULL)
        return fail_type(p->m, "the format asks for a name that the dict does not have");
    return get_item(p->m, p->given, name);
}

/* A width or a precision: digits, or * for a value. */
static bool take_number(percent *p, int64_t *out)
{
    value v;

    if (p->at >= p->format.len || p->format.data[p->at] != '*')
        return field_number(p->m, p->format, &p->at, out);
    p->at++;
    v = next_value(p);
    if (is_failed(v))
        return false;
    if (!value_integer(v, out))
        return !is_failed(fail_type(p->m, "* takes an integer"));
    if (*out > INT32_MAX || *out < -INT32_MAX)
        return !is_failed(fail_limit(p->m, "a width or precision that is too large"));
    return true;
}

static bool take_field(percent *p, field *f)
{
    for (; p->at < p->format.len; p->at++) {
        char c = p->format.data[p->at];

        if (c == '-')
            f->align = '<';
        else if (c == '+' || (c == ' ' && f->sign == 0))
            f->sign = c;
        else if (c == '#')
            f->alternate = true;
        else if (c == '0')
            f->zero = true;
        else if (c != ' ')
            break;
    }
    if (!take_number(p, &f->width))
        return false;
    if (f->width < 0) {
        f->align = '<';
        f->width = -f->width;
    }
    if (p->at < p->format.len && p->format.data[p->at] == '.') {
        p->at++;
        if (!take_number(p, &f->precision))
            return false;
        f->precision = f->precision < 0 ? 0 : f->precision;
    }
    if (p->at < p->format.len && memchr("hlL", p->format.data[p->at], 3) != NULL)
        p->at++;
    return p->at < p->format.len || !is_failed(fail_type(p->m, "the format ends too early"));
}

static bool write_number(percent *p, field *f, value v)
{
    double real;

    if (f->align == '<')
        f->zero = false;
    if (memchr("eEfFgG", f->type, 6) != NULL) {
        if (!value_is_number(v))
            return !is_failed(
                fail_type(p->m, "%%%c takes a number, not '%s'", f->type, value_type(v)));
        return value_as_real(p->m, v, &real) && field_real(p->m, f, real);
    }
    if (v.kind == VALUE_FLOAT && memchr("diu", f->type, 3) != NULL) {
        if (!isfinite(v.as.real))
            return !is_failed(fail_type(p->m, "%%%c takes a finite number", f->type));
        v = integer_of_real(&p->m->memory, v.as.real);
        if (is_failed(v))
            return false;
    }
    if (!value_is_integer(v))
        return !is_failed(
            fail_type(p->m, "%%%c takes an integer, not '%s'", f->type, value_type(v)));
    return field_integer(p->m, f, v);
}

static bool write_text(percent *p, field *f, value v)
{
    size_t mark = p->m->out_len;
    value text;
    bool done;

    f->zero = false;
    if (f->align == 0)
        f->align = '>';
    if (f->type == 's')
        done = p->markup ? print_escaped(p->m, v) : print_str(p->m, v);
    else
        done = print_repr(p->m, v);
    text = done ? out_cut(p->m, mark) : FAILED;
    return !is_failed(text) && field_text(p->m, f, bytes_of(text.as.string));
}

static bool write_character(percent *p, field *f, value v)
{
    int64_t point;
    char bytes[4];
    gufo_str text;

    f->zero = false;
    f->precision = -1;
    if (f->align == 0)
        f->align = '>';
    if (v.kind == VALUE_STRING && v.as.string->chars == 1) {
        text = bytes_of(v.as.string);
    } else if (value_integer(v, &point) && point >= 0 && point <= 0x10FFFF &&
               !(point >= 0xD800 && point < 0xE000)) {
        text = (gufo_str){bytes, utf8_put((uint32_t)point, bytes)};
    } else {
        return !is_failed(fail_type(p->m, "%%c takes a character"));
    }
    return field_text(p->m, f, text);
}

/* What is behind a %. */
static bool write_conversion(percent *p)
{
    field f = {.precision = -1};
    value v = value_of(VALUE_ABSENT);

    if (p->at < p->format.len && p->format.data[p->at] == '(') {
        v = named_value(p);
        if (is_failed(v))
            return false;
    }
    if (!take_field(p, &f))
        return false;
    f.type = p->format.data[p->at++];
    if (f.type == '%')
        return out_text(p->m, "%");
    if (memchr("diuoxXeEfFgGcrsa", f.type, 16) == NULL)
        return !is_failed(fail_type(p->m, "a format does not have the conversion '%c'",
                                    f.type >= ' ' && f.type < 0x7F ? f.type : '?'));
    if (!is_given(v))
        v = next_value(p);
    if (is_failed(v))
        return false;
    if (v.kind == VALUE_UNDEFINED && memchr("srac", f.type, 4) == NULL)
        return !is_failed(fail_undefined(p->m, v));
    if (f.type == 'c')
        return write_character(p, &f, v);
    return memchr("sra", f.type, 3) != NULL ? write_text(p, &f, v) : write_number(p, &f, v);
}

value format_percent(machine *m, const string *format, value given)
{
    percent p = {.m = m, .format = bytes_of(format), .given = given, .markup = format->markup};
    size_t mark = m->out_len;
    value made;

    while (p.at < p.format.len) {
        const char *rest = p.format.data + p.at;
        const char *sign = memchr(rest, '%', p.format.len - p.at);
        size_t plain = sign == NULL ? p.format.len - p.at : (size_t)(sign - rest);

        if (!out_write(m, (gufo_str){rest, plain}))
            return FAILED;
        p.at += plain + 1;
        if (sign != NULL && (!machine_spend(m, 1) || !write_conversion(&p)))
            return FAILED;
    }
    if ((given.kind == VALUE_TUPLE && p.next < given.as.list->count) ||
        (given.kind != VALUE_TUPLE && given.kind != VALUE_DICT && given.kind != VALUE_LIST &&
         p.next == 0))
        return fail_type(m, "more values than the format takes");
    made = out_cut(m, mark);
    return is_failed(made) ? made : string_cast(&m->memory, made.as.string, format->markup);
}
