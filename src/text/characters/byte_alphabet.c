/* The byte alphabet of GPT-2.  Bytes that show in Latin-1 are the characters of the same number; the
 * others are U+0100, U+0101 ... in order. */
#include "text/characters/byte_alphabet.h"

#include "gufo/print.h"

static const struct {
    uint32_t first, last, byte;
} ranges[] = {{0x21, 0x7e, 0x21},   {0xa1, 0xac, 0xa1},
              {0xae, 0xff, 0xae},   {0x100, 0x120, 0x00},
              {0x121, 0x142, 0x7f}, {BYTE_ALPHABET_END - 1, BYTE_ALPHABET_END - 1, 0xad}};

enum { RANGES = sizeof ranges / sizeof *ranges };

uint32_t byte_alphabet_character(uint8_t byte)
{
    size_t i = 0;

    while (byte < ranges[i].byte || byte - ranges[i].byte > ranges[i].last - ranges[i].first)
        i++;
    return byte - ranges[i].byte + ranges[i].first;
}

int byte_alphabet_byte(uint32_t code_point)
{
    for (size_t i = 0; i < RANGES; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last)
            return (int)(code_point - ranges[i].first + ranges[i].byte);
    return -1;
}

void byte_alphabet_fill(byte_texts *out)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[4];

        out->len[byte] = (uint8_t)gufo_utf8_encode(byte_alphabet_character((uint8_t)byte), text);
        out->text[byte][0] = text[0];
        out->text[byte][1] = text[1];
    }
}

void byte_alphabet_none(byte_texts *out)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        out->len[byte] = 1;
        out->text[byte][0] = (char)byte;
        out->text[byte][1] = 0;
    }
}
