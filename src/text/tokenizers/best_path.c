/* The best path: for each place, in order, every token that begins there; the best way to its end
 * is kept.  Of equal ways, the one whose last token begins first. */
#include "text/tokenizers/best_path.h"

#include <float.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/vocabulary/characters.h"

static gufo_status make_places(tokenizing *t, uint32_t count, path_room *room, gufo_error *error)
{
    path_place unreached = {.score = -DBL_MAX, .id = t->vocab->special[GUFO_SPECIAL_UNKNOWN]};

    if (count > room->room) {
        uint64_t wanted = (uint64_t)count + count / 2;

        mem_free(t->allocator, room->places);
        room->room = 0;
        room->places = mem_array(t->allocator, wanted, sizeof *room->places);
        if (room->places == NULL)
            return fail_memory(error);
        room->room = wanted;
    }
    for (uint32_t i = 0; i < count; i++)
        room->places[i] = unreached;
    room->places[0].score = 0;
    return GUFO_OK;
}

static inline bool is_user_defined(const gufo_vocab *v, uint32_t id)
{
    return (v->attributes[id] & GUFO_TOKEN_USER_DEFINED) != 0;
}

/* ---- as llama.cpp finds it: sums are doubles ------------------------------------------------ */

static inline void reach(path_place *place, double score, uint32_t id, uint32_t start)
{
    if (score > place->score) {
        place->score = score;
        place->id = id;
        place->start = start;
    }
}

static void find(const gufo_vocab *v, const path_rules *rules, gufo_str text, path_place *places)
{
    const trie *tokens = rules->tokens;
    const uint32_t len = (uint32_t)text.len;

    for (uint32_t at = 0, next; at < len; at = next) {
        double score = places[at].score;
        uint64_t node = tokens->root;
        bool single = false;

        next = at + (uint32_t)length_by_first_byte(text.data + at, len - at);
        for (uint32_t end = at; end < len;) {
            end += (uint32_t)trie_skip(tokens, &node, text.data + end, len - end);
            node = trie_step(tokens, node, (uint8_t)text.data[end++]);
            if (node == TRIE_NONE)
                break;
            uint32_t id = trie_value(node);
            if (id == TRIE_NO_ID)
                continue;
            single |= end == next;
            reach(&places[end], score + (is_user_defined(v, id) ? 0.0f : vocab_score(v, id)), id,
                  at);
        }
        if (!single)
            reach(&places[next], score + rules->unknown, v->special[GUFO_SPECIAL_UNKNOWN], at);
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
    if (place->score != -DBL_MAX && !(score > place->score))
        return;
    place->score = (float)score;
    place->id = id;
    place->start = start;
}

static void find_original(const gufo_vocab *v, const path_rules *rules, gufo_str text,
                          path_place *places)
{
    const trie *tokens = rules->tokens;
    const uint32_t len = (uint32_t)text.len;

    for (uint32_t at = 0, next; at < len; at = next) {
        float score = (float)places[at].score;
        uint64_t node = tokens->root;
        bool single = false;

        next = at + (uint32_t)length_by_first_byte(text.data + at, len - at);
        for (uint32_t end = at; end < len;) {
            end += (uint32_t)trie_skip(tokens, &node, text.data + end, len - end);
            node = trie_step(tokens, node, (uint8_t)text.data[end++]);
            if (node == TRIE_NONE)
                break;
            uint32_t id = trie_value(node);
            if (id == TRIE_NO_ID || vocab_type(v, id) == 5)
                continue;
            single |= end == next;
            reach_float(&places[end], score + original_score(v, rules, id, end - at), id, at);
        }
        if (!single)
            reach_float(&places[next], score + rules->unknown, v->special[GUFO_SPECIAL_UNKNOWN],
                        at);
    }
}

gufo_status best_path(tokenizing *t, const path_rules *rules, gufo_str text, path_room *room,
                      gufo_error *error)
{
    gufo_status status;

    if (text.len > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT,
                      "a stretch of %zu bytes, which cannot be cut, is too long", text.len);
    status = make_places(t, (uint32_t)text.len + 1, room, error);
    if (status != GUFO_OK)
        return status;
    if (t->vocab->original)
        find_original(t->vocab, rules, text, room->places);
    else
        find(t->vocab, rules, text, room->places);
    for (uint32_t end = (uint32_t)text.len; end > 0; end = room->places[end].start)
        room->places[room->places[end].start].end = end;
    return GUFO_OK;
}
