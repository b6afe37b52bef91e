/* Escapes in the texts of tokens. */
#ifndef TEXT_ESCAPES_H
#define TEXT_ESCAPES_H

#include "base/buffer.h"

/* Appends a token text of RWKV with its escapes resolved: \t \n \r \xHH; another character behind a
 * backslash is itself.  False without memory. */
bool add_unescaped(gufo_str text, gufo_text *out);

#endif
