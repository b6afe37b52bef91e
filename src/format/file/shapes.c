/* Shapes that tensors share; records.h has the idea. */
#include "format/file/records.h"

#include <string.h>

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
