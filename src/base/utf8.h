/* UTF-8 (RFC 3629), one code point at a time. */
#ifndef GUFO_BASE_UTF8_H
#define GUFO_BASE_UTF8_H

#include "gufo/base.h"

/* Decodes the code point at the start of `text` (not empty): its length in bytes, or 0 if the bytes
 * are not valid UTF-8. */
size_t utf8_decode(gufo_str text, uint32_t *code_point);

/* Encodes a code point up to 10FFFF, surrogates, too; returns its length in bytes. */
size_t utf8_put(uint32_t code_point, char out[4]);

/* Whether a terminal would act on this code point instead of showing it: C0, DEL, C1, bidirectional
 * controls, line and paragraph separators. */
bool utf8_is_control(uint32_t code_point);

#endif
