/* Memory from the caller's allocator. */
#ifndef GUFO_BASE_MEMORY_H
#define GUFO_BASE_MEMORY_H

#include "gufo/base.h"

/* malloc, realloc and free as a gufo_allocator. */
extern const gufo_allocator default_allocator;

/* The one that a caller gives; the default one where it gives none. */
static inline const gufo_allocator *mem_allocator(const gufo_allocator *given)
{
    return given != NULL ? given : &default_allocator;
}

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

/* Zeroed memory; for `count` elements of `size` bytes, of which there may be none. */
void *mem_zero(const gufo_allocator *allocator, size_t size);
void *mem_array(const gufo_allocator *allocator, uint64_t count, size_t size);

/* An object, zeroed, whose first member is its allocator: `given`, or the default one for NULL. */
void *mem_object(const gufo_allocator *given, size_t size, gufo_error *error);

/* A list of `count` elements of `size` bytes with room for one more; *room is how many it holds.
 * NULL without memory: then the list is as it was. */
void *mem_grow(const gufo_allocator *allocator, void *list, uint64_t count, uint64_t *room,
               size_t size);

/* A copy of bytes. */
void *mem_copy(const gufo_allocator *allocator, const void *bytes, size_t size);
/* A terminated copy of text; of one text after the other. */
char *mem_text(const gufo_allocator *allocator, gufo_str text);
char *mem_join(const gufo_allocator *allocator, gufo_str begin, gufo_str end);

#endif
