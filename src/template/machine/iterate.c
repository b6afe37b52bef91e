/* Going through what has items. */
#include "template/values/characters.h"
#include "template/machine/machine.h"

bool value_is_iterable(value v)
{
    return v.kind == VALUE_ITERATOR || value_has_length(v);
}

bool iterate(machine *m, value source, iteration *out)
{
    value length;

    *out = (iteration){.source = source};
    if (source.kind == VALUE_ITERATOR)
        return true;
    if (source.kind == VALUE_LOOP || !value_is_iterable(source)) {
        if (!is_failed(source))
            (void)fail_type(m, "a value of type '%s' has no items", value_type(source));
        return false;
    }
    length = value_length(m, source);
    if (is_failed(length))
        return false;
    out->left = (size_t)length.as.integer;
    return true;
}

static value entry_part(machine *m, const dict_entry *entry, view_kind kind)
{
    if (kind == VIEW_ITEMS)
        return tuple_pair(&m->memory, entry->key, entry->value);
    return kind == VIEW_KEYS ? entry->key : entry->value;
}

static value next_character(machine *m, iteration *it)
{
    const string *text = it->source.as.string;
    gufo_str rest = {text->data + it->at, text->len - it->at};
    size_t len;

    (void)point_at(rest, &len);
    it->at += len;
    rest.len = len;
    return string_view(&m->memory, rest); /* not safe by itself, even of a text that is */
}

bool iterate_next(machine *m, iteration *it, value *out)
{
    value source = it->source;

    *out = FAILED;
    if (machine_failed(m))
        return false;
    if (source.kind == VALUE_ITERATOR) {
        const array *l = source.as.iterator->source.as.list;

        if (source.as.iterator->at == l->count)
            return false;
        *out = l->items[source.as.iterator->at++];
        return machine_spend(m, 1);
    }
    if (it->left == 0 || !machine_spend(m, 1))
        return false;
    it->left--;
    switch (source.kind) {
    case VALUE_STRING:
        *out = next_character(m, it);
        return !is_failed(*out);
    case VALUE_DICT:
        *out = source.as.dict->entries[it->at++].key;
        return true;
    case VALUE_VIEW:
        *out = entry_part(m, &source.as.view->dict->entries[it->at++], source.as.view->kind);
        return !is_failed(*out);
    case VALUE_RANGE:
        *out = range_item(m, source.as.range, it->at++);
        return !is_failed(*out);
    default:
        *out = source.as.list->items[it->at++];
        return true;
    }
}

bool iterate_all(machine *m, value source, item_list *out)
{
    iteration it;
    value item;

    *out = (item_list){0};
    if (!iterate(m, source, &it))
        return false;
    while (iterate_next(m, &it, &item))
        if (!items_push(&m->memory, out, item))
            return false;
    return !machine_failed(m);
}

value iterate_list(machine *m, value source, value_kind kind)
{
    item_list list;

    if (!iterate_all(m, source, &list))
        return FAILED;
    return list_take(&m->memory, kind, list.items, list.count);
}
