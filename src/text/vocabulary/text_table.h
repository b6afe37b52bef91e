/* Texts by number, and their numbers by text. */
#ifndef TEXT_TEXT_TABLE_H
#define TEXT_TEXT_TABLE_H

#include "base/hash.h"
#include "text/vocabulary/trie.h"

typedef struct text_slot {
    uint32_t tag, number; /* a part of the hash; the text's number + 1, 0: empty */
} text_slot;

/* Text i is bytes[starts[i] ... starts[i + 1]). */
typedef struct text_table {
    char *bytes;
    uint32_t *starts;
    uint32_t count, longest; /* texts; bytes of the longest one */

    text_slot *slots;
    uint32_t slot_mask;
    hash_key slot_key;
    bool repeats; /* some text has several numbers */
} text_table;

static inline gufo_str text_at(const text_table *t, uint32_t number)
{
    return (gufo_str){t->bytes + t->starts[number], t->starts[number + 1] - t->starts[number]};
}

/* Room for texts of so many bytes; false without memory. */
bool text_table_reserve(text_table *t, uint32_t count, uint64_t bytes,
                        const gufo_allocator *allocator);
/* Appends a text, for which there is room. */
void text_table_add(text_table *t, gufo_str text);
/* Gives back room that no text needs. */
void text_table_trim(text_table *t, const gufo_allocator *allocator);
/* Makes texts be found; GUFO_E_MEMORY. */
gufo_status text_table_index(text_table *t, const gufo_allocator *allocator, gufo_error *error);
/* Copies a table with its index; false without memory: `to` is for text_table_free either way. */
bool text_table_copy(text_table *to, const text_table *from, const gufo_allocator *allocator);
void text_table_free(text_table *t, const gufo_allocator *allocator);

/* A trie of the texts with these numbers (NULL: of all), as trie_new makes it. */
static inline trie *text_table_trie(const text_table *t, const uint32_t *numbers, uint32_t count,
                                    const gufo_allocator *allocator, gufo_error *error)
{
    return trie_new(allocator, &(trie_texts){t->bytes, t->starts}, numbers, count, error);
}

/* The number of a text, the last one of several; UINT32_MAX. */
uint32_t text_table_find(const text_table *t, gufo_str text);
/* The same for many texts, faster. */
void text_table_find_batch(const text_table *t, const gufo_str *texts, size_t count, uint32_t *out);
/* The number of "<0xHH>"; UINT32_MAX. */
uint32_t text_table_find_byte(const text_table *t, uint8_t byte);

#endif
