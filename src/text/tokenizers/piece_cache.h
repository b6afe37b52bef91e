/* Ids of pieces that were encoded before: most words of a text come again.
 *
 * Each piece has one place; another piece with the same place takes it.  An entry is a cache line.
 * A short text is encoded before the memory of a cache is cleared: only longer ones
 * get one. */
#ifndef TEXT_PIECE_CACHE_H
#define TEXT_PIECE_CACHE_H

#include "text/tokenizers/algorithm.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

enum { CACHED_BYTES = 24, CACHED_IDS = 9, CACHED_PIECES = 32768 };

typedef struct cached_piece {
    uint64_t key[CACHED_BYTES / 8];
    uint8_t len; /* of the piece; 0: an empty place */
    uint8_t count;
    uint32_t ids[CACHED_IDS];
} cached_piece;

/* {.allocator = ...} is empty. */
typedef struct piece_cache {
    const gufo_allocator *allocator;
    cached_piece *pieces; /* CACHED_PIECES; NULL: too little was asked for yet */
    void *memory;         /* in which they are */
    size_t asked;         /* bytes */
} piece_cache;

/* Whether it has pieces, now that one more of `len` bytes is asked for. */
bool piece_cache_start(piece_cache *cache, size_t len);
void piece_cache_free(piece_cache *cache);

/* What a piece of 1 to CACHED_BYTES bytes is found by. */
typedef struct piece_key {
    uint64_t words[CACHED_BYTES / 8];
    size_t place;
} piece_key;

static inline piece_key piece_cache_key(gufo_str piece)
{
    size_t len = piece.len;
    piece_key key = {{load_start(piece.data, len)}, 0};
    uint64_t hash;

    key.words[1] = len > 8 ? load_start(piece.data + 8, len - 8) : 0;
    key.words[2] = len > 16 ? load_start(piece.data + 16, len - 16) : 0;
    hash = (key.words[0] ^ len) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ key.words[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ key.words[2]) * UINT64_C(0x94d049bb133111eb);
    key.place = hash >> 40 & (CACHED_PIECES - 1);
    return key;
}

/* The place of a piece of 1 to CACHED_BYTES bytes.  *found says whether its ids are there; else the
 * place has its key.  NULL: none yet. */
static inline cached_piece *piece_cache_at(piece_cache *cache, gufo_str piece, bool *found)
{
    piece_key key = piece_cache_key(piece);
    cached_piece *place;

    *found = false;
    if (cache->pieces == NULL && !piece_cache_start(cache, piece.len))
        return NULL;
    place = &cache->pieces[key.place];
    *found = place->len == piece.len && memcmp(place->key, key.words, sizeof place->key) == 0;
    if (!*found) {
        memcpy(place->key, key.words, sizeof place->key);
        place->len = 0;
    }
    return place;
}

/* Keeps the ids that the piece of a place gave: those from `before` on; it may be NULL. */
static inline void piece_cache_keep(cached_piece *place, size_t len, const gufo_ids *out,
                                    size_t before)
{
    size_t count = out->count - before;

    if (place == NULL || count > CACHED_IDS)
        return;
    place->len = (uint8_t)len;
    place->count = (uint8_t)count;
    if (count > 0)
        memcpy(place->ids, out->ids + before, count * sizeof *out->ids);
}

/* Appends the ids of a place; false without memory. */
static inline bool piece_cache_add(const cached_piece *place, gufo_ids *out)
{
    if (out->room - out->count < CACHED_IDS && !ids_reserve(out, CACHED_IDS))
        return false;
    memcpy(out->ids + out->count, place->ids, sizeof place->ids);
    out->count += place->count;
    return true;
}

/* How an algorithm encodes a piece that is not in the cache. */
typedef gufo_status piece_encoder(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error);

/* Encodes a piece with what the cache knows, unless it is traced. */
static inline gufo_status piece_cache_encode(piece_cache *cache, piece_encoder *encode,
                                             tokenizing *t, gufo_str piece, gufo_ids *out,
                                             gufo_error *error)
{
    size_t before = out->count;
    cached_piece *place;
    gufo_status status;
    bool found;

    if (piece.len > CACHED_BYTES || t->traced)
        return encode(t, piece, out, error);
    place = piece_cache_at(cache, piece, &found);
    if (found)
        return piece_cache_add(place, out) ? GUFO_OK : fail_memory(error);
    status = encode(t, piece, out, error);
    if (status == GUFO_OK && out->count > before)
        piece_cache_keep(place, piece.len, out, before);
    return status;
}

#endif
