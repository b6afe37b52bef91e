/* What the writers of the parts of a tokenizer.json share. */
#ifndef TEXT_JSON_WRITING_H
#define TEXT_JSON_WRITING_H

#include <jansson.h>

#include "gufo/format.h"
#include "gufo/vocab.h"

typedef struct json_export {
    const gufo_vocab *vocab;
    const gufo_model *source; /* with tokenizer.ggml.* keys */
    uint32_t count;           /* tokens that are written */
    json_t *added, *normalizer, *pre_tokenizer, *decoder, *model;
    gufo_error *error;
} json_export;

/* A new reference; NULL without memory (json_write_text.c). */
json_t *json_token_text(const json_export *e, uint32_t id);

/* Each makes `model` with its vocabulary, and what is around it; parts that are NULL afterwards were
 * lost for memory (json_write_models.c). */
gufo_status json_make_byte_level(json_export *e);
gufo_status json_make_pieces(json_export *e);
gufo_status json_make_wordpiece(json_export *e);
gufo_status json_make_unigram(json_export *e);

/* The merges of the keys; those that scores imply (json_write_merges.c). */
gufo_status json_copy_merges(json_export *e, json_t *merges);
gufo_status json_derive_merges(json_export *e, json_t *merges);
/* The pre-tokenizer of a byte-level vocabulary (json_write_pre.c). */
gufo_status json_make_pre(json_export *e);

#endif
