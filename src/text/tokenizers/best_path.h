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

/* Makes room for `count` places, which lose what they hold; false without memory. */
bool path_room_make(path_room *room, uint32_t count, const gufo_allocator *allocator);

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

#endif
