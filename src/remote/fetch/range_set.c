/* Sets of ranges; range_set.h has the interface. */
#include "remote/fetch/range_set.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/sort.h"

static bool ends_before(const void *ranges, size_t row, const void *place)
{
    return ((const byte_range *)ranges)[row].end < *(const uint64_t *)place;
}

/* The first range that ends at `place` or later. */
static size_t first_from(const range_set *set, uint64_t place)
{
    return set->count > 0 ? first_row_from(set->ranges, (size_t)set->count, ends_before, &place)
                          : 0;
}

static bool insert(range_set *set, size_t row, byte_range range)
{
    byte_range *list =
        mem_grow(mem_allocator(set->allocator), set->ranges, set->count, &set->room, sizeof *list);

    if (list == NULL)
        return false;
    set->ranges = list;
    memmove(&list[row + 1], &list[row], (size_t)(set->count - row) * sizeof *list);
    list[row] = range;
    set->count++;
    return true;
}

bool range_set_add(range_set *set, byte_range range)
{
    size_t row = first_from(set, range.first), last = row;

    if (range.first == range.end)
        return true;
    while (last < set->count && set->ranges[last].first <= range.end)
        last++;
    if (last == row)
        return insert(set, row, range);
    range.first = smaller(range.first, set->ranges[row].first);
    range.end = larger(range.end, set->ranges[last - 1].end);
    set->ranges[row] = range;
    memmove(&set->ranges[row + 1], &set->ranges[last],
            (size_t)(set->count - last) * sizeof *set->ranges);
    set->count -= last - row - 1;
    return true;
}

bool range_set_take(range_set *set, range_set *more)
{
    bool good = true;

    for (uint64_t i = 0; i < more->count && good; i++)
        good = range_set_add(set, more->ranges[i]);
    range_set_clear(more);
    return good;
}

bool range_set_gap(const range_set *set, uint64_t from, uint64_t end, byte_range *gap)
{
    size_t row = first_from(set, from);

    if (row < set->count && set->ranges[row].first <= from)
        from = set->ranges[row++].end;
    if (from >= end)
        return false;
    *gap = (byte_range){from, row < set->count ? smaller(end, set->ranges[row].first) : end};
    return true;
}

uint64_t range_set_bytes(const range_set *set)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < set->count; i++)
        bytes += set->ranges[i].end - set->ranges[i].first;
    return bytes;
}

void range_set_clear(range_set *set)
{
    mem_free(mem_allocator(set->allocator), set->ranges);
    *set = (range_set){.allocator = set->allocator};
}
