/* A list of records that have names: kept in the order in which they were added, found by name and
 * by position, removed and renamed, each in (nearly) constant time.
 *
 * A record that is removed keeps its slot and is only marked, until half of all are gone: then the
 * others move together.  A tree that counts (Fenwick 1994) leads from a position to its record:
 * node i counts how many of the last i & -i records up to record i exist.
 *
 *     slot        0    1    2    3    4    5
 *     record      a    -    b    -    -    c        1, 3 and 4 are gone
 *     position    0         1              2
 *     node i+1    1    1    1    2    0    1
 *
 * A slot is where a record is now: removing may move records, adding does not. */
#ifndef GUFO_FORMAT_NAMED_LIST_H
#define GUFO_FORMAT_NAMED_LIST_H

#include "format/file/name_index.h"
#include "format/file/records.h"

/* What every record begins with. */
typedef struct named {
    gufo_str name;
    uint32_t node;
    bool gone;
    bool owns_name; /* a copy, which named_free_name frees */
} named;

typedef struct named_list {
    records items; /* those that are gone, too */
    uint64_t count;
    name_index index;
} named_list;

/* An empty list of records of `size` bytes, which must stay where it is. */
void named_list_init(named_list *list, size_t size);
/* Frees the list, not what its records own. */
void named_list_free(named_list *list, const gufo_allocator *allocator);

static inline named *named_list_slot(const named_list *list, uint64_t slot)
{
    return records_at(&list->items, slot);
}

/* Makes room for `more` records: adding them then fails only where a name cannot be copied. */
gufo_status named_list_reserve(named_list *list, uint64_t more, const gufo_allocator *allocator,
                               gufo_error *error);
/* Adds a record, zeroed except for its name, which no other has.  The name is copied if `owned`,
 * else it must live as long as the record.  NULL without memory. */
void *named_list_add(named_list *list, gufo_str name, bool owned, const gufo_allocator *allocator,
                     gufo_error *error);

/* The slot of the record with a name, and of the one at a position; false if there is none. */
bool named_list_find(const named_list *list, gufo_str name, uint64_t *slot);
bool named_list_seek(const named_list *list, uint64_t position, uint64_t *slot);
/* The position of the record in a slot. */
uint64_t named_list_position(const named_list *list, uint64_t slot);

/* Removes one record. */
void named_list_remove(named_list *list, uint64_t slot);

typedef bool named_select(void *context, gufo_str name);

/* Marks all that `select` chooses (NULL: all) as gone, so that nothing else is; returns how many
 * they are.  Then named_list_sweep removes them. */
uint64_t named_list_mark(named_list *list, named_select *select, void *context);
void named_list_sweep(named_list *list);

/* Gives a record a copy of a name that no other has. */
gufo_status named_list_rename(named_list *list, uint64_t slot, gufo_str name,
                              const gufo_allocator *allocator, gufo_error *error);
/* Frees the name of a record that was removed. */
void named_free_name(const named *n, const gufo_allocator *allocator);

#endif
