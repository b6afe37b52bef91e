/* Work on texts that filters and methods share. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "base/text.h"
#include "gufo/print.h"
#include "template/machine/machine.h"

const string *take_string(machine *m, value v, const char *what)
{
    if (v.kind == VALUE_STRING)
        return v.as.string;
    if (v.kind == VALUE_UNDEFINED)
        (void)fail_undefined(m, v);
    else
        (void)fail_type(m, "%s is a text, not '%s'", what, value_type(v));
    return NULL;
}

bool take_integer(machine *m, value v, int64_t preset, int64_t *out)
{
    *out = preset;
    if (!is_given(v) || value_integer(v, out))
        return true;
    if (v.kind == VALUE_UNDEFINED)
        (void)fail_undefined(m, v);
    else if (v.kind == VALUE_BIG)
        (void)fail_limit(m, "an integer that 64 bits do not hold");
    else
        (void)fail_type(m, "an integer is expected, not '%s'", value_type(v));
    return false;
}

bool take_index(machine *m, value v, int64_t preset, int64_t *out)
{
    return (is_given(v) && value_as_index(v, out)) || take_integer(m, v, preset, out);
}

value cut_like(machine *m, size_t mark, const string *like)
{
    value made = out_cut(m, mark);

    return is_failed(made) ? made : string_cast(&m->memory, made.as.string, like->markup);
}

bool write_point(machine *m, uint32_t point)
{
    char bytes[4];

    return out_write(m, (gufo_str){bytes, gufo_utf8_encode(point, bytes)});
}

/* A sigma at the end of a word has a form of its own: cased characters come before it, and none
 * behind. */
static bool is_final_sigma(gufo_str text, size_t at, size_t end)
{
    size_t len;

    while (at > 0) {
        size_t last = last_point((gufo_str){text.data, at});
        uint32_t point = point_at((gufo_str){text.data + at - last, last}, &len);

        if (!is_case_ignorable(point)) {
            if (!is_cased(point))
                return false;
            break;
        }
        at -= last;
        if (at == 0)
            return false;
    }
    if (at == 0)
        return false;
    for (; end < text.len; end += len) {
        uint32_t point = point_at(str_from(text, end), &len);

        if (!is_case_ignorable(point))
            return !is_cased(point);
    }
    return true;
}

bool write_point_case(machine *m, gufo_str text, size_t at, size_t len, letter_case to)
{
    uint32_t point = point_at(str_from(text, at), &len), made[3];
    size_t count;

    if (point == 0x3A3 && to == CASE_LOWER)
        return write_point(m, is_final_sigma(text, at, at + len) ? 0x3C2 : 0x3C3);
    count = point_case(point, to, made);
    for (size_t i = 0; i < count; i++)
        if (!write_point(m, made[i]))
            return false;
    return true;
}

bool write_case(machine *m, gufo_str text, letter_case to)
{
    bool upper = to == CASE_UPPER;

    if (!machine_spend_bytes(m, text.len * 4))
        return false;
    for (size_t at = 0, len; at < text.len; at += len) {
        char bytes[256];

        for (len = 0;
             len < sizeof(bytes) && at + len < text.len && (uint8_t)text.data[at + len] < 0x80;
             len++)
            bytes[len] = upper ? to_upper(text.data[at + len]) : to_lower(text.data[at + len]);
        if (len != 0) {
            if (!out_write(m, (gufo_str){bytes, len}))
                return false;
            continue;
        }
        (void)point_at(str_from(text, at), &len);
        if (!write_point_case(m, text, at, len, to))
            return false;
    }
    return true;
}

const char *find_bytes(gufo_str text, gufo_str part)
{
    if (part.len == 0)
        return text.data;
    return text.len < part.len ? NULL : memmem(text.data, text.len, part.data, part.len);
}

/* What is between characters is replaced, too, where the text to replace is empty. */
static bool write_between(machine *m, gufo_str text, gufo_str to, int64_t limit)
{
    for (size_t at = 0, len; at < text.len; at += len) {
        (void)point_at(str_from(text, at), &len);
        if (limit == 0)
            return out_write(m, str_from(text, at));
        limit -= limit > 0;
        if (!out_write(m, to) || !out_write(m, (gufo_str){text.data + at, len}))
            return false;
    }
    return limit == 0 || out_write(m, to);
}

bool write_replaced(machine *m, gufo_str text, gufo_str from, gufo_str to, int64_t limit)
{
    if (!machine_spend_bytes(m, text.len))
        return false;
    if (from.len == 0)
        return machine_spend(m, text.len / 8) && write_between(m, text, to, limit);
    while (limit != 0) {
        const char *found = find_bytes(text, from);
        size_t before;

        if (found == NULL)
            break;
        before = (size_t)(found - text.data);
        if (!machine_spend(m, 1) || !out_write(m, (gufo_str){text.data, before}) ||
            !out_write(m, to))
            return false;
        text = str_from(text, before + from.len);
        limit -= limit > 0;
    }
    return out_write(m, text);
}

gufo_str strip_text(gufo_str text, const string *chars, bool left, bool right)
{
    size_t len;

    if (chars == NULL) {
        if (left)
            text = str_from(text, space_before(text));
        if (right)
            text.len -= space_behind(text);
        return text;
    }
    while (left && text.len != 0) {
        (void)point_at(text, &len);
        if (find_bytes(bytes_of(chars), (gufo_str){text.data, len}) == NULL)
            break;
        text = str_from(text, len);
    }
    while (right && text.len != 0) {
        len = last_point(text);
        if (find_bytes(bytes_of(chars), (gufo_str){text.data + text.len - len, len}) == NULL)
            break;
        text.len -= len;
    }
    return text;
}

value part_of(machine *m, const string *whole, gufo_str part)
{
    /* The characters of the part are counted. */
    if (!string_is_ascii(whole) && !machine_spend(m, part.len / 256))
        return FAILED;
    return string_part(&m->memory, whole, (size_t)(part.data - whole->data), part.len);
}

bool write_padded(machine *m, gufo_str text, size_t chars, char side, int64_t width, gufo_str fill)
{
    uint64_t pad = width > 0 && (uint64_t)width > chars ? (uint64_t)width - chars : 0;
    /* str.center and the format '^' differ in the odd one. */
    uint64_t odd = side == 'c' ? pad & (uint64_t)width & 1 : 0;
    uint64_t left = side == '<' ? 0 : side == '>' ? pad : pad / 2 + odd;

    return out_repeat(m, fill, left) && out_write(m, text) && out_repeat(m, fill, pad - left);
}

/* The length of the line end at the start of a text; 0: it is not one. */
static size_t line_end_length(gufo_str text)
{
    size_t len;
    uint32_t point = point_at(text, &len);

    if (point == '\r' && text.len > 1 && text.data[1] == '\n')
        return 2;
    if ((point >= '\n' && point <= '\r') || (point >= 0x1C && point <= 0x1E) || point == 0x85 ||
        point == 0x2028 || point == 0x2029)
        return len;
    return 0;
}

bool next_line(gufo_str *rest, gufo_str *line, size_t *end)
{
    size_t at = 0, len = 0;

    if (rest->len == 0)
        return false;
    *end = 0;
    for (; at < rest->len; at += len) {
        *end = line_end_length(str_from(*rest, at));
        if (*end != 0)
            break;
        (void)point_at(str_from(*rest, at), &len);
    }
    *line = (gufo_str){rest->data, at};
    *rest = str_from(*rest, at + *end);
    return true;
}
