/* The default allocator, and the code that every allocation shares. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

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

void *mem_array(const gufo_allocator *allocator, uint64_t count, size_t size)
{
    uint64_t bytes;

    return checked_mul(count, size, &bytes) && bytes < SIZE_MAX
               ? mem_zero(allocator, (size_t)bytes + (bytes == 0))
               : NULL;
}

void *mem_object(const gufo_allocator *given, size_t size, gufo_error *error)
{
    gufo_allocator *object = mem_zero(mem_allocator(given), size);

    if (object != NULL)
        *object = *mem_allocator(given);
    else
        (void)fail_memory(error);
    return object;
}

/* Doubles, so that adding one by one is linear. */
void *mem_grow(const gufo_allocator *allocator, void *list, uint64_t count, uint64_t *room,
               size_t size)
{
    uint64_t wanted = 2 * *room + 8, bytes;
    void *larger;

    if (count < *room)
        return list;
    if (!checked_mul(wanted, size, &bytes) || bytes > SIZE_MAX)
        return NULL;
    larger = mem_resize(allocator, list, (size_t)bytes);
    if (larger != NULL)
        *room = wanted;
    return larger;
}

void *mem_copy(const gufo_allocator *allocator, const void *bytes, size_t size)
{
    void *copy = mem_alloc(allocator, size);

    return copy != NULL ? memcpy(copy, bytes, size) : NULL;
}

char *mem_text(const gufo_allocator *allocator, gufo_str text)
{
    return mem_join(allocator, text, (gufo_str){"", 0});
}

char *mem_join(const gufo_allocator *allocator, gufo_str begin, gufo_str end)
{
    char *text = mem_alloc(allocator, begin.len + end.len + 1);

    if (text == NULL)
        return NULL;
    if (begin.len > 0)
        memcpy(text, begin.data, begin.len);
    memcpy(text + begin.len, end.data, end.len);
    text[begin.len + end.len] = '\0';
    return text;
}
