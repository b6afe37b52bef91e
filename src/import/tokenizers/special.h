/* Special ids, flags, the normalizer's keys and chat templates of a model folder. */
#ifndef IMPORT_TOKENIZERS_SPECIAL_H
#define IMPORT_TOKENIZERS_SPECIAL_H

#include "import/tokenizers/reading.h"

/* Sets ids of special tokens, add_*_token and normalizer.*; ids that the document has stay. */
gufo_status special_write(tokenizer_reading *r);
/* Whether the files say that a bos token is put before texts. */
bool special_adds_bos(tokenizer_reading *r);
/* Sets tokenizer.chat_template, and those with a name. */
gufo_status templates_write(tokenizer_reading *r);

#endif
