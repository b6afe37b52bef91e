/* Bytes as letters (RFC 4648, with padding). */
#ifndef GUFO_BASE_BASE64_H
#define GUFO_BASE_BASE64_H

#include "base/buffer.h"

/* The four letters of one to three bytes. */
void base64_group(const uint8_t *bytes, size_t count, char letters[4]);
/* Writes the bytes that `text` means, three for four letters at most, to `out`, which may be the text itself; false if it
 * is not base64. */
bool base64_decode(gufo_str text, uint8_t *out, size_t *size);

/* Appends the bytes that `text` means; false if it is not base64.  *memory becomes false without
 * memory. */
bool base64_read(gufo_str text, buffer *out, bool *memory);
/* Appends the letters of bytes; false without memory. */
bool base64_write(const uint8_t *bytes, size_t size, buffer *out);

#endif
