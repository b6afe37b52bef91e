/* A growing buffer of bytes. */
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

#endif
