/* Merges by score.
 *
 * The pair with the highest score is joined first; of equal ones, the leftmost.  Each symbol knows
 * the token that it and the next one would become, and its own node in the trie, from which the
 * look-up of a joined text walks on.  The pairs of short pieces are looked through each time; those
 * of long ones wait in a heap, where a pair that has changed meanwhile is recognised by its length:
 * n log n, whatever the text is. */
#include "text/tokenizers/scored_merges.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/characters/characters.h"

enum { SHORT_PIECE = 24 }; /* symbols */

typedef struct merging {
    tokenizing *t;
    const trie *tokens;
    gufo_str piece;
    merge_room *room;
    merge_symbol *symbols;
} merging;

/* ---- symbols -------------------------------------------------------------------------------- */

/* A score that is not a number is the worst one. */
static float score_of(const merging *m, uint32_t id)
{
    float score = vocab_score(m->t->vocab, id);

    return isnan(score) ? -INFINITY : score;
}

/* Looks up what a symbol and the next one would become. */
static void look_up(merging *m, merge_symbol *s)
{
    s->joined_id = TRIE_NO_ID;
    if (s->next == NO_SYMBOL || s->node == TRIE_NONE)
        return;
    const merge_symbol *right = &m->symbols[s->next];
    s->joined_node = trie_walk(m->tokens, s->node, m->piece.data + right->start, right->len);
    s->joined_id = trie_value(s->joined_node);
    if (s->joined_id != TRIE_NO_ID)
        s->score = score_of(m, s->joined_id);
}

/* One symbol per character, by the lengths that first bytes announce; *count is how many. */
static gufo_status split(merging *m, uint32_t *count, gufo_error *error)
{
    const gufo_allocator *a = m->t->allocator;
    uint32_t n = 0;

    for (size_t at = 0; at < m->piece.len; n++) {
        size_t size = length_by_first_byte(m->piece.data + at, m->piece.len - at);
        merge_symbol *grown =
            mem_grow(a, m->room->symbols, n, &m->room->symbol_room, sizeof *grown);

        if (grown == NULL)
            return fail_memory(error);
        m->room->symbols = grown;
        grown[n] = (merge_symbol){.start = (uint32_t)at,
                                  .len = (uint32_t)size,
                                  .previous = n - 1,
                                  .next = at + size < m->piece.len ? n + 1 : NO_SYMBOL};
        grown[n].node = trie_walk(m->tokens, m->tokens->root, m->piece.data + at, size);
        grown[n].id = trie_value(grown[n].node);
        at += size;
    }
    m->symbols = m->room->symbols;
    for (uint32_t i = 0; i < n; i++)
        look_up(m, &m->symbols[i]);
    *count = n;
    return GUFO_OK;
}

static void show_merge(const merging *m, const merge_symbol *s, uint32_t left)
{
    gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_MERGE,
                                 .text = {m->piece.data + s->start, s->len},
                                 .id = s->id,
                                 .left = left,
                                 .score = s->score};

    if (m->t->watch != NULL)
        m->t->watch(m->t->watch_context, &event);
}

/* Joins a symbol and the next one. */
static void join(merging *m, merge_symbol *s)
{
    const merge_symbol *right = &m->symbols[s->next];
    uint32_t left = s->len;

    s->len += right->len;
    s->id = s->joined_id;
    s->node = s->joined_node;
    s->next = right->next;
    show_merge(m, s, left);
    if (s->next != NO_SYMBOL)
        m->symbols[s->next].previous = (uint32_t)(s - m->symbols);
    look_up(m, s);
    if (s->start > 0)
        look_up(m, &m->symbols[s->previous]);
}

/* ---- short pieces --------------------------------------------------------------------------- */

static void merge_short(merging *m)
{
    for (;;) {
        merge_symbol *best = NULL, *s = m->symbols;

        for (;; s = &m->symbols[s->next]) {
            if (s->joined_id != TRIE_NO_ID && (best == NULL || s->score > best->score))
                best = s;
            if (s->next == NO_SYMBOL)
                break;
        }
        if (best == NULL)
            return;
        join(m, best);
    }
}

/* ---- long pieces ---------------------------------------------------------------------------- */

static inline bool comes_before(const waiting_merge *a, const waiting_merge *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static gufo_status push(merging *m, uint32_t left, gufo_error *error)
{
    const merge_symbol *s = &m->symbols[left];
    merge_room *room = m->room;
    waiting_merge *heap, added;
    uint64_t at = room->heap_count;

    if (s->joined_id == TRIE_NO_ID)
        return GUFO_OK;
    heap = mem_grow(m->t->allocator, room->heap, at, &room->heap_room, sizeof *heap);
    if (heap == NULL)
        return fail_memory(error);
    room->heap = heap;
    room->heap_count++;
    added = (waiting_merge){s->score, left, s->len + m->symbols[s->next].len};
    for (; at > 0 && comes_before(&added, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = added;
    return GUFO_OK;
}

static waiting_merge pop(merge_room *room)
{
    waiting_merge *heap = room->heap;
    waiting_merge first = heap[0], last = heap[--room->heap_count];
    uint64_t at = 0, child;

    while ((child = 2 * at + 1) < room->heap_count) {
        if (child + 1 < room->heap_count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static gufo_status merge_long(merging *m, uint32_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    m->room->heap_count = 0;
    for (uint32_t i = 0; status == GUFO_OK && i < count; i++)
        status = push(m, i, error);
    while (status == GUFO_OK && m->room->heap_count > 0) {
        waiting_merge best = pop(m->room);
        merge_symbol *s = &m->symbols[best.left];
        uint32_t right;

        if (s->len == 0 || s->joined_id == TRIE_NO_ID ||
            s->len + m->symbols[s->next].len != best.len)
            continue;
        right = s->next;
        join(m, s);
        m->symbols[right].len = 0;
        status = push(m, best.left, error);
        if (status == GUFO_OK && s->start > 0)
            status = push(m, s->previous, error);
    }
    return status;
}

gufo_status merge_by_score(tokenizing *t, const trie *tokens, gufo_str piece, merge_room *room,
                           gufo_error *error)
{
    merging m = {t, tokens, piece, room, NULL};
    uint32_t count = 0;
    gufo_status status;

    if (piece.len > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT,
                      "a stretch of %s bytes, which cannot be cut, is too long",
                      GROUPED(piece.len));
    status = split(&m, &count, error);
    if (status != GUFO_OK)
        return status;
    if (count > SHORT_PIECE)
        return merge_long(&m, count, error);
    merge_short(&m);
    return GUFO_OK;
}

void merge_room_free(merge_room *room, const gufo_allocator *allocator)
{
    mem_free(allocator, room->symbols);
    mem_free(allocator, room->heap);
    *room = (merge_room){0};
}
