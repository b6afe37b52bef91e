/* The memory of a cache of pieces. */
#include "text/tokenizers/piece_cache.h"

#include "base/memory.h"

enum { SHORT_TEXT = 4096, LINE = sizeof(cached_piece) };

_Static_assert(LINE == 64, "an entry is a cache line");

/* Without memory it goes on without a cache. */
bool piece_cache_start(piece_cache *cache, size_t len)
{
    char *memory;

    cache->asked += len;
    if (cache->asked < SHORT_TEXT)
        return false;
    cache->asked = 0;
    cache->memory = memory = mem_array(cache->allocator, CACHED_PIECES + 1, LINE);
    if (memory == NULL)
        return false;
    memory += (LINE - (uintptr_t)memory % LINE) % LINE;
    cache->pieces = (cached_piece *)(void *)memory;
    return true;
}

void piece_cache_free(piece_cache *cache)
{
    mem_free(cache->allocator, cache->memory);
    cache->memory = cache->pieces = NULL;
}
