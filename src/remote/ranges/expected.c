/* Announced ranges; expected.h has the idea. */
#include "remote/ranges/expected.h"

#include <string.h>

#include "base/checked.h"

static void remove_at(expected_ranges *r, size_t i)
{
    r->count--;
    memmove(&r->list[i], &r->list[i + 1], (r->count - i) * sizeof r->list[0]);
}

void expected_add(expected_ranges *r, uint64_t begin, uint64_t end)
{
    size_t at = 0;

    if (begin >= end)
        return;
    while (at < r->count && capped_add(r->list[at].end, EXPECTED_GAP) < begin)
        at++;
    while (at < r->count && r->list[at].begin <= capped_add(end, EXPECTED_GAP)) {
        begin = smaller(begin, r->list[at].begin);
        end = larger(end, r->list[at].end);
        remove_at(r, at);
    }
    if (r->count ==
        EXPECTED_MOST) { /* usually read from front to back: the first one was read already */
        remove_at(r, 0);
        at -= at > 0;
    }
    memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof r->list[0]);
    r->list[at].begin = begin;
    r->list[at].end = end;
    r->count++;
}

uint64_t expected_end(const expected_ranges *r, uint64_t at)
{
    for (size_t i = 0; i < r->count; i++)
        if (at >= r->list[i].begin && at < r->list[i].end)
            return r->list[i].end;
    return at;
}
