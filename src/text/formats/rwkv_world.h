/* Vocabularies of RWKV World as keys of a GGUF file. */
#ifndef TEXT_RWKV_WORLD_H
#define TEXT_RWKV_WORLD_H

#include "gufo/document.h"

/* Sets tokenizer.ggml.* keys from the text of a vocabulary file: model rwkv, tokens as GGUF files
 * have them (bytes escaped as Python does), token_type, the ids of the World tokenizer.  `size`:
 * tokens of the model; 0: up to the largest id.
 *   GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT, GUFO_E_MEMORY */
gufo_status rwkv_world_document(gufo_str text, uint32_t size, const gufo_allocator *allocator,
                                gufo_document *document, gufo_error *error);

#endif
