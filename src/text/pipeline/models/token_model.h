/* The model of a tokenizer.json: the ids of a piece. */
#ifndef TEXT_TOKEN_MODEL_H
#define TEXT_TOKEN_MODEL_H

#include "gufo/vocab.h"
#include "text/formats/tokenizer_file.h"

typedef struct model_token {
    uint32_t id;
    uint32_t begin, end; /* bytes of the piece that it stands for; not always whole characters */
} model_token;

/* Takes a merge: the token `left` and the one behind it become `merged`. */
typedef void merge_watch(void *context, uint32_t left, model_token merged, uint32_t rank);

/* A list that is emptied by count = 0. */
typedef struct piece_tokens {
    const gufo_allocator *allocator;
    model_token *list;
    uint64_t count, room;
    merge_watch *watch; /* called for each merge of BPE, before it is done; NULL: nobody watches */
    void *watch_context;
} piece_tokens;

void piece_tokens_free(piece_tokens *t);

typedef struct token_model token_model;

/* BPE, WordPiece, Unigram or WordLevel, with the vocabulary of `f`, which may be freed afterwards.  NULL
 * on failure: GUFO_E_TYPE, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
token_model *token_model_new(const tokenizer_file *f, unsigned threads,
                             const gufo_allocator *allocator, gufo_error *error);
void token_model_free(token_model *m); /* NULL is allowed */
/* Whether the model of a file has this name, as its type says it, or, where it says none, as its members
 * look. */
bool token_model_is(const tokenizer_file *f, const char *name);
const char *token_model_name(const token_model *m); /* "BPE", "WordPiece", "Unigram", "WordLevel" */

/* The token whose text is what it stands for, whatever the vocabulary says: Unigram's unknown one;
 * GUFO_NO_TOKEN. */
uint32_t token_model_verbatim(const token_model *m);

/* What one thread needs: room, and the pieces that it has encoded before. */
typedef struct model_scratch model_scratch;
model_scratch *model_scratch_new(const token_model *m, const gufo_allocator *allocator,
                                 gufo_error *error);
void model_scratch_free(model_scratch *s); /* NULL is allowed */

/* Appends the tokens of a piece, which is not empty; the fast way for ids alone, and the way for
 * who needs to know what they stand for.  Both give the same ids.  GUFO_E_MALFORMED: the model has no
 * token for a character, and none for unknown ones; GUFO_E_LIMIT; GUFO_E_MEMORY. */
gufo_status token_model_ids(const token_model *m, model_scratch *s, gufo_str piece, gufo_ids *out,
                            gufo_error *error);
gufo_status token_model_encode(const token_model *m, model_scratch *s, gufo_str piece,
                               piece_tokens *out, gufo_error *error);

#endif
