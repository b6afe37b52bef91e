/* The tokens of a text that have the highest sum of scores (Viterbi). */
#ifndef TEXT_BEST_PATH_H
#define TEXT_BEST_PATH_H

#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

/* The best way to a place, and from there on. */
typedef struct path_place {
    double score;
    uint32_t id, start; /* of the token that ends here */
    uint32_t end;       /* of the token that begins here, on the best path */
} path_place;

/* Room for the places of a text; {0} is empty. */
typedef struct path_room {
    path_place *places;
    uint64_t room;
} path_room;

typedef struct path_rules {
    trie *tokens;
    float unknown; /* the score of a character without a token */
    float highest; /* the highest score of a normal token */
} path_rules;

/* Finds the best path through a text, not empty: it goes from room->places[0] to places[0].end, and
 * so on up to text.len; the id of a step is that of the place where it ends.  GUFO_E_MEMORY,
 * GUFO_E_LIMIT. */
gufo_status best_path(tokenizing *t, const path_rules *rules, gufo_str text, path_room *room,
                      gufo_error *error);

#endif
