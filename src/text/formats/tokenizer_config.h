/* tokenizer_config.json, which lies beside a tokenizer.json: what transformers takes from it. */
#ifndef TEXT_TOKENIZER_CONFIG_H
#define TEXT_TOKENIZER_CONFIG_H

#include "text/formats/tokenizer_file.h"

/* Adds to a file what its tokenizer_config.json says: added tokens, which tokens have a role, and which
 * of them are put around texts.  GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status tokenizer_config_apply(tokenizer_file *f, gufo_str config, gufo_error *error);

#endif
