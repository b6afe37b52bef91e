/* The default allocator, and the code that every allocation shares. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *heap_resize(void *context, void *block, size_t size)
{
    (void)context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

const gufo_allocator default_allocator = {heap_resize, NULL};

void *mem_zero(const gufo_allocator *allocator, size_t size)
{
    void *block = mem_alloc(allocator, size);

    if (block != NULL)
        memset(block, 0, size);
    return block;
}

char *mem_text(const gufo_allocator *allocator, gufo_str text)
{
    char *copy = mem_alloc(allocator, text.len + 1);

    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}
