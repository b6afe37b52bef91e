/* The longest token at each place of a text. */
#ifndef TEXT_LONGEST_TOKENS_H
#define TEXT_LONGEST_TOKENS_H

#include "text/vocabulary/trie.h"

enum { LEAST_STRETCHES = 8, MOST_STRETCHES = 128, STRETCH_BYTES = 256 };

typedef struct longest_tokens {
    const trie *tokens; /* every byte is one */
    uint64_t
        *heads; /* the units of these; the first ones with the longest token on the way there */
    uint64_t *pairs; /* by two bytes: the head that they lead to */
} longest_tokens;

/* Makes the tables, 512 KiB and another trie, for tokens of `count` texts, which must outlive them;
 * GUFO_E_MEMORY.  None are made if some byte is not a token. */
gufo_status longest_tokens_open(longest_tokens *l, const trie *tokens, uint32_t count,
                                gufo_error *error);
void longest_tokens_close(longest_tokens *l);

/* Stretches of a text, one behind the other: stretch i is from begins[i] to begins[i + 1], of
 * STRETCH_BYTES bytes at most, and no token crosses its end. */
typedef struct text_stretches {
    unsigned count; /* LEAST_STRETCHES or more */
    const char *begins[MOST_STRETCHES + 1];
    uint32_t ids[MOST_STRETCHES][STRETCH_BYTES];
    uint32_t counts[MOST_STRETCHES]; /* of ids */
} text_stretches;

/* Fills in the ids of all stretches; TRIE_HEAD bytes behind the last one may be read. */
void longest_tokens_encode(const longest_tokens *l, text_stretches *s);

#endif
