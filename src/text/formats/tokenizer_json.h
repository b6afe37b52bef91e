/* tokenizer.json, the vocabulary file of Hugging Face, to and from keys of a GGUF file. */
#ifndef TEXT_FORMATS_TOKENIZER_JSON_H
#define TEXT_FORMATS_TOKENIZER_JSON_H

#include "gufo/document.h"
#include "gufo/vocab.h"

typedef struct tokenizer_json_options {
    const char *pre; /* tokenizer.ggml.pre; NULL: what the pre-tokenizer is recognised as */
    /* Takes a sentence about what a GGUF file cannot say; NULL: that is a failure, where ids may
     * depend on it. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
    const gufo_allocator *allocator; /* NULL: malloc */
} tokenizer_json_options;

/* Sets tokenizer.ggml.* keys of a document from a tokenizer.json: model, pre, tokens, scores,
 * token_type, merges, special ids and flags.  Special ids that the file does not tell (its
 * tokenizer_config.json does) are those of well-known texts.  `options` may be NULL.
 *   GUFO_E_TYPE       a part that GGUF cannot express, by its name
 *   GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT
 *                     what is wrong with it
 *   GUFO_E_MEMORY */
gufo_status tokenizer_json_read(gufo_str text, const tokenizer_json_options *options,
                                gufo_document *document, gufo_error *error);

#endif
