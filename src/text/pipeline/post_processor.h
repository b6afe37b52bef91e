/* The post-processor of a tokenizer.json: special tokens around the ids of a text, and spans without
 * the white space at their ends. */
#ifndef TEXT_PIPELINE_POST_PROCESSOR_H
#define TEXT_PIPELINE_POST_PROCESSOR_H

#include <jansson.h>

#include "gufo/vocab.h"
#include "text/pipeline/work_text.h"

/* Tokens of a text, and, where somebody asked for them, spans. */
typedef struct encoded {
    const gufo_allocator *allocator; /* of spans */
    gufo_ids *ids;
    size_t first; /* the ids of this text begin here */
    bool keeps_spans;
    gufo_str text;      /* the original one, any bytes, where spans are kept */
    text_origin *spans; /* of ids[first ...]: bytes of the original text; of special tokens 0, 0 */
    size_t span_room;
} encoded;

typedef struct post_processor post_processor;

/* As normalizer_new; moreover GUFO_E_LIMIT. */
post_processor *post_processor_new(const json_t *part, const gufo_allocator *allocator,
                                   gufo_error *error);
void post_processor_free(post_processor *p); /* NULL is allowed */

/* `specials`: whether special tokens are added; parts that repeat, repeat without them, too.  `text_of`
 * gives the text of a token, as the vocabulary has it, for spans; no data: it is an added token, which has
 * the text that it stands for.  `p` may be NULL.  GUFO_E_MEMORY. */
gufo_status post_processor_run(const post_processor *p, encoded *e, bool specials,
                               gufo_str (*text_of)(const void *context, uint32_t id),
                               const void *context, gufo_error *error);

/* The token that a text begins with, and the one it ends with: of what is added around it;
 * GUFO_NO_TOKEN. */
uint32_t post_processor_first(const post_processor *p);
uint32_t post_processor_last(const post_processor *p);

#endif
