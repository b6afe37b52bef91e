/* What the files of this room share. */
#ifndef IMPORT_EXPORT_PARTS_H
#define IMPORT_EXPORT_PARTS_H

#include "base/buffer.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/inverse/inverse.h"
#include "import/export/export.h"

/* Adds a file, whose bytes it takes over, also on failure.  They are of malloc. */
gufo_status export_add(export_files *files, const char *name, buffer *bytes, gufo_error *error);
/* The same of a JSON value, indented. */
gufo_status export_add_json(export_files *files, const char *name, const json_t *json,
                            gufo_error *error);
/* Removes the files from number `count` on. */
void export_drop(export_files *files, uint32_t count);

/* ---- tokenizer_config.c --------------------------------------------------------------------- */

/* The tokens of a model as arrays. */
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

/* Adds tokenizer_config.json, special_tokens_map.json and added_tokens.json.  `with_added`: the file of the
 * vocabulary does not say which tokens were added, but scores do. */
gufo_status export_tokenizer_config(const gufo_model *model, bool with_added, export_files *files,
                                    gufo_error *error);

/* ---- vocabulary.c --------------------------------------------------------------------------- */

/* Adds the files of the tokenizer. */
gufo_status export_vocabulary(const gufo_model *model, export_files *files, gufo_error *error);

/* ---- metadata.c ----------------------------------------------------------------------------- */

/* Adds gguf-metadata.json: what the conversion of the files so far does not give.  `type`: of most of the
 * model. */
gufo_status export_metadata(const gufo_model *model, uint32_t type, export_files *files,
                            gufo_error *error);

/* Of tokenizers: a conversion gives one that cuts alike. */
#define PRE_KEY "tokenizer.ggml.pre"

/* Whether two values are equal, in type and to the last bit of their numbers. */
bool same_key_value(const gufo_value *a, const gufo_value *b);

/* Whether they give the tokens of the model, with their scores and types. */
gufo_status same_vocabulary(const gufo_model *model, const export_files *files, bool *same,
                            gufo_error *error);

#endif
