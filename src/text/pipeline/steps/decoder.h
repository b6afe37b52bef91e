/* The decoder of a tokenizer.json: the texts of tokens become one text. */
#ifndef TEXT_DECODER_H
#define TEXT_DECODER_H

#include "gufo/vocab.h"
#include "text/expressions/expression.h"
#include "text/formats/json_tree.h"

typedef struct decoder decoder;

/* As normalizer_new; `part` NULL: texts are joined by spaces. */
decoder *decoder_new(const json_t *part, const json_places *places, const gufo_allocator *allocator,
                     gufo_error *error);
void decoder_free(decoder *d); /* NULL is allowed */

/* Appends the text of tokens, given by their texts in order. */
gufo_status decoder_run(const decoder *d, expression_scratch *s, const gufo_str *tokens,
                        size_t count, gufo_text *out, gufo_error *error);

#endif
