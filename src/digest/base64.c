/* Base64: three bytes are four digits of six bits; "=" fills up the last four. */
#include "digest/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_write(char *out, const uint8_t *data, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = 0;
        size_t there = size - i < 3 ? size - i : 3;

        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (j < there ? data[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            out[length++] = j <= there ? digits[group >> (18 - 6 * j) & 63] : '=';
    }
    out[length] = '\0';
    return length;
}

/* The value of four digits, "=" as 0; false where there is no digit. */
static bool read_group(const char *text, uint32_t *group)
{
    *group = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

        if (digit == NULL && text[i] != '=')
            return false;
        *group = *group << 6 | (digit != NULL ? (uint32_t)(digit - digits) : 0);
    }
    return true;
}

bool base64_read(gufo_str text, uint8_t *out, size_t size)
{
    uint32_t group;
    char again[5];

    if (text.len != (size + 2) / 3 * 4)
        return false;
    for (size_t i = 0; i < size; i += 3) {
        const char *from = text.data + i / 3 * 4;
        size_t there = size - i < 3 ? size - i : 3;

        if (!read_group(from, &group))
            return false;
        for (size_t j = 0; j < there; j++)
            out[i + j] = (uint8_t)(group >> (16 - 8 * j));
        /* Fill in the wrong place, and unused bits. */
        base64_write(again, out + i, there);
        if (memcmp(again, from, 4) != 0)
            return false;
    }
    return true;
}
