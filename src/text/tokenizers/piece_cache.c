/* A small memory of pieces and their ids: it grows while pieces come, up to half a megabyte. */
#include "text/tokenizers/piece_cache.h"

#include "base/memory.h"

#define FIRST_PLACES 64
#define MOST_PLACES 8192

bool piece_cache_open(piece_cache *cache, const gufo_allocator *allocator)
{
    cache->allocator = allocator;
    cache->count = FIRST_PLACES;
    cache->places = mem_array(allocator, FIRST_PLACES, sizeof *cache->places);
    return cache->places != NULL;
}

void piece_cache_close(piece_cache *cache)
{
    mem_free(cache->allocator, cache->places);
}

/* The pieces move to their places in the larger one. */
static void grow(piece_cache *cache)
{
    piece_cache larger = {.allocator = cache->allocator, .count = cache->count * 4};

    larger.places = mem_array(cache->allocator, larger.count, sizeof *larger.places);
    if (larger.places == NULL)
        return;
    for (uint32_t i = 0; i < cache->count; i++) {
        const cached_piece *piece = &cache->places[i];

        if (piece->len > 0)
            *piece_place(&larger, &piece->key, piece->len) = *piece;
    }
    piece_cache_close(cache);
    *cache = larger;
}

void piece_cache_put(piece_cache *cache, const piece_key *key, size_t len, const uint32_t *ids,
                     size_t count)
{
    cached_piece *place;

    if (cache->count < MOST_PLACES && ++cache->taken > cache->count / 2)
        grow(cache);
    place = piece_place(cache, key, len);
    place->key = *key;
    place->len = (uint8_t)len;
    place->count = (uint8_t)count;
    memcpy(place->ids, ids, count * sizeof *ids);
}
