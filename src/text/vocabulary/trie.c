/* Building a trie.
 *
 * Texts are sorted by their next seven bytes, and again by the next seven where these are equal;
 * the texts below a node are then neighbours.  A group of one text needs no further nodes: its rest
 * is a chain or a leaf.
 *
 * The children of a node need places base ^ c that are free; the search looks only into the few
 * blocks of 256 units that are open, so that it takes constant time per node.  Before another block
 * is opened, every base of the newest one was tried: n nodes with k children each then leave no
 * block emptier than one sixteenth, whatever the bytes are. */
#include "text/vocabulary/trie.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    BLOCK = 256,
    OPEN_BLOCKS = 4,
    QUICK_TRIES = 3,     /* bases that are tried in a block that is not the newest */
    SHORTEST_CHAIN = 16, /* bytes, of a chain that does not end in a leaf */
    SHORTEST_REST = 3,   /* bytes, of one that does: units for less are not larger */
    WINDOW = 7,          /* bytes of a text that are sorted by at once */
    SMALL_GROUP = 48,    /* texts: sorted by insertion, others by digits */
};

#define MOST_CHAINS (1u << 20)
#define MOST_UNITS (1u << 24)

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

/* A text, with a window of its bytes: the first in the highest bits, and how many there are, up to
 * WINDOW, in the lowest 8. */
typedef struct item {
    uint64_t key;
    uint32_t id, start;
} item;

/* Texts items[first ... last) have the same first `depth` bytes and lead to one node, which is to
 * be stored at `target`. */
typedef struct group {
    uint32_t first, last, depth;
    uint32_t window; /* depth at which the keys begin; they are sorted */
    uint32_t target; /* a unit, or a chain with `of_chain` */
    bool of_chain, of_root;
    uint8_t byte; /* that leads to the node */
} group;

typedef struct builder {
    trie *t;
    item *items, *spare;
    group *groups; /* that wait */
    uint64_t group_count, unit_room, chain_room;
    open_block open[OPEN_BLOCKS]; /* the newest last */
    unsigned open_count;
    bool too_many;
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

/* Room for another block of units; false without memory, or if there are too many. */
static bool make_units(builder *b)
{
    trie *t = b->t;
    uint64_t room = b->unit_room + b->unit_room / 2 + 16 * BLOCK;
    uint64_t *units;

    b->too_many = t->unit_count + BLOCK > MOST_UNITS;
    if (b->too_many)
        return false;
    if (t->unit_count + BLOCK <= b->unit_room)
        return true;
    if (room > SIZE_MAX / sizeof *units ||
        (units = mem_resize(&t->allocator, t->units, (size_t)room * sizeof *units)) == NULL)
        return false;
    t->units = units;
    b->unit_room = room;
    return true;
}

static bool add_units(builder *b)
{
    if (!make_units(b))
        return false;
    memset(b->t->units + b->t->unit_count, 0, BLOCK * sizeof *b->t->units);
    b->t->unit_count += BLOCK;
    return true;
}

/* One more block, all of it free; the fullest of the open ones is closed if there are too many. */
static bool open_another(builder *b)
{
    open_block *o;

    if (!add_units(b))
        return false;
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
    o->number = (uint32_t)(b->t->unit_count / BLOCK - 1);
    o->free_count = BLOCK;
    memset(&o->free, 0xff, sizeof o->free);
    memset(&o->bases, 0xff, sizeof o->bases);
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

/* The node of a text that ends; other nodes have no id. */
static uint64_t node_of_text(const builder *b, uint32_t id)
{
    uint64_t len = text_length(b, id);

    return ((uint64_t)id + 1) << 16 | (len < TRIE_LONG ? len : TRIE_LONG) << 9;
}

/* A chain from `place` on, up to the node `next`; false without memory. */
static bool add_chain(builder *b, uint32_t place, uint32_t end, uint64_t next, uint64_t *node)
{
    trie *t = b->t;
    trie_chain *grown =
        mem_grow(&t->allocator, t->chains, t->chain_count, &b->chain_room, sizeof *grown);

    if (grown == NULL)
        return false;
    t->chains = grown;
    *node = (uint64_t)TRIE_CHAINED << 40 | t->chain_count << 20;
    grown[t->chain_count++] = (trie_chain){next, place, end};
    return true;
}

/* How many further bytes all texts of a group have in common. */
static uint32_t common_length(const builder *b, const group *g)
{
    const char *bytes = b->t->texts.bytes;
    const uint32_t *starts = b->t->texts.starts;
    uint32_t id = b->items[g->first].id;
    const char *text = bytes + starts[id] + g->depth;
    uint32_t common = text_length(b, id) - g->depth;

    for (uint32_t i = g->first + 1; i < g->last && common > 0; i++) {
        const char *other = bytes + b->items[i].start + g->depth;
        uint32_t left = text_length(b, b->items[i].id) - g->depth, same = 0;

        if (left < common)
            common = left;
        while (same < common && text[same] == other[same])
            same++;
        common = same;
    }
    return common;
}

/* ---- sorting -------------------------------------------------------------------------------- */

static void sort_small(item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        item moved = items[i];
        uint32_t to = i;

        for (; to > 0 && moved.key < items[to - 1].key; to--)
            items[to] = items[to - 1];
        items[to] = moved;
    }
}

/* By one digit of the keys after the other, from the lowest; digits that are all equal need
 * nothing.  Either way, items with the same key keep their order. */
static void sort_large(item *items, item *spare, uint32_t count)
{
    uint32_t places[8][256] = {{0}};
    item *from = items, *to = spare;

    for (uint32_t i = 0; i < count; i++)
        for (unsigned digit = 0; digit < 8; digit++)
            places[digit][items[i].key >> 8 * digit & 0xff]++;
    for (unsigned digit = 0; digit < 8; digit++) {
        uint32_t *place = places[digit], sum = 0;

        if (place[items[0].key >> 8 * digit & 0xff] == count)
            continue;
        for (unsigned value = 0; value < 256; value++) {
            uint32_t here = place[value];

            place[value] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; i++)
            to[place[from[i].key >> 8 * digit & 0xff]++] = from[i];
        item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/* The window of a text that begins at `at`; zeros behind its end. */
static uint64_t key_at(const char *at, uint32_t len)
{
    uint64_t bytes = load_start(at, len < WINDOW ? len : WINDOW);

    return __builtin_bswap64(bytes) | (len < WINDOW ? len : WINDOW);
}

/* Moves the window of a group to its depth. */
static void sort_group(builder *b, group *g)
{
    const uint32_t *starts = b->t->texts.starts;
    uint32_t count = g->last - g->first;
    item *items = b->items + g->first;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = items[i].start + g->depth;

        items[i].key = key_at(b->t->texts.bytes + at, starts[items[i].id + 1] - at);
    }
    g->window = g->depth;
    if (count <= SMALL_GROUP)
        sort_small(items, count);
    else
        sort_large(items, b->spare, count);
}

/* Splits a group by the next byte.  Texts that end here come first; *id is the last of them. */
static void split(const builder *b, const group *g, children *c, uint32_t *id)
{
    const unsigned offset = g->depth - g->window, shift = 56 - 8 * offset;
    const item *items = b->items;
    uint32_t i = g->first;

    *id = TRIE_NO_ID;
    for (; i < g->last && (items[i].key & 0xff) == offset; i++)
        *id = items[i].id;
    c->count = 0;
    for (; i < g->last; i++) {
        uint8_t byte = (uint8_t)(items[i].key >> shift);

        if (c->count == 0 || byte != c->bytes[c->count - 1]) {
            c->bytes[c->count] = byte;
            c->firsts[c->count++] = i;
        }
    }
    c->firsts[c->count] = g->last;
}

/* The rest of a group's only text: a chain, unless nothing is left. */
static bool finish_text(builder *b, const group *g)
{
    const item *text = &b->items[g->first];
    unsigned offset = g->depth - g->window, known = text->key & 0xff;
    uint32_t place = text->start + g->depth;
    uint32_t end = known < WINDOW ? place + known - offset : b->t->texts.starts[text->id + 1];
    uint64_t node = node_of_text(b, text->id);

    if (end > place &&
        (end - place < SHORTEST_REST || b->t->chain_count == MOST_CHAINS || g->depth < TRIE_HEAD)) {
        b->groups[b->group_count++] = *g;
        return true;
    }
    if (end > place && !add_chain(b, place, end, node | TRIE_USED, &node))
        return false;
    store(b, g, node);
    return true;
}

/* A chain for the bytes that all texts of a group have in common, if they are many; the group is
 * then what follows. */
static bool add_common_chain(builder *b, group *g)
{
    const item *first = &b->items[g->first], *last = &b->items[g->last - 1];
    uint32_t place = first->start + g->depth, common;
    uint64_t node;

    if (g->last - g->first < 2 || first->key != last->key || (first->key & 0xff) < WINDOW ||
        b->t->chain_count == MOST_CHAINS || (common = common_length(b, g)) < SHORTEST_CHAIN)
        return true;
    if (!add_chain(b, place, place + common, TRIE_NONE, &node))
        return false;
    store(b, g, node);
    g->depth += common;
    g->target = (uint32_t)b->t->chain_count - 1;
    g->of_chain = true;
    g->byte = 0;
    sort_group(b, g);
    return true;
}

static bool build_node(builder *b, const group *g)
{
    children c;
    uint32_t id, base;
    uint64_t node;

    split(b, g, &c, &id);
    node = id != TRIE_NO_ID ? node_of_text(b, id) : 0;
    if (c.count == 0) { /* equal texts */
        store(b, g, node);
        return true;
    }
    if (!place_children(b, &c, &base))
        return false;
    store(b, g, (uint64_t)base << 40 | node);
    for (unsigned i = c.count; i-- > 0;) {
        group child = {.first = c.firsts[i],
                       .last = c.firsts[i + 1],
                       .depth = g->depth + 1,
                       .window = g->window,
                       .target = base ^ c.bytes[i],
                       .byte = c.bytes[i]};

        if (child.last - child.first > 1)
            b->groups[b->group_count++] = child;
        else if (!finish_text(b, &child))
            return false;
    }
    return true;
}

/* Each waiting group has a text of its own: never more groups than texts. */
static bool build(builder *b, uint32_t count)
{
    b->groups[b->group_count++] = (group){.last = count, .window = UINT32_MAX, .of_root = true};
    while (b->group_count > 0) {
        group g = b->groups[--b->group_count];

        if (g.of_root || g.depth - g.window >= WINDOW) {
            sort_group(b, &g);
            /* The root is always a node: it may be asked for any byte. */
            if (!g.of_root && !add_common_chain(b, &g))
                return false;
        }
        if (!build_node(b, &g))
            return false;
    }
    return true;
}

static uint32_t take_texts(builder *b, const uint32_t *ids, uint32_t count)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = ids != NULL ? ids[i] : i;

        b->items[taken] = (item){.id = id, .start = b->t->texts.starts[id]};
        taken += text_length(b, id) > 0;
    }
    return taken;
}

/* Memory that need not be zero. */
static void *make_room(const gufo_allocator *a, uint64_t count, size_t size)
{
    return count <= SIZE_MAX / size ? mem_alloc(a, (size_t)count * size) : NULL;
}

/* The first block stays empty: its bases are those of leaves and chains. */
static bool build_all(builder *b, uint32_t count)
{
    if (!add_units(b))
        return false;
    b->t->root = TRIE_USED;
    return count == 0 || build(b, count);
}

/* Gives back room that no unit needs. */
static void trim(builder *b)
{
    trie *t = b->t;
    uint64_t *units = mem_resize(&t->allocator, t->units, (size_t)t->unit_count * sizeof *units);

    t->units = units != NULL ? units : t->units;
}

static void report(const builder *b, gufo_error *error)
{
    if (b->too_many)
        (void)refuse(error, GUFO_E_LIMIT,
                     "the vocabulary is too large: its tokens have more than %s "
                     "different prefixes",
                     GROUPED(MOST_UNITS));
    else
        (void)fail_memory(error);
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
    b.items = make_room(a, room, sizeof *b.items);
    b.spare = make_room(a, room, sizeof *b.spare);
    b.groups = make_room(a, room, sizeof *b.groups);
    if (b.items != NULL && b.spare != NULL && b.groups != NULL)
        ok = build_all(&b, take_texts(&b, ids, count));
    mem_free(a, b.groups);
    mem_free(a, b.spare);
    mem_free(a, b.items);
    if (ok) {
        trim(&b);
        return b.t;
    }
    trie_free(b.t);
    report(&b, error);
    return NULL;
}

void trie_free(trie *t)
{
    if (t == NULL)
        return;
    const gufo_allocator allocator = t->allocator;
    mem_free(&allocator, t->units);
    mem_free(&allocator, t->chains);
    mem_free(&allocator, t);
}
