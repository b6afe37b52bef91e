/* The memory of a cache of pieces. */
#include "text/tokenizers/piece_cache.h"

#include "base/memory.h"

enum { SHORT_TEXT = 4096 };

/* Without memory it goes on without a cache. */
bool piece_cache_start(piece_cache *cache, size_t len)
{
    cache->asked += len;
    if (cache->asked < SHORT_TEXT)
        return false;
    cache->asked = 0;
    cache->pieces = mem_array(cache->allocator, CACHED_PIECES, sizeof *cache->pieces);
    return cache->pieces != NULL;
}

void piece_cache_free(piece_cache *cache)
{
    mem_free(cache->allocator, cache->pieces);
    cache->pieces = NULL;
}
