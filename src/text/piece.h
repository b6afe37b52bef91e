/* What one token gives in a text. */
#ifndef TEXT_PIECE_H
#define TEXT_PIECE_H

#include "gufo/vocab.h"

/* Appends the piece of a token that exists; false without memory. */
bool piece_add(const gufo_vocab *vocab, uint32_t id, gufo_text *out);

#endif
