/* The tokens of a model as arrays. */
#ifndef IMPORT_EXPORT_TOKENS_H
#define IMPORT_EXPORT_TOKENS_H

#include "import/architectures/inverse/model_keys.h"

typedef struct model_tokens {
    gufo_str *texts; /* views of the model */
    float *scores;   /* NULL: it has none */
    int32_t *types;  /* of the specification, from 1 on; all 1 where the model has none */
    uint32_t count;
} model_tokens;

enum {
    TOKEN_IS_NORMAL = 1,
    TOKEN_IS_UNKNOWN,
    TOKEN_IS_CONTROL,
    TOKEN_IS_USER_DEFINED,
    TOKEN_IS_UNUSED,
    TOKEN_IS_BYTE
};

/* Reads them; none, with GUFO_OK, where the model has no tokenizer.ggml.tokens.  Freed with
 * model_tokens_free, also after a failure. */
gufo_status model_tokens_read(const gufo_model *model, model_tokens *out, gufo_error *error);
void model_tokens_free(model_tokens *tokens);

/* Whether a token was added to a vocabulary that has scores. */
bool token_is_added(const model_tokens *tokens, uint32_t id);

/* The number of a key: false without. */
bool model_id(const gufo_model *model, const char *key, uint32_t *id);
/* A flag; `otherwise` without it. */
bool model_flag(const gufo_model *model, const char *key, bool otherwise);

#endif
