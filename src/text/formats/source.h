/* Vocabularies that a model holds in the form of another program. */
#ifndef TEXT_SOURCE_H
#define TEXT_SOURCE_H

#include "gufo/document.h"
#include "gufo/vocab.h"

/* The text of such a key (tokenizer.huggingface.json, tokenizer.rwkv.world); GUFO_E_NOT_FOUND. */
gufo_status source_text(const gufo_model *model, const char *key, gufo_str *text,
                        gufo_error *error);
/* GUFO_E_ARGUMENT if this cannot be what the vocabulary was opened from. */
gufo_status source_check(const gufo_vocab_source *source, const gufo_vocab *vocab,
                         gufo_error *error);
/* The text of a tokenizer.json. */
gufo_status source_json(const gufo_vocab_source *source, gufo_str *text, gufo_error *error);
/* The keys that say the same as tokenizer.rwkv.world, as a model; GUFO_E_NOT_FOUND: the model has no
 * vocabulary of this kind. */
gufo_status source_world(const gufo_model *model, const gufo_allocator *allocator,
                         gufo_model **made, gufo_error *error);

/* The entries of a document as a model, which the document must outlive.  NULL on failure. */
gufo_model *source_over_document(gufo_document *document, const gufo_allocator *allocator,
                                 gufo_error *error);
/* The same; the model owns the document from now on, also on failure. */
gufo_model *source_of_document(gufo_document *document, const gufo_allocator *allocator,
                               gufo_error *error);

#endif
