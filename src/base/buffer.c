/* A growing buffer: doubles, so that appending is linear. */
#include "base/buffer.h"
#include "base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 256 };

void *buffer_extend(buffer *b, uint64_t size)
{
    size_t capacity = b->capacity == 0 ? FIRST_CAPACITY : b->capacity;
    uint8_t *bigger;

    if (size > SIZE_MAX / 2 - b->len)
        return NULL;
    while (capacity < b->len + size)
        capacity *= 2;
    if (capacity > b->capacity) {
        bigger = mem_resize(b->allocator, b->data, capacity);
        if (bigger == NULL)
            return NULL;
        b->data = bigger;
        b->capacity = capacity;
    }
    b->len += (size_t)size;
    return b->data + (b->len - size);
}

bool buffer_append(buffer *b, const void *bytes, uint64_t size)
{
    void *room = buffer_extend(b, size);

    if (room != NULL && size > 0)
        memcpy(room, bytes, (size_t)size);
    return room != NULL;
}

void buffer_free(buffer *b)
{
    if (b->data != NULL)
        mem_free(b->allocator, b->data);
    *b = (buffer){.allocator = b->allocator};
}
