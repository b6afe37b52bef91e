/* Sets of bytes; ranges.h has the purpose. */
#include "base/ranges.h"

#include <string.h>

#include "base/memory.h"

/* The first range that ends at or behind `position`. */
static size_t first_ending_at(const ranges *set, uint64_t position)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->list[middle].end < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ranges_add(ranges *set, uint64_t begin, uint64_t end)
{
    size_t first = first_ending_at(set, begin), last = first;
    struct range joined = {begin, end}, *list;

    /* Ranges first .. last - 1 overlap or touch the new one, which takes them in. */
    for (; last < set->count && set->list[last].begin <= end; last++) {
        if (set->list[last].begin < joined.begin)
            joined.begin = set->list[last].begin;
        if (set->list[last].end > joined.end)
            joined.end = set->list[last].end;
    }
    list = mem_grow(set->allocator, set->list, set->count - (last - first), &set->capacity,
                    sizeof *list);
    if (list == NULL)
        return false;
    set->list = list;
    memmove(&set->list[first + 1], &set->list[last], (set->count - last) * sizeof *set->list);
    set->list[first] = joined;
    set->count = set->count + 1 - (last - first);
    return true;
}

bool ranges_cover(const ranges *set, uint64_t begin, uint64_t end)
{
    size_t at = first_ending_at(set, end);

    return begin == end || (at < set->count && set->list[at].begin <= begin);
}

void ranges_free(ranges *set)
{
    mem_free(set->allocator, set->list);
    *set = (ranges){.allocator = set->allocator};
}
