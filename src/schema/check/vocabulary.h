/* What the checks of a tokenizer share. */
#ifndef GUFO_SCHEMA_VOCABULARY_H
#define GUFO_SCHEMA_VOCABULARY_H

#include "schema/check/frame.h"
#include "schema/check/tokens.h"

/* tokenizer.ggml.* lists. */
typedef enum vocabulary_list {
    LIST_TOKENS,
    LIST_SCORES,
    LIST_TOKEN_TYPE,
    LIST_MERGES,
    LIST_ADDED_TOKENS,
    LIST_COUNT,
} vocabulary_list;

typedef struct vocabulary {
    const gufo_tokenizer_model *model; /* NULL if it is not known */
    bool there[LIST_COUNT];            /* the key is, whatever its value */
    bool usable[LIST_COUNT];           /* and the value is a list that can be looked at */
    gufo_entry lists[LIST_COUNT];
    uint64_t count; /* of tokens, if that list is usable */
} vocabulary;

/* vocabulary.c: the content of the lists, which must be those of `v`. */
void schema_check_tokens(check_context *c, const vocabulary *v);
/* original.c: tokenizer.huggingface.json, which has to have the same tokens. */
void schema_check_original(check_context *c, const vocabulary *v, const token_list *tokens);

#endif
