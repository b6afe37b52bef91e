/* The normalizer of a tokenizer.json: steps that rewrite a text. */
#ifndef TEXT_NORMALIZER_H
#define TEXT_NORMALIZER_H

#include "text/expressions/expression.h"
#include "text/formats/json_tree.h"
#include "text/pipeline/steps/work_text.h"

typedef struct normalizer normalizer;

/* Without `part` (NULL) a normalizer changes nothing.  `places` has the bytes of its steps for failures; it may be NULL.
 * NULL on failure: GUFO_E_TYPE (a step that does not exist, by name), GUFO_E_MALFORMED, GUFO_E_MEMORY.  A normalizer does
 * not change: any thread may use it. */
normalizer *normalizer_new(const json_t *part, const json_places *places,
                           const gufo_allocator *allocator, gufo_error *error);
void normalizer_free(normalizer *n); /* NULL is allowed */

/* Rewrites `text`, with `spare` for what is on the way. */
gufo_status normalizer_run(const normalizer *n, expression_scratch *s, work_text *text,
                           work_text *spare, gufo_error *error);

#endif
