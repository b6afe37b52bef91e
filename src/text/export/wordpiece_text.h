/* Tokens of WordPiece: GGUF marks the beginnings of words with U+2581, Hugging Face what continues
 * them with ##. */
#ifndef TEXT_WORDPIECE_TEXT_H
#define TEXT_WORDPIECE_TEXT_H

#include "base/text.h"
#include "text/vocabulary/vocabulary.h"

typedef struct wordpiece_text {
    const char *prefix; /* "##" or "" */
    gufo_str rest;
} wordpiece_text;

static inline wordpiece_text wordpiece_text_of(const gufo_vocab *v, uint32_t id)
{
    gufo_str text = vocab_text(v, id);
    bool is_word = str_begins(text, "\xe2\x96\x81");

    if (vocab_type(v, id) != 1) /* special tokens have no mark */
        return (wordpiece_text){"", text};
    return (wordpiece_text){is_word ? "" : "##", is_word ? str_from(text, 3) : text};
}

#endif
