/* Filters of what has items. */
#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"
#include "template/syntax/parser.h"

#include <string.h>

/* Filters that compare items: sorting, grouping, the smallest one ...
 *
 * Each item gets a key, once: the value of an attribute or of several, texts in lower case unless
 * case matters.  Equal keys keep their order. */

typedef struct keyed {
    value key, item;
} keyed;

typedef struct keyed_list {
    keyed *items;
    size_t count;
} keyed_list;

static bool is_true(value v)
{
    return is_given(v) && value_truth(v);
}

static value folded(machine *m, value key, bool case_matters)
{
    return case_matters || key.kind != VALUE_STRING ? key : str_lower(m, &key, NULL);
}

/* The key of an item by attributes "a.b,c": a tuple if there are several. */
static value key_of(machine *m, value item, value attribute, bool case_matters)
{
    item_list parts = {0};
    gufo_str rest;

    if (!is_given(attribute) || attribute.kind == VALUE_NONE)
        return folded(m, item, case_matters);
    if (attribute.kind != VALUE_STRING)
        return folded(m, get_path(m, item, attribute), case_matters);
    rest = bytes_of(attribute.as.string);
    if (rest.len == 0 || memchr(rest.data, ',', rest.len) == NULL)
        return folded(m, get_path(m, item, attribute), case_matters);
    for (;;) {
        const char *comma = rest.len == 0 ? NULL : memchr(rest.data, ',', rest.len);
        gufo_str part = {rest.data, comma == NULL ? rest.len : (size_t)(comma - rest.data)};
        value path = string_view(&m->memory, part);

        path = is_failed(path) ? path : get_path(m, item, path);
        if (is_failed(path) || !items_push(&m->memory, &parts, folded(m, path, case_matters)))
            return FAILED;
        if (comma == NULL)
            return list_take(&m->memory, VALUE_TUPLE, parts.items, parts.count);
        rest = str_from(rest, part.len + 1);
    }
}

static bool take_keyed(machine *m, value source, value attribute, bool case_matters,
                       keyed_list *out)
{
    item_list all;

    if (!iterate_all(m, source, &all))
        return false;
    out->count = all.count;
    out->items = heap_array(&m->memory, all.count, sizeof(keyed));
    for (size_t i = 0; out->items != NULL && i < all.count; i++) {
        value key = key_of(m, all.items[i], attribute, case_matters);

        if (is_failed(key))
            return false;
        out->items[i] = (keyed){key, all.items[i]};
    }
    return out->items != NULL;
}

/* Merges two runs in order, the first of which stays in front where keys are equal. */
static bool merge(machine *m, const keyed *left, size_t n_left, const keyed *right, size_t n_right,
                  bool reverse, keyed *out)
{
    size_t l = 0, r = 0;

    while (l < n_left && r < n_right) {
        bool second = reverse ? value_before(m, left[l].key, right[r].key)
                              : value_before(m, right[r].key, left[l].key);

        if (machine_failed(m))
            return false;
        *out++ = second ? right[r++] : left[l++];
    }
    memcpy(out, left + l, (n_left - l) * sizeof(keyed));
    memcpy(out + (n_left - l), right + r, (n_right - r) * sizeof(keyed));
    return true;
}

/* Runs of 1, 2, 4 ... items are merged, from one list into another. */
static bool sort_keyed(machine *m, keyed_list *list, bool reverse)
{
    keyed *from = list->items, *to = heap_array(&m->memory, list->count, sizeof(keyed));

    if (to == NULL)
        return false;
    for (size_t run = 1; run < list->count; run *= 2) {
        keyed *other = from;

        for (size_t at = 0; at < list->count; at += 2 * run) {
            size_t n_left = run < list->count - at ? run : list->count - at;
            size_t rest = list->count - at - n_left, n_right = run < rest ? run : rest;

            if (!merge(m, from + at, n_left, from + at + n_left, n_right, reverse, to + at))
                return false;
        }
        from = to;
        to = other;
    }
    list->items = from;
    return true;
}

static value items_of(machine *m, const keyed_list *list, value_kind kind)
{
    value *items = heap_array(&m->memory, list->count, sizeof(value));

    if (items == NULL)
        return FAILED;
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i].item;
    return list_take(&m->memory, kind, items, list->count);
}

value filter_sort(machine *m, const value *given, const arguments *all)
{
    keyed_list list;

    (void)all;
    if (!take_keyed(m, given[0], given[3], is_true(given[2]), &list) ||
        !sort_keyed(m, &list, is_true(given[1])))
        return FAILED;
    return items_of(m, &list, VALUE_LIST);
}

value filter_dictsort(machine *m, const value *given, const arguments *all)
{
    int64_t place = 0;
    keyed_list list;
    value pairs;

    (void)all;
    if (given[0].kind == VALUE_UNDEFINED)
        return fail_undefined(m, given[0]);
    if (given[0].kind != VALUE_DICT)
        return fail_type(m, "'dictsort' takes a dict, not '%s'", value_type(given[0]));
    if (is_given(given[2])) {
        const string *by = take_string(m, given[2], "what to sort by");

        if (by == NULL)
            return FAILED;
        place = gufo_str_equal(bytes_of(by), gufo_str_of("value"));
        if (place == 0 && !gufo_str_equal(bytes_of(by), gufo_str_of("key")))
            return fail_type(m, "'dictsort' sorts by 'key' or 'value'");
    }
    pairs = dict_items(m, given, NULL);
    if (is_failed(pairs) || !take_keyed(m, pairs, value_int(place), is_true(given[1]), &list) ||
        !sort_keyed(m, &list, is_true(given[3])))
        return FAILED;
    return items_of(m, &list, VALUE_LIST);
}

value filter_unique(machine *m, const value *given, const arguments *all)
{
    dict *seen = dict_new(&m->memory);
    item_list unique = {0};
    keyed_list list;

    (void)all;
    if (seen == NULL || !take_keyed(m, given[0], given[2], is_true(given[1]), &list))
        return FAILED;
    for (size_t i = 0; i < list.count; i++) {
        uint32_t before = seen->count;

        if (!dict_put(m, seen, list.items[i].key, NONE) ||
            (seen->count != before && !items_push(&m->memory, &unique, list.items[i].item)))
            return FAILED;
    }
    return iterator_new(&m->memory, list_take(&m->memory, VALUE_LIST, unique.items, unique.count),
                        "generator");
}

/* The group of the items from `first` on whose keys are equal: (key, items). */
static value take_group(machine *m, const keyed_list *list, size_t first, const value *given,
                        bool case_matters, size_t *count)
{
    value name = list->items[first].key, group;
    keyed_list run = {list->items + first, 1};
    list_grouped *pair;

    while (first + run.count < list->count &&
           value_equal(m, list->items[first + run.count].key, name))
        run.count++;
    *count = run.count;
    if (!case_matters) /* the name as the first item spells it */
        name = key_of(m, run.items[0].item, given[1], true);
    if (name.kind == VALUE_UNDEFINED && is_given(given[2]))
        name = given[2];
    group = items_of(m, &run, VALUE_LIST);
    pair = HEAP_NEW(&m->memory, list_grouped);
    if (is_failed(name) || is_failed(group) || pair == NULL || machine_failed(m))
        return FAILED;
    *pair = (list_grouped){.pair = {name, group}};
    pair->list = (struct array){.items = pair->pair, .count = 2, .is_group = true};
    return (value){.kind = VALUE_TUPLE, .as.list = &pair->list};
}

value filter_groupby(machine *m, const value *given, const arguments *all)
{
    bool case_matters = is_true(given[3]),
         preset = is_given(given[2]) && given[2].kind != VALUE_NONE;
    keyed_list list;
    item_list groups = {0};

    (void)all;
    if (!take_keyed(m, given[0], given[1], case_matters, &list))
        return FAILED;
    for (size_t i = 0; preset && i < list.count; i++)
        if (list.items[i].key.kind == VALUE_UNDEFINED)
            list.items[i].key = folded(m, given[2], case_matters);
    if (machine_failed(m) || !sort_keyed(m, &list, false))
        return FAILED;
    for (size_t at = 0, count = 0; at < list.count; at += count) {
        value group = take_group(m, &list, at, given, case_matters, &count);

        if (!items_push(&m->memory, &groups, group))
            return FAILED;
    }
    return list_take(&m->memory, VALUE_LIST, groups.items, groups.count);
}

static value edge(machine *m, const value *given, bool largest)
{
    keyed_list list;
    size_t best = 0;

    if (!take_keyed(m, given[0], given[2], is_true(given[1]), &list))
        return FAILED;
    if (list.count == 0)
        return undefined_because(m, "'min' and 'max' need at least one item");
    for (size_t i = 1; i < list.count; i++) {
        bool better = largest ? value_before(m, list.items[best].key, list.items[i].key)
                              : value_before(m, list.items[i].key, list.items[best].key);

        if (machine_failed(m))
            return FAILED;
        best = better ? i : best;
    }
    return list.items[best].item;
}

value filter_min(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return edge(m, given, false);
}

value filter_max(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return edge(m, given, true);
}

static value generator(machine *m, const item_list *list)
{
    return iterator_new(&m->memory, list_take(&m->memory, VALUE_LIST, list->items, list->count),
                        "generator");
}

value filter_attr(machine *m, const value *given, const arguments *all)
{
    const native *row;
    const string *name = take_string(m, given[1], "the name of an attribute");
    dict *empty;

    (void)all;
    if (name == NULL)
        return FAILED;
    if (given[0].kind == VALUE_UNDEFINED)
        return fail_undefined(m, given[0]);
    row = find_method(m, given[0], bytes_of(name));
    /* An attribute alone: not an item of a dict. */
    if (given[0].kind == VALUE_DICT && row == NULL) {
        empty = dict_new(&m->memory);
        return empty == NULL
                   ? FAILED
                   : get_attribute(m, (value){.kind = VALUE_DICT, .as.dict = empty}, given[1]);
    }
    return get_attribute(m, given[0], given[1]);
}

value filter_default(machine *m, const value *given, const arguments *all)
{
    bool untrue = is_given(given[2]) && value_truth(given[2]) && !value_truth(given[0]);

    (void)all;
    if (given[0].kind != VALUE_UNDEFINED && !untrue)
        return given[0];
    return is_given(given[1]) ? given[1] : string_view(&m->memory, gufo_str_of(""));
}

value filter_first(machine *m, const value *given, const arguments *all)
{
    iteration it;
    value item;

    (void)all;
    if (!iterate(m, given[0], &it))
        return FAILED;
    if (iterate_next(m, &it, &item))
        return item;
    return machine_failed(m) ? FAILED : undefined_because(m, "'first' needs at least one item");
}

value filter_last(machine *m, const value *given, const arguments *all)
{
    iteration it;
    value item, last = value_of(VALUE_ABSENT);

    (void)all;
    if (given[0].kind == VALUE_ITERATOR)
        return fail_type(m, "'last' does not work on an iterator");
    if (given[0].kind == VALUE_LIST || given[0].kind == VALUE_TUPLE) {
        const array *l = given[0].as.list;

        return l->count != 0 ? l->items[l->count - 1]
                             : undefined_because(m, "'last' needs at least one item");
    }
    if (!iterate(m, given[0], &it))
        return FAILED;
    while (iterate_next(m, &it, &item))
        last = item;
    if (machine_failed(m))
        return FAILED;
    return is_given(last) ? last : undefined_because(m, "'last' needs at least one item");
}

value filter_length(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return value_length(m, given[0]);
}

value filter_list(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return iterate_list(m, given[0], VALUE_LIST);
}

value filter_items(machine *m, const value *given, const arguments *all)
{
    value pairs, none = given[0];

    (void)all;
    if (none.kind == VALUE_UNDEFINED)
        return generator(m, &(item_list){0});
    if (none.kind != VALUE_DICT)
        return fail_type(m, "'items' takes a dict, not '%s'", value_type(none));
    pairs = dict_items(m, given, NULL);
    return is_failed(pairs)
               ? pairs
               : iterator_new(&m->memory, iterate_list(m, pairs, VALUE_LIST), "generator");
}

/* The attribute of an item that an argument names; the item where it names none. */
static value item_attribute(machine *m, value item, value attribute)
{
    return !is_given(attribute) || attribute.kind == VALUE_NONE ? item
                                                                : get_path(m, item, attribute);
}

value filter_join(machine *m, const value *given, const arguments *all)
{
    value between =
        is_given(given[1]) ? text_of(m, given[1]) : string_view(&m->memory, gufo_str_of(""));
    size_t mark = m->out_len, count = 0;
    iteration it;
    value item;

    (void)all;
    if (is_failed(between) || !iterate(m, given[0], &it))
        return FAILED;
    for (; iterate_next(m, &it, &item); count++) {
        item = item_attribute(m, item, given[2]);
        if (is_failed(item) ||
            (count != 0 && !(m->escape ? print_escaped(m, between) : print_str(m, between))) ||
            !(m->escape ? print_escaped(m, item) : print_str(m, item)))
            return FAILED;
    }
    item = out_cut(m, mark);
    return m->escape && !is_failed(item) ? string_cast(&m->memory, item.as.string, true) : item;
}

value filter_reverse(machine *m, const value *given, const arguments *all)
{
    item_list list;

    (void)all;
    if (given[0].kind == VALUE_STRING)
        return get_slice(m, given[0], NONE, NONE, value_int(-1));
    if (!iterate_all(m, given[0], &list))
        return FAILED;
    for (size_t i = 0; i < list.count / 2; i++) {
        value other = list.items[i];

        list.items[i] = list.items[list.count - 1 - i];
        list.items[list.count - 1 - i] = other;
    }
    return generator(m, &list);
}

value filter_sum(machine *m, const value *given, const arguments *all)
{
    value sum = is_given(given[2]) ? given[2] : value_int(0), item;
    iteration it;

    (void)all;
    if (sum.kind == VALUE_STRING)
        return fail_type(m, "'sum' does not work on texts");
    if (!iterate(m, given[0], &it))
        return FAILED;
    while (iterate_next(m, &it, &item)) {
        item = item_attribute(m, item, given[1]);
        sum = is_failed(item) ? item : operate(m, TOKEN_ADD, sum, item);
        if (is_failed(sum))
            return sum;
    }
    return machine_failed(m) ? FAILED : sum;
}

value filter_batch(machine *m, const value *given, const arguments *all)
{
    item_list rows = {0}, row = {0};
    bool fill = is_given(given[2]) && given[2].kind != VALUE_NONE;
    int64_t size;
    iteration it;
    value item;

    (void)all;
    if (!take_index(m, given[1], 1, &size) || !iterate(m, given[0], &it))
        return FAILED;
    while (iterate_next(m, &it, &item)) {
        if ((int64_t)row.count == size) {
            if (!items_push(&m->memory, &rows,
                            list_take(&m->memory, VALUE_LIST, row.items, row.count)))
                return FAILED;
            row = (item_list){0};
        }
        if (!items_push(&m->memory, &row, item))
            return FAILED;
    }
    while (fill && row.count != 0 && (int64_t)row.count < size)
        if (!machine_spend(m, 1) || !items_push(&m->memory, &row, given[2]))
            return FAILED;
    if (row.count != 0 &&
        !items_push(&m->memory, &rows, list_take(&m->memory, VALUE_LIST, row.items, row.count)))
        return FAILED;
    return machine_failed(m) ? FAILED : generator(m, &rows);
}

value filter_slice(machine *m, const value *given, const arguments *all)
{
    item_list list, rows = {0};
    bool fill = is_given(given[2]) && given[2].kind != VALUE_NONE;
    int64_t slices;
    size_t each, longer, at = 0;

    (void)all;
    if (!take_integer(m, given[1], 1, &slices) || !iterate_all(m, given[0], &list))
        return FAILED;
    if (slices == 0)
        return fail_type(m, "division by zero");
    each = slices < 0 ? 0 : list.count / (size_t)slices;
    longer = slices < 0 ? 0 : list.count % (size_t)slices;
    for (int64_t i = 0; i < slices; i++) {
        size_t count = each + ((size_t)i < longer);
        item_list row = {0};

        for (size_t taken = 0; taken < count; taken++)
            if (!items_push(&m->memory, &row, list.items[at++]))
                return FAILED;
        if (fill && (size_t)i >= longer && !items_push(&m->memory, &row, given[2]))
            return FAILED;
        if (!machine_spend(m, 1) ||
            !items_push(&m->memory, &rows, list_take(&m->memory, VALUE_LIST, row.items, row.count)))
            return FAILED;
    }
    return generator(m, &rows);
}

/* SplitMix64 (Steele, Lea and Flood 2014): the next number of a rendering. */
static uint64_t next_random(machine *m)
{
    uint64_t z = m->random += 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

value filter_random(machine *m, const value *given, const arguments *all)
{
    value length = value_length(m, given[0]);

    (void)all;
    if (is_failed(length))
        return length;
    if (length.as.integer == 0)
        return undefined_because(m, "'random' needs at least one item");
    if (given[0].kind == VALUE_DICT || given[0].kind == VALUE_VIEW || given[0].kind == VALUE_LOOP)
        return fail_type(m, "'%s' has no places to take a random item from", value_type(given[0]));
    return get_item(m, given[0],
                    value_int((int64_t)(next_random(m) % (uint64_t)length.as.integer)));
}

/* ==== map, select and their relatives ======================================================== */

/* The keyword argument of this name; ABSENT: none. */
static value keyword(const arguments *in, const char *name)
{
    for (uint32_t i = 0; i < in->keywords; i++)
        if (gufo_str_equal(bytes_of(in->names[i]), gufo_str_of(name)))
            return in->items[in->count - in->keywords + i];
    return value_of(VALUE_ABSENT);
}

/* All arguments but the first ones. */
static arguments without_first(const arguments *in, uint32_t first)
{
    return (arguments){in->items + first, in->count - first, in->keywords, in->names};
}

value filter_map(machine *m, const value *given, const arguments *all)
{
    value attribute = keyword(all, "attribute"), preset = keyword(all, "default"), item;
    bool by_name = all->count > all->keywords;
    item_list list = {0};
    arguments rest;
    iteration it;

    if (!value_truth(given[0])) /* also none */
        return generator(m, &list);
    if (!by_name && !is_given(attribute))
        return fail_type(m, "'map' takes a filter or an attribute");
    if (!by_name && all->count != 1u + is_given(preset))
        return fail_type(m, "'map' does not take one of its arguments by name");
    if (!iterate(m, given[0], &it))
        return FAILED;
    rest = without_first(all, by_name);
    while (iterate_next(m, &it, &item)) {
        item = by_name ? call_named(m, m->language->tables.filters, all->items[0], item, &rest)
                       : get_path(m, item, attribute);
        if (!by_name && is_given(preset) && item.kind == VALUE_UNDEFINED)
            item = preset;
        if (!items_push(&m->memory, &list, item))
            return FAILED;
    }
    return machine_failed(m) ? FAILED : generator(m, &list);
}

static value choose(machine *m, const value *given, const arguments *all, bool wanted,
                    bool attribute)
{
    uint32_t first = attribute, positions = all->count - all->keywords;
    bool tested = positions > first;
    item_list list = {0};
    arguments rest;
    iteration it;
    value item, part;

    if (!value_truth(given[0])) /* also none */
        return generator(m, &list);
    if (positions < first)
        return fail_type(m, "the name of an attribute is expected");
    if (!tested && all->keywords != 0)
        return fail_type(m, "the name of a test is expected");
    if (!iterate(m, given[0], &it))
        return FAILED;
    rest = without_first(all, first + tested);
    while (iterate_next(m, &it, &item)) {
        part = attribute ? get_path(m, item, all->items[0]) : item;
        if (tested && !is_failed(part))
            part = call_named(m, m->language->tables.tests, all->items[first], part, &rest);
        if (is_failed(part) ||
            (value_truth(part) == wanted && !items_push(&m->memory, &list, item)))
            return FAILED;
    }
    return machine_failed(m) ? FAILED : generator(m, &list);
}

value filter_select(machine *m, const value *given, const arguments *all)
{
    return choose(m, given, all, true, false);
}

value filter_reject(machine *m, const value *given, const arguments *all)
{
    return choose(m, given, all, false, false);
}

value filter_selectattr(machine *m, const value *given, const arguments *all)
{
    return choose(m, given, all, true, true);
}

value filter_rejectattr(machine *m, const value *given, const arguments *all)
{
    return choose(m, given, all, false, true);
}
