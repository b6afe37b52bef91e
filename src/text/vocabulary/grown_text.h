/* Text that grows (gufo_text). */
#ifndef TEXT_GROWN_TEXT_H
#define TEXT_GROWN_TEXT_H

#include "gufo/vocab.h"

/* Room for `more` further bytes; false without memory. */
bool text_reserve(gufo_text *text, size_t more);
/* Appends bytes; false without memory. */
bool text_add(gufo_text *text, const char *data, size_t len);

/* Appends a byte for which there is room. */
static inline void text_put_byte(gufo_text *text, char byte)
{
    text->data[text->len++] = byte;
}

#endif
