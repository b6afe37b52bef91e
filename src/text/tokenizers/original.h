/* Where llama.cpp is known to cut text otherwise than the tokenizer that a model was trained with. */
#ifndef TEXT_TOKENIZERS_ORIGINAL_H
#define TEXT_TOKENIZERS_ORIGINAL_H

#include "gufo/vocab.h"

typedef struct original_rules {
    const char *pre;          /* the name that llama.cpp goes by */
    const char *architecture; /* NULL: any */
    const char *shape;        /* the cuts of the original */
    bool composes;            /* the original puts text in form NFC */
    bool drops_padding;       /* it lacks the tokens that fill the vocabulary: "[PAD50300]" */
    const char *differs;      /* gufo_vocab_facts.original */
} original_rules;

/* NULL: none is known.  (For byte-pair encoding, when vocab->pre is set.) */
const original_rules *original_find(const gufo_vocab *v, const gufo_model *model);

/* Tokens that conversion adds to fill the vocabulary become unused. */
void original_drop_padding(gufo_vocab *v);

#endif
