/* Growing buffers double, so that appending is linear. */
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

bool text_reserve(gufo_text *text, size_t more)
{
    size_t room = text->room < 64 ? 64 : text->room;
    char *grown;

    if (more > SIZE_MAX / 4 - text->len)
        return false;
    while (room - text->len < more)
        room *= 2;
    if (room == text->room)
        return true;
    grown = mem_resize(mem_allocator(text->allocator), text->data, room);
    if (grown == NULL)
        return false;
    text->data = grown;
    text->room = room;
    return true;
}

bool text_add(gufo_text *text, const char *data, size_t len)
{
    if (!text_reserve(text, len))
        return false;
    if (len > 0)
        memcpy(text->data + text->len, data, len);
    text->len += len;
    return true;
}

void gufo_text_free(gufo_text *text)
{
    if (text == NULL)
        return;
    mem_free(mem_allocator(text->allocator), text->data);
    *text = (gufo_text){.allocator = text->allocator};
}
