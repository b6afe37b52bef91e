/* tokenizer.model: what a SentencePiece model says, as far as a GGUF file can. */
#ifndef IMPORT_TOKENIZERS_SENTENCEPIECE_H
#define IMPORT_TOKENIZERS_SENTENCEPIECE_H

#include "gufo/base.h"

enum { SENTENCEPIECE_UNIGRAM = 1, SENTENCEPIECE_BPE = 2 };

typedef struct sentence_piece {
    gufo_str text; /* a view into the file */
    float score;
    int32_t type; /* as tokenizer.ggml.token_type has it */
} sentence_piece;

typedef struct sentencepiece {
    const gufo_allocator *allocator;
    sentence_piece *pieces;
    uint64_t count, room;
    int64_t model_type; /* unigram, BPE; 3: words, 4: characters */
    gufo_str charsmap;
    bool add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
} sentencepiece;

/* Reads the bytes of a file, which must outlive *out.  Freed with sentencepiece_free, also after a
 * failure: GUFO_E_MALFORMED, GUFO_E_TRUNCATED (with the byte offset), GUFO_E_MEMORY. */
gufo_status sentencepiece_read(gufo_str bytes, const gufo_allocator *allocator, sentencepiece *out,
                               gufo_error *error);
void sentencepiece_free(sentencepiece *model);

#endif
