/* str.format: {0}, {name}, {a.b[c]!r:>10}.  Attributes go through the sandbox as in expressions. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "template/values/characters.h"
#include "template/machine/format.h"
#include "template/values/number.h"

typedef struct braces {
    machine *m;
    const arguments *in;
    int64_t next;         /* the argument of the next {} */
    bool counted, chosen; /* {} was there; {0} was there */
    bool markup;
} braces;

static bool write_format(braces *b, gufo_str format, int depth);

static value fail_format(braces *b)
{
    return fail_type(b->m, "the format is not well-formed");
}

static value argument_at(braces *b, int64_t index)
{
    uint32_t positions = b->in->count - b->in->keywords;

    if (index < 0 || index >= positions)
        return fail_type(b->m, "the format asks for argument %" PRId64 ", which is not given",
                         index);
    return b->in->items[index];
}

static value argument_named(braces *b, gufo_str name)
{
    if (!machine_spend(b->m, b->in->keywords / 8))
        return FAILED;
    for (uint32_t i = 0; i < b->in->keywords; i++)
        if (gufo_str_equal(bytes_of(b->in->names[i]), name))
            return b->in->items[b->in->count - b->in->keywords + i];
    return fail_type(b->m, "the format asks for %s, which is not given", QUOTED(name));
}

static value first_value(braces *b, gufo_str name)
{
    int64_t index;

    if (name.len != 0 && !number_parse(name, 10, &index))
        return argument_named(b, name);
    if (name.len == 0 ? b->chosen : b->counted)
        return fail_type(b->m, "a format has either {} or {0}");
    b->counted = b->counted || name.len == 0;
    b->chosen = b->chosen || name.len != 0;
    return argument_at(b, name.len == 0 ? b->next++ : index);
}

/* The value that "name.attribute[item]" is. */
static value field_value(braces *b, gufo_str path)
{
    size_t end = 0;
    value v, key;
    int64_t index;

    while (end < path.len && path.data[end] != '.' && path.data[end] != '[')
        end++;
    v = first_value(b, (gufo_str){path.data, end});
    while (!is_failed(v) && end < path.len) {
        bool item = path.data[end] == '[';
        size_t from = ++end;

        while (end < path.len &&
               (item ? path.data[end] != ']' : path.data[end] != '.' && path.data[end] != '['))
            end++;
        if (end == from || (item && end == path.len))
            return fail_format(b);
        key = string_view(&b->m->memory, (gufo_str){path.data + from, end - from});
        if (is_failed(key))
            return key;
        if (item && number_parse(bytes_of(key.as.string), 10, &index))
            key = value_int(index);
        v = item ? get_item(b->m, v, key) : get_attribute(b->m, v, key);
        end += item;
    }
    return v;
}

/* [[fill]align][sign][#][0][width][group][.precision][type] */
static bool read_field(braces *b, gufo_str spec, field *f)
{
    size_t at = 0, len = 0;

    *f = (field){.precision = -1};
    if (spec.len != 0)
        (void)point_at(spec, &len);
    if (len != 0 && spec.len > len && memchr("<>^=", spec.data[len], 4) != NULL) {
        f->fill = (gufo_str){spec.data, len};
        f->align = spec.data[len];
        at = len + 1;
    } else if (spec.len != 0 && memchr("<>^=", *spec.data, 4) != NULL) {
        f->align = spec.data[at++];
    }
    if (at < spec.len && memchr("+- ", spec.data[at], 3) != NULL)
        f->sign = spec.data[at++];
    if (at < spec.len && spec.data[at] == '#') {
        f->alternate = true;
        at++;
    }
    if (at < spec.len && spec.data[at] == '0') {
        f->zero = true;
        at++;
    }
    if (!field_number(b->m, spec, &at, &f->width))
        return false;
    if (at < spec.len && (spec.data[at] == ',' || spec.data[at] == '_'))
        f->group = spec.data[at++];
    if (at < spec.len && spec.data[at] == '.') {
        at++;
        if (at == spec.len || !is_digit(spec.data[at]))
            return !is_failed(fail_format(b));
        if (!field_number(b->m, spec, &at, &f->precision))
            return false;
    }
    if (at < spec.len)
        f->type = spec.data[at++];
    return at == spec.len || !is_failed(fail_format(b));
}

static bool fail_field(braces *b, const field *f, value v)
{
    (void)fail_type(b->m, "the format '%c' does not work on '%s'",
                    f->type > ' ' && f->type < 0x7F ? f->type : '?', value_type(v));
    return false;
}

static bool write_number(braces *b, field *f, value v)
{
    int64_t integer;
    char bytes[4];
    double real;

    if (v.kind == VALUE_FLOAT || (f->type != 0 && strchr("eEfFgG%", f->type) != NULL)) {
        if (f->type != 0 && strchr("eEfFgGn%", f->type) == NULL)
            return fail_field(b, f, v);
        return value_as_real(b->m, v, &real) && field_real(b->m, f, real);
    }
    if (f->precision >= 0 || (f->type != 0 && strchr("bcdnoxX", f->type) == NULL))
        return fail_field(b, f, v);
    if (f->type != 'c')
        return field_integer(b->m, f, v);
    if (!value_integer(v, &integer) || integer < 0 || integer > 0x10FFFF ||
        (integer >= 0xD800 && integer < 0xE000))
        return fail_field(b, f, v);
    return field_text(b->m, f, (gufo_str){bytes, utf8_put((uint32_t)integer, bytes)});
}

static bool write_value(braces *b, value v, gufo_str spec)
{
    field f;

    if (spec.len == 0)
        return b->markup ? print_escaped(b->m, v) : print_str(b->m, v);
    if (!read_field(b, spec, &f))
        return false;
    if (value_is_number(v))
        return write_number(b, &f, v);
    if (v.kind != VALUE_STRING || (f.type != 0 && f.type != 's') || f.align == '=' || f.sign != 0 ||
        f.alternate || f.group != 0)
        return fail_field(b, &f, v);
    return field_text(b->m, &f, bytes_of(v.as.string));
}

/* The field between braces: "path!r:spec". */
static bool write_field(braces *b, gufo_str text, int depth)
{
    size_t end = 0, mark = b->m->out_len, brackets = 0;
    value v, spec;
    char conversion = 0;

    for (; end < text.len; end++) {
        brackets += text.data[end] == '[';
        brackets -= text.data[end] == ']' && brackets != 0;
        if (brackets == 0 && (text.data[end] == '!' || text.data[end] == ':'))
            break;
    }
    v = field_value(b, (gufo_str){text.data, end});
    if (is_failed(v))
        return false;
    text = str_from(text, end);
    if (str_begins(text, "!")) {
        if (text.len < 2 || (text.len > 2 && text.data[2] != ':'))
            return !is_failed(fail_format(b));
        conversion = text.data[1];
        text = str_from(text, 2);
    }
    if (conversion != 0 && memchr("rsa", conversion, 3) == NULL)
        return !is_failed(fail_format(b));
    if (conversion != 0) {
        if (!(conversion == 's' ? print_str(b->m, v) : print_repr(b->m, v)))
            return false;
        v = out_cut(b->m, mark);
    }
    /* The specification may have fields itself. */
    if (is_failed(v) || !write_format(b, text.len == 0 ? text : str_from(text, 1), depth - 1))
        return false;
    spec = out_cut(b->m, mark);
    return !is_failed(spec) && write_value(b, v, bytes_of(spec.as.string));
}

/* The end of the field that begins at `at`: its closing brace; text.len if it has none. */
static size_t field_end(gufo_str text, size_t at)
{
    size_t depth = 1, brackets = 0;

    for (; at < text.len; at++) {
        brackets += text.data[at] == '[' && depth == 1;
        if (brackets != 0) {
            brackets -= text.data[at] == ']';
            continue;
        }
        depth += text.data[at] == '{';
        depth -= text.data[at] == '}';
        if (depth == 0)
            return at;
    }
    return text.len;
}

static bool write_format(braces *b, gufo_str format, int depth)
{
    if (depth < 0)
        return !is_failed(fail_type(b->m, "nested fields in a format"));
    for (size_t at = 0; at < format.len; at++) {
        char c = format.data[at];
        size_t end;

        if (c != '{' && c != '}') {
            if (!out_write(b->m, (gufo_str){&c, 1}))
                return false;
            continue;
        }
        if (at + 1 < format.len && format.data[at + 1] == c && depth == 2) {
            at++;
            if (!out_write(b->m, (gufo_str){&c, 1}))
                return false;
            continue;
        }
        end = field_end(format, at + 1);
        if (c == '}' || end == format.len)
            return !is_failed(fail_format(b));
        if (!machine_spend(b->m, 1) ||
            !write_field(b, (gufo_str){format.data + at + 1, end - at - 1}, depth))
            return false;
        at = end;
    }
    return true;
}

value format_braces(machine *m, const string *format, const arguments *in)
{
    braces b = {.m = m, .in = in, .markup = format->markup};
    size_t mark = m->out_len;

    if (!machine_spend_bytes(m, format->len) || !write_format(&b, bytes_of(format), 2))
        return FAILED;
    return out_cut(m, mark);
}
