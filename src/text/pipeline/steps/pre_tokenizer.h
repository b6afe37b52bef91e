/* The pre-tokenizer of a tokenizer.json: steps that cut a text into pieces, and may rewrite them. */
#ifndef TEXT_PRE_TOKENIZER_H
#define TEXT_PRE_TOKENIZER_H

#include "text/expressions/expression.h"
#include "text/formats/json_tree.h"
#include "text/pipeline/steps/work_text.h"

typedef struct text_piece {
    uint32_t begin, end; /* of the text; never empty */
} text_piece;

/* Pieces in the order of the text; what is between them is dropped. */
typedef struct text_pieces {
    work_text text;
    text_piece *list;
    uint64_t count, room;
} text_pieces;

void text_pieces_free(text_pieces *p);
/* False without memory; an empty piece is not added. */
bool text_pieces_add(text_pieces *p, size_t begin, size_t end);

typedef struct pre_tokenizer pre_tokenizer;

/* As normalizer_new. */
pre_tokenizer *pre_tokenizer_new(const json_t *part, const json_places *places,
                                 const gufo_allocator *allocator, gufo_error *error);
void pre_tokenizer_free(pre_tokenizer *p); /* NULL is allowed */

/* Whether a step must know which pieces begin where the original text does, so that origins must be
 * kept (Metaspace, prepend_scheme "first", behind a cut). */
bool pre_tokenizer_needs_origins(const pre_tokenizer *p);

/* Cuts the pieces (at first: the one that is the whole text), with `spare` for what is on the way. */
gufo_status pre_tokenizer_run(const pre_tokenizer *p, expression_scratch *s, text_pieces *pieces,
                              text_pieces *spare, gufo_error *error);

#endif
