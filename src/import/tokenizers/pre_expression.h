/* Regular expressions of tokenizer.json, for PCRE2. */
#ifndef IMPORT_TOKENIZERS_PRE_EXPRESSION_H
#define IMPORT_TOKENIZERS_PRE_EXPRESSION_H

#include "base/buffer.h"

/* Appends an expression of Oniguruma, terminated, as PCRE2 (UTF, UCP) means the same.  False: it has
 * something that cannot be said, which *what names, or without memory (*what is NULL). */
bool pre_expression_rewrite(gufo_str expression, buffer *out, const char **what);

#endif
