/* Where a search need not look again.
 *
 * \s+$ that fails at a space of a run of spaces fails at the next one too: what \s+ may match there is less.
 * So a search that skips those places needs as many steps as the text has characters, not their square. */
#ifndef TEXT_PIPELINE_EXPRESSION_LEADING_RUNS_H
#define TEXT_PIPELINE_EXPRESSION_LEADING_RUNS_H

#include "base/buffer.h"

/* Of an expression as PCRE2 gets it, without groups that capture: behind which bytes of the subject no match
 * begins if none began at that byte. */
void leading_runs(const buffer *expression, bool repeats[256]);

#endif
