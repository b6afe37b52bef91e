/* The merges of a vocabulary: which pairs of symbols become one, and in which order.
 *
 * A symbol is a text that merging works with.  One that is a token has its id as number; the others,
 * single characters and results of merges without a token, have numbers from the vocabulary's size
 * on. */
#ifndef TEXT_MERGE_TABLE_H
#define TEXT_MERGE_TABLE_H

#include "base/buffer.h"
#include "base/hash.h"
#include "gufo/vocab.h"

#define NO_SYMBOL UINT32_MAX
#define NO_RANK UINT32_MAX

typedef struct merge_pair {
    uint32_t left, right, rank; /* rank NO_RANK: the place is empty */
} merge_pair;

/* A symbol that is not a token. */
typedef struct extra_symbol {
    uint32_t end;       /* of its text, in `bytes` */
    uint32_t wanted_by; /* a merge, while nothing makes it; NO_RANK */
} extra_symbol;

typedef struct merge_table {
    merge_pair *pairs; /* an open table */
    uint32_t places;
    uint32_t *filter; /* bits: where no pair set one, none is; so small that it stays near */
    uint32_t filter_mask;
    hash_key key;
    uint32_t *results; /* symbols, by rank */
    uint32_t count;    /* merges */

    /* Symbols that are not tokens. */
    buffer bytes;
    extra_symbol *extras;
    uint64_t extra_count, extra_room;
    uint32_t *slots; /* extra + 1; 0: empty */
    uint32_t slot_mask;
} merge_table;

/* Reads the merges of a model; *found: it has such a list. */
gufo_status merge_table_open(merge_table *t, const gufo_vocab *v, const gufo_model *model,
                             bool *found, gufo_error *error);
void merge_table_close(merge_table *t, const gufo_vocab *v);

/* The symbol with this text; NO_SYMBOL. */
uint32_t merge_table_find(const merge_table *t, const gufo_vocab *v, gufo_str text);
/* The same; a new text becomes a symbol.  NO_SYMBOL without memory. */
uint32_t merge_table_add(merge_table *t, const gufo_vocab *v, gufo_str text);
gufo_str merge_table_text(const merge_table *t, const gufo_vocab *v, uint32_t symbol);

/* A number for a pair.  The key is random, so that a file cannot choose pairs that meet. */
static inline uint64_t merge_hash(const merge_table *t, uint32_t left, uint32_t right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) ^ t->key.k0;

    mixed *= t->key.k1 | 1;
    mixed ^= mixed >> 32;
    return mixed * (t->key.k0 | 1);
}

/* Where the search for a pair begins. */
static inline uint32_t merge_place(const merge_table *t, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * t->places >> 32);
}

/* The rank of a pair; NO_RANK: it is not merged. */
static inline uint32_t merge_rank(const merge_table *t, uint32_t left, uint32_t right)
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

#endif
