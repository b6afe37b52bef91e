/* Tokens that were added after training. */
#ifndef TEXT_ADDED_TOKENS_H
#define TEXT_ADDED_TOKENS_H

#include "text/vocabulary/vocabulary.h"

/* Tokens that tokenizer.ggml.added_tokens names become user-defined, unless their type says more; runs
 * of spaces only for the original's ids, and stay normal besides.  Texts must be indexed.
 * GUFO_E_MALFORMED, GUFO_E_MEMORY. */
gufo_status added_tokens_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error);

#endif
