/* Dicts in the order of their keys' arrival: entries in a list, found through slots with open
 * addressing.  A small dict has no slots: its entries are compared one after the other. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "template/values/number.h"
#include "template/values/value.h"

enum { SMALL = 8, KEY_DEPTH = 50 };

/* Keyed, as for texts: numbers in a row of equal distances do not fall into one slot. */
static uint64_t mix(hash_key key, uint64_t first, uint64_t second)
{
    const uint64_t both[2] = {first, second};

    return hash_text(key, (gufo_str){(const char *)both, sizeof(both)});
}

static bool hash_at(hash_key key, value v, uint64_t *hash, int depth)
{
    uint64_t part;

    switch (v.kind) {
    case VALUE_STRING:
        *hash = hash_text(key, bytes_of(v.as.string));
        return true;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG:
    case VALUE_FLOAT:
        *hash = number_hash(key, v);
        return true;
    case VALUE_TUPLE:
        *hash = VALUE_TUPLE;
        for (size_t i = 0; i < v.as.list->count; i++) {
            if (depth == 0 || !hash_at(key, v.as.list->items[i], &part, depth - 1))
                return false;
            *hash = mix(key, *hash, part);
        }
        return true;
    case VALUE_LIST:
    case VALUE_DICT:
        return false;
    case VALUE_NONE:
    case VALUE_UNDEFINED:
        *hash = mix(key, (uint64_t)v.kind, 0);
        return true;
    default: /* what is compared by identity */
        *hash = mix(key, (uint64_t)v.kind, (uint64_t)(uintptr_t)v.as.loop);
        return true;
    }
}

static void count_cost(value v, uint64_t most, uint64_t *cost, int depth)
{
    if (v.kind == VALUE_STRING)
        *cost += v.as.string->len / 256;
    if (v.kind == VALUE_BIG)
        *cost += integer_bits(v) / 2048;
    if (v.kind != VALUE_TUPLE || depth == 0)
        return;
    for (size_t i = 0; i < v.as.list->count && *cost < most; i++) {
        *cost += 1;
        count_cost(v.as.list->items[i], most, cost, depth - 1);
    }
}

uint64_t value_key_cost(value v, uint64_t most)
{
    uint64_t cost = 0;

    count_cost(v, most, &cost, KEY_DEPTH);
    return cost;
}

bool value_hash(hash_key key, value v, uint64_t *hash)
{
    return hash_at(key, v, hash, KEY_DEPTH);
}

static bool same_text(const string *a, const string *b)
{
    return a == b || (a->len == b->len && memcmp(a->data, b->data, a->len) == 0);
}

bool value_same_key(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return number_equal(a, b);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VALUE_STRING:
        return same_text(a.as.string, b.as.string);
    case VALUE_TUPLE:
        if (a.as.list->count != b.as.list->count)
            return false;
        for (size_t i = 0; i < a.as.list->count; i++)
            if (!value_same_key(a.as.list->items[i], b.as.list->items[i]))
                return false;
        return true;
    case VALUE_NONE:
    case VALUE_UNDEFINED:
        return true;
    default:
        return a.as.loop == b.as.loop;
    }
}

dict *dict_new(heap *memory)
{
    dict *made = HEAP_NEW(memory, dict);

    if (made != NULL)
        *made = (dict){0};
    return made;
}

void dict_clear(dict *d)
{
    d->count = 0;
    if (d->slots != NULL)
        memset(d->slots, 0, d->slot_count * sizeof(*d->slots));
}

static uint32_t *slot_of(const dict *d, uint64_t hash)
{
    return &d->slots[hash & (d->slot_count - 1)];
}

static uint32_t *next_slot(const dict *d, uint32_t *slot)
{
    return slot + 1 == d->slots + d->slot_count ? d->slots : slot + 1;
}

static const dict_entry *find_hashed(const dict *d, uint64_t hash, value name)
{
    for (uint32_t *slot = slot_of(d, hash); *slot != 0; slot = next_slot(d, slot)) {
        const dict_entry *entry = &d->entries[*slot - 1];

        if (entry->hash == hash && value_same_key(entry->key, name))
            return entry;
    }
    return NULL;
}

const dict_entry *dict_find(const dict *d, hash_key key, value name)
{
    uint64_t hash;

    if (d->slots != NULL)
        return value_hash(key, name, &hash) ? find_hashed(d, hash, name) : NULL;
    for (uint32_t i = 0; i < d->count; i++)
        if (value_same_key(d->entries[i].key, name))
            return &d->entries[i];
    return NULL;
}

const dict_entry *dict_find_text(const dict *d, hash_key key, gufo_str name)
{
    string text = {.data = name.data, .len = name.len};

    return dict_find(d, key, (value){.kind = VALUE_STRING, .as.string = &text});
}

/* Slots for `room` keys, of which there are `count`. */
static uint32_t *make_slots(heap *memory, hash_key key, dict_entry *entries, uint32_t count,
                            uint32_t slot_count)
{
    dict made = {.slots = heap_array(memory, slot_count, sizeof(uint32_t)),
                 .slot_count = slot_count};

    if (made.slots == NULL)
        return NULL;
    memset(made.slots, 0, slot_count * sizeof(*made.slots));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *slot;

        (void)value_hash(key, entries[i].key, &entries[i].hash);
        slot = slot_of(&made, entries[i].hash);
        while (*slot != 0)
            slot = next_slot(&made, slot);
        *slot = i + 1;
    }
    return made.slots;
}

bool dict_reserve(heap *memory, dict *d, hash_key key, size_t room)
{
    dict_entry *entries;
    uint32_t *slots = NULL, slot_count = 16;

    if (room <= d->room)
        return true;
    if (room > UINT32_MAX / 4) {
        memory->status = refuse(memory->error, GUFO_E_LIMIT, "a dict with too many keys");
        return false;
    }
    entries = heap_array(memory, room, sizeof(dict_entry));
    if (entries == NULL)
        return false;
    if (d->count != 0)
        memcpy(entries, d->entries, d->count * sizeof(dict_entry));
    while (slot_count < 2 * room)
        slot_count *= 2;
    if (room > SMALL)
        slots = make_slots(memory, key, entries, d->count, slot_count);
    if (room > SMALL && slots == NULL)
        return false;
    *d = (dict){entries, slots, d->count, (uint32_t)room, slots == NULL ? 0 : slot_count};
    return true;
}

bool dict_set(heap *memory, dict *d, hash_key key, value name, value v)
{
    const dict_entry *known = dict_find(d, key, name);
    dict_entry *entry;
    uint32_t *slot;

    if (known != NULL) {
        d->entries[known - d->entries].value = v;
        return true;
    }
    if (d->count == d->room &&
        !dict_reserve(memory, d, key, d->room == 0 ? 4 : (size_t)d->room * 2))
        return false;
    entry = &d->entries[d->count++];
    *entry = (dict_entry){name, v, 0};
    if (d->slots == NULL)
        return true;
    (void)value_hash(key, name, &entry->hash);
    slot = slot_of(d, entry->hash);
    while (*slot != 0)
        slot = next_slot(d, slot);
    *slot = d->count;
    return true;
}
