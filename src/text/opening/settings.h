/* The settings of a vocabulary: its model, special ids and flags. */
#ifndef TEXT_SETTINGS_H
#define TEXT_SETTINGS_H

#include "text/vocabulary/vocabulary.h"

/* Finds the algorithm and the pre-tokenizer, and sets what they say of texts. */
gufo_status settings_choose(gufo_vocab *v, const gufo_model *model, const char *pre,
                            gufo_error *error);
/* Special ids and flags: the defaults of the model, then the keys of the file. */
gufo_status settings_read(gufo_vocab *v, const gufo_model *model, gufo_error *error);

/* The role with this short name, as in "id:fim_pre"; GUFO_SPECIAL_COUNT if none has it. */
gufo_special settings_role(gufo_str name);

#endif
