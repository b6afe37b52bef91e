/* Vocabularies that say tokens as bytes, each with its rank. */
#ifndef IMPORT_TOKENIZERS_RANKS_H
#define IMPORT_TOKENIZERS_RANKS_H

#include "import/tokenizers/reading.h"
#include "text/vocabulary/byte_alphabet.h"

enum { LONGEST_RANKED = 256 }; /* bytes of a token */

typedef struct ranked_token {
    gufo_str text; /* in the byte alphabet; no data: the rank has none */
} ranked_token;

typedef struct rank_table {
    tokenizer_reading *r;
    const char *file;
    byte_texts alphabet;
    token_list texts; /* memory of the texts */
    ranked_token *tokens;
    uint64_t count, room;
    json_t *ranks; /* text: rank */
} rank_table;

gufo_status rank_table_make(rank_table *table, tokenizer_reading *r, const char *file);
void rank_table_free(rank_table *table);

/* Adds a token of these bytes, whose rank is at most a little beyond those that exist. */
gufo_status rank_table_add(rank_table *table, uint64_t rank, gufo_str bytes);

/* Which merges are found. */
typedef enum merge_rule {
    MERGES_BY_PAIRS, /* the two parts that the bytes of a token become with the ranks below its own */
    MERGES_ALL_SPLITS /* all pairs of tokens that make a token, by the ranks of their parts */
} merge_rule;

/* Sets tokenizer.ggml.merges. */
gufo_status rank_table_write_merges(const rank_table *table, merge_rule rule);

#endif
