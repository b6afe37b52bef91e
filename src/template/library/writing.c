/* Values as texts with a layout: the filters pprint and tojson. */
#include "base/pull.h"
#include "base/text.h"
#include "template/library/natives.h"
#include "template/values/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The filter pprint: values as Python's pprint lays them out, in lines of up to 80 characters.
 *
 * What fits a line is written into it; else a list, a tuple or a dict takes a line for each item, and
 * a text one for as many words as fit.  Keys of dicts come in their order. */

enum { LINE_WIDTH = 80 };

/* Where a value is written: what stands left of it, and what comes behind it in its line. */
typedef struct layout {
    machine *m;
    int64_t indent, behind;
    unsigned level;
} layout;

/* ==== Keys in order ========================================================================== */

static bool is_none(value v)
{
    return v.kind == VALUE_NONE;
}

static bool is_other(value v)
{
    return !is_none(v) && !value_is_number(v) && !value_is_string(v);
}

/* Adds the entries whose keys are of a group; those that can be compared in their order. */
static bool add_group(machine *m, const dict *d, bool (*is_in)(value), bool compared,
                      item_list *pairs)
{
    dict *group = dict_new(&m->memory);
    value absent = value_of(VALUE_ABSENT), whole = {.kind = VALUE_DICT, .as.dict = group}, list;

    if (group == NULL || !machine_spend(m, 1 + d->count / 8))
        return false;
    for (uint32_t i = 0; i < d->count; i++)
        if (is_in(d->entries[i].key) && !dict_put(m, group, d->entries[i].key, d->entries[i].value))
            return false;
    list = compared ? filter_dictsort(m, (value[]){whole, value_bool(true), absent, absent}, NULL)
                    : dict_items(m, &whole, NULL);
    list = is_failed(list) ? list : iterate_list(m, list, VALUE_LIST);
    for (size_t i = 0; !is_failed(list) && i < list.as.list->count; i++)
        if (!items_push(&m->memory, pairs, list.as.list->items[i]))
            return false;
    return !is_failed(list);
}

/* The entries as pairs.  Keys that cannot be compared are in the order of their types' names. */
static bool sorted_entries(machine *m, const dict *d, item_list *pairs)
{
    static const struct {
        bool (*is_in)(value);
        bool compared;
    } groups[] = {
        {is_none, false}, {value_is_number, true}, {value_is_string, true}, {is_other, false}};

    *pairs = (item_list){0};
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
        if (!add_group(m, d, groups[i].is_in, groups[i].compared, pairs))
            return false;
    return true;
}

/* A group of groupby has a form of its own. */
static bool is_nested(value v)
{
    return v.kind == VALUE_LIST || v.kind == VALUE_DICT ||
           (v.kind == VALUE_TUPLE && !v.as.list->is_group);
}

/* ==== One line =============================================================================== */

static bool write_line(machine *m, value v);

static bool write_line_items(machine *m, const array *list, bool tuple)
{
    bool done = out_text(m, tuple ? "(" : "[");

    for (size_t i = 0; done && i < list->count; i++)
        done = (i == 0 || out_text(m, ", ")) && write_line(m, list->items[i]);
    return done && out_text(m, !tuple ? "]" : list->count == 1 ? ",)" : ")");
}

static bool write_line_entries(machine *m, const dict *d)
{
    item_list pairs;
    bool done = sorted_entries(m, d, &pairs) && out_text(m, "{");

    for (size_t i = 0; done && i < pairs.count; i++) {
        const value *pair = pairs.items[i].as.list->items;

        done = (i == 0 || out_text(m, ", ")) && write_line(m, pair[0]) && out_text(m, ": ") &&
               write_line(m, pair[1]);
    }
    return done && out_text(m, "}");
}

/* As repr does, but for the order of keys. */
static bool write_line(machine *m, value v)
{
    bool done;

    if (!is_nested(v))
        return machine_spend(m, 1) && print_repr(m, v);
    if (!machine_spend(m, 1) || !machine_enter(m))
        return false;
    done = v.kind == VALUE_DICT ? write_line_entries(m, v.as.dict)
                                : write_line_items(m, v.as.list, v.kind == VALUE_TUPLE);
    machine_leave(m);
    return done;
}

/* What write_line gives, as a string. */
static value line_of(machine *m, value v)
{
    size_t mark = m->out_len;

    return write_line(m, v) ? out_cut(m, mark) : FAILED;
}

static int64_t line_width(value line)
{
    return (int64_t)line.as.string->chars;
}

/* ==== Several lines ========================================================================== */

static bool pprint_value(layout at, value v);

static bool pprint_break(const layout *at)
{
    return out_text(at->m, "\n") &&
           out_repeat(at->m, (gufo_str){" ", 1}, at->indent > 0 ? (uint64_t)at->indent : 0);
}

static bool write_items(layout at, const array *list, const char *open, const char *close)
{
    int64_t behind = at.behind + (int64_t)strlen(close);
    bool done = out_text(at.m, open);

    at.indent++;
    for (size_t i = 0; done && i < list->count; i++) {
        at.behind = i + 1 < list->count ? 1 : behind;
        done = (i == 0 || (out_text(at.m, ",") && pprint_break(&at))) &&
               pprint_value(at, list->items[i]);
    }
    return done && out_text(at.m, close);
}

static bool write_entries(layout at, const dict *d)
{
    int64_t behind = at.behind + 1;
    item_list pairs;
    bool done = sorted_entries(at.m, d, &pairs) && out_text(at.m, "{");

    at.indent++;
    for (size_t i = 0; done && i < pairs.count; i++) {
        const value *pair = pairs.items[i].as.list->items;
        value key = line_of(at.m, pair[0]);
        layout inner = at;

        if (is_failed(key))
            return false;
        inner.indent += line_width(key) + 2;
        inner.behind = i + 1 < pairs.count ? 1 : behind;
        done = (i == 0 || (out_text(at.m, ",") && pprint_break(&at))) &&
               out_write(at.m, bytes_of(key.as.string)) && out_text(at.m, ": ") &&
               pprint_value(inner, pair[1]);
    }
    return done && out_text(at.m, "}");
}

/* ---- texts ---------------------------------------------------------------------------------- */

static value repr_of(machine *m, gufo_str text)
{
    value part = string_view(&m->memory, text);

    return is_failed(part) ? part : line_of(m, part);
}

/* The bytes of a word and of the white space behind it. */
static size_t word_length(gufo_str text)
{
    size_t at = 0, len;

    while (at < text.len && !is_space(point_at(str_from(text, at), &len)))
        at += len;
    return at + space_before(str_from(text, at));
}

/* Adds a line of the text as the chunks that fit the width; `last`: of the text, behind which stands
 * what at->behind counts. */
static bool add_chunks(const layout *at, gufo_str line, bool last, item_list *chunks)
{
    int64_t width = LINE_WIDTH - at->indent;
    value whole = repr_of(at->m, line);
    size_t from = 0, end = 0;

    if (is_failed(whole))
        return false;
    if (line_width(whole) <= width - (last ? at->behind : 0))
        return items_push(&at->m->memory, chunks, whole);
    while (end < line.len) {
        size_t next = end + word_length(str_from(line, end));
        value longer = repr_of(at->m, (gufo_str){line.data + from, next - from});

        if (is_failed(longer))
            return false;
        if (line_width(longer) > width - (last && next == line.len ? at->behind : 0)) {
            if (end != from &&
                !items_push(&at->m->memory, chunks,
                            repr_of(at->m, (gufo_str){line.data + from, end - from})))
                return false;
            from = end;
        }
        end = next;
    }
    return items_push(&at->m->memory, chunks,
                      repr_of(at->m, (gufo_str){line.data + from, end - from}));
}

static bool write_string(layout at, const string *text)
{
    bool alone = at.level == 1; /* in brackets of its own */
    gufo_str rest = bytes_of(text), line;
    item_list chunks = {0};
    size_t end;

    at.indent += alone;
    at.behind += alone;
    while (next_line(&rest, &line, &end)) {
        line.len += end;
        if (!add_chunks(&at, line, rest.len == 0, &chunks))
            return false;
    }
    if (alone && chunks.count > 1 && !out_text(at.m, "("))
        return false;
    for (size_t i = 0; i < chunks.count; i++)
        if ((i != 0 && !pprint_break(&at)) || !out_write(at.m, bytes_of(chunks.items[i].as.string)))
            return false;
    return !alone || chunks.count == 1 || out_text(at.m, ")");
}

static bool write_broken(layout at, value v)
{
    switch (v.kind) {
    case VALUE_LIST:
        return write_items(at, v.as.list, "[", "]");
    case VALUE_TUPLE:
        return write_items(at, v.as.list, "(", v.as.list->count == 1 ? ",)" : ")");
    case VALUE_DICT:
        return write_entries(at, v.as.dict);
    default:
        return write_string(at, v.as.string);
    }
}

static bool can_break(value v)
{
    return is_nested(v) ||
           (v.kind == VALUE_STRING && !v.as.string->markup && v.as.string->len != 0);
}

static bool pprint_value(layout at, value v)
{
    value line = line_of(at.m, v);
    bool done;

    if (is_failed(line))
        return false;
    if (line_width(line) <= LINE_WIDTH - at.indent - at.behind || !can_break(v))
        return out_write(at.m, bytes_of(line.as.string));
    if (!machine_enter(at.m))
        return false;
    at.level++;
    done = write_broken(at, v);
    machine_leave(at.m);
    return done;
}

value filter_pprint(machine *m, const value *given, const arguments *all)
{
    size_t mark = m->out_len;

    (void)all;
    return pprint_value((layout){.m = m}, given[0]) ? out_cut(m, mark) : FAILED;
}

/* The filter tojson: what json.dumps writes, and not as HTML wants it. */

typedef struct json_style {
    bool ascii, sorted, lines;
    gufo_str indent, between, after_key;
    uint32_t level;
} json_style;

static bool json_value(machine *m, json_style *style, value v);

static bool write_text(machine *m, const json_style *style, gufo_str text)
{
    char escape[JSON_ESCAPE_SIZE];
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
            !out_write(m, (gufo_str){escape, json_escape_put(point, escape)}))
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

static bool json_break(machine *m, const json_style *style)
{
    return !style->lines || (out_text(m, "\n") && out_repeat(m, style->indent, style->level));
}

/* What stands before an item: the separator, and the start of a line. */
static bool write_before(machine *m, const json_style *style, bool first)
{
    return machine_spend(m, 1) && (first || out_write(m, style->between)) && json_break(m, style);
}

static bool write_list(machine *m, json_style *style, const array *l)
{
    if (l->count == 0)
        return out_text(m, "[]");
    if (!out_text(m, "["))
        return false;
    style->level++;
    for (size_t i = 0; i < l->count; i++)
        if (!write_before(m, style, i == 0) || !json_value(m, style, l->items[i]))
            return false;
    style->level--;
    return json_break(m, style) && out_text(m, "]");
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
            !out_write(m, style->after_key) || !json_value(m, style, pair[1]))
            return false;
    }
    style->level--;
    return json_break(m, style) && out_text(m, "}");
}

static bool json_value(machine *m, json_style *style, value v)
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
    return json_value(m, &style, given[0]) ? out_cut(m, mark) : FAILED;
}
