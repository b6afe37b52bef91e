/* Values as texts, as str() and repr() of Python give them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/values/characters.h"
#include "template/machine/machine.h"
#include "template/values/number.h"

static bool print_string_repr(machine *m, const string *text)
{
    bool single = text->len != 0 && memchr(text->data, '\'', text->len) != NULL;
    bool twice = text->len != 0 && memchr(text->data, '"', text->len) != NULL;
    char quote = single && !twice ? '"' : '\'';
    static const char from[] = "\n\r\t\\", to[] = "nrt\\";
    size_t plain = 0;

    if (!out_write(m, (gufo_str){&quote, 1}))
        return false;
    for (size_t at = 0, len; at < text->len; at += len) {
        uint32_t point = point_at(str_from(bytes_of(text), at), &len);
        const char *letter = point < 0x80 ? memchr(from, (int)point, 4) : NULL;
        char escape[16];

        if (letter != NULL)
            (void)snprintf(escape, sizeof(escape), "\\%c", to[letter - from]);
        else if (point == (uint8_t)quote)
            (void)snprintf(escape, sizeof(escape), "\\%c", quote);
        else if (point >= 0x20 && (point < 0x7F || (point > 0x7F && is_printable(point))))
            continue;
        else
            (void)snprintf(escape, sizeof(escape),
                           point > 0xFFFF ? "\\U%08" PRIx32
                           : point > 0xFF ? "\\u%04" PRIx32
                                          : "\\x%02" PRIx32,
                           point);
        if (!out_write(m, (gufo_str){text->data + plain, at - plain}) || !out_text(m, escape))
            return false;
        plain = at + len;
    }
    return out_write(m, (gufo_str){text->data + plain, text->len - plain}) &&
           out_write(m, (gufo_str){&quote, 1});
}

static bool print_items(machine *m, const value *items, size_t count, const char *open,
                        const char *close)
{
    bool done = out_text(m, open);

    for (size_t i = 0; done && i < count; i++)
        done = machine_spend(m, 1) && (i == 0 || out_text(m, ", ")) && print_repr(m, items[i]);
    return done && out_text(m, close);
}

static bool print_entries(machine *m, const dict *d)
{
    bool done = out_text(m, "{");

    for (uint32_t i = 0; done && i < d->count; i++)
        done = machine_spend(m, 1) && (i == 0 || out_text(m, ", ")) &&
               print_repr(m, d->entries[i].key) && out_text(m, ": ") &&
               print_repr(m, d->entries[i].value);
    return done && out_text(m, "}");
}

static bool print_formatted(machine *m, const char *format, const char *text)
{
    char line[200];

    (void)snprintf(line, sizeof(line), format, text);
    return out_text(m, line);
}

static bool print_view(machine *m, value v)
{
    const dict *d = v.as.view->dict;
    bool done = print_formatted(m, "%s([", value_type(v));

    for (uint32_t i = 0; done && i < d->count; i++) {
        const dict_entry *entry = &d->entries[i];
        value pair[] = {entry->key, entry->value};

        done = machine_spend(m, 1) && (i == 0 || out_text(m, ", "));
        if (v.as.view->kind == VIEW_ITEMS)
            done = done && print_items(m, pair, 2, "(", ")");
        else
            done = done && print_repr(m, pair[v.as.view->kind == VIEW_VALUES]);
    }
    return done && out_text(m, "])");
}

value print_digits(machine *m, value integer, unsigned base, bool upper)
{
    return machine_spend(m, integer_work(integer, integer))
               ? integer_digits(&m->memory, integer, base, upper)
               : FAILED;
}

static bool print_number(machine *m, value v)
{
    char text[NUMBER_ROOM];
    value digits;

    if (v.kind == VALUE_FLOAT)
        return out_write(m, (gufo_str){text, number_write_real(v.as.real, text)});
    if (v.kind == VALUE_BIG) {
        digits = print_digits(m, v, 10, false);
        return !is_failed(digits) && out_text(m, integer_sign(v) < 0 ? "-" : "") &&
               out_write(m, bytes_of(digits.as.string));
    }
    (void)snprintf(text, sizeof(text), "%" PRId64, v.as.integer);
    return out_text(m, text);
}

static bool print_range(machine *m, const range *r)
{
    bool unit = number_equal(r->step, value_int(1));

    return out_text(m, "range(") && print_number(m, r->start) && out_text(m, ", ") &&
           print_number(m, r->stop) && (unit || (out_text(m, ", ") && print_number(m, r->step))) &&
           out_text(m, ")");
}

/* What has no text that a template could want; Python prints an address there. */
static bool print_object(machine *m, value v)
{
    switch (v.kind) {
    case VALUE_ITERATOR:
        return print_formatted(m, "<%s object>", v.as.iterator->what);
    case VALUE_NAMESPACE:
        return out_text(m, "<Namespace ") && print_entries(m, v.as.names) && out_text(m, ">");
    case VALUE_METHOD:
        return print_formatted(m, "<built-in method %s>", v.as.method->row->name);
    case VALUE_FUNCTION:
        return print_formatted(m, "<function %s>", v.as.function->name);
    case VALUE_MACRO:
        return out_text(m, "<Macro ") &&
               (v.as.macro->name.kind == VALUE_NONE ? out_text(m, "anonymous")
                                                    : print_repr(m, v.as.macro->name)) &&
               out_text(m, ">");
    default:
        return print_formatted(m, "<%s>", value_type(v));
    }
}

static bool print_nested(machine *m, value v)
{
    switch (v.kind) {
    case VALUE_LIST:
        return print_items(m, v.as.list->items, v.as.list->count, "[", "]");
    case VALUE_TUPLE:
        return print_items(m, v.as.list->items, v.as.list->count, "(",
                           v.as.list->count == 1 ? ",)" : ")");
    case VALUE_DICT:
        return print_entries(m, v.as.dict);
    case VALUE_VIEW:
        return print_view(m, v);
    default:
        return print_object(m, v);
    }
}

bool print_repr(machine *m, value v)
{
    bool done;

    switch (v.kind) {
    case VALUE_FAILED:
        return false;
    case VALUE_ABSENT:
    case VALUE_UNDEFINED:
        return out_text(m, "Undefined");
    case VALUE_NONE:
        return out_text(m, "None");
    case VALUE_BOOL:
        return out_text(m, v.as.truth ? "True" : "False");
    case VALUE_INT:
    case VALUE_BIG:
    case VALUE_FLOAT:
        return print_number(m, v);
    case VALUE_STRING:
        if (!v.as.string->markup)
            return print_string_repr(m, v.as.string);
        return out_text(m, "Markup(") && print_string_repr(m, v.as.string) && out_text(m, ")");
    case VALUE_RANGE:
        return print_range(m, v.as.range);
    default:
        if (!machine_enter(m))
            return false;
        done = print_nested(m, v);
        machine_leave(m);
        return done;
    }
}

bool print_str(machine *m, value v)
{
    if (v.kind == VALUE_STRING)
        return out_write(m, bytes_of(v.as.string));
    return v.kind == VALUE_UNDEFINED || print_repr(m, v);
}

bool escape_text(machine *m, gufo_str text)
{
    static const char marks[] = "&<>'\"";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    size_t plain = 0;

    for (size_t at = 0; at < text.len; at++) {
        const char *mark = memchr(marks, text.data[at], 5);

        if (mark == NULL)
            continue;
        if (!out_write(m, (gufo_str){text.data + plain, at - plain}) ||
            !out_text(m, entities[mark - marks]))
            return false;
        plain = at + 1;
    }
    return out_write(m, str_from(text, plain));
}

bool print_escaped(machine *m, value v)
{
    value text = text_of(m, v);

    if (is_failed(text))
        return false;
    if (text.as.string->markup)
        return out_write(m, bytes_of(text.as.string));
    return escape_text(m, bytes_of(text.as.string));
}

value text_of(machine *m, value v)
{
    size_t mark = m->out_len;

    if (v.kind == VALUE_STRING || is_failed(v))
        return v;
    return print_str(m, v) ? out_cut(m, mark) : FAILED;
}

value fail_undefined(machine *m, value v)
{
    const undefined *u = v.as.undefined;
    size_t mark = m->out_len;
    char name[200] = "?";

    if (u == NULL)
        return fail_type(m, "an undefined value is used");
    if (u->why != NULL)
        return fail_type(m, "%s", u->why);
    if (print_str(m, u->name)) {
        gufo_str text = out_since(m, mark);

        (void)snprintf(name, sizeof(name), "%.*s", (int)(text.len > 150 ? 150 : text.len),
                       text.data);
        m->out_len = mark;
    }
    if (u->unsafe)
        return fail_type(m, "access to attribute '%s' of a '%s' is refused", name,
                         value_type(u->owner));
    if (!is_given(u->owner))
        return fail_type(m, "'%s' is undefined", name);
    if (u->name.kind != VALUE_STRING)
        return fail_type(m, "'%s' object has no element %s", value_type(u->owner), name);
    return fail_type(m, "'%s' object has no attribute '%s'", value_type(u->owner), name);
}
