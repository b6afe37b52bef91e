/* What the keys of a GGUF file cannot say of a tokenizer.json. */
#ifndef IMPORT_TOKENIZERS_COMPARE_IDS_H
#define IMPORT_TOKENIZERS_COMPARE_IDS_H

#include "import/tokenizers/reading.h"

/* Encodes texts by the rules of tokenizer.json and as readers of the document do, and warns of texts whose
 * ids differ.  Nothing of it goes into the document. */
gufo_status compare_ids(tokenizer_reading *r);

#endif
