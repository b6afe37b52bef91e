/* tokenizer.model: a vocabulary as SentencePiece has it. */
#ifndef IMPORT_EXPORT_SENTENCEPIECE_WRITE_H
#define IMPORT_EXPORT_SENTENCEPIECE_WRITE_H

#include "base/buffer.h"
#include "import/export/tokens.h"

/* How many tokens the file has: not those at the end that are padding, or were added. */
uint32_t sentencepiece_count(const model_tokens *tokens);
/* Appends the file.  `unigram`: the model of T5; else BPE.  GUFO_E_MEMORY, failures of reading keys. */
gufo_status sentencepiece_write(const gufo_model *model, const model_tokens *tokens, bool unigram,
                                buffer *out, gufo_error *error);

#endif
