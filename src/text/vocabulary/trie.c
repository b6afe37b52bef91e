/* Building a trie.
 *
 * Texts are put in groups by their next byte, group by group, most significant byte first: a group
 * of one text needs no further nodes, the rest of the text is a chain or a leaf.  The children of a
 * node need places base ^ c that are free; the search looks only into the few blocks of 256 units
 * that are open, so that it takes constant time per node.  Before another block is opened, every
 * base of the newest one was tried: n nodes with k children each then leave no block emptier than
 * one sixteenth, whatever the bytes are. */
#include "text/vocabulary/trie.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    BLOCK = 256,
    OPEN_BLOCKS = 8,
    QUICK_TRIES = 6,     /* bases that are tried in a block that is not the newest */
    SHORTEST_CHAIN = 16, /* bytes, of a chain that does not end in a leaf */
    SMALL_GROUP = 12,    /* texts: sorted by insertion */
};

#define MOST_CHAINS (1u << 20)

/* Bits for the 256 places of a block. */
typedef struct bits256 {
    uint64_t words[4];
} bits256;

typedef struct open_block {
    uint32_t number;
    unsigned free_count;
    bits256 free;  /* units */
    bits256 bases; /* that no node has yet */
} open_block;

/* Texts order[first ... last) have the same first `depth` bytes and lead to one node, which is to be
 * stored at `target`. */
typedef struct group {
    uint32_t first, last, depth;
    uint32_t target; /* a unit, or a chain with `of_chain` */
    bool of_chain, of_root;
    uint8_t byte; /* that leads to the node */
} group;

typedef struct builder {
    trie *t;
    uint32_t *order, *spare;
    uint16_t *keys; /* of order[first ...): 0 at the end of a text, else byte + 1 */
    uint16_t *spare_keys;
    group *groups; /* that wait */
    uint64_t group_count, unit_room, chain_room;
    open_block open[OPEN_BLOCKS]; /* the newest last */
    unsigned open_count;
} builder;

/* The children of a node: for each, its byte and its texts. */
typedef struct children {
    unsigned count;
    uint8_t bytes[BLOCK];
    uint32_t firsts[BLOCK + 1];
} children;

static inline uint32_t text_length(const builder *b, uint32_t id)
{
    return b->t->texts.starts[id + 1] - b->t->texts.starts[id];
}

static inline bool bit_of(const bits256 *bits, unsigned place)
{
    return (bits->words[place >> 6] >> (place & 63) & 1) != 0;
}

static inline void bit_clear(bits256 *bits, unsigned place)
{
    bits->words[place >> 6] &= ~(UINT64_C(1) << (place & 63));
}

/* ---- places for children -------------------------------------------------------------------- */

static bool base_fits(const open_block *o, unsigned base, const children *c)
{
    if (!bit_of(&o->bases, base))
        return false;
    for (unsigned i = 0; i < c->count; i++)
        if (!bit_of(&o->free, base ^ c->bytes[i]))
            return false;
    return true;
}

/* A base of the block for these children; BLOCK if none of the first `tries` fits. */
static unsigned find_base(const open_block *o, const children *c, unsigned tries)
{
    if (o->free_count < c->count)
        return BLOCK;
    for (unsigned w = 0; w < 4; w++)
        for (uint64_t free = o->free.words[w]; free != 0; free &= free - 1) {
            unsigned base = (w * 64 + (unsigned)__builtin_ctzll(free)) ^ c->bytes[0];

            if (base_fits(o, base, c))
                return base;
            if (--tries == 0)
                return BLOCK;
        }
    return BLOCK;
}

/* One more block, all of it free; the fullest of the open ones is closed if there are too many. */
static bool open_another(builder *b)
{
    trie *t = b->t;
    open_block *o;

    if (t->unit_count + BLOCK > b->unit_room) {
        uint64_t room = b->unit_room * 2 + 16 * BLOCK;
        uint64_t *units;
        uint32_t *ids;

        if (room > UINT32_MAX || room > SIZE_MAX / sizeof *units)
            return false;
        if ((units = mem_resize(&t->allocator, t->units, (size_t)room * sizeof *units)) == NULL)
            return false;
        t->units = units;
        if ((ids = mem_resize(&t->allocator, t->ids, (size_t)room * sizeof *ids)) == NULL)
            return false;
        t->ids = ids;
        b->unit_room = room;
    }
    memset(t->units + t->unit_count, 0, BLOCK * sizeof *t->units);
    if (b->open_count == OPEN_BLOCKS) {
        unsigned fullest = 0;

        for (unsigned i = 1; i < OPEN_BLOCKS; i++)
            if (b->open[i].free_count < b->open[fullest].free_count)
                fullest = i;
        b->open_count--;
        memmove(&b->open[fullest], &b->open[fullest + 1],
                (b->open_count - fullest) * sizeof *b->open);
    }
    o = &b->open[b->open_count++];
    o->number = (uint32_t)(t->unit_count / BLOCK);
    o->free_count = BLOCK;
    memset(&o->free, 0xff, sizeof o->free);
    memset(&o->bases, 0xff, sizeof o->bases);
    t->unit_count += BLOCK;
    return true;
}

/* Reserves the places of the children; *base is their node's. */
static bool place_children(builder *b, const children *c, uint32_t *base)
{
    open_block *o = NULL;
    unsigned place = BLOCK;

    for (unsigned i = 0; i < b->open_count && place == BLOCK; i++) {
        o = &b->open[i];
        place = find_base(o, c, i + 1 < b->open_count ? QUICK_TRIES : BLOCK + 1);
    }
    if (place == BLOCK) {
        if (!open_another(b))
            return false;
        o = &b->open[b->open_count - 1];
        place = find_base(o, c, 1);
    }
    bit_clear(&o->bases, place);
    for (unsigned i = 0; i < c->count; i++)
        bit_clear(&o->free, place ^ c->bytes[i]);
    o->free_count -= c->count;
    *base = o->number * BLOCK + place;
    return true;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static void store(builder *b, const group *g, uint64_t node)
{
    node |= TRIE_USED | g->byte;
    if (g->of_root)
        b->t->root = node;
    else if (g->of_chain)
        b->t->chains[g->target].next = node;
    else
        b->t->units[g->target] = node;
}

/* A chain from `place` on; false without memory. */
static bool add_chain(builder *b, uint32_t place, uint32_t end, uint32_t id, uint64_t *node)
{
    trie *t = b->t;
    trie_chain *grown =
        mem_grow(&t->allocator, t->chains, t->chain_count, &b->chain_room, sizeof *grown);

    if (grown == NULL)
        return false;
    t->chains = grown;
    *node = (uint64_t)place << 32 | t->chain_count << 12 | TRIE_CHAIN;
    grown[t->chain_count++] = (trie_chain){TRIE_NONE, end, id};
    return true;
}

/* How many further bytes all texts of a group have in common. */
static uint32_t common_length(const builder *b, const group *g)
{
    const char *bytes = b->t->texts.bytes;
    const uint32_t *starts = b->t->texts.starts;
    uint32_t id = b->order[g->first];
    const char *text = bytes + starts[id] + g->depth;
    uint32_t common = text_length(b, id) - g->depth;

    for (uint32_t i = g->first + 1; i < g->last && common > 0; i++) {
        const char *other = bytes + starts[b->order[i]] + g->depth;
        uint32_t left = text_length(b, b->order[i]) - g->depth, same = 0;

        if (left < common)
            common = left;
        while (same < common && text[same] == other[same])
            same++;
        common = same;
    }
    return common;
}

/* Reads the next byte of each text of a group into `keys`; whether they are in order. */
static bool read_keys(builder *b, const group *g)
{
    const char *bytes = b->t->texts.bytes;
    const uint32_t *starts = b->t->texts.starts;
    uint16_t last = 0;
    bool sorted = true;

    for (uint32_t i = g->first; i < g->last; i++) {
        uint32_t id = b->order[i], at = starts[id] + g->depth;
        uint16_t key = at == starts[id + 1] ? 0 : (uint16_t)((uint8_t)bytes[at] + 1);

        b->keys[i] = key;
        sorted &= key >= last;
        last = key;
    }
    return sorted;
}

/* Sorts the texts of a group by key; a stable order keeps ids ascending among equal texts. */
static void sort_small(builder *b, const group *g)
{
    for (uint32_t i = g->first + 1; i < g->last; i++) {
        uint32_t id = b->order[i], j = i;
        uint16_t key = b->keys[i];

        for (; j > g->first && b->keys[j - 1] > key; j--) {
            b->keys[j] = b->keys[j - 1];
            b->order[j] = b->order[j - 1];
        }
        b->keys[j] = key;
        b->order[j] = id;
    }
}

/* By counting; only keys that occur are looked at. */
static void sort_large(builder *b, const group *g)
{
    uint32_t counts[BLOCK + 1];
    uint64_t present[5] = {0};
    uint32_t size = g->last - g->first, place = g->first;

    for (uint32_t i = g->first; i < g->last; i++) {
        uint16_t key = b->keys[i];

        if ((present[key >> 6] >> (key & 63) & 1) == 0)
            counts[key] = 0;
        present[key >> 6] |= UINT64_C(1) << (key & 63);
        counts[key]++;
    }
    memcpy(b->spare, b->order + g->first, size * sizeof *b->spare);
    memcpy(b->spare_keys, b->keys + g->first, size * sizeof *b->spare_keys);
    for (unsigned w = 0; w < 5; w++)
        for (uint64_t bits = present[w]; bits != 0; bits &= bits - 1) {
            unsigned key = w * 64 + (unsigned)__builtin_ctzll(bits);
            uint32_t count = counts[key];

            counts[key] = place;
            place += count;
        }
    for (uint32_t i = 0; i < size; i++) {
        uint32_t to = counts[b->spare_keys[i]]++;

        b->order[to] = b->spare[i];
        b->keys[to] = b->spare_keys[i];
    }
}

/* Splits a group by the next byte.  Texts that end here come first; *id is the last of them. */
static void split(builder *b, const group *g, children *c, uint32_t *id)
{
    uint32_t i = g->first;

    if (!read_keys(b, g)) {
        if (g->last - g->first <= SMALL_GROUP)
            sort_small(b, g);
        else
            sort_large(b, g);
    }
    *id = TRIE_NO_ID;
    for (; i < g->last && b->keys[i] == 0; i++)
        *id = b->order[i];
    c->count = 0;
    for (; i < g->last; i++)
        if (c->count == 0 || b->keys[i] != b->keys[i - 1]) {
            c->bytes[c->count] = (uint8_t)(b->keys[i] - 1);
            c->firsts[c->count++] = i;
        }
    c->firsts[c->count] = g->last;
}

/* A group of one text, or one whose texts have many bytes in common.  *done is false if the group
 * needs a node. */
static bool build_chain(builder *b, const group *g, bool *done)
{
    const uint32_t *starts = b->t->texts.starts;
    uint32_t id = b->order[g->first], place = starts[id] + g->depth;
    bool one = g->last - g->first == 1;
    uint32_t common = one ? starts[id + 1] - place : common_length(b, g);
    uint64_t node;

    *done = one && common == 0;
    if (*done) {
        store(b, g, (uint64_t)id << 32 | TRIE_LEAF);
        return true;
    }
    if ((!one && common < SHORTEST_CHAIN) || b->t->chain_count == MOST_CHAINS)
        return true;
    if (!add_chain(b, place, place + common, id, &node))
        return false;
    *done = true;
    store(b, g, node);
    if (!one)
        b->groups[b->group_count++] = (group){.first = g->first,
                                              .last = g->last,
                                              .depth = g->depth + common,
                                              .target = (uint32_t)b->t->chain_count - 1,
                                              .of_chain = true};
    return true;
}

static bool build_node(builder *b, const group *g)
{
    children c;
    uint32_t id, base;

    split(b, g, &c, &id);
    if (c.count == 0) { /* equal texts */
        store(b, g, (uint64_t)id << 32 | TRIE_LEAF);
        return true;
    }
    if (!place_children(b, &c, &base))
        return false;
    b->t->ids[base] = id;
    store(b, g, (uint64_t)base << 32 | (id != TRIE_NO_ID ? TRIE_VALUE : 0));
    for (unsigned i = c.count; i-- > 0;) {
        group child = {.first = c.firsts[i],
                       .last = c.firsts[i + 1],
                       .depth = g->depth + 1,
                       .target = base ^ c.bytes[i],
                       .byte = c.bytes[i]};

        b->groups[b->group_count++] = child;
    }
    return true;
}

/* Each waiting group has a text of its own: never more groups than texts. */
static bool build(builder *b, uint32_t count)
{
    b->groups[b->group_count++] = (group){.last = count, .of_root = true};
    while (b->group_count > 0) {
        group g = b->groups[--b->group_count];
        bool done = false;

        /* The root is always a node: it may be asked for any byte. */
        if (!g.of_root && !build_chain(b, &g, &done))
            return false;
        if (!done && !build_node(b, &g))
            return false;
    }
    return true;
}

static uint32_t take_texts(builder *b, const uint32_t *ids, uint32_t count)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = ids != NULL ? ids[i] : i;

        b->order[taken] = id;
        taken += text_length(b, id) > 0;
    }
    return taken;
}

trie *trie_new(const gufo_allocator *allocator, const trie_texts *texts, const uint32_t *ids,
               uint32_t count, gufo_error *error)
{
    const gufo_allocator *a = mem_allocator(allocator);
    uint64_t room = (uint64_t)count + 1; /* memory for nothing would be NULL */
    builder b = {.t = mem_object(a, sizeof *b.t, error)};
    bool ok = false;

    if (b.t == NULL)
        return NULL;
    b.t->texts = *texts;
    b.order = mem_array(a, room, sizeof *b.order);
    b.spare = mem_array(a, room, sizeof *b.spare);
    b.keys = mem_array(a, 2 * room, sizeof *b.keys);
    b.groups = mem_array(a, room, sizeof *b.groups);
    if (b.order != NULL && b.spare != NULL && b.keys != NULL && b.groups != NULL) {
        b.spare_keys = b.keys + room;
        count = take_texts(&b, ids, count);
        if (count > 0)
            ok = build(&b, count);
        else if ((ok = open_another(&b)))
            b.t->root = TRIE_USED;
    }
    mem_free(a, b.groups);
    mem_free(a, b.keys);
    mem_free(a, b.spare);
    mem_free(a, b.order);
    if (ok)
        return b.t;
    trie_free(b.t);
    (void)fail_memory(error);
    return NULL;
}

void trie_free(trie *t)
{
    if (t == NULL)
        return;
    const gufo_allocator allocator = t->allocator;
    mem_free(&allocator, t->units);
    mem_free(&allocator, t->ids);
    mem_free(&allocator, t->chains);
    mem_free(&allocator, t);
}
