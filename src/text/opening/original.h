/* A vocabulary by the rules of a tokenizer.json, the original's. */
#ifndef TEXT_OPENING_ORIGINAL_H
#define TEXT_OPENING_ORIGINAL_H

#include "text/vocabulary/vocabulary.h"

/* Fills a vocabulary from a tokenizer.json, and a tokenizer_config.json that may be empty. */
gufo_status original_fill(gufo_vocab *v, gufo_str json, gufo_str config, unsigned threads,
                          gufo_error *error);

#endif
