/* Text that grows: its room doubles. */
#include "text/vocabulary/grown_text.h"

#include "base/memory.h"

#include <string.h>

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
