/* Bytes as letters: four letters for three bytes. */
#include "text/formats/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool base64_read(gufo_str text, buffer *out, bool *memory)
{
    size_t padding = 0, size = text.len / 4 * 3;
    uint8_t *bytes;

    *memory = true;
    if (text.len % 4 != 0)
        return false;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=')
        padding++;
    bytes = buffer_extend(out, size - padding);
    *memory = bytes != NULL;
    for (size_t i = 0, at = 0; bytes != NULL && i < text.len; i += 4) {
        uint32_t group = 0;

        for (size_t k = i; k < i + 4; k++) {
            bool is_padding = k >= text.len - padding;
            const char *letter =
                is_padding || text.data[k] == '\0' ? NULL : strchr(letters, text.data[k]);

            if (letter == NULL && !is_padding)
                return false;
            group = group << 6 | (letter != NULL ? (uint32_t)(letter - letters) : 0);
        }
        for (int shift = 16; shift >= 0 && at < size - padding; shift -= 8)
            bytes[at++] = (uint8_t)(group >> shift);
    }
    return bytes != NULL;
}

bool base64_write(const uint8_t *bytes, size_t size, buffer *out)
{
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char *four = buffer_extend(out, 4);

        if (four == NULL)
            return false;
        for (int k = 0; k < 4; k++)
            four[k] = letters[group >> (18 - 6 * k) & 63];
        for (size_t k = left + 1; k < 4; k++)
            four[k] = '=';
    }
    return true;
}
