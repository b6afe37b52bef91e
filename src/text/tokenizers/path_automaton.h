/* The best path of a text, by an automaton that keeps what the search found before.
 *
 * All that a search needs to know at a place is which tokens may still go on there, and how good the
 * ways to their begins are, beside the best way to the place.  That is a state.  A byte leads from
 * one state to the next, which says what token ends there on the best way.  What was searched once
 * costs one load for each byte when it comes again, be it in another word.
 *
 * States compare differences of sums: these must be exact (ugm_cuts.h). */
#ifndef TEXT_PATH_AUTOMATON_H
#define TEXT_PATH_AUTOMATON_H

#include "text/tokenizers/best_path.h"

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
