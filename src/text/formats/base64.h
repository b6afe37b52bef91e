/* Bytes as letters (RFC 4648, with padding). */
#ifndef TEXT_BASE64_H
#define TEXT_BASE64_H

#include "base/buffer.h"

/* Appends the bytes that `text` means; false if it is not base64.  *memory becomes false without
 * memory. */
bool base64_read(gufo_str text, buffer *out, bool *memory);
/* Appends the letters of bytes; false without memory. */
bool base64_write(const uint8_t *bytes, size_t size, buffer *out);

#endif
