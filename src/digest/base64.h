/* Base64 (RFC 4648, section 4) of keys and signatures. */
#ifndef DIGEST_BASE64_H
#define DIGEST_BASE64_H

#include "gufo/base.h"

/* Writes the text of `size` bytes, with its terminator; returns its length. */
size_t base64_write(char *out, const uint8_t *data, size_t size);
/* Reads text that encodes exactly `size` bytes; false for any other, and for one that is not as
 * base64_write would write it. */
bool base64_read(gufo_str text, uint8_t *out, size_t size);

#endif
