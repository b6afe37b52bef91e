/* The best path: for each place, in order, every token that begins there; the best way to its end
 * is kept.  Of equal ways, the one whose last token begins first. */
#include "text/tokenizers/best_path.h"

#include <float.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"

/* Makes room for `count` places, which lose what they hold; false without memory. */
static bool path_room_make(path_room *room, uint32_t count, const gufo_allocator *allocator)
{
    uint64_t wanted = (uint64_t)count + count / 2;

    if (count <= room->room)
        return true;
    mem_free(allocator, room->places);
    room->room = 0;
    room->places = mem_array(allocator, wanted, sizeof *room->places);
    if (room->places == NULL)
        return false;
    room->room = wanted;
    return true;
}

static gufo_status make_places(tokenizing *t, uint32_t count, path_room *room, gufo_error *error)
{
    path_place unreached = {-DBL_MAX, t->vocab->special[GUFO_SPECIAL_UNKNOWN]};

    if (!path_room_make(room, count, t->allocator))
        return fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        room->places[i] = unreached;
    room->places[0].score = 0;
    return GUFO_OK;
}

/* ---- as llama.cpp finds it: sums are doubles ------------------------------------------------ */

/* Without a branch: which way is better cannot be foreseen. */
static inline void reach(path_place *place, double score, uint64_t token)
{
    uint64_t better = 0 - (uint64_t)(score > place->score);

    place->token ^= (place->token ^ token) & better;
    place->score = score > place->score ? score : place->score;
}

/* Goes on where a chain of nodes begins, behind the first character. */
static void reach_longer(const path_rules *rules, uint64_t node, gufo_str text, uint32_t end,
                         uint32_t at, path_place *places)
{
    const char *to = text.data + end, *const last = text.data + text.len;
    double score = places[at].score;

    while ((node = trie_next(rules->tokens, node, &to, last)) != TRIE_NONE) {
        uint32_t id = trie_value(node);

        reach(&places[to - text.data], score + rules->scores[id], path_token(id, at));
    }
}

static void find(const gufo_vocab *v, const path_rules *rules, gufo_str text, path_place *places)
{
    const uint64_t *units = rules->tokens->units;
    const float *scores = rules->scores;
    const uint8_t *const bytes = (const uint8_t *)text.data;
    const uint32_t len = (uint32_t)text.len;

    for (uint32_t at = 0, next; at < len; at = next) {
        double score = places[at].score;
        uint64_t node = rules->tokens->root, child;
        uint32_t end = at;
        bool single = false;

        next = at + (uint32_t)length_by_first_byte(text.data + at, len - at);
        for (; end < len; node = child) {
            child = units[trie_base(node) ^ bytes[end]];
            if ((child & (TRIE_USED | 0xff)) != (TRIE_USED | (uint64_t)bytes[end]))
                break;
            end++;
            if ((child & TRIE_LENGTH) != 0) {
                uint32_t id = trie_value(child);

                single |= end == next;
                reach(&places[end], score + scores[id], path_token(id, at));
            }
        }
        if (trie_base(node) == TRIE_CHAINED)
            reach_longer(rules, node, text, end, at, places);
        if (!single)
            reach(&places[next], score + rules->unknown,
                  path_token(v->special[GUFO_SPECIAL_UNKNOWN], at));
    }
}

/* ---- as SentencePiece finds it: sums are kept as floats ------------------------------------- */

/* A user-defined token is worth nearly as much as the best tokens for each of its bytes. */
static double original_score(const gufo_vocab *v, const path_rules *rules, uint32_t id,
                             uint32_t len)
{
    if (vocab_type(v, id) == TOKEN_USER_DEFINED)
        return (float)len * rules->highest - 0.1;
    return vocab_score(v, id);
}

static inline void reach_float(path_place *place, double score, uint32_t id, uint32_t start)
{
    if (place->score == -DBL_MAX || score > place->score)
        *place = (path_place){(float)score, path_token(id, start)};
}

static void find_original(const gufo_vocab *v, const path_rules *rules, gufo_str text,
                          path_place *places)
{
    const trie *tokens = rules->tokens;
    const char *const last = text.data + text.len;
    const uint32_t len = (uint32_t)text.len;

    for (uint32_t at = 0, next; at < len; at = next) {
        float score = (float)places[at].score;
        uint64_t node = tokens->root;
        const char *end = text.data + at;
        bool single = false;

        next = at + (uint32_t)length_by_first_byte(text.data + at, len - at);
        while ((node = trie_next(tokens, node, &end, last)) != TRIE_NONE) {
            uint32_t id = trie_value(node), place = (uint32_t)(end - text.data);

            if (vocab_type(v, id) == TOKEN_UNUSED)
                continue;
            single |= place == next;
            reach_float(&places[place], score + original_score(v, rules, id, place - at), id, at);
        }
        if (!single)
            reach_float(&places[next], score + rules->unknown, v->special[GUFO_SPECIAL_UNKNOWN],
                        at);
    }
}

/* ---- the path ------------------------------------------------------------------------------- */

void path_turn_round(path_place *places, uint32_t len)
{
    uint32_t place = len, end = len;

    while (place > 0) {
        uint32_t start = path_other(&places[place]);

        places[place].token = path_token(path_id(&places[place]), end);
        end = place;
        place = start;
    }
    places[0].token = path_token(path_id(&places[0]), end);
}

gufo_status best_path(tokenizing *t, const path_rules *rules, gufo_str text, path_room *room,
                      gufo_error *error)
{
    gufo_status status;

    if (text.len > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT,
                      "a stretch of %s bytes, which cannot be cut, is too long", GROUPED(text.len));
    status = make_places(t, (uint32_t)text.len + 1, room, error);
    if (status != GUFO_OK)
        return status;
    if (t->vocab->original)
        find_original(t->vocab, rules, text, room->places);
    else
        find(t->vocab, rules, text, room->places);
    path_turn_round(room->places, (uint32_t)text.len);
    return GUFO_OK;
}

/* ==== the automaton of best paths ============================================================ */

/* The move of a state for a byte is moves[base ^ byte], unless a later move took that place; a move
 * is a number of 32 bits:
 *
 *     bits 31..14   the base of the state that it leads to
 *     bits 13..8    the length of the token that ends there; 0: LONG or more, or none does
 *     bits  7..0    the lowest ones of the base that it belongs to; never 0
 *
 * A byte changes the lowest eight bits of a base alone: so those tell whose move it is.  A move that is
 * not there is found from the tokens that may go on, like a step of a search. */

enum {
    STATES = 1 << 16,
    MOST_STATES = STATES / 4 * 3,
    CELLS = 2 * STATES,
    SPREAD_BITS = 2, /* moves for each state */
    MOVES = STATES << SPREAD_BITS,
    LONG = 64,
    SHORT_TEXT = 4096,
    ENOUGH = 16 * STATES, /* bytes: a text of fewer that has all states, little comes again in */
};

/* Each other's inverse modulo STATES: the moves of states that are made one after the other, often for
 * the same bytes, are far from each other. */
#define SPREAD 0x79b1u
#define GATHER 0x2f51u

_Static_assert(SPREAD *GATHER % STATES == 1, "inverse");

/* A token that may go on. */
typedef struct path_way {
    uint64_t node;
    double score; /* of the best way to its begin, less that of the best way to this place */
} path_way;

/* A state is a head, and its ways, those that begin first before others.  At the end of a character
 * one more way begins: at the root, with score 0.  Inside one, the last way is the one that begins
 * with it; it may have no node. */
typedef struct path_head {
    uint32_t hash;
    uint32_t id;  /* of the token that ends here, if a character does */
    uint16_t len; /* its bytes */
    uint16_t count;
    uint8_t size,
        left;        /* of the character that is not complete: bytes, and those that are to come */
    uint16_t spaced; /* 1: the first way begins with ' ' */
} path_head;

typedef union path_cell {
    path_head head;
    path_way way;
} path_cell;

_Static_assert(sizeof(path_cell) == 16, "cells are compared as bytes");

struct path_states {
    const path_rules *rules;
    uint32_t unknown;
    uint32_t count, used; /* states, cells */
    uint32_t start;       /* the base of the state at the begin of a text */
    uint32_t moves[MOVES];
    uint16_t places[STATES]; /* of states, by hash: their numbers; 0: free */
    uint32_t heads[STATES];  /* their cells, by number */
    uint32_t ids[STATES];    /* the same as in their heads */
    path_cell cells[CELLS];
};

/* ---- states --------------------------------------------------------------------------------- */

static inline uint32_t base_of(uint32_t state)
{
    return (state * SPREAD % STATES) << SPREAD_BITS | 1;
}

static inline uint32_t state_of(uint32_t base)
{
    return (base >> SPREAD_BITS) * GATHER % STATES;
}

static uint32_t hash_state(const path_cell *state)
{
    const path_head *head = &state->head;
    uint64_t hash = (uint64_t)head->id << 32 | (uint32_t)head->size << 16 |
                    (uint32_t)head->left << 8 | head->spaced;

    for (unsigned i = 1; i <= head->count; i++) {
        uint64_t score;

        memcpy(&score, &state[i].way.score, sizeof score);
        hash = (hash ^ state[i].way.node ^ score >> 8) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The base of the state that was made behind all others; it stays there if none is like it. */
static uint32_t keep_state(path_states *s)
{
    path_cell *made = &s->cells[s->used];
    size_t cells = 1u + made->head.count;
    uint32_t place;

    made->head.hash = hash_state(made);
    for (place = made->head.hash % STATES; s->places[place] != 0; place = (place + 1) % STATES) {
        const path_cell *other = &s->cells[s->heads[s->places[place]]];

        if (other->head.hash == made->head.hash && memcmp(other, made, cells * sizeof *made) == 0)
            return base_of(s->places[place]);
    }
    s->places[place] = (uint16_t)++s->count;
    s->heads[s->count] = s->used;
    s->ids[s->count] = made->head.id;
    s->used += (uint32_t)cells;
    return base_of(s->count);
}

/* ---- moves ---------------------------------------------------------------------------------- */

static inline bool is_move_of(uint32_t move, uint32_t base)
{
    return (uint8_t)move == (uint8_t)base;
}

static inline uint32_t move_base(uint32_t move)
{
    return move >> 14;
}

static inline uint64_t child_of(const trie *tokens, uint64_t node, uint8_t byte)
{
    if (__builtin_expect(byte == ' ', 0))
        return trie_walk(tokens, node, ESCAPED_SPACE, sizeof ESCAPED_SPACE - 1);
    return trie_step(tokens, node, byte);
}

/* Lets a way go on to a node of the next state; *best is the score of the best token that ends. */
static inline void go_on(const path_rules *rules, path_way way, uint64_t node, bool spaced,
                         path_cell *to, double *best)
{
    uint32_t id = trie_value(node);

    if (id != TRIE_NO_ID && to->head.left == 0 && way.score + rules->scores[id] > *best) {
        *best = way.score + rules->scores[id];
        to->head.id = id;
        to->head.len = (uint16_t)(trie_length(rules->tokens, node) - (spaced ? 2 : 0));
    }
    if (trie_base(node) == TRIE_LEAF)
        return;
    if (trie_base(node) != TRIE_CHAINED)
        node = trie_base(node) << 40; /* all that a step needs: equal ways have equal nodes */
    to->head.spaced |= spaced ? 1 : 0;
    to[++to->head.count].way = (path_way){node, way.score};
}

/* Begins the state that follows one: its character goes on, or another one begins. */
static void begin_state(const path_head *from, uint8_t byte, path_cell *to)
{
    to->head = (path_head){.size = from->size, .left = from->left};
    if (from->left == 0)
        to->head.left = to->head.size = (uint8_t)length_by_first_byte((const char *)&byte, 4);
    to->head.left--;
}

/* Lets the ways go on that began before the newest one; false: none does. */
static bool go_on_older(const path_states *s, const path_cell *from, unsigned count, uint8_t byte,
                        path_cell *to, double *best)
{
    bool any = false;

    for (unsigned i = 1; i <= count; i++) {
        uint64_t node = child_of(s->rules->tokens, from[i].way.node, byte);

        if (node == TRIE_NONE)
            continue;
        any = true;
        go_on(s->rules, from[i].way, node, i == 1 && from->head.spaced != 0, to, best);
    }
    return any;
}

/* Lets the newest way go on.  Without a token for its character, the unknown token takes that. */
static void go_on_newest(const path_states *s, path_way newest, bool spaced, uint8_t byte,
                         path_cell *to, double *best)
{
    uint64_t node = TRIE_NONE;

    if (newest.node != TRIE_NONE)
        node = child_of(s->rules->tokens, newest.node, byte);
    if (node != TRIE_NONE)
        go_on(s->rules, newest, node, spaced, to, best);
    if (to->head.left > 0) {
        if (node == TRIE_NONE || trie_base(node) == TRIE_LEAF)
            to[++to->head.count].way = (path_way){TRIE_NONE, newest.score};
    } else if (trie_value(node) == TRIE_NO_ID && newest.score + s->rules->unknown > *best) {
        *best = newest.score + s->rules->unknown;
        to->head.id = s->unknown;
        to->head.len = to->head.size;
    }
}

/* The state is complete; scores become those beside the best way to its place. */
static void finish_state(path_cell *state, double best)
{
    if (state->head.left > 0)
        return;
    state->head.size = 0;
    for (unsigned i = 1; i <= state->head.count; i++)
        state[i].way.score -= best;
}

/* Finds the move for a byte, or makes it; returns 0 if the table of states is full. */
static uint32_t find_move(path_states *s, uint32_t base, uint8_t byte)
{
    const path_cell *from = &s->cells[s->heads[state_of(base)]];
    path_cell *to = &s->cells[s->used];
    path_way newest = {s->rules->tokens->root, 0};
    unsigned older = from->head.count;
    bool inside = from->head.left > 0, spaced = byte == ' ';
    double best = -DBL_MAX;
    uint32_t move;

    if (s->count == MOST_STATES || s->used + older + 2 > CELLS)
        return 0;
    if (inside) {
        newest = from[older--].way;
        spaced = older == 0 && from->head.spaced != 0;
    }
    begin_state(&from->head, byte, to);
    if (go_on_older(s, from, older, byte, to, &best) || inside || base == s->start) {
        go_on_newest(s, newest, spaced, byte, to, &best);
        finish_state(to, best);
        move = keep_state(s) << 14;
        move |= to->head.len < LONG ? (uint32_t)to->head.len << 8 : 0;
    } else { /* as if the text began here */
        move = s->moves[s->start ^ byte];
        if (!is_move_of(move, s->start))
            move = find_move(s, s->start, byte);
        if (move == 0)
            return 0;
    }
    return s->moves[base ^ byte] = (move & ~(uint32_t)0xff) | (uint8_t)base;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* A part of a text. */
typedef struct lane {
    const uint8_t *text;
    uint32_t *steps; /* the moves */
    size_t len;
    uint32_t base;
} lane;

/* Takes one of `count` parts of the rest of a text that are about as long. */
static lane take_lane(const path_states *s, gufo_str *rest, uint32_t **steps, size_t count)
{
    lane l = {(const uint8_t *)rest->data, *steps, rest->len / count, s->start};

    while (l.len < rest->len && rest->data[l.len] != ' ')
        l.len++;
    *rest = str_from(*rest, l.len);
    *steps += l.len;
    return l;
}

static inline bool take_step(path_states *s, lane *l, size_t at)
{
    uint8_t byte = l->text[at];
    uint32_t move = s->moves[l->base ^ byte];

    if (__builtin_expect(!is_move_of(move, l->base), 0)) {
        move = find_move(s, l->base, byte);
        if (move == 0)
            return false;
    }
    l->base = move_base(move);
    l->steps[at] = move;
    return true;
}

static bool finish_lane(path_states *s, lane *l, size_t at)
{
    while (at < l->len && take_step(s, l, at))
        at++;
    return at == l->len;
}

static inline size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Finds the steps of a text; false if there are too many states.  Each step of a lane waits for the
 * one before: so there are several. */
static bool find_steps(path_states *s, gufo_str text, uint32_t *steps)
{
    lane a = take_lane(s, &text, &steps, 4), b = take_lane(s, &text, &steps, 3);
    lane c = take_lane(s, &text, &steps, 2), d = take_lane(s, &text, &steps, 1);
    size_t at = 0, together = shorter(shorter(a.len, b.len), shorter(c.len, d.len));

    for (; at < together; at++)
        if (!take_step(s, &a, at) || !take_step(s, &b, at) || !take_step(s, &c, at) ||
            !take_step(s, &d, at))
            return false;
    return finish_lane(s, &a, at) && finish_lane(s, &b, at) && finish_lane(s, &c, at) &&
           finish_lane(s, &d, at);
}

/* Makes the last ones of `len` steps the ids of the best path; returns how many. */
static size_t collect(const path_states *s, uint32_t *steps, size_t len)
{
    size_t at = len, first = len;
    uint32_t last = GUFO_NO_TOKEN;

    while (at > 0) {
        uint32_t step = steps[at - 1], state = state_of(move_base(step)), id = s->ids[state];
        uint32_t taken = step >> 8 & (LONG - 1);

        at -= taken > 0 ? taken : s->cells[s->heads[state]].head.len;
        if (id == s->unknown && id == last)
            continue;
        steps[--first] = last = id;
    }
    return len - first;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void clear(path_states *s)
{
    memset(s->moves, 0, sizeof s->moves);
    memset(s->places, 0, sizeof s->places);
    s->count = s->used = 0;
    s->cells[0].head = (path_head){0};
    s->start = keep_state(s);
}

bool path_automaton_takes(path_automaton *a, const tokenizing *t, const path_rules *rules,
                          size_t len)
{
    a->asked += len;
    if (a->asked < (a->rests ? ENOUGH : a->states == NULL ? SHORT_TEXT : 0))
        return false;
    if (a->rests || a->states == NULL)
        a->asked = 0;
    a->rests = false;
    if (a->states == NULL && (a->states = mem_alloc(a->allocator, sizeof *a->states)) != NULL) {
        a->states->rules = rules;
        a->states->unknown = t->vocab->special[GUFO_SPECIAL_UNKNOWN];
        clear(a->states);
    }
    return a->states != NULL;
}

void path_automaton_free(path_automaton *a)
{
    mem_free(a->allocator, a->states);
    mem_free(a->allocator, a->steps);
}

static bool make_room(path_automaton *a, size_t len)
{
    if (len <= a->room)
        return true;
    mem_free(a->allocator, a->steps);
    a->room = 0;
    a->steps = mem_array(a->allocator, len + len / 2, sizeof *a->steps);
    if (a->steps != NULL)
        a->room = len + len / 2;
    return a->steps != NULL;
}

gufo_status path_automaton_encode(path_automaton *a, gufo_str text, gufo_ids *out, bool *done,
                                  gufo_error *error)
{
    gufo_ids found = {0};

    if (!make_room(a, text.len))
        return fail_memory(error);
    *done = find_steps(a->states, text, a->steps);
    if (!*done) {
        a->rests = a->asked < ENOUGH;
        a->asked = 0;
        clear(a->states);
        return GUFO_OK;
    }
    found.count = collect(a->states, a->steps, text.len);
    found.ids = a->steps + text.len - found.count;
    return ids_append(out, &found) ? GUFO_OK : fail_memory(error);
}
