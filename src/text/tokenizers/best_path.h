/* The tokens of a text that have the highest sum of scores (Viterbi). */
#ifndef TEXT_BEST_PATH_H
#define TEXT_BEST_PATH_H

#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

/* The best way to a place: the token that ends here, by its id (bits 31..0) and where it begins
 * (63..32).  Of places on the best path, once it is known, the latter is where the token ends that
 * begins here. */
typedef struct path_place {
    double score;
    uint64_t token;
} path_place;

static inline uint32_t path_id(const path_place *place)
{
    return (uint32_t)place->token;
}

static inline uint32_t path_other(const path_place *place)
{
    return (uint32_t)(place->token >> 32);
}

static inline uint64_t path_token(uint32_t id, uint32_t other)
{
    return (uint64_t)other << 32 | id;
}

/* Makes the places of the best path, which say where their tokens begin, say where they end. */
void path_turn_round(path_place *places, uint32_t len);

/* Room for the places of a text; {0} is empty. */
typedef struct path_room {
    path_place *places;
    uint64_t room;
} path_room;

typedef struct path_rules {
    trie *tokens;
    float *scores; /* by id; user-defined tokens have 0 */
    float unknown; /* the score of a character without a token */
    float highest; /* the highest score of a normal token */
} path_rules;

/* Finds the best path through a text, not empty: it goes from room->places[0] to its path_other, and
 * so on up to text.len; the id of a step is that of the place where it ends.  GUFO_E_MEMORY,
 * GUFO_E_LIMIT. */
gufo_status best_path(tokenizing *t, const path_rules *rules, gufo_str text, path_room *room,
                      gufo_error *error);

/* ==== the same by an automaton that keeps what the search found before ======================= */

/* All that a search needs to know at a place is which tokens may still go on there, and how good the
 * ways to their begins are, beside the best way to the place.  That is a state.  A byte leads from
 * one state to the next, which says what token ends there on the best way.  What was searched once
 * costs one load for each byte when it comes again, be it in another word.
 *
 * States compare differences of sums: these must be exact (ugm.c). */

enum { AUTOMATON_LONGEST_TOKEN = 255 /* bytes */ };

typedef struct path_states path_states;

/* {.allocator = ...} is empty. */
typedef struct path_automaton {
    const gufo_allocator *allocator;
    path_states *states; /* NULL: too little was asked for yet */
    uint32_t *steps;     /* of the text at hand */
    uint64_t room;
    size_t asked; /* bytes, since `states` or `rests` changed */
    bool rests;
} path_automaton;

/* Whether it takes a text of `len` bytes: a short one is not worth the memory; it rests after texts
 * in which little came again. */
bool path_automaton_takes(path_automaton *a, const tokenizing *t, const path_rules *rules,
                          size_t len);
void path_automaton_free(path_automaton *a);

/* Appends the ids of the best path through a text: of valid UTF-8, with ' ' for U+2581; the tokens
 * have no ' ', and U+2581 as their first character only.  Unknown tokens in a row are one; there is an
 * unknown token.  *done becomes false, and nothing is appended, if there are too many states. */
gufo_status path_automaton_encode(path_automaton *a, gufo_str text, gufo_ids *out, bool *done,
                                  gufo_error *error);

#endif
