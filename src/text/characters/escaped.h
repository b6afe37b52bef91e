/* Text whose spaces are U+2581, as in the texts of tokens. */
#ifndef TEXT_ESCAPED_H
#define TEXT_ESCAPED_H

#include "base/buffer.h"

#define ESCAPED_SPACE "\xe2\x96\x81"

/* Appends a text, with U+2581 for each space; false without memory. */
bool add_escaped(gufo_text *out, gufo_str text);

#endif
