/* Unicode's normalization form NFC. */
#ifndef TEXT_COMPOSITION_H
#define TEXT_COMPOSITION_H

#include "base/buffer.h"

/* Appends a text in form NFC; one that is not UTF-8 as it is.  False without memory. */
bool add_composed(gufo_text *out, gufo_str text);

#endif
