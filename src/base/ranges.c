/* Sets of bytes; ranges.h has the purpose. */
#include "base/ranges.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 16 };

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

static bool make_room(ranges *set)
{
    size_t capacity = set->capacity == 0 ? FIRST_CAPACITY : 2 * set->capacity;
    struct range *bigger;

    if (set->count < set->capacity)
        return true;
    bigger = mem_resize(set->allocator, set->list, capacity * sizeof *bigger);
    if (bigger == NULL)
        return false;
    set->list = bigger;
    set->capacity = capacity;
    return true;
}

bool ranges_add(ranges *set, uint64_t begin, uint64_t end)
{
    size_t first = first_ending_at(set, begin), last = first;
    struct range joined = {begin, end};

    /* Ranges first .. last - 1 overlap or touch the new one, which takes them in. */
    for (; last < set->count && set->list[last].begin <= end; last++) {
        if (set->list[last].begin < joined.begin)
            joined.begin = set->list[last].begin;
        if (set->list[last].end > joined.end)
            joined.end = set->list[last].end;
    }
    if (first == last && !make_room(set))
        return false;
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
