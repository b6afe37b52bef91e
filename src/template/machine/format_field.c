/* One field of a format: sign, prefix, digits, groups, and what fills its width. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/machine/format.h"
#include "template/library/natives.h"
#include "template/values/integer.h"
#include "template/values/number.h"

bool field_number(machine *m, gufo_str format, size_t *at, int64_t *out)
{
    *out = 0;
    for (; *at < format.len && is_digit(format.data[*at]); ++*at) {
        *out = *out * 10 + (format.data[*at] - '0');
        if (*out > INT32_MAX)
            return !is_failed(fail_limit(m, "a width or precision that is too large"));
    }
    return true;
}

bool field_text(machine *m, const field *f, gufo_str text)
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
static bool write_number(machine *m, const field *f, bool negative, const char *prefix,
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

bool field_integer(machine *m, const field *f, value integer)
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
    return write_number(m, f, integer_sign(integer) < 0, f->alternate && base != 10 ? prefix : "",
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

bool field_real(machine *m, const field *f, double real)
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
    return write_number(m, f, signbit(real) != 0 && !isnan(real), "", (gufo_str){text, len});
}
