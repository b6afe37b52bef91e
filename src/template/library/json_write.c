/* The filter tojson: what json.dumps writes, and not as HTML wants it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "template/library/natives.h"
#include "template/values/number.h"

typedef struct json_style {
    bool ascii, sorted, lines;
    gufo_str indent, between, after_key;
    uint32_t level;
} json_style;

static bool write_value(machine *m, json_style *style, value v);

static bool write_unit(machine *m, uint32_t unit)
{
    char code[16];

    (void)snprintf(code, sizeof(code), "\\u%04x", (unsigned)unit);
    return out_text(m, code);
}

static bool write_escaped_point(machine *m, uint32_t point)
{
    static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
    const char *letter = point < 0x80 && point != 0 ? strchr(from, (int)point) : NULL;

    if (letter != NULL)
        return out_write(m, (gufo_str){(char[]){'\\', to[letter - from]}, 2});
    if (point < 0x10000)
        return write_unit(m, point);
    return write_unit(m, 0xD7C0 + (point >> 10)) && write_unit(m, 0xDC00 + (point & 0x3FF));
}

static bool write_text(machine *m, const json_style *style, gufo_str text)
{
    size_t plain = 0;

    if (!out_text(m, "\"") || !machine_spend_bytes(m, text.len))
        return false;
    for (size_t at = 0, len; at < text.len; at += len) {
        uint32_t point = (uint8_t)text.data[at];

        len = 1;
        if (point >= 0x80 && style->ascii)
            point = point_at(str_from(text, at), &len);
        if (point >= 0x20 && point != '"' && point != '\\' && (!style->ascii || point < 0x7F))
            continue;
        if (!out_write(m, (gufo_str){text.data + plain, at - plain}) ||
            !write_escaped_point(m, point))
            return false;
        plain = at + len;
    }
    return out_write(m, str_from(text, plain)) && out_text(m, "\"");
}

static bool write_real(machine *m, double real)
{
    if (isnan(real))
        return out_text(m, "NaN");
    if (isinf(real))
        return out_text(m, real < 0 ? "-Infinity" : "Infinity");
    return print_repr(m, value_float(real));
}

/* The text of a scalar, which is also that of a key. */
static bool write_scalar(machine *m, value v)
{
    switch (v.kind) {
    case VALUE_NONE:
        return out_text(m, "null");
    case VALUE_BOOL:
        return out_text(m, v.as.truth ? "true" : "false");
    case VALUE_FLOAT:
        return write_real(m, v.as.real);
    default:
        return print_repr(m, v);
    }
}

static bool is_scalar(value v)
{
    return v.kind == VALUE_NONE || v.kind == VALUE_BOOL || v.kind == VALUE_INT ||
           v.kind == VALUE_BIG || v.kind == VALUE_FLOAT;
}

static bool write_key(machine *m, const json_style *style, value key)
{
    if (key.kind == VALUE_STRING)
        return write_text(m, style, bytes_of(key.as.string));
    if (!is_scalar(key))
        return !is_failed(fail_type(m, "a key of JSON is a text, not '%s'", value_type(key)));
    return out_text(m, "\"") && write_scalar(m, key) && out_text(m, "\"");
}

static bool write_break(machine *m, const json_style *style)
{
    return !style->lines || (out_text(m, "\n") && out_repeat(m, style->indent, style->level));
}

/* What stands before an item: the separator, and the start of a line. */
static bool write_before(machine *m, const json_style *style, bool first)
{
    return machine_spend(m, 1) && (first || out_write(m, style->between)) && write_break(m, style);
}

static bool write_list(machine *m, json_style *style, const array *l)
{
    if (l->count == 0)
        return out_text(m, "[]");
    if (!out_text(m, "["))
        return false;
    style->level++;
    for (size_t i = 0; i < l->count; i++)
        if (!write_before(m, style, i == 0) || !write_value(m, style, l->items[i]))
            return false;
    style->level--;
    return write_break(m, style) && out_text(m, "]");
}

/* The entries as (key, value) pairs in the order in which they are written. */
static value entries_of(machine *m, const json_style *style, const dict *d)
{
    value whole = {.kind = VALUE_DICT, .as.dict = d};
    value given[4] = {whole, value_bool(true), value_of(VALUE_ABSENT), value_of(VALUE_ABSENT)};
    value pairs;

    if (style->sorted)
        return filter_dictsort(m, given, NULL);
    pairs = dict_items(m, given, NULL);
    return is_failed(pairs) ? pairs : iterate_list(m, pairs, VALUE_LIST);
}

static bool write_dict(machine *m, json_style *style, const dict *d)
{
    value entries;

    if (d->count == 0)
        return out_text(m, "{}");
    entries = entries_of(m, style, d);
    if (is_failed(entries) || !out_text(m, "{"))
        return false;
    style->level++;
    for (size_t i = 0; i < d->count; i++) {
        const value *pair = entries.as.list->items[i].as.list->items;

        if (!write_before(m, style, i == 0) || !write_key(m, style, pair[0]) ||
            !out_write(m, style->after_key) || !write_value(m, style, pair[1]))
            return false;
    }
    style->level--;
    return write_break(m, style) && out_text(m, "}");
}

static bool write_value(machine *m, json_style *style, value v)
{
    bool done;

    if (v.kind == VALUE_STRING)
        return write_text(m, style, bytes_of(v.as.string));
    if (is_scalar(v))
        return write_scalar(m, v);
    if (v.kind != VALUE_LIST && v.kind != VALUE_TUPLE && v.kind != VALUE_DICT)
        return !is_failed(fail_type(m, "a value of type '%s' cannot be JSON", value_type(v)));
    if (!machine_enter(m))
        return false;
    done = v.kind == VALUE_DICT ? write_dict(m, style, v.as.dict) : write_list(m, style, v.as.list);
    machine_leave(m);
    return done;
}

static bool take_indent(machine *m, value given, json_style *style)
{
    size_t mark = m->out_len;
    int64_t blanks;
    value text;

    if (!is_given(given) || given.kind == VALUE_NONE)
        return true;
    style->lines = true;
    style->between = (gufo_str){",", 1};
    if (given.kind == VALUE_STRING) {
        style->indent = bytes_of(given.as.string);
        return true;
    }
    if (!take_integer(m, given, 0, &blanks) ||
        !out_repeat(m, (gufo_str){" ", 1}, blanks < 0 ? 0 : (uint64_t)blanks))
        return false;
    text = out_cut(m, mark);
    if (!is_failed(text))
        style->indent = bytes_of(text.as.string);
    return !is_failed(text);
}

static bool take_separators(machine *m, value given, json_style *style)
{
    const string *parts[2];
    item_list both;

    if (!is_given(given) || given.kind == VALUE_NONE)
        return true;
    if (!iterate_all(m, given, &both))
        return false;
    if (both.count != 2)
        return !is_failed(fail_type(m, "'separators' are two texts"));
    for (size_t i = 0; i < 2; i++) {
        parts[i] = take_string(m, both.items[i], "a separator");
        if (parts[i] == NULL)
            return false;
    }
    style->between = bytes_of(parts[0]);
    style->after_key = bytes_of(parts[1]);
    return true;
}

value filter_tojson(machine *m, const value *given, const arguments *all)
{
    json_style style = {.ascii = is_given(given[1]) && value_truth(given[1]),
                        .sorted = is_given(given[4]) && value_truth(given[4]),
                        .between = {", ", 2},
                        .after_key = {": ", 2}};
    size_t mark;

    (void)all;
    if (!take_indent(m, given[2], &style) || !take_separators(m, given[3], &style))
        return FAILED;
    mark = m->out_len;
    return write_value(m, &style, given[0]) ? out_cut(m, mark) : FAILED;
}
