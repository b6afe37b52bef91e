/* Texts that are made by a format: '%s' % x and '{}'.format(x).  A field (sign, prefix, digits, groups, and what fills its
 * width) is the same in both. */
#include "base/error.h"
#include "base/text.h"
#include "gufo/print.h"
#include "template/machine/machine.h"
#include "template/values/characters.h"
#include "template/values/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ==== A field ================================================================================= */

/* How a value is written. */
typedef struct field {
    gufo_str fill;     /* one character; empty: a blank */
    char align;        /* < > ^ = or 0 */
    char sign;         /* + - or a blank, or 0 */
    bool alternate;    /* # */
    bool zero;         /* 0 before the width */
    char group;        /* , or _, or 0 */
    int64_t width;     /* at least; 0: none */
    int64_t precision; /* -1: none */
    char type;         /* d, x, f ..., or 0 */
} field;

enum { FIELD_LARGEST = 1000 }; /* precision of a number, at most */

/* Reads digits at *at, past which it goes; false if the number is too large. */
static bool field_number(machine *m, gufo_str format, size_t *at, int64_t *out)
{
    *out = 0;
    for (; *at < format.len && is_digit(format.data[*at]); ++*at) {
        *out = *out * 10 + (format.data[*at] - '0');
        if (*out > INT32_MAX)
            return !is_failed(fail_limit(m, "a width or precision that is too large"));
    }
    return true;
}

static bool field_text(machine *m, const field *f, gufo_str text)
{
    size_t chars = string_count_chars(text);
    gufo_str fill = f->fill.len != 0 ? f->fill : f->zero ? gufo_str_of("0") : gufo_str_of(" ");

    if (f->precision >= 0 && (uint64_t)f->precision < chars) {
        size_t at = 0, len;

        for (chars = 0; chars < (size_t)f->precision; chars++) {
            (void)point_at(str_from(text, at), &len);
            at += len;
        }
        text.len = at;
    }
    return write_padded(m, text, chars, f->align == 0 || f->align == '=' ? '<' : f->align, f->width,
                        fill);
}

/* Digits before the point, or before what is not a number. */
static size_t whole_digits(const field *f, gufo_str digits)
{
    bool hexadecimal = (f->type | 32) == 'x';
    size_t whole = 0;

    while (whole < digits.len &&
           (hexadecimal ? is_hex(to_lower(digits.data[whole])) : is_digit(digits.data[whole])))
        whole++;
    return whole;
}

/* Digits with a mark between each group of the first `whole`. */
static bool write_grouped(machine *m, gufo_str digits, size_t whole, char mark, size_t each)
{
    for (size_t i = 0; i < whole; i++)
        if ((i != 0 && (whole - i) % each == 0 && !out_write(m, (gufo_str){&mark, 1})) ||
            !out_write(m, (gufo_str){digits.data + i, 1}))
            return false;
    return out_write(m, str_from(digits, whole));
}

/* The same with zeros in front, which are grouped, too, up to a width. */
static bool write_groups(machine *m, const field *f, gufo_str digits, int64_t width)
{
    size_t each = f->type == 0 || strchr("boxX", f->type) == NULL ? 3 : 4;
    size_t whole = whole_digits(f, digits), want = digits.len;
    char *padded;

    if (width > FIELD_LARGEST)
        return !is_failed(fail_limit(m, "a width that is too large"));
    while (whole != 0 && (int64_t)(want + (want - digits.len + whole - 1) / each) < width)
        want++;
    padded = heap_take(&m->memory, want);
    if (padded == NULL)
        return false;
    memset(padded, '0', want - digits.len);
    memcpy(padded + (want - digits.len), digits.data, digits.len);
    return write_grouped(m, (gufo_str){padded, want}, whole + want - digits.len, f->group, each);
}

/* Writes sign, prefix and digits into the width. */
static bool field_write(machine *m, const field *f, bool negative, const char *prefix,
                        gufo_str digits)
{
    const char *sign = negative ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "";
    char align = f->align != 0 ? f->align : f->zero ? '=' : '>';
    gufo_str fill = f->fill.len != 0           ? f->fill
                    : f->zero && f->align == 0 ? gufo_str_of("0")
                                               : gufo_str_of(" ");
    size_t mark = m->out_len;
    int64_t front = (int64_t)(strlen(sign) + strlen(prefix)), width = f->width;
    value body;

    if (f->zero && f->fill.len == 0)
        fill = gufo_str_of("0");
    if (f->group != 0
            ? !write_groups(m, f, digits, align == '=' && *fill.data == '0' ? width - front : 0)
            : !out_write(m, digits))
        return false;
    body = out_cut(m, mark);
    if (is_failed(body))
        return false;
    digits = bytes_of(body.as.string);
    if (align == '=')
        return out_text(m, sign) && out_text(m, prefix) &&
               write_padded(m, digits, digits.len, '>', width - front, fill);
    if (!out_text(m, sign) || !out_text(m, prefix) || !out_write(m, digits))
        return false;
    body = out_cut(m, mark);
    return !is_failed(body) &&
           write_padded(m, bytes_of(body.as.string), body.as.string->len, align, width, fill);
}

/* Write a value as its field says: an integer of any size, a float, a text. */
static bool field_integer(machine *m, const field *f, value integer)
{
    unsigned base = f->type == 'b' ? 2 : f->type == 'o' ? 8 : (f->type | 32) == 'x' ? 16 : 10;
    value digits = print_digits(m, integer, base, f->type == 'X');
    char prefix[3] = {'0', f->type, 0}, longer[FIELD_LARGEST];
    gufo_str text;

    if (is_failed(digits))
        return false;
    if (f->precision > FIELD_LARGEST)
        return !is_failed(fail_limit(m, "a precision of more than %s", GROUPED(FIELD_LARGEST)));
    text = bytes_of(digits.as.string);
    if (f->precision > (int64_t)text.len) { /* of printf: zeros in front */
        size_t zeros = (size_t)f->precision - text.len;

        memset(longer, '0', zeros);
        memcpy(longer + zeros, text.data, text.len);
        text = (gufo_str){longer, zeros + text.len};
    }
    return field_write(m, f, integer_sign(integer) < 0, f->alternate && base != 10 ? prefix : "",
                       text);
}

/* The digits of a float without a type: as repr, or with a precision as g, and always a point. */
static size_t plain_real(char *out, size_t room, const field *f, double size)
{
    size_t len;

    if (f->precision < 0)
        return number_write_real(size, out);
    len = number_print_real(out, room - 2, 'g', (int)(f->precision == 0 ? 1 : f->precision),
                            f->alternate, size);
    if (memchr(out, '.', len) == NULL && memchr(out, 'e', len) == NULL) {
        int exponent = size == 0 ? 0 : (int)floor(log10(size));

        /* Python turns to an exponent one digit earlier here. */
        if (exponent + 1 >= f->precision && f->precision > 0)
            len = number_print_real(out, room - 2, 'e', (int)f->precision - 1, f->alternate, size);
        else {
            out[len++] = '.';
            out[len++] = '0';
        }
    }
    return len;
}

static bool field_real(machine *m, const field *f, double real)
{
    char text[FIELD_LARGEST + 400];
    bool upper = f->type == 'E' || f->type == 'F' || f->type == 'G';
    bool percent = f->type == '%';
    double size = fabs(real) * (percent ? 100 : 1);
    char conversion = percent ? 'f' : f->type == 'n' ? 'g' : (char)(f->type | 32);
    size_t len;

    if (f->precision > FIELD_LARGEST)
        return !is_failed(fail_limit(m, "a precision of more than %s", GROUPED(FIELD_LARGEST)));
    if (!isfinite(size))
        len = (size_t)snprintf(text, sizeof(text), isnan(size) ? "nan" : "inf");
    else if (f->type == 0)
        len = plain_real(text, sizeof(text), f, size);
    else
        len = number_print_real(text, sizeof(text) - 1, conversion,
                                (int)(f->precision < 0 ? 6 : f->precision), f->alternate, size);
    for (size_t i = 0; upper && i < len; i++)
        text[i] = to_upper(text[i]);
    if (percent)
        text[len++] = '%';
    return field_write(m, f, signbit(real) != 0 && !isnan(real), "", (gufo_str){text, len});
}

/* ==== The operator % of strings ================================================================ */

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

static bool percent_number(percent *p, field *f, value v)
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

static bool percent_text(percent *p, field *f, value v)
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
        text = (gufo_str){bytes, gufo_utf8_encode((uint32_t)point, bytes)};
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
    return memchr("sra", f.type, 3) != NULL ? percent_text(p, &f, v) : percent_number(p, &f, v);
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

/* ==== str.format ========================================================================== */

/* {0}, {name}, {a.b[c]!r:>10}.  Attributes go through the sandbox as in expressions. */

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

static bool braces_number(braces *b, field *f, value v)
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
    return field_text(b->m, f, (gufo_str){bytes, gufo_utf8_encode((uint32_t)integer, bytes)});
}

static bool write_value(braces *b, value v, gufo_str spec)
{
    field f;

    if (spec.len == 0)
        return b->markup ? print_escaped(b->m, v) : print_str(b->m, v);
    if (!read_field(b, spec, &f))
        return false;
    if (value_is_number(v))
        return braces_number(b, &f, v);
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
