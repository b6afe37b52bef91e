/* Makes precompiled maps: each node has a block of 256 words for its children. */
#ifndef TEST_TEXT_CHARSMAP_MAKER_H
#define TEST_TEXT_CHARSMAP_MAKER_H

#include "support/vocab_maker.h"

enum { MAP_NODES = 64, MAP_BLOCK = 256, MAP_TEXTS = 1024 };

typedef struct map_row {
    const char *from, *to;
} map_row;

typedef struct made_map {
    uint32_t words[(MAP_NODES + 1) * MAP_BLOCK];
    uint32_t nodes; /* node n has block n + 1 */
    char texts[MAP_TEXTS];
    uint32_t text_size;
} made_map;

/* The word at `index` with a byte and the block of a further node, whose number is given back. */
static inline uint32_t map_add_node(made_map *m, uint32_t index, uint8_t byte)
{
    uint32_t node = m->nodes++;

    check(node < MAP_NODES, "nodes");
    m->words[index] = (index ^ (node + 1) * MAP_BLOCK) << 10 | byte;
    return node;
}

static inline void map_add(made_map *m, map_row row)
{
    uint32_t node = 0, index = 0;
    size_t size = strlen(row.to) + 1;

    if (m->nodes == 0)
        (void)map_add_node(m, 0, 0);
    for (const char *c = row.from; *c != '\0'; c++) {
        index = (node + 1) * MAP_BLOCK ^ (uint8_t)*c;
        node = m->words[index] == 0 ? map_add_node(m, index, (uint8_t)*c)
                                    : (index ^ m->words[index] >> 10) / MAP_BLOCK - 1;
    }
    m->words[index] |= 0x100;
    m->words[(node + 1) * MAP_BLOCK] = 0x80000000u | m->text_size;
    check(m->text_size + size <= MAP_TEXTS, "texts");
    memcpy(m->texts + m->text_size, row.to, size);
    m->text_size += (uint32_t)size;
}

/* The key precompiled_charsmap, with these bytes. */
static inline void map_put_bytes(vocab_maker *v, const void *bytes, size_t size)
{
    builder_kv_array(&v->b, "tokenizer.ggml.precompiled_charsmap", GUFO_VALUE_UINT8, size);
    builder_raw(&v->b, bytes, size);
    v->entries++;
}

static inline void map_put(vocab_maker *v, const made_map *m)
{
    uint32_t words = (m->nodes + 1) * MAP_BLOCK;
    builder b = builder_new((encoding){3, false});

    builder_u32(&b, words * 4);
    for (uint32_t i = 0; i < words; i++)
        builder_u32(&b, m->words[i]);
    builder_raw(&b, m->texts, m->text_size);
    map_put_bytes(v, b.data, b.len);
    builder_free(&b);
}

#endif
