/* Tokens whose attributes and roles follow from their texts. */
#ifndef TEXT_KNOWN_TEXTS_H
#define TEXT_KNOWN_TEXTS_H

#include "text/vocabulary/vocabulary.h"

/* Applies the rules of registry/special_texts.tsv; for the original's ids types stay those of the file. */
gufo_status known_texts_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error);

#endif
