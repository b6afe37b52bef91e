/* How the checks of values fill in what they found. */
#ifndef GUFO_SCHEMA_FORM_PARTS_H
#define GUFO_SCHEMA_FORM_PARTS_H

#include "base/text.h"
#include "schema/syntax/form.h"

/* The result for a fault: `part` is a view into `text`, `reason` a constant. */
gufo_form form_fault(form_verdict verdict, gufo_str text, gufo_str part, const char *reason);

/* The result for a text that should be written as `standard`, which becomes the hint. */
gufo_form form_variant(gufo_str text, const char *reason, gufo_str standard);

/* Sets the hint, one text or several pieces of one; none if it does not fit, or has characters that
 * are not plain and visible. */
void form_hint(gufo_form *form, gufo_str hint);
void form_hint_joined(gufo_form *form, const gufo_str *pieces, size_t count);

#endif
