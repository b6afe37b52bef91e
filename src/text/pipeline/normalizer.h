/* The normalizer of a tokenizer.json: steps that rewrite a text. */
#ifndef TEXT_PIPELINE_NORMALIZER_H
#define TEXT_PIPELINE_NORMALIZER_H

#include "text/formats/json_pull.h"

#include "text/pipeline/expression.h"
#include "text/pipeline/work_text.h"

typedef struct normalizer normalizer;

/* `part` may be NULL: it changes nothing.  `places` says where its steps are, for failures; NULL: nobody knows.  NULL on failure: GUFO_E_TYPE (a step that does not exist, by
 * name), GUFO_E_MALFORMED, GUFO_E_MEMORY.  It does not change: any thread may use it. */
normalizer *normalizer_new(const json_t *part, const json_places *places,
                           const gufo_allocator *allocator, gufo_error *error);
void normalizer_free(normalizer *n); /* NULL is allowed */

/* Rewrites `text`, with `spare` for what is on the way. */
gufo_status normalizer_run(const normalizer *n, expression_scratch *s, work_text *text,
                           work_text *spare, gufo_error *error);

#endif
