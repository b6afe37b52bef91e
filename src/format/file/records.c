/* Growing lists of records; records.h has the idea. */
#include "format/file/records.h"

#include <string.h>

#include "base/error.h"

void *records_add(records *list, const gufo_allocator *allocator)
{
    uint64_t place = list->count + RECORDS_FIRST;
    unsigned chunk = 63 - (unsigned)__builtin_clzll(place) - RECORDS_FIRST_BITS;
    void *record;

    if (list->chunks[chunk] == NULL) {
        list->chunks[chunk] = mem_alloc(allocator, ((size_t)RECORDS_FIRST << chunk) * list->size);
        if (list->chunks[chunk] == NULL)
            return NULL;
    }
    record = records_at(list, list->count++);
    memset(record, 0, list->size);
    return record;
}

void records_free(records *list, const gufo_allocator *allocator)
{
    for (size_t i = 0; i < RECORDS_CHUNKS; i++)
        mem_free(allocator, list->chunks[i]);
    *list = (records){.size = list->size};
}

/* ---- names to numbers --------------------------------------------------------------------------- */

gufo_status name_index_new(name_index *index, uint64_t count, name_of_fn *name_of,
                           const void *owner, const gufo_allocator *allocator, gufo_error *error)
{
    uint64_t slots = 8;

    while (slots < count + count / 2)
        slots *= 2;
    *index =
        (name_index){.mask = slots - 1, .key = hash_key_new(), .name_of = name_of, .owner = owner};
    if (slots <= SIZE_MAX / sizeof *index->slots)
        index->slots = mem_zero(allocator, (size_t)slots * sizeof *index->slots);
    return index->slots != NULL ? GUFO_OK : fail_memory(error);
}

void name_index_free(name_index *index, const gufo_allocator *allocator)
{
    mem_free(allocator, index->slots);
    index->slots = NULL;
}

/* The slot that holds `name`, or the empty one where it belongs. */
static uint32_t *slot_of(const name_index *index, gufo_str name)
{
    uint64_t at = hash_text(index->key, name) & index->mask;

    while (index->slots[at] != 0 &&
           !gufo_str_equal(index->name_of(index->owner, index->slots[at] - 1), name))
        at = (at + 1) & index->mask;
    return &index->slots[at];
}

bool name_index_add(name_index *index, uint64_t number, uint64_t *first)
{
    uint32_t *slot = slot_of(index, index->name_of(index->owner, number));

    if (*slot != 0) {
        *first = *slot - 1;
        return false;
    }
    *slot = (uint32_t)number + 1;
    return true;
}

bool name_index_find(const name_index *index, gufo_str name, uint64_t *number)
{
    uint32_t *slot;

    if (index->slots == NULL)
        return false;
    slot = slot_of(index, name);
    if (*slot == 0)
        return false;
    *number = *slot - 1;
    return true;
}

/* The slot that holds `number`, if any does.  A name in a mapping may have been overwritten since
 * it was added, and does not lead there then. */
static bool find_number(const name_index *index, uint64_t number, uint64_t *slot)
{
    uint64_t at = hash_text(index->key, index->name_of(index->owner, number)) & index->mask;

    while (index->slots[at] != 0 && index->slots[at] != (uint32_t)number + 1)
        at = (at + 1) & index->mask;
    if (index->slots[at] == 0)
        for (at = 0; at < index->mask && index->slots[at] != (uint32_t)number + 1; at++)
            ;
    *slot = at;
    return index->slots[at] == (uint32_t)number + 1;
}

/* Whether a name that belongs to slot `home` is found when it is in `place`, which is before `now`,
 * where it is: all counted around the end of the table. */
static bool may_move(const name_index *index, uint64_t home, uint64_t place, uint64_t now)
{
    return ((now - home) & index->mask) >= ((now - place) & index->mask);
}

/* Names behind the hole move into it, so that no search ends too early. */
void name_index_remove(name_index *index, uint64_t number)
{
    uint64_t hole, home;

    if (!find_number(index, number, &hole))
        return;
    for (uint64_t at = (hole + 1) & index->mask; index->slots[at] != 0;
         at = (at + 1) & index->mask) {
        gufo_str name = index->name_of(index->owner, index->slots[at] - 1);

        home = hash_text(index->key, name) & index->mask;
        if (may_move(index, home, hole, at)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = 0;
}

void name_index_clear(name_index *index)
{
    if (index->slots != NULL)
        memset(index->slots, 0, (size_t)(index->mask + 1) * sizeof *index->slots);
}

static bool has_room(const name_index *index, uint64_t count)
{
    return index->slots != NULL && count + count / 2 <= index->mask + 1;
}

/* Moves the first `had` names into a table for `count` of them. */
static gufo_status rebuild(name_index *index, uint64_t had, uint64_t count,
                           const gufo_allocator *allocator, gufo_error *error)
{
    name_index bigger;
    gufo_status status =
        name_index_new(&bigger, count, index->name_of, index->owner, allocator, error);
    uint64_t ignored;

    if (status != GUFO_OK)
        return status;
    for (uint64_t i = 0; i < had; i++)
        (void)name_index_add(&bigger, i, &ignored);
    name_index_free(index, allocator);
    *index = bigger;
    return GUFO_OK;
}

gufo_status name_index_fit(name_index *index, uint64_t had, uint64_t count,
                           const gufo_allocator *allocator, gufo_error *error)
{
    return has_room(index, count) ? GUFO_OK : rebuild(index, had, count, allocator, error);
}

gufo_status name_index_grow(name_index *index, uint64_t count, const gufo_allocator *allocator,
                            gufo_error *error)
{
    return has_room(index, count + 1) ? GUFO_OK
                                      : rebuild(index, count, 2 * (count + 1), allocator, error);
}

/* ---- shapes that tensors share ------------------------------------------------------------------ */

/* The bytes of a shape are its name. */
static gufo_str bytes_of(const void *owner, uint64_t index)
{
    const records *list = owner;

    return (gufo_str){records_at(list, index), list->size};
}

const uint64_t *shapes_share(shape_table *s, const uint64_t *shape, const gufo_allocator *allocator)
{
    uint64_t same;
    void *own = records_add(&s->list, allocator);

    if (own == NULL)
        return NULL;
    s->index.name_of = bytes_of;
    s->index.owner = &s->list; /* which may have moved */
    memcpy(own, shape, s->list.size);
    if (name_index_grow(&s->index, s->list.count - 1, allocator, NULL) != GUFO_OK) {
        s->list.count--;
        return NULL;
    }
    if (name_index_add(&s->index, s->list.count - 1, &same))
        return own;
    s->list.count--;
    return records_at(&s->list, same);
}

void shapes_free(shape_table *s, const gufo_allocator *allocator)
{
    records_free(&s->list, allocator);
    name_index_free(&s->index, allocator);
}
