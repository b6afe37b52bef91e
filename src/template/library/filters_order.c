/* Filters that compare items: sorting, grouping, the smallest one ...
 *
 * Each item gets a key, once: the value of an attribute or of several, texts in lower case unless
 * case matters.  Equal keys keep their order. */
#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"

#include <string.h>

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
