/* Memory is cut from chunks that double in size; nothing is given back before all of it.  A
 * rendering is short, its limit is small, and values may share parts without counting owners. */
#include "template/values/heap.h"

#include <stdalign.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, ALIGNMENT = 16 };

typedef struct heap_chunk {
    struct heap_chunk *next;
    alignas(ALIGNMENT) char data[];
} heap_chunk;

void heap_init(heap *memory, const gufo_allocator *allocator, uint64_t limit, gufo_error *error)
{
    *memory = (heap){.allocator = *mem_allocator(allocator),
                     .limit = limit,
                     .text_limit = UINT64_MAX,
                     .error = error};
}

void heap_return(heap *memory, const heap *mark)
{
    while (memory->chunks != mark->chunks) {
        heap_chunk *next = memory->chunks->next;

        mem_free(&memory->allocator, memory->chunks);
        memory->chunks = next;
    }
    memory->free = mark->free;
    memory->left = mark->left;
    memory->used = mark->used;
}

void heap_free(heap *memory)
{
    heap_return(memory, &(heap){0});
}

static void *fail(heap *memory, gufo_status status)
{
    if (memory->status != GUFO_OK)
        return NULL;
    memory->status = status;
    if (status == GUFO_E_LIMIT)
        (void)refuse(memory->error, GUFO_E_LIMIT, "values take more than %s bytes",
                     GROUPED(memory->limit));
    else
        (void)fail_memory(memory->error);
    return NULL;
}

/* A chunk with room for `size` bytes. */
static heap_chunk *add_chunk(heap *memory, size_t size)
{
    heap_chunk *chunk;
    uint64_t whole;

    if (!checked_add(size, sizeof(heap_chunk), &whole) || whole > SIZE_MAX ||
        memory->used > memory->limit || whole > memory->limit - memory->used)
        return fail(memory, GUFO_E_LIMIT);
    chunk = mem_alloc(&memory->allocator, (size_t)whole);
    if (chunk == NULL)
        return fail(memory, GUFO_E_MEMORY);
    memory->used += whole;
    chunk->next = memory->chunks;
    memory->chunks = chunk;
    return chunk;
}

void *heap_take(heap *memory, uint64_t size)
{
    uint64_t need;
    heap_chunk *chunk;
    size_t grown;
    void *taken;

    if (!checked_align(size == 0 ? 1 : size, ALIGNMENT, &need) || need > SIZE_MAX / 2)
        return fail(memory, GUFO_E_LIMIT);
    if (need > memory->left && need > LARGEST_CHUNK / 8) {
        chunk = add_chunk(memory, (size_t)need);
        return chunk == NULL ? NULL : chunk->data;
    }
    if (need > memory->left) {
        grown = (size_t)smaller(larger(memory->used, FIRST_CHUNK), LARGEST_CHUNK);
        grown = (size_t)smaller(grown, memory->limit - smaller(memory->limit, memory->used));
        grown = (size_t)larger(grown > sizeof(heap_chunk) ? grown - sizeof(heap_chunk) : 0, need);
        chunk = add_chunk(memory, grown);
        if (chunk == NULL)
            return NULL;
        memory->free = chunk->data;
        memory->left = grown;
    }
    taken = memory->free;
    memory->free += need;
    memory->left -= (size_t)need;
    return taken;
}

void *heap_array(heap *memory, uint64_t count, size_t size)
{
    uint64_t bytes;

    if (!checked_mul(count, size, &bytes))
        return fail(memory, GUFO_E_LIMIT);
    return heap_take(memory, bytes);
}
