/* Lists of records with names; named_list.h has the idea. */
#include "format/document/named_list.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/format.h"

enum { FEW = 64 }; /* that may be gone without being worth a sweep */

static gufo_str name_of(const void *owner, uint64_t index)
{
    return named_list_slot(owner, index)->name;
}

void named_list_init(named_list *list, size_t size)
{
    *list = (named_list){.items.size = size, .index = {.name_of = name_of, .owner = list}};
}

void named_list_free(named_list *list, const gufo_allocator *allocator)
{
    records_free(&list->items, allocator);
    name_index_free(&list->index, allocator);
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

/* At most two thirds of the slots of the index are taken. */
static gufo_status grow_index(named_list *list, uint64_t count, const gufo_allocator *allocator,
                              gufo_error *error)
{
    name_index bigger;
    gufo_status status;

    if (list->index.slots != NULL && count + count / 2 < list->index.mask + 1)
        return GUFO_OK;
    status = name_index_new(&bigger, 2 * count, name_of, list, allocator, error);
    if (status != GUFO_OK)
        return status;
    index_all(list, &bigger);
    name_index_free(&list->index, allocator);
    list->index = bigger;
    return GUFO_OK;
}

gufo_status named_list_reserve(named_list *list, uint64_t more, const gufo_allocator *allocator,
                               gufo_error *error)
{
    uint64_t count = list->items.count;
    gufo_status status;

    if (more > GUFO_MAX_COUNT - count && count > list->count) {
        named_list_sweep(list);
        count = list->items.count;
    }
    status = grow_index(list, list->count + more, allocator, error);
    for (uint64_t i = 0; i < more && status == GUFO_OK; i++)
        if (records_add(&list->items, allocator) == NULL)
            status = fail_memory(error);
    list->items.count = count; /* the room stays */
    return status;
}

static gufo_status own_name(gufo_str *name, const gufo_allocator *allocator, gufo_error *error)
{
    char *copy = mem_text(allocator, *name);

    if (copy == NULL)
        return fail_memory(error);
    name->data = copy;
    return GUFO_OK;
}

void named_free_name(const named *n, const gufo_allocator *allocator)
{
    if (n->owns_name)
        mem_free(allocator, (char *)n->name.data);
}

void *named_list_add(named_list *list, gufo_str name, bool owned, const gufo_allocator *allocator,
                     gufo_error *error)
{
    uint64_t slot, ignored;
    named *added;

    if (named_list_reserve(list, 1, allocator, error) != GUFO_OK ||
        (owned && own_name(&name, allocator, error) != GUFO_OK))
        return NULL;
    slot = list->items.count++;
    added = named_list_slot(list, slot);
    memset(added, 0, list->items.size);
    added->name = name;
    added->owns_name = owned;
    list->count++;
    count_last(list);
    (void)name_index_add(&list->index, slot, &ignored);
    return added;
}

bool named_list_find(const named_list *list, gufo_str name, uint64_t *slot)
{
    return name_index_find(&list->index, name, slot);
}

void named_list_sweep(named_list *list)
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
    index_all(list, &list->index);
}

uint64_t named_list_mark(named_list *list, named_select *select, void *context)
{
    uint64_t marked = 0;

    named_list_sweep(list);
    for (uint64_t i = 0; i < list->items.count; i++) {
        named *record = named_list_slot(list, i);

        record->gone = select == NULL || select(context, record->name);
        marked += record->gone;
    }
    list->count -= marked;
    return marked;
}

void named_list_remove(named_list *list, uint64_t slot)
{
    name_index_remove(&list->index, slot);
    discount(list, slot);
    named_list_slot(list, slot)->gone = true;
    list->count--;
    if (list->items.count - list->count > list->count + FEW)
        named_list_sweep(list);
}

gufo_status named_list_rename(named_list *list, uint64_t slot, gufo_str name,
                              const gufo_allocator *allocator, gufo_error *error)
{
    named *record = named_list_slot(list, slot);
    gufo_status status = own_name(&name, allocator, error);
    uint64_t ignored;

    if (status != GUFO_OK)
        return status;
    name_index_remove(&list->index, slot);
    named_free_name(record, allocator);
    record->name = name;
    record->owns_name = true;
    (void)name_index_add(&list->index, slot, &ignored);
    return GUFO_OK;
}
