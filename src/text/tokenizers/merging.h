/* Merging the symbols of a piece of text, pair by pair, the lowest rank first.
 *
 * A symbol is a number, whose meaning the caller knows. */
#ifndef TEXT_MERGING_H
#define TEXT_MERGING_H

#include "base/buffer.h"
#include "base/hash.h"

/* ==== which pairs of symbols become one, in which order, and what they become ================ */

#define NO_SYMBOL UINT32_MAX
#define NO_RANK UINT32_MAX

typedef struct merge_pair {
    uint32_t left, right, rank; /* rank NO_RANK: the place is empty */
} merge_pair;

typedef struct merge_pairs {
    merge_pair *pairs; /* an open table */
    uint32_t places;
    uint32_t *filter; /* bits: where no pair set one, none is; so small that it stays near */
    uint32_t filter_mask;
    hash_key key;
    uint32_t *results; /* symbols, by rank */
    uint32_t count;    /* merges */
} merge_pairs;

/* Room for so many merges; GUFO_E_MEMORY. */
gufo_status merge_pairs_open(merge_pairs *t, uint32_t count, const gufo_allocator *allocator,
                             gufo_error *error);
void merge_pairs_close(merge_pairs *t, const gufo_allocator *allocator);
/* Adds a pair, or finds the one that is there already, whose rank the caller may change. */
merge_pair *merge_pairs_put(merge_pairs *t, merge_pair pair);

/* A number for a pair.  The key is random, so that a file cannot choose pairs that meet. */
static inline uint64_t merge_hash(const merge_pairs *t, uint32_t left, uint32_t right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) ^ t->key.k0;

    mixed *= t->key.k1 | 1;
    mixed ^= mixed >> 32;
    return mixed * (t->key.k0 | 1);
}

/* Where the search for a pair begins. */
static inline uint32_t merge_place(const merge_pairs *t, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * t->places >> 32);
}

/* Asks for what merge_pairs_put will touch. */
static inline void merge_prefetch(const merge_pairs *t, merge_pair pair)
{
    uint64_t hash = merge_hash(t, pair.left, pair.right);

    __builtin_prefetch(&t->pairs[merge_place(t, hash)]);
    __builtin_prefetch(&t->filter[(uint32_t)hash >> 5 & t->filter_mask]);
}

/* The rank of a pair; NO_RANK: it is not merged. */
static inline uint32_t merge_rank(const merge_pairs *t, uint32_t left, uint32_t right)
{
    uint64_t hash = merge_hash(t, left, right);
    uint32_t place = merge_place(t, hash);

    if ((t->filter[(uint32_t)hash >> 5 & t->filter_mask] >> (hash & 31) & 1) == 0)
        return NO_RANK;
    for (;;) {
        const merge_pair *pair = &t->pairs[place];

        if ((pair->left == left && pair->right == right) || pair->rank == NO_RANK)
            return pair->rank;
        if (++place == t->places)
            place = 0;
    }
}

/* ==== merging ================================================================================ */

/* A symbol of a piece. */
typedef struct merge_part {
    uint32_t symbol; /* NO_SYMBOL: a text that no merge knows */
    uint32_t begin;  /* bytes before it */
    uint32_t rank;   /* of the pair with the next one */
} merge_part;

typedef struct merging {
    const merge_pairs *table;
    merge_part *parts;
    uint32_t count;
    uint32_t end;       /* bytes of the piece */
    buffer links, heap; /* for long pieces */
    /* Called before two parts become one; may be NULL.  `end` is where the second one ends. */
    void (*watch)(void *context, const merge_part *left, const merge_part *right, uint32_t end);
    void *context;
} merging;

/* The rank of two symbols; NO_RANK: they are not merged. */
static inline uint32_t rank_of_pair(const merge_pairs *table, uint32_t left, uint32_t right)
{
    return left == NO_SYMBOL || right == NO_SYMBOL ? NO_RANK : merge_rank(table, left, right);
}

/* Merges parts[0 .. count) as far as possible; all is given, the last one's rank is NO_RANK.  False
 * without memory. */
bool merge_parts(merging *m);
void merging_free(merging *m);

#endif
