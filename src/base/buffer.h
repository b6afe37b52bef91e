/* Growing buffers: of bytes, and of text (gufo_text), which callers of the library may hold. */
#ifndef GUFO_BASE_BUFFER_H
#define GUFO_BASE_BUFFER_H

#include "gufo/base.h"

typedef struct buffer {
    uint8_t *data;
    size_t len, capacity;
    const gufo_allocator *allocator;
} buffer;

/* Room for `size` more bytes at the end, which count as used; NULL without memory. */
void *buffer_extend(buffer *buffer, uint64_t size);
/* Appends bytes; false without memory.  `bytes` of no size may be NULL. */
bool buffer_append(buffer *buffer, const void *bytes, uint64_t size);
void buffer_free(buffer *buffer);

/* Room for `more` further bytes; false without memory. */
bool text_reserve(gufo_text *text, size_t more);
/* Appends bytes; false without memory. */
bool text_add(gufo_text *text, const char *data, size_t len);

/* Appends a byte for which there is room. */
static inline void text_put_byte(gufo_text *text, char byte)
{
    text->data[text->len++] = byte;
}

#endif
