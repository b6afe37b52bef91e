/* The byte alphabet of GPT-2, in which byte-level vocabularies write their tokens. */
#ifndef LEGACY_ALPHABET_H
#define LEGACY_ALPHABET_H

#include "legacy/word_list.h"

/* The text of bytes; a view of them where they are their own text.  False without memory. */
bool alphabet_text(word_list *list, gufo_str bytes, gufo_str *text);

/* Whether bytes are their own text: printable ASCII without blanks. */
bool alphabet_is_plain(gufo_str bytes);

#endif
