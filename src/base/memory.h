/* Memory from the caller's allocator. */
#ifndef GUFO_BASE_MEMORY_H
#define GUFO_BASE_MEMORY_H

#include "gufo/base.h"

/* malloc, realloc and free as a gufo_allocator. */
extern const gufo_allocator default_allocator;

static inline void *mem_resize(const gufo_allocator *allocator, void *block, size_t size)
{
    return allocator->resize(allocator->context, block, size);
}

static inline void *mem_alloc(const gufo_allocator *allocator, size_t size)
{
    return mem_resize(allocator, NULL, size);
}

static inline void mem_free(const gufo_allocator *allocator, void *block)
{
    if (block != NULL)
        (void)mem_resize(allocator, block, 0);
}

/* Zeroed memory. */
void *mem_zero(const gufo_allocator *allocator, size_t size);

/* A terminated copy of text. */
char *mem_text(const gufo_allocator *allocator, gufo_str text);

#endif
