/* What tokens cover, and the steps that make them: for those who ask.
 *
 * An algorithm that is traced takes nothing from a cache, so that it sees each token with its text, and
 * adds it by trace_token.  Ids are the same. */
#ifndef TEXT_TRACE_H
#define TEXT_TRACE_H

#include "text/tokenizers/algorithm.h"

/* Appends a token, which covers the bytes `from` of the part, with its span; and shows it.  `step` is
 * of any kind.  False without memory. */
bool trace_token(const tokenizing *t, gufo_ids *out, gufo_tokenize_event step, gufo_span from);
/* Shows a step, if somebody watches. */
void trace_step(const tokenizing *t, gufo_tokenize_event step, gufo_span from);

#endif
