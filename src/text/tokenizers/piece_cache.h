/* A small memory of pieces and their ids, for one thread.
 *
 * Texts repeat words.  Each piece has one place, and a piece that comes later takes it: memory is
 * bounded, and no choice of pieces makes it slower than encoding them again. */
#ifndef TEXT_PIECE_CACHE_H
#define TEXT_PIECE_CACHE_H

#include <string.h>

#include "gufo/base.h"

#define CACHED_BYTES 32
#define CACHED_IDS 7

/* The bytes of a piece as four words, which overlap: with the length, they are the piece. */
typedef struct piece_key {
    uint64_t words[4];
} piece_key;

/* As long as a cache line. */
typedef struct cached_piece {
    piece_key key;
    uint32_t ids[CACHED_IDS];
    uint8_t len, count; /* len 0: empty */
} cached_piece;

typedef struct piece_cache {
    const gufo_allocator *allocator;
    cached_piece *places;
    uint32_t count; /* places: a power of two */
    uint32_t taken; /* since it grew */
} piece_cache;

static inline uint64_t word_at(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

static inline uint64_t half_word_at(const char *text)
{
    uint32_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

/* Of 1 to CACHED_BYTES bytes. */
static inline piece_key piece_key_of(gufo_str piece)
{
    const char *at = piece.data;
    size_t len = piece.len;

    if (len >= 16)
        return (piece_key){
            {word_at(at), word_at(at + 8), word_at(at + len - 16), word_at(at + len - 8)}};
    if (len >= 8)
        return (piece_key){{word_at(at), word_at(at + len - 8), 0, 0}};
    if (len >= 4)
        return (piece_key){{half_word_at(at) | half_word_at(at + len - 4) << 32, 0, 0, 0}};
    return (piece_key){{(uint8_t)at[0] | (uint64_t)(uint8_t)at[len / 2] << 8 |
                            (uint64_t)(uint8_t)at[len - 1] << 16,
                        0, 0, 0}};
}

static inline bool piece_key_equal(const piece_key *a, const piece_key *b)
{
    return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
            (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3])) == 0;
}

/* Its place; NULL while the cache has none. */
static inline cached_piece *piece_place(const piece_cache *cache, const piece_key *key, size_t len)
{
    uint64_t mixed = (key->words[0] ^ len) * 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ mixed >> 29 ^ key->words[1]) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 32 ^ key->words[2] ^ key->words[3] << 7) * 0x94D049BB133111EBu;
    return &cache->places[(uint32_t)(mixed >> 40) & (cache->count - 1)];
}

/* Puts a piece in its place.  Without memory, less is remembered. */
void piece_cache_put(piece_cache *cache, const piece_key *key, size_t len, const uint32_t *ids,
                     size_t count);
/* False without memory. */
bool piece_cache_open(piece_cache *cache, const gufo_allocator *allocator);
void piece_cache_close(piece_cache *cache);

#endif
