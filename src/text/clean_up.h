/* Clean-up: spaces that tokenizers put before punctuation go, as far as text is read. */
#ifndef TEXT_CLEAN_UP_H
#define TEXT_CLEAN_UP_H

#include "gufo/vocab.h"

enum { CLEAN_PASSES = 3, CLEAN_HELD = 4 };

/* What each pass holds back: the beginning of something that it may replace.  {0} to begin with. */
typedef struct clean_up {
    struct {
        char text[CLEAN_HELD];
        size_t len;
    } held[CLEAN_PASSES];
} clean_up;

/* Appends to `out` what is final after more text; false without memory. */
bool clean_up_feed(clean_up *clean, gufo_str text, gufo_text *out);
/* Appends what is held back: the text ends here. */
bool clean_up_end(clean_up *clean, gufo_text *out);

#endif
