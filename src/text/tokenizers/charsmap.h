/* The precompiled map of a SentencePiece normalizer: stretches of text, and what replaces them. */
#ifndef TEXT_CHARSMAP_H
#define TEXT_CHARSMAP_H

#include "gufo/format.h"

/* A map of no words replaces nothing. */
typedef struct charsmap {
    uint32_t *words; /* the trie */
    char *texts;     /* replacements, each with a 00 behind it */
    uint32_t word_count, text_size;
    bool cuts_characters;       /* a replacement may end inside one, or have a part of one */
    bool has_space;             /* a key may have a space in it */
    uint64_t pairs[65536 / 64]; /* bytes with which a key begins; (c, 00): key c */
} charsmap;

/* Copies the map from the metadata into *map, which is {0} before and is to be freed whatever is
 * returned.  GUFO_E_TYPE, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status charsmap_read(charsmap *map, const gufo_value *value, const gufo_allocator *allocator,
                          gufo_error *error);
/* The same from the bytes themselves; as they are in a tokenizer.json. */
gufo_status charsmap_read_bytes(charsmap *map, const uint8_t *data, uint64_t size,
                                const gufo_allocator *allocator, gufo_error *error);
void charsmap_free(charsmap *map, const gufo_allocator *allocator);

/* The length of the longest key that `text` begins with, and what replaces it; 0: none. */
size_t charsmap_match(const charsmap *map, gufo_str text, gufo_str *replacement);
/* The same of the shortest key. */
size_t charsmap_shortest(const charsmap *map, gufo_str text, gufo_str *replacement);

static inline bool charsmap_has_pair(const charsmap *map, char first, char next)
{
    unsigned pair = (unsigned)(uint8_t)first << 8 | (uint8_t)next;

    return (map->pairs[pair >> 6] >> (pair & 63) & 1) != 0;
}

/* Whether a key may begin with these bytes, of which `next` is 00 at the end. */
static inline bool charsmap_may_match(const charsmap *map, char first, char next)
{
    return charsmap_has_pair(map, first, next) || charsmap_has_pair(map, first, '\0');
}

#endif
