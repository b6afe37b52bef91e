/* The merges of a vocabulary: kept, or as scores. */
#ifndef IMPORT_TOKENIZERS_MERGES_H
#define IMPORT_TOKENIZERS_MERGES_H

#include "import/tokenizers/reading.h"

/* Sets tokenizer.ggml.merges: those of the vocabulary, or of merges.txt where that has none.  Both parts
 * and what they make must be tokens.  Without any, tokens are atomic: a warning. */
gufo_status merges_write(tokenizer_reading *r, const tokenizer_file *vocab);

/* Scores the tokens of a vocabulary of pieces as its merges say: the earlier, the higher.
 * GUFO_E_MALFORMED: no list, or a merge that makes no token. */
gufo_status merges_score(tokenizer_reading *r, const tokenizer_file *vocab, token_list *list);

#endif
