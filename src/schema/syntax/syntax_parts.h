/* How the checks of values fill in what they found. */
#ifndef GUFO_SCHEMA_SYNTAX_PARTS_H
#define GUFO_SCHEMA_SYNTAX_PARTS_H

#include "base/text.h"
#include "schema/syntax/syntax.h"

/* The result for a fault: `part` is a view into `text`, `reason` a constant. */
syntax_result syntax_fault(syntax_verdict verdict, gufo_str text, gufo_str part,
                           const char *reason);

/* The result for a text that should be written as `standard`, which becomes the hint. */
syntax_result syntax_variant(gufo_str text, const char *reason, gufo_str standard);

/* Sets the hint, one text or several pieces of one; none if it does not fit, or has characters that
 * are not plain and visible. */
void syntax_hint(syntax_result *result, gufo_str hint);
void syntax_hint_joined(syntax_result *result, const gufo_str *pieces, size_t count);

#endif
