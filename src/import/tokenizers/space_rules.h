/* What the normalizer and the pre-tokenizer of a tokenizer.json with pieces do to spaces, as keys. */
#ifndef IMPORT_TOKENIZERS_SPACE_RULES_H
#define IMPORT_TOKENIZERS_SPACE_RULES_H

#include "import/tokenizers/reading.h"

/* The models of pieces, as bits. */
typedef enum model_kind {
    PIECES = 1,  /* llama: BPE with bytes for unknown characters */
    UNIGRAM = 2, /* t5 */
} model_kind;

/* Sets the flags and the map of the normalizer.  What GGUF cannot express is a warning for PIECES, and
 * GUFO_E_TYPE for UNIGRAM. */
gufo_status space_rules_write(tokenizer_reading *r, model_kind kind);

#endif
