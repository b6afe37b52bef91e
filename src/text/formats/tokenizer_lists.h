/* The lists that a tokenizer.json replaced, as parts of one. */
#ifndef TEXT_TOKENIZER_LISTS_H
#define TEXT_TOKENIZER_LISTS_H

#include "text/formats/tokenizer_file.h"

/* Each makes a file, as tokenizer_file_read does, with one table and without parts. */

/* An object of texts and ids. */
tokenizer_file *vocab_json_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* The token of an id is the line of that number; empty lines are none. */
tokenizer_file *vocab_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* Lines of two words; the first one may be a comment. */
tokenizer_file *merges_txt_read(gufo_str text, const gufo_allocator *allocator, gufo_error *error);

#endif
