/* Bytes as letters: four letters for three bytes. */
#include "base/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_group(const uint8_t *bytes, size_t count, char letters[4])
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < count ? bytes[i] : 0);
    for (size_t i = 0; i < 4; i++)
        letters[i] = i <= count ? alphabet[bits >> (18 - 6 * i) & 63] : '=';
}

bool base64_decode(gufo_str text, uint8_t *out, size_t *size)
{
    size_t padding = 0;

    *size = 0;
    if (text.len % 4 != 0)
        return false;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < text.len; i += 4) {
        size_t letters = i + 4 < text.len ? 4 : 4 - padding;
        uint32_t bits = 0;

        for (size_t k = 0; k < 4; k++) {
            const char *letter =
                k < letters ? memchr(alphabet, text.data[i + k], sizeof alphabet - 1) : alphabet;

            if (letter == NULL)
                return false;
            bits = bits << 6 | (uint32_t)(letter - alphabet);
        }
        for (size_t k = 1; k < letters; k++, bits <<= 8)
            out[(*size)++] = (uint8_t)(bits >> 16);
    }
    return true;
}

bool base64_read(gufo_str text, buffer *out, bool *memory)
{
    const size_t before = out->len;
    uint8_t *bytes = buffer_extend(out, text.len / 4 * 3);
    size_t size = 0;
    bool good = bytes != NULL && base64_decode(text, bytes, &size);

    *memory = bytes != NULL;
    out->len = before + size;
    return good;
}

bool base64_write(const uint8_t *bytes, size_t size, buffer *out)
{
    for (size_t i = 0; i < size; i += 3) {
        char *letters = buffer_extend(out, 4);

        if (letters == NULL)
            return false;
        base64_group(bytes + i, size - i < 3 ? size - i : 3, letters);
    }
    return true;
}
