/* Holes, by offset; neighbours join. */
#include "estimate/arena.h"

#include <string.h>

#include "estimate/estimator.h"

#define ALIGNMENT 32

static void remove_hole(arena *a, size_t index)
{
    a->count--;
    memmove(&a->holes[index], &a->holes[index + 1], (a->count - index) * sizeof *a->holes);
}

hole arena_take(arena *a, uint64_t bytes)
{
    uint64_t size = amount_align(&a->is_too_large, bytes, ALIGNMENT);
    size_t best = a->count;
    hole taken;

    for (size_t i = 0; i < a->count; i++)
        if (a->holes[i].size >= size &&
            (best == a->count || a->holes[i].size <= a->holes[best].size))
            best = i;
    if (best == a->count) {
        taken = (hole){a->end, size};
        a->end = amount_plus(&a->is_too_large, a->end, size);
        a->peak = larger(a->peak, a->end);
        return taken;
    }
    taken = (hole){a->holes[best].offset, size};
    a->holes[best].offset += size;
    a->holes[best].size -= size;
    if (a->holes[best].size == 0)
        remove_hole(a, best);
    return taken;
}

/* Joins a hole with the next one, or with the end. */
static void join_hole(arena *a, size_t index)
{
    hole *one = &a->holes[index];

    if (index + 1 < a->count && one->offset + one->size == one[1].offset) {
        one->size += one[1].size;
        remove_hole(a, index + 1);
    }
    if (index + 1 == a->count && one->offset + one->size == a->end) {
        a->end = one->offset;
        a->count--;
    }
}

void arena_release(arena *a, hole freed)
{
    size_t at = 0;

    if (freed.size == 0 || a->count == ARENA_HOLES)
        return;
    while (at < a->count && a->holes[at].offset < freed.offset)
        at++;
    memmove(&a->holes[at + 1], &a->holes[at], (a->count - at) * sizeof *a->holes);
    a->holes[at] = freed;
    a->count++;
    join_hole(a, at);
    if (at > 0 && at <= a->count)
        join_hole(a, at - 1);
}
