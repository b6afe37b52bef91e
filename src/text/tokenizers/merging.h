/* Merging the symbols of a piece of text, pair by pair, the lowest rank first. */
#ifndef TEXT_MERGING_H
#define TEXT_MERGING_H

#include "base/buffer.h"
#include "text/tokenizers/merge_pairs.h"

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
