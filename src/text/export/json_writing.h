/* What the writers of the parts of a tokenizer.json share. */
#ifndef TEXT_JSON_WRITING_H
#define TEXT_JSON_WRITING_H

#include <jansson.h>

#include "base/text.h"
#include "gufo/format.h"
#include "text/vocabulary/vocabulary.h"

typedef struct json_export {
    const gufo_vocab *vocab;
    const gufo_model *source; /* with tokenizer.ggml.* keys */
    uint32_t count;           /* tokens that are written */
    json_t *added, *normalizer, *pre_tokenizer, *decoder, *model;
    gufo_error *error;
} json_export;

/* The text of a token: a new reference, NULL without memory. */
json_t *json_token_text(const json_export *e, uint32_t id);

/* Each makes `model` with its vocabulary, and what is around it; parts that are NULL afterwards were
 * lost for memory. */
gufo_status json_make_byte_level(json_export *e);
gufo_status json_make_pieces(json_export *e);
gufo_status json_make_wordpiece(json_export *e);
gufo_status json_make_unigram(json_export *e);

/* ---- for vocab.txt, too --------------------------------------------------------------------- */

/* Tokens of WordPiece: GGUF marks the beginnings of words with U+2581, Hugging Face what continues
 * them with ##. */
typedef struct wordpiece_text {
    const char *prefix; /* "##" or "" */
    gufo_str rest;
} wordpiece_text;

static inline wordpiece_text wordpiece_text_of(const gufo_vocab *v, uint32_t id)
{
    gufo_str text = vocab_text(v, id);
    bool is_word = str_begins(text, "\xe2\x96\x81");

    if (vocab_type(v, id) != TOKEN_NORMAL) /* special tokens have no mark */
        return (wordpiece_text){"", text};
    return (wordpiece_text){is_word ? "" : "##", is_word ? str_from(text, 3) : text};
}

#endif
