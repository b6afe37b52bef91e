/* Lists of records with names; named_list.h has the idea. */
#include "format/document/named_list.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    FEW = 64, /* that may be gone without being worth a sweep */
    UNINDEXED =
        8, /* that are found as soon by looking at all: ten thousand shards have four keys each */
};

static gufo_str name_of(const void *owner, uint64_t index)
{
    return named_list_slot(owner, index)->name;
}

void named_list_init(named_list *list, size_t size, const char *what,
                     const gufo_allocator *allocator)
{
    *list = (named_list){.items.size = size,
                         .index = {.name_of = name_of, .owner = list},
                         .what = what,
                         .allocator = allocator};
}

void named_list_free(named_list *list)
{
    (void)named_list_remove_all(list, NULL, NULL);
    records_free(&list->items, list->allocator);
    name_index_free(&list->index, list->allocator);
}

/* ---- the tree ------------------------------------------------------------------------------- */

static uint64_t low_bit(uint64_t i)
{
    return i & (~i + 1);
}

/* Node i belongs to slot i - 1. */
static uint32_t *node_at(const named_list *list, uint64_t i)
{
    return &named_list_slot(list, i - 1)->node;
}

/* Counts the record in the last slot. */
static void count_last(named_list *list)
{
    uint64_t last = list->items.count;
    uint32_t sum = 1;

    for (uint64_t i = last - 1; i > last - low_bit(last); i -= low_bit(i))
        sum += *node_at(list, i);
    *node_at(list, last) = sum;
}

static void discount(named_list *list, uint64_t slot)
{
    for (uint64_t i = slot + 1; i <= list->items.count; i += low_bit(i))
        --*node_at(list, i);
}

bool named_list_seek(const named_list *list, uint64_t position, uint64_t *slot)
{
    uint64_t before = 0, step;

    *slot = position;
    if (position >= list->count)
        return false;
    if (list->count == list->items.count)
        return true;
    for (step = (uint64_t)1 << (63 - __builtin_clzll(list->items.count)); step > 0; step /= 2)
        if (before + step <= list->items.count && *node_at(list, before + step) <= position) {
            before += step;
            position -= *node_at(list, before);
        }
    *slot = before;
    return true;
}

uint64_t named_list_position(const named_list *list, uint64_t slot)
{
    uint64_t position = 0;

    if (list->count == list->items.count)
        return slot;
    for (uint64_t i = slot; i > 0; i -= low_bit(i))
        position += *node_at(list, i);
    return position;
}

/* ---- the list ------------------------------------------------------------------------------- */

static void index_all(const named_list *list, name_index *index)
{
    uint64_t ignored;

    for (uint64_t i = 0; i < list->items.count; i++)
        if (!named_list_slot(list, i)->gone)
            (void)name_index_add(index, i, &ignored);
}

static void index_add(named_list *list, uint64_t slot)
{
    uint64_t ignored;

    if (list->index.slots != NULL)
        (void)name_index_add(&list->index, slot, &ignored);
}

static void index_remove(named_list *list, uint64_t slot)
{
    if (list->index.slots != NULL)
        name_index_remove(&list->index, slot);
}

/* At most two thirds of the slots of the index are taken. */
static gufo_status grow_index(named_list *list, uint64_t more, gufo_error *error)
{
    const uint64_t count = list->count + more;
    name_index bigger;
    gufo_status status;

    if (list->index.slots == NULL && list->items.count + more <= UNINDEXED)
        return GUFO_OK;
    if (list->index.slots != NULL && count + count / 2 < list->index.mask + 1)
        return GUFO_OK;
    status = name_index_new(&bigger, 2 * count, name_of, list, list->allocator, error);
    if (status != GUFO_OK)
        return status;
    index_all(list, &bigger);
    name_index_free(&list->index, list->allocator);
    list->index = bigger;
    return GUFO_OK;
}

/* Moves the others together: nothing is gone then. */
static void sweep(named_list *list)
{
    uint64_t slots = list->items.count;

    if (slots == list->count)
        return;
    list->items.count = 0;
    for (uint64_t i = 0; i < slots; i++) {
        named *from = named_list_slot(list, i), *to = named_list_slot(list, list->items.count);

        if (from->gone)
            continue;
        if (from != to)
            memcpy(to, from, list->items.size);
        list->items.count++;
        count_last(list);
    }
    name_index_clear(&list->index);
    if (list->index.slots != NULL)
        index_all(list, &list->index);
}

gufo_status named_list_reserve(named_list *list, uint64_t more, gufo_error *error)
{
    gufo_status status;
    uint64_t count;

    if (more > GUFO_MAX_COUNT - list->items.count)
        sweep(list);
    count = list->items.count;
    status = grow_index(list, more, error);
    for (uint64_t i = 0; i < more && status == GUFO_OK; i++)
        if (records_add(&list->items, list->allocator) == NULL)
            status = fail_memory(error);
    list->items.count = count; /* the room stays */
    return status;
}

static gufo_status own_name(const named_list *list, gufo_str *name, gufo_error *error)
{
    name->data = mem_text(list->allocator, *name);
    return name->data != NULL ? GUFO_OK : fail_memory(error);
}

static void free_name(const named_list *list, const named *record)
{
    if (record->owns_name)
        mem_free(list->allocator, (char *)record->name.data);
}

gufo_status named_list_add(named_list *list, gufo_str name, bool owned, const void *record,
                           gufo_error *error)
{
    gufo_status status = named_list_reserve(list, 1, error);
    uint64_t slot = list->items.count;

    if (status == GUFO_OK && owned)
        status = own_name(list, &name, error);
    if (status != GUFO_OK)
        return status;
    list->items.count++;
    list->count++;
    memcpy(named_list_slot(list, slot), record, list->items.size);
    *named_list_slot(list, slot) = (named){.name = name, .owns_name = owned};
    count_last(list);
    index_add(list, slot);
    return GUFO_OK;
}

bool named_list_find(const named_list *list, gufo_str name, uint64_t *slot)
{
    if (list->index.slots != NULL)
        return name_index_find(&list->index, name, slot);
    for (uint64_t i = 0; i < list->items.count; i++) {
        const named *record = named_list_slot(list, i);

        *slot = i;
        if (!record->gone && gufo_str_equal(record->name, name))
            return true;
    }
    return false;
}

void *named_list_next(const named_list *list, uint64_t *slot)
{
    while (*slot < list->items.count) {
        named *record = named_list_slot(list, (*slot)++);

        if (!record->gone)
            return record;
    }
    return NULL;
}

gufo_status named_list_need(const named_list *list, gufo_str name, uint64_t *slot,
                            gufo_error *error)
{
    if (named_list_find(list, name, slot))
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_FOUND, "no %s is named %s", list->what, QUOTED(name));
}

/* ---- removing and renaming ------------------------------------------------------------------ */

/* Of a record that is gone. */
static void drop(const named_list *list, named *record)
{
    if (list->drop != NULL)
        list->drop(list->owner, record);
    free_name(list, record);
}

void named_list_remove(named_list *list, uint64_t slot)
{
    named *record = named_list_slot(list, slot);

    index_remove(list, slot);
    discount(list, slot);
    record->gone = true;
    drop(list, record);
    list->count--;
    if (list->items.count - list->count > list->count + FEW)
        sweep(list);
}

bool named_list_remove_name(named_list *list, gufo_str name)
{
    uint64_t slot;
    bool found = named_list_find(list, name, &slot);

    if (found)
        named_list_remove(list, slot);
    return found;
}

uint64_t named_list_remove_all(named_list *list, gufo_select_fn *select, void *context)
{
    uint64_t removed = 0;

    sweep(list);
    for (uint64_t i = 0; i < list->items.count; i++) {
        named *record = named_list_slot(list, i);

        record->gone = select == NULL || select(context, record->name);
        removed += record->gone;
    }
    list->count -= removed; /* now: `select` may look at the list */
    for (uint64_t i = 0; removed > 0 && i < list->items.count; i++)
        if (named_list_slot(list, i)->gone)
            drop(list, named_list_slot(list, i));
    sweep(list);
    return removed;
}

gufo_status named_list_check_rename(const named_list *list, gufo_str from, gufo_str to,
                                    uint64_t *slot, gufo_error *error)
{
    gufo_status status = named_list_need(list, from, slot, error);
    uint64_t other;

    if (status == GUFO_OK && named_list_find(list, to, &other) && other != *slot)
        status = refuse(error, GUFO_E_EXISTS, "%s %s exists already", list->what, QUOTED(to));
    return status;
}

gufo_status named_list_rename(named_list *list, uint64_t slot, gufo_str name, gufo_error *error)
{
    named *record = named_list_slot(list, slot);
    gufo_status status = own_name(list, &name, error);

    if (status != GUFO_OK)
        return status;
    index_remove(list, slot);
    free_name(list, record);
    record->name = name;
    record->owns_name = true;
    index_add(list, slot);
    return GUFO_OK;
}
