/* A trie: which texts begin at a place of another text, found byte by byte.
 *
 * A node is a number of 64 bits, so that a step costs one load:
 *
 *     bits 63..32   of an inner node: its base, the child for byte c is units[base ^ c]
 *                   of a leaf: the id of its text
 *                   in a chain: the place, in the texts, of the next byte
 *     bits 31..12   in a chain: which one
 *     bits 11..8    TRIE_CHAIN, TRIE_LEAF, TRIE_VALUE, TRIE_USED
 *     bits  7..0    the byte that leads here
 *
 * Two inner nodes never have the same base: the byte alone then says whose child a unit is. */
#ifndef TEXT_TRIE_H
#define TEXT_TRIE_H

#include <string.h>

#include "gufo/base.h"

#define TRIE_NONE ((uint64_t)0) /* not a node */
#define TRIE_NO_ID UINT32_MAX

enum { TRIE_USED = 0x100, TRIE_VALUE = 0x200, TRIE_LEAF = 0x400, TRIE_CHAIN = 0x800 };

/* Nodes with one child each, in a row: their bytes are read from the texts. */
typedef struct trie_chain {
    uint64_t next; /* the node at its end; TRIE_NONE: the end is a leaf */
    uint32_t end;  /* place in the texts */
    uint32_t id;   /* of that leaf */
} trie_chain;

/* Text `id` is bytes[starts[id] ... starts[id + 1]). */
typedef struct trie_texts {
    const char *bytes;
    const uint32_t *starts;
} trie_texts;

typedef struct trie {
    gufo_allocator allocator;
    trie_texts texts;
    uint64_t *units;
    uint32_t *ids; /* by base, of inner nodes with TRIE_VALUE */
    trie_chain *chains;
    uint64_t unit_count, chain_count;
    uint64_t root;
} trie;

/* A trie of the texts with these ids (NULL: 0 ... count - 1) but for empty ones; of equal texts it
 * gives the last id.  `texts` must outlive it, `ids` need not.  Time and memory are linear in the
 * bytes of the texts, whatever they are.  NULL without memory. */
trie *trie_new(const gufo_allocator *allocator, const trie_texts *texts, const uint32_t *ids,
               uint32_t count, gufo_error *error);
void trie_free(trie *t); /* NULL is allowed */

/* The child of a node (not TRIE_NONE); TRIE_NONE if it has none for this byte. */
static inline uint64_t trie_step(const trie *t, uint64_t node, uint8_t byte)
{
    uint64_t child;

    if ((node & (TRIE_CHAIN | TRIE_LEAF)) != 0) {
        if ((node & TRIE_LEAF) != 0)
            return TRIE_NONE;
        const trie_chain *chain = &t->chains[(uint32_t)node >> 12];
        uint32_t place = (uint32_t)(node >> 32);

        if (place == chain->end || (uint8_t)t->texts.bytes[place] != byte)
            return TRIE_NONE;
        node += UINT64_C(1) << 32;
        return place + 1 == chain->end && chain->next != TRIE_NONE ? chain->next : node;
    }
    child = t->units[(uint32_t)(node >> 32) ^ byte];
    return (child & (TRIE_USED | 0xff)) == (TRIE_USED | (uint64_t)byte) ? child : TRIE_NONE;
}

/* Moves along a chain while its bytes are those of `text`, but for its last byte: how many were
 * passed.  No text ends at one of them.  Long tokens are compared in blocks this way. */
static inline size_t trie_skip(const trie *t, uint64_t *node, const char *text, size_t len)
{
    enum { BLOCK = 32 };
    const char *chained;
    size_t left, skipped = 0;

    if ((*node & (TRIE_CHAIN | TRIE_LEAF)) != TRIE_CHAIN)
        return 0;
    left = t->chains[(uint32_t)*node >> 12].end - (uint32_t)(*node >> 32);
    chained = t->texts.bytes + (uint32_t)(*node >> 32);
    len = len < left ? len : left;
    while (len - skipped > BLOCK && memcmp(chained + skipped, text + skipped, BLOCK) == 0)
        skipped += BLOCK;
    *node += (uint64_t)skipped << 32;
    return skipped;
}

/* The id of the text that ends at a node; TRIE_NO_ID if none does. */
static inline uint32_t trie_value(const trie *t, uint64_t node)
{
    uint32_t high = (uint32_t)(node >> 32);

    if ((node & (TRIE_LEAF | TRIE_VALUE | TRIE_CHAIN)) == 0)
        return TRIE_NO_ID;
    if ((node & TRIE_LEAF) != 0)
        return high;
    if ((node & TRIE_VALUE) != 0)
        return t->ids[high];
    const trie_chain *chain = &t->chains[(uint32_t)node >> 12];
    return high == chain->end ? chain->id : TRIE_NO_ID;
}

/* The node that `len` bytes lead to from `node`; TRIE_NONE. */
static inline uint64_t trie_walk(const trie *t, uint64_t node, const char *text, size_t len)
{
    for (size_t i = 0; i < len && node != TRIE_NONE; i++)
        node = trie_step(t, node, (uint8_t)text[i]);
    return node;
}

/* The length of the longest text that `text` begins with, and its id; 0: none, and *id stays. */
static inline size_t trie_longest(const trie *t, gufo_str text, uint32_t *id)
{
    uint64_t node = t->root;
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        uint32_t found;

        i += trie_skip(t, &node, text.data + i, text.len - i);
        node = trie_step(t, node, (uint8_t)text.data[i]);
        if (node == TRIE_NONE)
            break;
        found = trie_value(t, node);
        if (found != TRIE_NO_ID) {
            *id = found;
            len = i + 1;
        }
    }
    return len;
}

#endif
