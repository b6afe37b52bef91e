/* Merges from tokens.
 *
 * A byte-level tokenizer is trained by joining, again and again, the two neighbours that are most
 * frequent; each join is a new token, so that ids are in the order of the merges.  What was joined
 * to a token is what the tokenizer makes of its bytes with the merges before it:
 *
 *     token 300 "the"     t h e       the lower ids know "he" (260) and "th" (270)
 *                         t he        the lowest joined id first
 *                         two parts are left: the merge "t he"
 *
 * Parts of a token that may be joined wait in a heap, by joined id and place.  A part that has been
 * joined meanwhile makes its entries stale; they are recognised by their ends.
 *
 * Cost: of a token with n bytes at most n joins, 3 n entries of the heap, and as many look-ups of
 * two neighbours.  Those that were seen recently are in a cache; the others hash the joined text.
 * Their bytes are what a vocabulary could be built to make many (a text of one letter and tokens of
 * that letter in every length): they count against an allowance that is linear in the bytes of the
 * vocabulary, and of which those of GPT-2, Falcon or StarCoder use an eighth. */
#include "legacy/vocabulary.h"

#include "base/error.h"
#include "format/file/records.h"

enum {
    LONGEST = 1 << 16, /* bytes of a token that is looked at */
    CACHE_SLOTS = 1 << 16,
    ALLOWANCE = 64, /* bytes hashed for each byte of the vocabulary */
    LOOK_UP = 16,   /* what a look-up costs besides its bytes */
    FIRST_ALLOWANCE = 1 << 20,
};

/* Parts that are no tokens: bytes that the vocabulary lacks.  Above all ids. */
#define MISSING_BYTE UINT32_C(0xffff0000)

typedef struct cached_pair {
    uint64_t pair; /* the ids of both parts, plus 1; 0: empty */
    uint32_t joined;
} cached_pair;

typedef struct waiting {
    uint32_t joined;     /* the id of the joined text */
    uint32_t start, end; /* of the two parts together */
} waiting;

typedef struct joiner {
    const gufo_allocator *allocator;
    const gufo_str *bytes;
    name_index index;
    uint32_t byte_ids[256];
    cached_pair *cache;
    uint64_t allowance;
    /* The token that is taken apart: parts, by the place where they begin. */
    gufo_str text;
    uint32_t limit;                /* its id: joined ones are lower */
    uint32_t *ids, *ends, *before; /* ends: 0 where no part begins */
    waiting *heap;
    size_t heap_count;
} joiner;

/* ---- heap: the lowest joined id first, of equal ones the leftmost ---------------------------- */

static bool is_first(const waiting *a, const waiting *b)
{
    return a->joined != b->joined ? a->joined < b->joined : a->start < b->start;
}

static void heap_add(joiner *j, waiting entry)
{
    size_t at = j->heap_count++;

    for (; at > 0 && is_first(&entry, &j->heap[(at - 1) / 2]); at = (at - 1) / 2)
        j->heap[at] = j->heap[(at - 1) / 2];
    j->heap[at] = entry;
}

static waiting heap_take(joiner *j)
{
    waiting first = j->heap[0], last = j->heap[--j->heap_count];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < j->heap_count) {
        if (child + 1 < j->heap_count && is_first(&j->heap[child + 1], &j->heap[child]))
            child++;
        if (!is_first(&j->heap[child], &last))
            break;
        j->heap[at] = j->heap[child];
        at = child;
    }
    j->heap[at] = last;
    return first;
}

/* ---- look-up --------------------------------------------------------------------------------- */

/* The token that two parts make, which are `text` together; MERGE_NONE: there is none. */
static uint32_t joined_id(joiner *j, uint32_t left, uint32_t right, gufo_str text)
{
    uint64_t pair = ((uint64_t)left << 32 | right) + 1, found;
    cached_pair *slot = &j->cache[(pair * UINT64_C(0x9e3779b97f4a7c15) >> 40) % CACHE_SLOTS];

    if (slot->pair == pair)
        return slot->joined;
    if (j->allowance < text.len + LOOK_UP) {
        j->allowance = 0;
        return MERGE_NONE;
    }
    j->allowance -= text.len + LOOK_UP;
    slot->pair = pair;
    slot->joined = name_index_find(&j->index, text, &found) ? (uint32_t)found : MERGE_NONE;
    return slot->joined;
}

/* Lets the part at `start` and the next one wait, if they make a token. */
static void consider(joiner *j, uint32_t start)
{
    uint32_t middle = j->ends[start], end, joined;

    if (middle == j->text.len)
        return;
    end = j->ends[middle];
    joined =
        joined_id(j, j->ids[start], j->ids[middle], (gufo_str){j->text.data + start, end - start});
    if (joined < j->limit)
        heap_add(j, (waiting){joined, start, end});
}

static void join(joiner *j, const waiting *pair)
{
    uint32_t middle = j->ends[pair->start];

    j->ends[middle] = 0;
    j->ends[pair->start] = pair->end;
    j->ids[pair->start] = pair->joined;
    if (pair->end < j->text.len)
        j->before[pair->end] = pair->start;
}

/* Whether both parts are as they were when they were considered: a part that was joined begins
 * elsewhere or ends later. */
static bool is_fresh(const joiner *j, const waiting *pair)
{
    uint32_t middle = j->ends[pair->start];

    return middle != 0 && middle < j->text.len && j->ends[middle] == pair->end;
}

static void take_apart(joiner *j)
{
    uint32_t len = (uint32_t)j->text.len;

    j->heap_count = 0;
    for (uint32_t at = 0; at < len; at++) {
        j->ids[at] = j->byte_ids[(uint8_t)j->text.data[at]];
        j->ends[at] = at + 1;
        j->before[at] = at - 1;
    }
    for (uint32_t at = 0; len > 2 && at < len; at++)
        consider(j, at);
}

static legacy_merge merge_of(joiner *j, uint32_t id)
{
    uint32_t right;
    size_t parts = j->bytes[id].len;

    j->text = j->bytes[id];
    j->limit = id;
    take_apart(j);
    while (parts > 2 && j->heap_count > 0) {
        waiting pair = heap_take(j);

        if (!is_fresh(j, &pair))
            continue;
        join(j, &pair);
        parts--;
        if (pair.start > 0)
            consider(j, j->before[pair.start]);
        consider(j, pair.start);
    }
    right = j->ends[0];
    if (parts != 2 || j->ids[0] >= MISSING_BYTE || j->ids[right] >= MISSING_BYTE)
        return (legacy_merge){MERGE_NONE, MERGE_NONE};
    return (legacy_merge){j->ids[0], j->ids[right]};
}

/* ---- all tokens ------------------------------------------------------------------------------ */

static gufo_str bytes_of(const void *owner, uint64_t id)
{
    return ((const gufo_str *)owner)[id];
}

static bool is_looked_at(gufo_str bytes)
{
    return bytes.len > 0 && bytes.len <= LONGEST;
}

static gufo_status prepare(joiner *j, uint64_t count, gufo_error *error)
{
    size_t longest = 1;
    uint64_t first;
    gufo_status status = name_index_new(&j->index, count, bytes_of, j->bytes, j->allocator, error);

    if (status != GUFO_OK)
        return status;
    for (uint32_t byte = 0; byte < 256; byte++)
        j->byte_ids[byte] = MISSING_BYTE | byte;
    j->allowance = FIRST_ALLOWANCE;
    for (uint64_t id = 0; id < count; id++) {
        if (!is_looked_at(j->bytes[id]))
            continue;
        if (name_index_add(&j->index, id, &first) && j->bytes[id].len == 1)
            j->byte_ids[(uint8_t)j->bytes[id].data[0]] = (uint32_t)id;
        j->allowance += ALLOWANCE * (uint64_t)j->bytes[id].len;
        longest = j->bytes[id].len > longest ? j->bytes[id].len : longest;
    }
    j->cache = mem_array(j->allocator, CACHE_SLOTS, sizeof *j->cache);
    j->ids = mem_array(j->allocator, longest, sizeof *j->ids);
    j->ends = mem_array(j->allocator, longest, sizeof *j->ends);
    j->before = mem_array(j->allocator, longest, sizeof *j->before);
    j->heap = mem_array(j->allocator, 3 * (uint64_t)longest, sizeof *j->heap);
    if (j->cache == NULL || j->ids == NULL || j->ends == NULL || j->before == NULL ||
        j->heap == NULL)
        return fail_memory(error);
    return GUFO_OK;
}

static void joiner_free(joiner *j)
{
    name_index_free(&j->index, j->allocator);
    mem_free(j->allocator, j->cache);
    mem_free(j->allocator, j->ids);
    mem_free(j->allocator, j->ends);
    mem_free(j->allocator, j->before);
    mem_free(j->allocator, j->heap);
}

gufo_status legacy_merges_find(const gufo_str *bytes, uint64_t count,
                               const gufo_allocator *allocator, legacy_merge *merges,
                               bool *complete, gufo_error *error)
{
    joiner j = {.allocator = allocator, .bytes = bytes};
    gufo_status status = prepare(&j, count, error);

    *complete = false;
    for (uint64_t id = 0; id < count && status == GUFO_OK && j.allowance > 0; id++) {
        merges[id] = (legacy_merge){MERGE_NONE, MERGE_NONE};
        if (is_looked_at(bytes[id]) && bytes[id].len > 1)
            merges[id] = merge_of(&j, (uint32_t)id);
    }
    *complete = j.allowance > 0;
    joiner_free(&j);
    return status;
}
