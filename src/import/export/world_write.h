/* rwkv_vocab_v20230424.txt: the vocabulary of RWKV World. */
#ifndef IMPORT_EXPORT_WORLD_WRITE_H
#define IMPORT_EXPORT_WORLD_WRITE_H

#include "base/buffer.h"
#include "import/export/tokens.h"

/* Appends a line "ID LITERAL LENGTH" for each normal token.  GUFO_E_TYPE: a text that is not the inside of
 * a literal; GUFO_E_MEMORY. */
gufo_status world_write(const model_tokens *tokens, buffer *out, gufo_error *error);

#endif
