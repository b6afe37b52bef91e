/* Merging the symbols of a piece of text.
 *
 * Of all pairs, the one with the lowest rank becomes one symbol, the leftmost of several.  A short
 * piece is searched for it each time.  For a long piece the pairs wait in a heap, by rank and place:
 * n symbols take n log n steps, whatever they are.  A pair that no longer exists stays in the heap;
 * when its turn comes, another rank is at its place. */
#include "text/tokenizers/merging.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ==== the table of merges ==================================================================== */

/* A third of the places stays empty.  The filter has eight bits or more for a pair. */
gufo_status merge_pairs_open(merge_pairs *t, uint32_t count, const gufo_allocator *allocator,
                             gufo_error *error)
{
    uint32_t words = 64;

    while (words < count / 4)
        words *= 2;
    t->count = count;
    t->filter_mask = words - 1;
    t->key = hash_key_new();
    t->places = count + count / 2 + 1;
    t->results = mem_array(allocator, count, sizeof *t->results);
    t->filter = mem_array(allocator, words, sizeof *t->filter);
    t->pairs = mem_alloc(allocator, (size_t)t->places * sizeof *t->pairs);
    if (t->results == NULL || t->filter == NULL || t->pairs == NULL)
        return fail_memory(error);
    memset(t->pairs, 0xFF, (size_t)t->places * sizeof *t->pairs);
    return GUFO_OK;
}

void merge_pairs_close(merge_pairs *t, const gufo_allocator *allocator)
{
    mem_free(allocator, t->pairs);
    mem_free(allocator, t->filter);
    mem_free(allocator, t->results);
}

merge_pair *merge_pairs_put(merge_pairs *t, merge_pair pair)
{
    uint64_t hash = merge_hash(t, pair.left, pair.right);
    uint32_t place = merge_place(t, hash);

    t->filter[(uint32_t)hash >> 5 & t->filter_mask] |= (uint32_t)1 << (hash & 31);
    for (; t->pairs[place].rank != NO_RANK; place = place + 1 == t->places ? 0 : place + 1)
        if (t->pairs[place].left == pair.left && t->pairs[place].right == pair.right)
            return &t->pairs[place];
    t->pairs[place] = pair;
    return &t->pairs[place];
}

/* ==== merging ================================================================================ */

#define SHORT_PIECE 40

void merging_free(merging *m)
{
    buffer_free(&m->links);
    buffer_free(&m->heap);
}

static uint32_t rank_of(const merging *m, const merge_part *left, const merge_part *right)
{
    return rank_of_pair(m->table, left->symbol, right->symbol);
}

/* ---- short pieces --------------------------------------------------------------------------- */

static void merge_short(merging *m)
{
    merge_part *parts = m->parts;
    uint32_t count = m->count;

    for (;;) {
        uint32_t best = 0;

        for (uint32_t i = 1; i + 1 < count; i++)
            if (parts[i].rank < parts[best].rank)
                best = i;
        if (parts[best].rank == NO_RANK)
            break;
        if (m->watch != NULL)
            m->watch(m->context, &parts[best], &parts[best + 1],
                     best + 2 < count ? parts[best + 2].begin : m->end);
        parts[best].symbol = m->table->results[parts[best].rank];
        count--;
        memmove(parts + best + 1, parts + best + 2, (count - best - 1) * sizeof *parts);
        parts[best].rank = best + 1 < count ? rank_of(m, &parts[best], &parts[best + 1]) : NO_RANK;
        if (best > 0)
            parts[best - 1].rank = rank_of(m, &parts[best - 1], &parts[best]);
    }
    m->count = count;
}

/* ---- the heap ------------------------------------------------------------------------------- */

/* Rank and place in one number.  The first of a heap is the smallest; the children of i are 2i + 1
 * and 2i + 2. */
static uint64_t waiting_pair(uint32_t rank, uint32_t place)
{
    return (uint64_t)rank << 32 | place;
}

static void sift_down(uint64_t *heap, size_t count, size_t at)
{
    uint64_t moved = heap[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= moved)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static bool push(buffer *heap, uint64_t pair)
{
    size_t at = heap->len / sizeof pair;
    uint64_t *pairs;

    if (buffer_extend(heap, sizeof pair) == NULL)
        return false;
    pairs = (uint64_t *)(void *)heap->data;
    for (; at > 0 && pairs[(at - 1) / 2] > pair; at = (at - 1) / 2)
        pairs[at] = pairs[(at - 1) / 2];
    pairs[at] = pair;
    return true;
}

static uint64_t pop(buffer *heap)
{
    uint64_t *pairs = (uint64_t *)(void *)heap->data, first = pairs[0];
    size_t count = heap->len / sizeof first - 1;

    heap->len = count * sizeof first;
    pairs[0] = pairs[count];
    if (count > 0)
        sift_down(pairs, count, 0);
    return first;
}

/* ---- long pieces ---------------------------------------------------------------------------- */

/* The parts beside a part; NO_SYMBOL: none. */
typedef struct part_link {
    uint32_t previous, next;
} part_link;

static bool start_long(merging *m)
{
    part_link *links;
    uint64_t *pairs;
    size_t count = 0;

    m->links.len = m->heap.len = 0;
    links = buffer_extend(&m->links, (uint64_t)m->count * sizeof *links);
    pairs = buffer_extend(&m->heap, (uint64_t)m->count * sizeof *pairs);
    if (links == NULL || pairs == NULL)
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        links[i] = (part_link){i - 1, i + 1 < m->count ? i + 1 : NO_SYMBOL};
        if (m->parts[i].rank != NO_RANK)
            pairs[count++] = waiting_pair(m->parts[i].rank, i);
    }
    m->heap.len = count * sizeof *pairs;
    for (size_t i = count / 2; i-- > 0;)
        sift_down(pairs, count, i);
    return true;
}

/* Gives the pair at `place` its rank, and a place in the heap. */
static bool wait_turn(merging *m, uint32_t place, uint32_t next)
{
    merge_part *part = &m->parts[place];

    part->rank = next == NO_SYMBOL ? NO_RANK : rank_of(m, part, &m->parts[next]);
    return part->rank == NO_RANK || push(&m->heap, waiting_pair(part->rank, place));
}

static bool merge_at(merging *m, uint32_t place)
{
    part_link *links = (part_link *)(void *)m->links.data;
    uint32_t gone = links[place].next, next = links[gone].next, previous = links[place].previous;

    if (m->watch != NULL)
        m->watch(m->context, &m->parts[place], &m->parts[gone],
                 next == NO_SYMBOL ? m->end : m->parts[next].begin);
    m->parts[place].symbol = m->table->results[m->parts[place].rank];
    m->parts[gone].rank = NO_RANK;
    links[place].next = next;
    if (next != NO_SYMBOL)
        links[next].previous = place;
    return wait_turn(m, place, next) && (previous == NO_SYMBOL || wait_turn(m, previous, place));
}

static void close_gaps(merging *m)
{
    const part_link *links = (const part_link *)(const void *)m->links.data;

    m->count = 0;
    for (uint32_t i = 0; i != NO_SYMBOL; i = links[i].next)
        m->parts[m->count++] = m->parts[i];
}

static bool merge_long(merging *m)
{
    if (!start_long(m))
        return false;
    while (m->heap.len > 0) {
        uint64_t pair = pop(&m->heap);
        uint32_t place = (uint32_t)pair;

        if (m->parts[place].rank == pair >> 32 && !merge_at(m, place))
            return false;
    }
    close_gaps(m);
    return true;
}

bool merge_parts(merging *m)
{
    if (m->count > SHORT_PIECE)
        return merge_long(m);
    if (m->count > 1)
        merge_short(m);
    return true;
}
