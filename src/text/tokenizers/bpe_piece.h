/* The ids of one piece of text: what bpe.c leaves to bpe_piece.c. */
#ifndef TEXT_BPE_PIECE_H
#define TEXT_BPE_PIECE_H

#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/characters/escaped.h"
#include "text/tokenizers/merge_table.h"
#include "text/tokenizers/merging.h"
#include "text/tokenizers/piece_cache.h"
#include "text/pretokenizers/pretokenizer.h"
#include "text/characters/byte_alphabet.h"

typedef struct bpe_tables {
    pretokenizer *pre;
    bool composes; /* text is put in form NFC first */
    merge_table merges;
    byte_texts alphabet;
    uint32_t symbols[256];  /* of each byte; in raw text of ASCII characters alone */
    uint32_t *ranks;        /* of the pair of bytes a, b at 256 * a + b; raw text: NULL */
    uint32_t fallback[256]; /* what a byte of a symbol without token becomes: id or GUFO_NO_TOKEN */
    byte_pairs pairs;       /* of raw text: which bytes merges bring together */
} bpe_tables;

struct algorithm_scratch {
    const gufo_vocab *vocab;
    pre_scratch *pre;
    piece_cache cache;
    merging merging;
    buffer parts;
    gufo_text composed;    /* the text in form NFC */
    gufo_text escaped;     /* a piece with U+2581 for spaces */
    buffer shown, offsets; /* the piece as tokens spell it; where each byte is in that */
    tokenizing *work;
    gufo_ids *out;
};

/* Appends the ids of a piece. */
gufo_status bpe_add_piece(algorithm_scratch *s, gufo_str piece, gufo_error *error);

#endif
