/* Escapes in the texts of tokens. */
#ifndef TEXT_ESCAPES_H
#define TEXT_ESCAPES_H

#include "base/buffer.h"

/* Appends a token text of RWKV with its escapes resolved: \t \n \r \xHH; another character behind a
 * backslash is itself.  False without memory. */
bool add_unescaped(gufo_str text, gufo_text *out);

/* What spaces are in the texts of tokens: U+2581. */
#define ESCAPED_SPACE "\xe2\x96\x81"

/* Appends a text, with U+2581 for each space; false without memory. */
bool add_escaped(gufo_text *out, gufo_str text);

#endif
