/* Vocabularies of SentencePiece. */
#ifndef IMPORT_TOKENIZERS_PIECES_H
#define IMPORT_TOKENIZERS_PIECES_H

#include "import/tokenizers/reading.h"
#include "import/tokenizers/sentencepiece.h"

/* A SentencePiece model with the bytes of its file. */
typedef struct piece_file {
    const char *name;
    buffer bytes;
    sentencepiece model;
} piece_file;

/* Reads the first of these files (names divided by blanks) that exists; GUFO_E_NOT_FOUND
 * (reading_pass): none does. Freed with piece_file_close, also after a failure. */
gufo_status piece_file_open(tokenizer_reading *r, const char *names, piece_file *file);
void piece_file_close(piece_file *file);

/* Pieces with an id that the list has; types of user-defined pieces become normal. */
gufo_status pieces_place(tokenizer_reading *r, const sentencepiece *model, token_list *list);
/* Tokens of added_tokens.json, with score -1000, as user-defined ones. */
gufo_status pieces_place_added(tokenizer_reading *r, token_list *list);

#endif
