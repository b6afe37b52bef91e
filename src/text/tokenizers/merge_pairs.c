/* A table of merges. */
#include "text/tokenizers/merge_pairs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

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
