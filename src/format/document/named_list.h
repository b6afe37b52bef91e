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

#include "format/file/records.h"
#include "gufo/document.h"

/* What every record begins with. */
typedef struct named {
    gufo_str name;
    uint32_t node;
    bool gone;
    bool owns_name; /* a copy, which the list frees */
} named;

/* Frees what a record of `owner` owns besides its name: it is removed. */
typedef void named_drop(void *owner, void *record);

typedef struct named_list {
    records items; /* those that are gone, too */
    uint64_t count;
    name_index index;
    const char *what; /* a record is, in sentences: "key" */
    named_drop *drop; /* NULL: records own nothing else */
    void *owner;
    const gufo_allocator *allocator;
} named_list;

/* An empty list of records of `size` bytes.  It must stay where it is; `allocator` outlives it. */
void named_list_init(named_list *list, size_t size, const char *what,
                     const gufo_allocator *allocator);
void named_list_free(named_list *list);

static inline named *named_list_slot(const named_list *list, uint64_t slot)
{
    return records_at(&list->items, slot);
}

/* Makes room for `more` records: adding them then fails only where a name cannot be copied. */
gufo_status named_list_reserve(named_list *list, uint64_t more, gufo_error *error);
/* Adds a copy of `record` (all but its `named`) with a name that no other has.  The name is copied
 * if `owned`, else it must live as long as the record. */
gufo_status named_list_add(named_list *list, gufo_str name, bool owned, const void *record,
                           gufo_error *error);

/* The slot of the record with a name, and of the one at a position; false if none exists. */
bool named_list_find(const named_list *list, gufo_str name, uint64_t *slot);
bool named_list_seek(const named_list *list, uint64_t position, uint64_t *slot);
/* The position of the record in a slot. */
uint64_t named_list_position(const named_list *list, uint64_t slot);
/* The first record from *slot on, which moves behind it; NULL at the end. */
void *named_list_next(const named_list *list, uint64_t *slot);
/* As named_list_find, with GUFO_E_NOT_FOUND. */
gufo_status named_list_need(const named_list *list, gufo_str name, uint64_t *slot,
                            gufo_error *error);

/* Removes one record; the one with a name, if there is one; all that `select` chooses (NULL: all),
 * and returns how many they were. */
void named_list_remove(named_list *list, uint64_t slot);
bool named_list_remove_name(named_list *list, gufo_str name);
uint64_t named_list_remove_all(named_list *list, gufo_select_fn *select, void *context);

/* The slot of the record `from`, and whether it may be called `to`: no other may be. */
gufo_status named_list_check_rename(const named_list *list, gufo_str from, gufo_str to,
                                    uint64_t *slot, gufo_error *error);
/* Gives a record a copy of a name that no other has. */
gufo_status named_list_rename(named_list *list, uint64_t slot, gufo_str name, gufo_error *error);

#endif
