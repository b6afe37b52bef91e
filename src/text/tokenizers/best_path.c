/* The best path: for each place, in order, every token that begins there; the best way to its end
 * is kept.  Of equal ways, the one whose last token begins first. */
#include "text/tokenizers/best_path.h"

#include <float.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/characters/characters.h"

bool path_room_make(path_room *room, uint32_t count, const gufo_allocator *allocator)
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
    if (vocab_type(v, id) == 4)
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

            if (vocab_type(v, id) == 5)
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
