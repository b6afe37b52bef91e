/* Lists of ids, and texts, that grow. */
#include "text/tokenizers/algorithm.h"

#include "base/memory.h"

bool ids_reserve(gufo_ids *ids, size_t more)
{
    const gufo_allocator *allocator = mem_allocator(ids->allocator);
    size_t room = ids->room < 64 ? 64 : ids->room;
    uint32_t *grown;

    while (room - ids->count < more) {
        if (room > SIZE_MAX / 2 / sizeof(uint32_t))
            return false;
        room *= 2;
    }
    if (room == ids->room)
        return true;
    grown = mem_resize(allocator, ids->ids, room * sizeof(uint32_t));
    if (grown == NULL)
        return false;
    ids->ids = grown;
    ids->room = room;
    return true;
}

void gufo_ids_free(gufo_ids *ids)
{
    if (ids == NULL)
        return;
    mem_free(mem_allocator(ids->allocator), ids->ids);
    *ids = (gufo_ids){.allocator = ids->allocator};
}
