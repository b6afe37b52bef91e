/* A trie: which texts begin at a place of another text, found byte by byte.
 *
 * A node is a number of 64 bits, so that a step costs one load:
 *
 *     bits 63..40   its base: the child for byte c is units[base ^ c]; TRIE_LEAF, TRIE_CHAINED
 *     bits 39..16   the id of the text that ends here, and 1; 0: none does
 *     bits 15..9    the length of that text, TRIE_LONG: that or more; 0: none ends here
 *     bits  8..0    TRIE_USED, and the byte that leads here
 *
 * The node of a chain, nodes with one child each in a row, says instead:
 *
 *     bits 39..20   which chain
 *     bits 19..0    how many of its bytes were passed; where it begins, bits 8..0 as above
 *
 * Two nodes never have the same base: the byte alone then says whose child a unit is.  The bases
 * TRIE_LEAF and TRIE_CHAINED are in a block of units that are never used. */
#ifndef TEXT_TRIE_H
#define TEXT_TRIE_H

#include <string.h>

#include "gufo/base.h"

#define TRIE_NONE ((uint64_t)0) /* not a node */
#define TRIE_NO_ID UINT32_MAX

enum {
    TRIE_LEAF = 0,
    TRIE_CHAINED = 1,
    TRIE_USED = 0x100,
    TRIE_LONG = 127,
    TRIE_LENGTH = TRIE_LONG << 9,
    TRIE_HEAD = 5, /* bytes before which no chain begins */
    TRIE_PASSED = (1 << 20) - 1,
    TRIE_MOST_TEXTS = (1 << 24) - 1,
};

typedef struct trie_chain {
    uint64_t next;       /* the node at its end */
    uint32_t begin, end; /* of its bytes, in the texts */
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
    trie_chain *chains;
    uint64_t unit_count, chain_count;
    uint64_t root;
} trie;

/* A trie of the texts with these ids (NULL: 0 ... count - 1) but for empty ones; of equal texts it
 * gives the last id.  Texts have at most 2^20 bytes.  `texts` must outlive it, `ids` need not.  Time
 * and memory are linear in the bytes of the texts, whatever they are.  NULL without memory, or if
 * there are more than 2^24 units (GUFO_E_LIMIT); ids are below TRIE_MOST_TEXTS. */
trie *trie_new(const gufo_allocator *allocator, const trie_texts *texts, const uint32_t *ids,
               uint32_t count, gufo_error *error);
void trie_free(trie *t); /* NULL is allowed */

/* Why there is none. */
static inline gufo_status trie_status(const gufo_error *error)
{
    return error != NULL ? error->code : GUFO_E_MEMORY;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static inline uint64_t trie_base(uint64_t node)
{
    return node >> 40;
}

static inline const trie_chain *trie_chain_of(const trie *t, uint64_t node)
{
    return &t->chains[node >> 20 & 0xfffff];
}

/* The child of a node that is not in a chain; TRIE_NONE. */
static inline uint64_t trie_child(const trie *t, uint64_t node, uint8_t byte)
{
    uint64_t child = t->units[trie_base(node) ^ byte];

    return (child & (TRIE_USED | 0xff)) == (TRIE_USED | (uint64_t)byte) ? child : TRIE_NONE;
}

/* The child of a node (not TRIE_NONE); TRIE_NONE if it has none for this byte. */
static inline uint64_t trie_step(const trie *t, uint64_t node, uint8_t byte)
{
    uint64_t child;

    if (trie_base(node) == TRIE_CHAINED) {
        const trie_chain *chain = trie_chain_of(t, node);
        uint32_t place = chain->begin + (uint32_t)(node & TRIE_PASSED);

        if ((uint8_t)t->texts.bytes[place] != byte)
            return TRIE_NONE;
        return place + 1 == chain->end ? chain->next : node + 1;
    }
    child = trie_child(t, node, byte);
    return trie_base(child) == TRIE_CHAINED ? child & ~(uint64_t)TRIE_PASSED : child;
}

/* Moves along a chain while its bytes are those of `text`, but for its last byte: how many were
 * passed.  No text ends at one of them.  Long tokens are compared in blocks this way. */
static inline size_t trie_skip(const trie *t, uint64_t *node, const char *text, size_t len)
{
    enum { BLOCK = 32 };
    const trie_chain *chain;
    const char *chained;
    size_t left, skipped = 0;

    if (trie_base(*node) != TRIE_CHAINED)
        return 0;
    chain = trie_chain_of(t, *node);
    chained = t->texts.bytes + chain->begin + (*node & TRIE_PASSED);
    left = (size_t)(t->texts.bytes + chain->end - chained);
    len = len < left ? len : left;
    while (len - skipped > BLOCK && memcmp(chained + skipped, text + skipped, BLOCK) == 0)
        skipped += BLOCK;
    *node += skipped;
    return skipped;
}

/* The id of the text that ends at a node; TRIE_NO_ID if none does, or for TRIE_NONE. */
static inline uint32_t trie_value(uint64_t node)
{
    return trie_base(node) == TRIE_CHAINED ? TRIE_NO_ID : (uint32_t)(node >> 16 & 0xffffff) - 1;
}

/* The length of that text. */
static inline size_t trie_length(const trie *t, uint64_t node)
{
    size_t len = (node & TRIE_LENGTH) >> 9;
    uint32_t id;

    if (len < TRIE_LONG)
        return len;
    id = trie_value(node);
    return t->texts.starts[id + 1] - t->texts.starts[id];
}

/* The node that `len` bytes lead to from `node`; TRIE_NONE. */
static inline uint64_t trie_walk(const trie *t, uint64_t node, const char *text, size_t len)
{
    for (size_t i = 0; i < len && node != TRIE_NONE; i++)
        node = trie_step(t, node, (uint8_t)text[i]);
    return node;
}

/* ---- texts that begin at a place ------------------------------------------------------------ */

/* From the node where a chain begins to the one behind it, if all of its bytes follow. */
static inline uint64_t trie_pass_chain(const trie *t, uint64_t node, const char **at,
                                       const char *end)
{
    const trie_chain *chain = trie_chain_of(t, node);
    size_t len = chain->end - chain->begin;

    if ((size_t)(end - *at) < len || memcmp(t->texts.bytes + chain->begin, *at, len) != 0)
        return TRIE_NONE;
    *at += len;
    return chain->next;
}

/* Goes on from a node, which trie_child or this function gave, to the next one where a text ends:
 * *at is then behind that text.  TRIE_NONE if there is none before `end`. */
static inline uint64_t trie_next(const trie *t, uint64_t node, const char **at, const char *end)
{
    const uint64_t *units = t->units;
    const char *from = *at;

    for (;;) {
        uint64_t child = TRIE_NONE;

        for (; from < end; node = child) {
            uint64_t byte = (uint8_t)*from;

            child = units[trie_base(node) ^ byte];
            if ((child & (TRIE_USED | 0xff)) != (TRIE_USED | byte))
                break;
            from++;
            if ((child & TRIE_LENGTH) != 0) {
                *at = from;
                return child;
            }
        }
        if (trie_base(node) != TRIE_CHAINED)
            return TRIE_NONE;
        node = trie_pass_chain(t, node, &from, end);
        if (node == TRIE_NONE || (node & TRIE_LENGTH) != 0) {
            *at = from;
            return node;
        }
    }
}

/* Goes on from a node that is `len` bytes deep in `text`: the last one where a text ends; `best` if
 * there is none. */
static inline uint64_t trie_last(const trie *t, uint64_t node, gufo_str text, size_t len,
                                 uint64_t best)
{
    const char *at = text.data + len;

    while ((node = trie_next(t, node, &at, text.data + text.len)) != TRIE_NONE)
        best = node;
    return best;
}

/* The length of the longest text that `text` begins with, and its id; 0: none, and *id stays. */
static inline size_t trie_longest(const trie *t, gufo_str text, uint32_t *id)
{
    uint64_t best = trie_last(t, t->root, text, 0, TRIE_NONE);

    if (best == TRIE_NONE)
        return 0;
    *id = trie_value(best);
    return trie_length(t, best);
}

#endif
