/* Methods of strings. */
#include "base/text.h"
#include "template/library/natives.h"
#include "template/machine/machine.h"

#include <string.h>

/* Methods of strings that cut them. */

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

static const string *self_of(const value *given)
{
    return given[0].as.string;
}

static value cased(machine *m, const value *given, letter_case to)
{
    size_t mark = m->out_len;

    return write_case(m, bytes_of(self_of(given)), to) ? cut_like(m, mark, self_of(given)) : FAILED;
}

value str_upper(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return cased(m, given, CASE_UPPER);
}

value str_lower(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return cased(m, given, CASE_LOWER);
}

value str_casefold(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return cased(m, given, CASE_FOLD);
}

/* How a character is written, where the one before it had a case or not. */
typedef letter_case choose_case(uint32_t point, size_t at, bool after_cased);

static value write_chosen(machine *m, const string *text, choose_case *choose)
{
    size_t mark = m->out_len;
    bool after = false;

    if (!machine_spend_bytes(m, text->len * 4))
        return FAILED;
    for (size_t at = 0, len; at < text->len; at += len) {
        uint32_t point = point_at(str_from(bytes_of(text), at), &len);

        if (!write_point_case(m, bytes_of(text), at, len, choose(point, at, after)))
            return FAILED;
        after = is_cased(point);
    }
    return cut_like(m, mark, text);
}

static letter_case choose_title(uint32_t point, size_t at, bool after_cased)
{
    (void)point;
    (void)at;
    return after_cased ? CASE_LOWER : CASE_TITLE;
}

static letter_case choose_capital(uint32_t point, size_t at, bool after_cased)
{
    (void)point;
    (void)after_cased;
    return at == 0 ? CASE_TITLE : CASE_LOWER;
}

static letter_case choose_other(uint32_t point, size_t at, bool after_cased)
{
    (void)at;
    (void)after_cased;
    return is_upper_point(point) ? CASE_LOWER : CASE_UPPER;
}

value str_title(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return write_chosen(m, self_of(given), choose_title);
}

value str_capitalize(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return write_chosen(m, self_of(given), choose_capital);
}

value str_swapcase(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return write_chosen(m, self_of(given), choose_other);
}

static value strip(machine *m, const value *given, bool left, bool right)
{
    const string *text = self_of(given), *chars = NULL;
    gufo_str part;

    if (is_given(given[1]) && given[1].kind != VALUE_NONE) {
        chars = take_string(m, given[1], "what strip removes");
        if (chars == NULL || !machine_spend_bytes(m, chars->len))
            return FAILED;
        if (!machine_spend_bytes(m, text->len * (chars->len / 64 + 1)))
            return FAILED;
    }
    part = strip_text(bytes_of(text), chars, left, right);
    if (!machine_spend_bytes(m, text->len - part.len))
        return FAILED;
    return part_of(m, text, part);
}

value str_strip(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return strip(m, given, true, true);
}

value str_lstrip(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return strip(m, given, true, false);
}

value str_rstrip(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return strip(m, given, false, true);
}

/* The part of a string that `start` and `end` (given[2] and given[3]) choose; *from is its first
 * character. */
static bool window(machine *m, const value *given, gufo_str *out, int64_t *from)
{
    const string *text = self_of(given);
    int64_t chars = (int64_t)text->chars, bounds[2] = {0, chars};

    for (int i = 0; i < 2; i++) {
        if (given[i + 2].kind == VALUE_NONE)
            continue;
        if (!take_index(m, given[i + 2], bounds[i], &bounds[i]))
            return false;
        if (bounds[i] < 0)
            bounds[i] = bounds[i] < -chars ? 0 : bounds[i] + chars;
    }
    if (bounds[1] > chars)
        bounds[1] = chars;
    *from = bounds[0];
    if (bounds[0] > bounds[1]) {
        *out = (gufo_str){NULL, 0};
        return true;
    }
    out->data = text->data + string_offset(m, text, (size_t)bounds[0]);
    out->len = string_offset(m, text, (size_t)bounds[1]) - (size_t)(out->data - text->data);
    return machine_spend_bytes(m, out->len * 4);
}

static const char *find_last(machine *m, gufo_str text, gufo_str part)
{
    if (part.len > text.len)
        return NULL;
    if (part.len == 0)
        return text.data + text.len;
    for (const char *at = text.data + text.len - part.len;; at--) {
        if (*at == *part.data) {
            if (!machine_spend(m, part.len / 32))
                return NULL;
            if (memcmp(at, part.data, part.len) == 0)
                return at;
        }
        if (at == text.data)
            return NULL;
    }
}

/* The character where the argument is found; -1: nowhere; -2 on failure. */
static int64_t find(machine *m, const value *given, bool last)
{
    const string *part = take_string(m, given[1], "what is looked for");
    gufo_str in = {NULL, 0};
    const char *found;
    int64_t from;

    if (part == NULL || !window(m, given, &in, &from))
        return -2;
    if (in.data == NULL)
        return -1;
    found = last ? find_last(m, in, bytes_of(part)) : find_bytes(in, bytes_of(part));
    if (machine_failed(m))
        return -2;
    if (found == NULL)
        return -1;
    return from + (int64_t)string_count_chars((gufo_str){in.data, (size_t)(found - in.data)});
}

static value found_at(machine *m, int64_t place, bool must)
{
    if (place == -2)
        return FAILED;
    return place == -1 && must ? fail_type(m, "the text does not occur") : value_int(place);
}

value str_find(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return found_at(m, find(m, given, false), false);
}

value str_rfind(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return found_at(m, find(m, given, true), false);
}

value str_index(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return found_at(m, find(m, given, false), true);
}

value str_rindex(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return found_at(m, find(m, given, true), true);
}

value str_count(machine *m, const value *given, const arguments *all)
{
    const string *part = take_string(m, given[1], "what is counted");
    gufo_str in = {NULL, 0};
    int64_t from, count = 0;

    (void)all;
    if (part == NULL || !window(m, given, &in, &from))
        return FAILED;
    if (in.data == NULL)
        return value_int(0);
    if (part->len == 0)
        return value_int((int64_t)string_count_chars(in) + 1);
    for (;;) {
        const char *found = find_bytes(in, bytes_of(part));

        if (found == NULL)
            return value_int(count);
        count++;
        in = str_from(in, (size_t)(found - in.data) + part->len);
    }
}

/* Whether a text begins or ends with another. */
static bool is_at_edge(gufo_str text, const string *part, bool end)
{
    return part->len <= text.len &&
           (part->len == 0 ||
            memcmp(end ? text.data + text.len - part->len : text.data, part->data, part->len) == 0);
}

static value at_edge(machine *m, const value *given, bool end)
{
    gufo_str in = {NULL, 0};
    int64_t from;

    if (!window(m, given, &in, &from))
        return FAILED;
    if (given[1].kind == VALUE_TUPLE) {
        for (size_t i = 0; i < given[1].as.list->count; i++) {
            const string *part = take_string(m, given[1].as.list->items[i], "a prefix or suffix");

            if (part == NULL || !machine_spend_bytes(m, part->len))
                return FAILED;
            if (in.data != NULL && is_at_edge(in, part, end))
                return value_bool(true);
        }
        return value_bool(false);
    }
    if (take_string(m, given[1], "a prefix or suffix") == NULL)
        return FAILED;
    return value_bool(in.data != NULL && is_at_edge(in, given[1].as.string, end));
}

value str_startswith(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return at_edge(m, given, false);
}

value str_endswith(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return at_edge(m, given, true);
}

static value without_edge(machine *m, const value *given, bool end)
{
    const string *text = self_of(given), *part = take_string(m, given[1], "a prefix or suffix");

    if (part == NULL || !machine_spend_bytes(m, part->len))
        return FAILED;
    if (!is_at_edge(bytes_of(text), part, end))
        return given[0];
    return part_of(m, text, (gufo_str){text->data + (end ? 0 : part->len), text->len - part->len});
}

value str_removeprefix(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return without_edge(m, given, false);
}

value str_removesuffix(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return without_edge(m, given, true);
}

value str_replace(machine *m, const value *given, const arguments *all)
{
    const string *text = self_of(given), *from = take_string(m, given[1], "what is replaced");
    const string *to = from == NULL ? NULL : take_string(m, given[2], "the replacement");
    size_t mark = m->out_len;
    int64_t limit;

    (void)all;
    if (to == NULL || !take_integer(m, given[3], -1, &limit) ||
        !write_replaced(m, bytes_of(text), bytes_of(from), bytes_of(to), limit))
        return FAILED;
    return cut_like(m, mark, text);
}

value str_join(machine *m, const value *given, const arguments *all)
{
    const string *between = self_of(given);
    size_t mark = m->out_len, count = 0;
    iteration it;
    value item;

    (void)all;
    if (!iterate(m, given[1], &it))
        return FAILED;
    for (; iterate_next(m, &it, &item); count++) {
        const string *text = take_string(m, item, "what is joined");

        if (text == NULL || (count != 0 && !out_write(m, bytes_of(between))))
            return FAILED;
        if (between->markup ? !print_escaped(m, item) : !out_write(m, bytes_of(text)))
            return FAILED;
    }
    return cut_like(m, mark, between);
}

static value pad(machine *m, const value *given, char side)
{
    const string *text = self_of(given);
    gufo_str fill = {" ", 1};
    size_t mark = m->out_len;
    int64_t width;

    if (!take_integer(m, given[1], 0, &width))
        return FAILED;
    if (is_given(given[2])) {
        if (take_string(m, given[2], "the fill") == NULL)
            return FAILED;
        if (given[2].as.string->chars != 1)
            return fail_type(m, "the fill is one character");
        fill = bytes_of(given[2].as.string);
    }
    return write_padded(m, bytes_of(text), text->chars, side, width, fill) ? cut_like(m, mark, text)
                                                                           : FAILED;
}

value str_center(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return pad(m, given, 'c');
}

value str_ljust(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return pad(m, given, '<');
}

value str_rjust(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return pad(m, given, '>');
}

value str_zfill(machine *m, const value *given, const arguments *all)
{
    gufo_str text = bytes_of(self_of(given));
    size_t mark = m->out_len, sign = text.len != 0 && memchr("+-", *text.data, 2) != NULL;
    int64_t width;

    (void)all;
    if (!take_integer(m, given[1], 0, &width) || !out_write(m, (gufo_str){text.data, sign}) ||
        !write_padded(m, str_from(text, sign), self_of(given)->chars - sign, '>',
                      width > 0 ? width - (int64_t)sign : 0, (gufo_str){"0", 1}))
        return FAILED;
    return cut_like(m, mark, self_of(given));
}

value str_expandtabs(machine *m, const value *given, const arguments *all)
{
    const string *text = self_of(given);
    size_t mark = m->out_len;
    int64_t size, column = 0;

    (void)all;
    if (!take_integer(m, given[1], 8, &size) || !machine_spend_bytes(m, text->len * 8))
        return FAILED;
    if (size > INT32_MAX || size < -INT32_MAX)
        return fail_limit(m, "a tab that is too wide");
    for (size_t at = 0, len; at < text->len; at += len) {
        char c = text->data[at];
        int64_t blanks = size > 0 ? size - column % size : 0;

        (void)point_at(str_from(bytes_of(text), at), &len);
        if (c == '\t' ? !out_repeat(m, (gufo_str){" ", 1}, (uint64_t)blanks)
                      : !out_write(m, (gufo_str){text->data + at, len}))
            return FAILED;
        column = c == '\n' || c == '\r' ? 0 : column + (c == '\t' ? blanks : 1);
    }
    return cut_like(m, mark, text);
}

static value format_method(machine *m, const value *given, const arguments *in)
{
    value made = format_braces(m, self_of(given), in);

    return is_failed(made) ? made : string_cast(&m->memory, made.as.string, self_of(given)->markup);
}

value str_format(machine *m, const value *given, const arguments *all)
{
    return format_method(m, given, all);
}

value str_format_map(machine *m, const value *given, const arguments *all)
{
    const dict *names = given[1].as.dict;
    value *items;
    const string **keys;
    uint32_t count = 0;

    (void)all;
    if (given[1].kind != VALUE_DICT)
        return fail_type(m, "format_map takes a dict, not '%s'", value_type(given[1]));
    items = heap_array(&m->memory, names->count, sizeof(*items));
    keys = heap_array(&m->memory, names->count, sizeof(void *));
    if (items == NULL || keys == NULL)
        return FAILED;
    for (uint32_t i = 0; i < names->count; i++)
        if (names->entries[i].key.kind == VALUE_STRING) {
            keys[count] = names->entries[i].key.as.string;
            items[count++] = names->entries[i].value;
        }
    return format_method(m, given, &(arguments){items, count, count, keys});
}

value str_encode(machine *m, const value *given, const arguments *all)
{
    (void)given;
    (void)all;
    return fail_type(m, "templates have no bytes and no tables of characters here");
}
