/* Methods of strings that cut them. */
#include <string.h>

#include "base/text.h"
#include "template/library/natives.h"

typedef struct cutting {
    machine *m;
    const string *text;
    const string *separator; /* NULL: white space */
    int64_t limit;           /* cuts at most; negative: any number */
    item_list parts;
} cutting;

static bool cutting_begin(machine *m, const value *given, cutting *c)
{
    *c = (cutting){.m = m, .text = given[0].as.string};
    if (is_given(given[1]) && given[1].kind != VALUE_NONE) {
        c->separator = take_string(m, given[1], "a separator");
        if (c->separator == NULL)
            return false;
        if (c->separator->len == 0)
            return !is_failed(fail_type(m, "the separator is empty"));
    }
    return take_integer(m, given[2], -1, &c->limit) && machine_spend_bytes(m, c->text->len);
}

static bool push_part(cutting *c, gufo_str part)
{
    return machine_spend(c->m, 1) &&
           items_push(&c->m->memory, &c->parts, part_of(c->m, c->text, part));
}

static value parts_of(const cutting *c, bool done)
{
    return done ? list_take(&c->m->memory, VALUE_LIST, c->parts.items, c->parts.count) : FAILED;
}

/* The end of the word that a text begins with. */
static size_t word_length(gufo_str text)
{
    size_t at = 0, len;

    for (; at < text.len && !is_space(point_at(str_from(text, at), &len)); at += len) {}
    return at;
}

static bool split_words(cutting *c)
{
    gufo_str rest = strip_text(bytes_of(c->text), NULL, true, false);

    while (rest.len != 0 && c->limit != 0) {
        size_t len = word_length(rest);

        if (!push_part(c, (gufo_str){rest.data, len}))
            return false;
        rest = strip_text(str_from(rest, len), NULL, true, false);
        c->limit -= c->limit > 0;
    }
    return rest.len == 0 || push_part(c, rest);
}

static bool split_at(cutting *c)
{
    gufo_str rest = bytes_of(c->text), separator = bytes_of(c->separator);

    while (c->limit != 0) {
        const char *found = find_bytes(rest, separator);

        if (found == NULL)
            break;
        if (!push_part(c, (gufo_str){rest.data, (size_t)(found - rest.data)}))
            return false;
        rest = str_from(rest, (size_t)(found - rest.data) + separator.len);
        c->limit -= c->limit > 0;
    }
    return push_part(c, rest);
}

value str_split(machine *m, const value *given, const arguments *all)
{
    cutting c;

    (void)all;
    if (!cutting_begin(m, given, &c))
        return FAILED;
    return parts_of(&c, c.separator == NULL ? split_words(&c) : split_at(&c));
}

static void reverse_items(item_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        value other = list->items[i];

        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = other;
    }
}

/* The start of the word that a text ends with. */
static size_t last_word(gufo_str text)
{
    while (text.len != 0) {
        size_t last = last_point(text), len;

        if (is_space(point_at((gufo_str){text.data + text.len - last, last}, &len)))
            break;
        text.len -= last;
    }
    return text.len;
}

static bool rsplit_words(cutting *c)
{
    gufo_str rest = strip_text(bytes_of(c->text), NULL, false, true);

    while (rest.len != 0 && c->limit != 0) {
        size_t at = last_word(rest);

        if (!push_part(c, str_from(rest, at)))
            return false;
        rest = strip_text((gufo_str){rest.data, at}, NULL, false, true);
        c->limit -= c->limit > 0;
    }
    return rest.len == 0 || push_part(c, rest);
}

/* The last place of a separator, or NULL. */
static const char *find_back(cutting *c, gufo_str text)
{
    gufo_str part = bytes_of(c->separator);

    for (size_t at = text.len; at >= part.len; at--) {
        const char *start = text.data + at - part.len;

        if (*start == *part.data && machine_spend(c->m, part.len / 32) &&
            memcmp(start, part.data, part.len) == 0)
            return start;
    }
    return NULL;
}

static bool rsplit_at(cutting *c)
{
    gufo_str rest = bytes_of(c->text);

    while (c->limit != 0) {
        const char *found = find_back(c, rest);
        size_t at;

        if (found == NULL)
            break;
        at = (size_t)(found - rest.data);
        if (!push_part(c, str_from(rest, at + c->separator->len)))
            return false;
        rest.len = at;
        c->limit -= c->limit > 0;
    }
    return push_part(c, rest);
}

value str_rsplit(machine *m, const value *given, const arguments *all)
{
    cutting c;
    bool done;

    (void)all;
    if (!cutting_begin(m, given, &c))
        return FAILED;
    done = c.separator == NULL ? rsplit_words(&c) : rsplit_at(&c);
    reverse_items(&c.parts);
    return parts_of(&c, done && !machine_failed(m));
}

static value partition(machine *m, const value *given, bool last)
{
    gufo_str text = bytes_of(given[0].as.string), empty = {text.data, 0};
    value limited[3] = {given[0], given[1], value_of(VALUE_ABSENT)};
    const char *found;
    bool done;
    cutting c;

    if (take_string(m, given[1], "a separator") == NULL || !cutting_begin(m, limited, &c))
        return FAILED;
    found = last ? find_back(&c, text) : find_bytes(text, bytes_of(c.separator));
    if (found == NULL) {
        done = push_part(&c, last ? empty : text) && push_part(&c, empty);
        done = done && push_part(&c, last ? text : empty);
    } else {
        size_t at = (size_t)(found - text.data), len = c.separator->len;

        done = push_part(&c, (gufo_str){text.data, at}) && push_part(&c, (gufo_str){found, len}) &&
               push_part(&c, str_from(text, at + len));
    }
    return done ? list_take(&m->memory, VALUE_TUPLE, c.parts.items, c.parts.count) : FAILED;
}

value str_partition(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return partition(m, given, false);
}

value str_rpartition(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return partition(m, given, true);
}

value str_splitlines(machine *m, const value *given, const arguments *all)
{
    cutting c = {.m = m, .text = given[0].as.string};
    gufo_str rest = bytes_of(c.text), line;
    bool keep = is_given(given[1]) && value_truth(given[1]);
    size_t end;

    (void)all;
    if (!machine_spend_bytes(m, rest.len * 4))
        return FAILED;
    while (next_line(&rest, &line, &end)) {
        line.len += keep ? end : 0;
        if (!push_part(&c, line))
            return FAILED;
    }
    return parts_of(&c, true);
}
