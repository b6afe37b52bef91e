/* Bands of rows that several threads read at once, and units of work share.
 *
 * A unit of work wants some rows, which are columns of the file: short runs of bytes, and a reading for
 * each of them.  So many rows are read together, once, by all threads that want some of them. */
#ifndef IMPORT_PACKED_CACHE_H
#define IMPORT_PACKED_CACHE_H

#include "import/packed/band.h"

enum { PACKED_CACHE_SLOTS = 2, PACKED_CACHE_BAND = 8 << 20 };

/* What it takes at most, in bytes. */
#define PACKED_CACHE_BYTES ((uint64_t)PACKED_CACHE_SLOTS * PACKED_CACHE_BAND)

/* NULL without memory.  It outlives the weights that use it. */
struct packed_cache *packed_cache_new(const gufo_allocator *allocator, gufo_error *error);
void packed_cache_free(struct packed_cache *c);

/* Whether bands help to read a weight. */
static inline bool packed_shares(const packed_weight *w)
{
    return w->cache != NULL && w->kind->integers != NULL && w->kind->integers->groups_first;
}

/* The band that has a row of a weight, read whole; *out stays until it is given back.  NULL: all bands
 * are in use, or such rows are too long.  Any thread. */
gufo_status packed_cache_take(struct packed_cache *c, const packed_weight *w, uint64_t row,
                              const band **out, gufo_error *error);
void packed_cache_give_back(struct packed_cache *c, const band *b);

#endif
