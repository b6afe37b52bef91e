/* The merges of a byte-level vocabulary. */
#ifndef IMPORT_TOKENIZERS_MERGES_H
#define IMPORT_TOKENIZERS_MERGES_H

#include "import/tokenizers/reading.h"

/* Sets tokenizer.ggml.merges: those of the vocabulary, or of merges.txt where that has none.  Both parts
 * and what they make must be tokens.  Without any, tokens are atomic: a warning. */
gufo_status merges_write(tokenizer_reading *r, const tokenizer_file *vocab);

#endif
