/* tokenizer.ggml.pre of a byte-level vocabulary. */
#ifndef IMPORT_TOKENIZERS_PRE_H
#define IMPORT_TOKENIZERS_PRE_H

#include "import/tokenizers/reading.h"

/* The name by which readers cut text as tokenizer.json says; static.  GUFO_E_TYPE: none does, or
 * tokenizer.json cannot be followed; the message says what differs. */
gufo_status pre_choose(tokenizer_reading *r, const token_list *tokens, gufo_str *pre);

/* Appends the steps of tokenizer.json's pre-tokenizer in the words of registry/pretokenizer_steps.tsv, a
 * line for each. */
gufo_status pre_spell(tokenizer_reading *r, buffer *out);

#endif
