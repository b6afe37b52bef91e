/* Which cuts of a text can make a difference for a vocabulary. */
#ifndef IMPORT_TOKENIZERS_MATERIAL_H
#define IMPORT_TOKENIZERS_MATERIAL_H

#include "text/formats/token_list.h"

/* Bytes that follow each other in a token: no merge crosses a cut between others. */
typedef struct byte_pairs {
    uint8_t bits[256][32];
    struct code_map *punctuation; /* as tokenizer.json's own library knows it */
} byte_pairs;

/* Of the normal tokens of a byte-level vocabulary; freed with byte_pairs_free. */
gufo_status byte_pairs_learn(byte_pairs *pairs, const token_list *tokens,
                             const gufo_allocator *allocator, gufo_error *error);
void byte_pairs_free(byte_pairs *pairs, const gufo_allocator *allocator);

/* Whether a cut before text[at], 0 < at < text.len, can make a difference. */
bool cut_is_material(const byte_pairs *pairs, gufo_str text, size_t at);

#endif
