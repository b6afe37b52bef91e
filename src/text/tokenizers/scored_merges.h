/* Merges by score: adjacent symbols become one while their joined text is a token. */
#ifndef TEXT_SCORED_MERGES_H
#define TEXT_SCORED_MERGES_H

#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

/* A symbol, and what it and the next one would become. */
typedef struct merge_symbol {
    uint32_t start, len; /* bytes of the piece */
    uint32_t previous, next;
    uint32_t id, joined_id; /* TRIE_NO_ID: not a token */
    uint64_t node, joined_node;
    float score; /* of joined_id */
} merge_symbol;

typedef struct waiting_merge {
    float score;
    uint32_t left, len; /* the symbol, and bytes of both */
} waiting_merge;

/* Room for the symbols of a piece; {0} is empty. */
typedef struct merge_room {
    merge_symbol *symbols;
    waiting_merge *heap;
    uint64_t symbol_room, heap_room, heap_count;
} merge_room;

#define NO_SYMBOL UINT32_MAX

/* Merges a piece, not empty, whose spaces are escaped: the symbols that remain begin with
 * room->symbols[0] and go on with `next`, up to NO_SYMBOL.  GUFO_E_MEMORY, GUFO_E_LIMIT. */
gufo_status merge_by_score(tokenizing *t, const trie *tokens, gufo_str piece, merge_room *room,
                           gufo_error *error);
void merge_room_free(merge_room *room, const gufo_allocator *allocator);

#endif
