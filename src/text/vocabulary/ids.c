/* Lists of ids that grow. */
#include "text/vocabulary/ids.h"

#include <string.h>

#include "base/memory.h"

static bool resize_spans(gufo_ids *ids, size_t room)
{
    gufo_span *grown =
        room <= SIZE_MAX / sizeof *grown
            ? mem_resize(mem_allocator(ids->allocator), ids->spans, room * sizeof *grown)
            : NULL;

    if (grown == NULL)
        return false;
    memset(grown + ids->count, 0, (room - ids->count) * sizeof *grown);
    ids->spans = grown;
    return true;
}

bool ids_reserve(gufo_ids *ids, size_t more)
{
    size_t room = ids->room < 64 ? 64 : ids->room;
    uint32_t *grown;

    while (room - ids->count < more) {
        if (room > SIZE_MAX / 2 / sizeof(uint32_t))
            return false;
        room *= 2;
    }
    if (room == ids->room)
        return true;
    if (ids->spans != NULL && !resize_spans(ids, room))
        return false;
    grown = mem_resize(mem_allocator(ids->allocator), ids->ids, room * sizeof(uint32_t));
    if (grown == NULL)
        return false;
    ids->ids = grown;
    ids->room = room;
    return true;
}

bool ids_reserve_spans(gufo_ids *ids)
{
    if (ids->spans != NULL || ids->room == 0)
        return true;
    if (!resize_spans(ids, ids->room))
        return false;
    memset(ids->spans, 0, ids->count * sizeof *ids->spans);
    return true;
}

bool ids_append(gufo_ids *ids, const gufo_ids *more)
{
    if (more->count == 0)
        return true;
    if (!ids_reserve(ids, more->count) || (more->spans != NULL && !ids_reserve_spans(ids)))
        return false;
    memcpy(ids->ids + ids->count, more->ids, more->count * sizeof *ids->ids);
    if (more->spans != NULL)
        memcpy(ids->spans + ids->count, more->spans, more->count * sizeof *ids->spans);
    else if (ids->spans != NULL)
        memset(ids->spans + ids->count, 0, more->count * sizeof *ids->spans);
    ids->count += more->count;
    return true;
}

void gufo_ids_free(gufo_ids *ids)
{
    if (ids == NULL)
        return;
    mem_free(mem_allocator(ids->allocator), ids->ids);
    mem_free(mem_allocator(ids->allocator), ids->spans);
    *ids = (gufo_ids){.allocator = ids->allocator};
}
