/* What the files of an export become when they are converted, compared with the model. */
#ifndef IMPORT_EXPORT_SAME_KEYS_H
#define IMPORT_EXPORT_SAME_KEYS_H

#include "import/export/export.h"

#define PRE_KEY "tokenizer.ggml.pre"

/* Whether two values are equal, in type and to the last bit of their numbers. */
bool same_key_value(const gufo_value *a, const gufo_value *b);

/* The entries that a conversion of the files gives, with `metadata` as gguf-metadata.json; as
 * conversion_try. */
gufo_status try_files(const export_files *files, const json_t *metadata, json_t *failed,
                      gufo_document **out, gufo_error *error);

/* Whether they give the tokens of the model, with their scores and types. */
gufo_status same_vocabulary(const gufo_model *model, const export_files *files, bool *same,
                            gufo_error *error);

#endif
