/* What a vocabulary holds that its users should know: duplicates, the longest tokens, tokens that
 * their own text never gives; and how two vocabularies differ. */
#ifndef TEXT_CENSUS_H
#define TEXT_CENSUS_H

#include "gufo/vocab.h"

/* Ids whose text another, later token has, too: readers find that one (gufo_vocab_find). */
gufo_status census_duplicates(const gufo_vocab *vocab, gufo_ids *out, gufo_error *error);

/* At most `count` ids of tokens that are written in texts (normal, user-defined), those first that
 * give the most bytes. */
gufo_status census_longest(const gufo_vocab *vocab, size_t count, gufo_ids *out, gufo_error *error);

/* How a token fares that is encoded from the text that it gives. */
typedef enum token_reach {
    REACH_ITSELF = 0, /* one id, its own */
    REACH_OTHERS,     /* other ids: the text never gives this token */
    REACH_PART,       /* not a text of its own: bytes, or parts of a character */
    REACH_NO_TEXT,    /* control, unknown and unused tokens */
} token_reach;

/* reach[id] for every token, on the threads of `run`.  A word is encoded without the space that
 * vocabularies put before a text; what continues a word (WordPiece, Unigram), after some letter. */
gufo_status census_reach(const gufo_vocab *vocab, const gufo_run *run, uint8_t *reach,
                         gufo_error *error);

/* ---- differences ---------------------------------------------------------------------------- */

typedef enum token_change {
    CHANGE_REMOVED, /* the text is in the first vocabulary alone */
    CHANGE_ADDED,   /* in the second alone */
    CHANGE_MOVED,   /* in both, with another id */
    CHANGE_TYPE,    /* with another type */
    CHANGE_SCORE,
} token_change;

#define TOKEN_CHANGES 5

typedef struct token_difference {
    token_change change;
    uint32_t first, second; /* ids; GUFO_NO_TOKEN where the text is missing */
} token_difference;

typedef void take_difference(void *context, const token_difference *difference);

/* Passes differences on: those of tokens of the first vocabulary by their ids, then the added ones.
 * A text that several tokens have is compared id by id where ids agree. */
void census_compare(const gufo_vocab *first, const gufo_vocab *second, take_difference *take,
                    void *context);

#endif
