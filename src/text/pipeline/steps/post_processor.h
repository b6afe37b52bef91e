/* The post-processor of a tokenizer.json: special tokens around the ids of a text, and spans without
 * the white space at their ends. */
#ifndef TEXT_POST_PROCESSOR_H
#define TEXT_POST_PROCESSOR_H

#include "gufo/vocab.h"
#include "text/formats/json_tree.h"
#include "text/pipeline/steps/work_text.h"

/* What a token stands for, and how many characters of white space are at both ends of its text, which may
 * be another one. */
typedef struct token_span {
    text_origin range; /* bytes of the original text; of special tokens 0, 0 */
    uint32_t leading, trailing;
} token_span;

/* Tokens of a text, and, where somebody asked for them, spans. */
typedef struct encoded {
    const gufo_allocator *allocator; /* of spans */
    gufo_ids *ids;
    size_t first; /* the ids of this text begin here */
    bool keeps_spans;
    gufo_str text;     /* the original one, any bytes, where spans are kept */
    token_span *spans; /* of ids[first ...] */
    size_t span_room;
} encoded;

typedef struct post_processor post_processor;

/* As normalizer_new; moreover GUFO_E_LIMIT. */
post_processor *post_processor_new(const json_t *part, const json_places *places,
                                   const gufo_allocator *allocator, gufo_error *error);
void post_processor_free(post_processor *p); /* NULL is allowed */

/* The span of a token with this text. */
token_span token_span_of(text_origin range, gufo_str text);

/* `specials`: whether special tokens are added; parts that repeat, repeat without them, too.  `p` may be
 * NULL.  GUFO_E_MEMORY. */
gufo_status post_processor_run(const post_processor *p, encoded *e, bool specials,
                               gufo_error *error);

/* The token that a text begins with, and the one it ends with: of what is added around it;
 * GUFO_NO_TOKEN. */
uint32_t post_processor_first(const post_processor *p);
uint32_t post_processor_last(const post_processor *p);

#endif
