/* A vocabulary in the form of other programs. */
#ifndef TEXT_VOCAB_EXPORT_H
#define TEXT_VOCAB_EXPORT_H

#include "base/buffer.h"
#include "gufo/format.h"
#include "gufo/vocab.h"

/* Appends a tokenizer.json that Hugging Face's tokenizers read, made of the vocabulary of `model`
 * (its keys, or the text of its own that `vocab` was read from).  GUFO_E_TYPE for what has no such form, by its
 * name; GUFO_E_MALFORMED for texts that JSON cannot have: two the same, not UTF-8; GUFO_E_MEMORY. */
gufo_status tokenizer_json_write(const gufo_model *model, const gufo_vocab *vocab, buffer *out,
                                 gufo_error *error);

/* Appends a line for each token, by ids.  Of WordPiece as Hugging Face has it: continuations begin
 * with ##.  Of others as the file has it.  Backslashes and line ends in texts become \\ \n \r, bytes
 * that are not UTF-8 \xNN.  GUFO_E_MEMORY. */
gufo_status vocab_txt_write(const gufo_vocab *vocab, buffer *out, gufo_error *error);

#endif
